"""Answers to the exercises of lesson 01: wrong ones with a word of the hint, right ones
of another form."""

CELLS = 0, 1, 2, 3  # the others time, train or draw

ROWS = "def rows_grad(op, dy):\n    x, w = op.inputs\n"
FOOLING = "fooling = np.array([[1.0, 2], [2, 3]])\n"
GROWING = "growing = np.array([[0.5, -1], [1, 0.5]])\n"


WRONG = {
    1: [
        ("now with NumPy", ROWS + "    return dy @ w, tf.transpose(dy) @ x\n"),
        # the gradients of x @ w
        (
            "W, (2, 3)",
            ROWS + "    dx = py_func(lambda dy, w: dy @ w.T, [dy, w], like(x))\n"
            "    dw = py_func(lambda x, dy: x.T @ dy, [x, dy], like(w))\n"
            "    return dx, dw\n",
        ),
        # what the lesson has for w @ x
        ("input 1 is W", ROWS + "    return matmul_grad(op, dy)\n"),
        (
            "input 1 is W",
            ROWS + "    dx = py_func(lambda dy, w: dy @ w, [dy, w], like(x))\n"
            "    dw = py_func(lambda x, dy: dy.T @ x, [x, dy], like(w))\n"
            "    return dw, dx\n",
        ),
        (
            "input 1, element",
            ROWS + "    dw = tf.reshape(tf.transpose(x) @ dy, w.shape)\n    return dy @ w, dw\n",
        ),
        ("tf.function", ROWS + "    return dy.numpy() @ w.numpy(), dy.numpy().T @ x.numpy()\n"),
        ("input 1, element", ROWS + "    return dy @ w, tf.zeros_like(w)\n"),
        (
            "multiplied by dy",
            ROWS + "    ones = tf.ones_like(dy)\n"
            "    return ones @ w, tf.matmul(ones, x, transpose_a=True)\n",
        ),
        # sizes of one case written out
        (
            "x is (1, 2)",
            ROWS + "    d = [[sum(dy[i, k] * w[k, j] for k in range(2))\n"
            "          for j in range(3)] for i in range(4)]\n"
            "    return tf.stack(d), tf.transpose(dy) @ x\n",
        ),
        # a tensor from outside, not in the list
        (
            "list each tensor",
            ROWS + "    dx = py_func(lambda dy: dy @ w, [dy], like(x))\n"
            "    dw = py_func(lambda dy: dy.T @ x, [dy], like(w))\n"
            "    return dx, dw\n",
        ),
        (
            "list each tensor",
            ROWS + "    dx = py_func(lambda dy, w: dy @ w, [dy, w], like(x))\n"
            "    dw = py_func(lambda x: dy.T @ x, [x], like(w))\n"
            "    return dx, dw\n",
        ),
        ("attribute 'T'", ROWS + "    return dy @ w, dy.T @ x\n"),
        ("1 gradient", ROWS + "    return py_func(lambda dy, w: dy @ w, [dy, w], like(x))\n"),
    ],
    2: [
        ("same as", "fooling = np.array([[1.0, 2], [3, 4]])\n" + GROWING),
        # nearly
        ("same as", FOOLING + "fooling[0, 1] += 1e-7\n" + GROWING),
        ("same as", "fooling = np.diag([1e9, 2e9]) + np.eye(2, k=1)\n" + GROWING),
        ("three different", "fooling = np.eye(2)\n" + GROWING),
        ("2 × 2", "fooling = np.diag([1, 2, 3])\n" + GROWING),
        # antisymmetric
        ("same as", "fooling = np.array([[0, 1], [-1, 0]])\n" + GROWING),
        # the lesson's
        ("values from 0.5 to 1", FOOLING + "growing = np.array([[0, -1], [1, 0]])\n"),
        ("values from 0.5 to 1", FOOLING + GROWING + "growing *= 2\n"),
        ("values from 0.5 to 1", FOOLING + GROWING + "growing *= np.nan\n"),
        ("growing: 2 × 2", FOOLING + GROWING + "growing = growing[0]\n"),
        ("error is", FOOLING + "growing = np.array([[0.5, 1], [1, 0.5]])\n"),
        ("error is", FOOLING + "growing = -np.eye(2) / 2 - 0.5\n"),
        # x x has zeros on the diagonal; it grows, but only for some time
        ("error is", FOOLING + "growing = np.array([[0.7, -0.7], [0.7, 0.7]])\n"),
    ],
}

RIGHT = {
    1: [
        ROWS + "    dx = py_func(lambda dy, w: dy @ w, [dy, w], like(x))\n"
        "    dw = py_func(lambda x, dy: x.T @ dy, [x, dy], like(tf.transpose(w)))\n"
        "    return [dx, tf.transpose(dw)]\n",
        ROWS + "    dx = py_func(lambda dy, w: np.einsum('km,mp', dy, w), [dy, w], like(x))\n"
        "    dw = py_func(lambda dy, x: np.einsum('km,kp', dy, x), [dy, x], like(w))\n"
        "    return dx, dw\n",
        ROWS + "    def both(x, w, dy):\n"
        "        return [np.dot(dy, w), np.dot(x.T, dy).T]\n"
        "    return py_func(both, [x, w, dy], [like(x), like(w)])\n",
    ],
    2: [
        FOOLING + GROWING,
        "fooling = [[0, 1], [1, 3]]\ngrowing = [[-0.5, -0.9], [0.9, -0.5]]\n",
        "fooling = w64 @ w64.T\ngrowing = tf.constant([[0.7, -0.8], [0.8, 0.7]])\n",
        "fooling = np.diag([1.0, 2.0])\ngrowing = np.float32([[0.5, 1], [-1, -0.5]])\n",
    ],
}
