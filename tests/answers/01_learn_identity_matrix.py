"""Answers to the exercises of lesson 01: wrong ones with a word of the hint, right ones
of another form."""

CELLS = 0, 1, 2, 6

ROWS = "def rows_grad(op, dy):\n    x, w = op.inputs\n"
BIAS = "def add_bias_grad(op, dy):\n"

WRONG = {
    1: [
        (
            "input 0 is x",
            ROWS + "    dx = py_func(lambda dy, w: dy @ w.T, [dy, w], like(x))\n"
            "    dw = py_func(lambda x, dy: x.T @ dy, [x, dy], like(w))\n"
            "    return dw, dx\n",
        ),
        (
            "shape",
            ROWS + "    dx = py_func(lambda dy, w: dy @ w.T, [dy, w], like(x))\n"
            "    dw = py_func(lambda x, dy: dy.T @ x, [x, dy], like(w))\n"
            "    return dx, dw\n",
        ),
        (
            "matmul",
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
            "other shapes",
            ROWS + "    d = [[sum(dy[i, k] * w[j, k] for k in range(2))\n"
            "          for j in range(3)] for i in range(4)]\n"
            "    return tf.stack(d), tf.transpose(x) @ dy\n",
        ),
        # a tensor from outside, not in the list
        (
            "in its list",
            ROWS + "    dx = py_func(lambda dy: dy @ np.transpose(w), [dy], like(x))\n"
            "    dw = py_func(lambda dy: np.transpose(x) @ dy, [dy], like(w))\n"
            "    return dx, dw\n",
        ),
        ("in its list", ROWS + "    return dy @ w.T, x.T @ dy\n"),
        (
            "1 gradient",
            ROWS + "    return py_func(lambda dy, w: dy @ w.T, [dy, w], like(x))\n",
        ),
    ],
    2: [
        ("shape (3,)", BIAS + "    return dy, tf.reduce_sum(dy, axis=1)\n"),
        (
            "0.25",
            BIAS + "    return dy, tf.reduce_mean(dy, axis=1, keepdims=True)\n",
        ),
        ("shape", BIAS + "    return dy, tf.reduce_sum(dy, axis=0, keepdims=True)\n"),
        (
            "input 1: b",
            BIAS + "    return dy, tf.ones_like(op.inputs[1]) * tf.reduce_sum(dy)\n",
        ),
        (
            "input 0: z",
            BIAS + "    z, b = op.inputs\n"
            "    return dy * z, tf.reduce_sum(dy, axis=1, keepdims=True)\n",
        ),
        ("input 1", BIAS + "    return dy, dy[:, :1]\n"),
        ("wrong", BIAS + "    return dy, 4 * dy[:, :1]\n"),
        ("tf.function", BIAS + "    return dy, np.sum(dy, axis=1, keepdims=True)\n"),
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
        BIAS + "    n = tf.shape(dy)[1]\n"
        "    return dy, dy @ tf.ones([n, 1], dy.dtype)\n",
        BIAS + "    z, b = op.inputs\n"
        "    db = py_func(lambda dy: dy.sum(1, keepdims=True), [dy], like(b))\n"
        "    return [dy, db]\n",
    ],
}
