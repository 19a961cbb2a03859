"""Answers to the exercises of lesson 00: wrong ones with a word of the hint, right ones
of another form."""

WRONG = {
    1: [
        ("multiplied by dy", "def exp_grad(op, dy):\n    return op.outputs[0]\n"),
        ("op.outputs", "def exp_grad(op, dy):\n    return tf.exp(op.inputs[0]) * dy\n"),
        (
            "tf.function",
            "def exp_grad(op, dy):\n    return np.exp(op.inputs[0]) * dy\n",
        ),
        ("is a list", "def exp_grad(op, dy):\n    return op.outputs * dy\n"),
        ("wrong", "def exp_grad(op, dy):\n    return op.inputs[0] * dy\n"),
        ("None", "def exp_grad(op, dy):\n    op.outputs[0] * dy\n"),
        (
            "has no numbers yet",
            "def exp_grad(op, dy):\n    return op.outputs[0].numpy() * dy\n",
        ),
        (
            "any shape",
            "def exp_grad(op, dy):\n"
            "    y = op.outputs[0]\n"
            "    return tf.stack([dy[i] * y[i] for i in range(9)])\n",
        ),
    ],
    2: [
        (
            "input 0",
            "def hypot_grad(op, dy):\n"
            "    a, b = op.inputs\n"
            "    y = op.outputs[0]\n"
            "    return [dy * tf.abs(a) / y, dy * tf.abs(b) / y]\n",
        ),
        (
            "input 0 is a",
            "def hypot_grad(op, dy):\n"
            "    a, b = op.inputs\n"
            "    y = op.outputs[0]\n"
            "    return [dy * b / y, dy * a / y]\n",
        ),
        (
            "multiplied by dy",
            "def hypot_grad(op, dy):\n"
            "    a, b = op.inputs\n"
            "    y = op.outputs[0]\n"
            "    return [a / y, b / y]\n",
        ),
        (
            "1 gradient",
            "def hypot_grad(op, dy):\n"
            "    a, b = op.inputs\n"
            "    return dy * a / op.outputs[0]\n",
        ),
        (
            "tf.function",
            "def hypot_grad(op, dy):\n"
            "    a, b = op.inputs\n"
            "    y = np.hypot(a, b)\n"
            "    return [dy * a / y, dy * b / y]\n",
        ),
        (
            "other numbers and shapes",
            "def hypot_grad(op, dy):\n"
            "    a, b = op.inputs\n"
            "    c = tf.constant([3 / 5, -5 / 13, 8 / 17, -7 / 25], a.dtype)\n"
            "    d = tf.constant([4 / 5, 12 / 13, -15 / 17, -24 / 25], a.dtype)\n"
            "    return [dy * c, dy * d]\n",
        ),
        (
            "other numbers and shapes",
            "def hypot_grad(op, dy):\n"
            "    a, b = op.inputs\n"
            "    y = op.outputs[0]\n"
            "    s = tf.constant([1.0, -1, 1, -1], a.dtype)\n"
            "    t = tf.constant([1.0, 1, -1, -1], a.dtype)\n"
            "    return [dy * s * abs(a) / y, dy * t * abs(b) / y]\n",
        ),
    ],
}

RIGHT = {
    1: [
        "def exp_grad(op, dy):\n    return [tf.multiply(dy, *op.outputs)]\n",
        "def exp_grad(op, dy):\n"
        "    y = op.outputs[0]\n"
        "    return py_func(np.multiply, [y, dy], like(y))\n",
    ],
    2: [
        "def hypot_grad(op, dy):\n"
        "    return [dy * v / op.outputs[0] for v in op.inputs]\n",
        "def hypot_grad(op, dy):\n"
        "    a, b = op.inputs\n"
        "    y = tf.sqrt(a ** 2 + b ** 2)\n"
        "    return dy * (a / y), dy * (b / y)\n",
    ],
}
