"""Answers to the exercises of lesson 01: wrong ones with a word of the hint, right ones
of another form."""

CELLS = 0, 1, 2, 4, 5, 7, 13  # the others train or draw

ROWS = "def rows_grad(op, dy):\n    x, w = op.inputs\n"
FOOLING = "fooling = np.array([[1.0, 2, 3], [2, 4, 5], [3, 5, 6]])\n"
STALLING = "stalling = np.eye(3, k=1) * [0, 1, 0]\n"

WRONG = {
    1: [
        (
            "input 0 is x",
            ROWS + "    dx = py_func(lambda dy, w: dy @ w.T, [dy, w], like(x))\n"
            "    dw = py_func(lambda x, dy: x.T @ dy, [x, dy], like(w))\n"
            "    return dw, dx\n",
        ),
        (
            "input 1, element",
            ROWS + "    dx = py_func(lambda dy, w: dy @ w.T, [dy, w], like(x))\n"
            "    dw = py_func(lambda x, dy: dy.T @ x, [x, dy], like(w))\n"
            "    return dx, dw\n",
        ),
        (
            "input 0, element",
            ROWS + "    dx = py_func(lambda dy, w: dy @ w, [dy, w], like(x))\n"
            "    dw = py_func(lambda x, dy: x.T @ dy, [x, dy], like(w))\n"
            "    return dx, dw\n",
        ),
        (
            "tf.function",
            ROWS + "    return dy.numpy() @ w.numpy().T, x.numpy().T @ dy.numpy()\n",
        ),
        (
            "input 1",
            ROWS + "    dx = py_func(lambda dy, w: dy @ w.T, [dy, w], like(x))\n"
            "    return dx, tf.zeros_like(w)\n",
        ),
        (
            "multiplied by dy",
            ROWS + "    ones = tf.ones_like(dy)\n"
            "    return (tf.matmul(ones, w, transpose_b=True),\n"
            "            tf.matmul(x, ones, transpose_a=True))\n",
        ),
        # sizes of one case written out
        (
            "x is (4, 3)",
            ROWS + "    d = [[sum(dy[i, k] * w[j, k] for k in range(3))\n"
            "          for j in range(3)] for i in range(3)]\n"
            "    return tf.stack(d), tf.transpose(x) @ dy\n",
        ),
        # a tensor from outside, not in the list
        (
            "in its list",
            ROWS + "    dx = py_func(lambda dy: dy @ np.transpose(w), [dy], like(x))\n"
            "    dw = py_func(lambda dy: np.transpose(x) @ dy, [dy], like(w))\n"
            "    return dx, dw\n",
        ),
        ("attribute", ROWS + "    return dy @ w.T, x.T @ dy\n"),
        (
            "1 gradient",
            ROWS + "    return py_func(lambda dy, w: dy @ w.T, [dy, w], like(x))\n",
        ),
    ],
    2: [
        ("wrong", "fooling = np.arange(9.0).reshape(3, 3)\n" + STALLING),
        ("four different", "fooling = np.eye(3)\n" + STALLING),
        ("3 × 3", "fooling = np.ones((4, 4)) * np.arange(4)\n" + STALLING),
        # antisymmetric
        (
            "same as",
            "fooling = np.array([[0, 1, 2], [-1, 0, 3], [-2, -3, 0]])\n" + STALLING,
        ),
        ("not all zeros", FOOLING + "stalling = np.zeros((3, 3))\n"),
        # s is 0, the product is not
        ("moves W", FOOLING + "stalling = np.eye(3)[:, [1, 2, 0]]\n"),
        # x @ x @ x is 0
        ("moves W", FOOLING + "stalling = np.eye(3, k=1)\n"),
        ("moves W", FOOLING + "stalling = 1e-6 * np.eye(3)\n"),
    ],
}

RIGHT = {
    1: [
        ROWS + "    return dy @ tf.transpose(w), tf.transpose(x) @ dy\n",
        "def rows_grad(op, dy):\n"
        "    x, w = op.inputs\n"
        "    def both(x, w, dy):\n"
        "        return [np.dot(dy, w.T), np.dot(x.T, dy)]\n"
        "    return py_func(both, [x, w, dy], [like(x), like(w)])\n",
    ],
    2: [
        FOOLING + STALLING,
        "fooling = [[0, 1, 2], [1, 0, 3], [2, 3, 0]]\n"
        "stalling = np.outer([1, 2, 3], [3, 0, -1])\n",
        "fooling = np.diag([1.0, 2.0, 3.0])\n"
        "stalling = [[1, -1, 0], [1, -1, 0], [0, 0, 0]]\n",
        "fooling = w64.T @ w64\nstalling = tf.constant([[0.0] * 3, [0.0] * 3, [1, 1, 0.0]])\n",
    ],
}
