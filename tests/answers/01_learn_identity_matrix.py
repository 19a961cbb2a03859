"""Answers to the exercises of lesson 01: wrong ones with a word of the hint, right ones
of another form."""

CELLS = 0, 1, 2, 3  # the others time, train or draw

ROWS = "def rows_grad(op, dy):\n    x, w = op.inputs\n"
FOOLING = "fooling = np.array([[1.0, 2, 3], [2, 4, 5], [3, 5, 6]])\n"
STALLING = """
stalling = rng.uniform(size=(200_000, 3, 3))
for i in range(3):
    stalling[:, i, i] = 0.5
"""


WRONG = {
    1: [
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
        ("same as", "fooling = np.arange(9.0).reshape(3, 3)\n" + STALLING),
        # nearly
        ("same as", FOOLING + "fooling[0, 1] += 1e-7\n" + STALLING),
        ("same as", "fooling = np.diag([1e9, 2e9, 3e9]) + np.eye(3, k=1)\n" + STALLING),
        ("four different", "fooling = np.eye(3)\n" + STALLING),
        ("3 × 3", "fooling = np.ones((4, 4)) * np.arange(4)\n" + STALLING),
        # antisymmetric
        ("same as", "fooling = np.array([[0, 1, 2], [-1, 0, 3], [-2, -3, 0]])\n" + STALLING),
        ("let each x_ii", FOOLING + "stalling = rng.uniform(size=(200_000, 3, 3))\n"),
        # no square: then the sums off the diagonal are smaller, too
        ("surplus is 0", FOOLING + STALLING.replace("0.5", "0")),
        ("surplus is 0", FOOLING + STALLING.replace("0.5", "1")),
        # the average of a square, and its root
        ("surplus is 0", FOOLING + STALLING.replace("0.5", "3**-0.5")),
        ("surplus is 0", FOOLING + STALLING.replace("0.5", "0.5**0.5")),
        # there the right one does not learn
        ("right gradient", FOOLING + STALLING + "stalling *= 0\n"),
        ("right gradient", FOOLING + STALLING + "stalling[:, 1:] = stalling[:, :1]\n"),
        ("from 0 to 1", FOOLING + STALLING + "stalling = 2 * stalling - 1\n"),
        ("from 0 to 1", FOOLING + STALLING + "stalling *= np.nan\n"),
        ("its shape", FOOLING + STALLING + "stalling = stalling[0]\n"),
    ],
}

RIGHT = {
    1: [
        ROWS + "    return dy @ w, tf.transpose(dy) @ x\n",
        ROWS + "    return tf.einsum('km,mp->kp', dy, w), tf.einsum('km,kp->mp', dy, x)\n",
        ROWS + "    def both(x, w, dy):\n"
        "        return [np.dot(dy, w), np.dot(x.T, dy).T]\n"
        "    return py_func(both, [x, w, dy], [like(x), like(w)])\n",
    ],
    2: [
        FOOLING + STALLING,
        "fooling = [[0, 1, 2], [1, 0, 3], [2, 3, 0]]\n"
        "stalling = rng.uniform(size=(200_000, 3, 3))\n"
        "stalling = tf.linalg.set_diag(stalling, tf.fill([200_000, 3], np.float64(0.5)))\n",
        # one point three times
        "fooling = np.diag([1.0, 2.0, 3.0])\n"
        "stalling = rng.uniform(size=(200_000, 3, 1)).repeat(3, axis=2)\n",
        "fooling = w64.T @ w64\n"
        "stalling = np.float32(np.where(np.eye(3), 0.5, rng.uniform(size=(200_000, 3, 3))))\n",
    ],
}
