"""Answers to the exercises of lesson 01: wrong ones with a word of the hint, right ones
of another form."""

CELLS = 0, 1, 2, 4  # the others train

ROWS = "def rows_grad(op, dy):\n    x, w = op.inputs\n"
GRAM = "def gram_grad(op, dy):\n    x = op.inputs[0]\n"

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
        ("in its list", ROWS + "    return dy @ w.T, x.T @ dy\n"),
        (
            "1 gradient",
            ROWS + "    return py_func(lambda dy, w: dy @ w.T, [dy, w], like(x))\n",
        ),
    ],
    2: [
        ("not yet", GRAM + "    return x @ tf.transpose(dy)\n"),
        # right for a symmetric dy, such as ones
        ("random", GRAM + "    return 2 * x @ dy\n"),
        ("random", GRAM + "    return 2 * x @ tf.transpose(dy)\n"),
        (
            "incompatible",
            GRAM + "    return tf.transpose(x) @ (dy + tf.transpose(dy))\n",
        ),
        (
            "multiplied by dy",
            GRAM + "    return 2 * x @ tf.ones_like(dy)\n",
        ),
        (
            "tensor not in its list",
            GRAM
            + "    return py_func(lambda dy: np.array(x) @ (dy + dy.T), [dy], like(x))\n",
        ),
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
        GRAM + "    return tf.matmul(x, dy, transpose_b=True) + tf.matmul(x, dy)\n",
        GRAM
        + "    return py_func(lambda x, dy: x @ dy + x @ dy.T, [x, dy], like(x))\n",
        GRAM + "    left = tf.einsum('jl,kl->jk', x, dy)\n"
        "    return [left + tf.einsum('jk,kl->jl', x, dy)]\n",
    ],
}
