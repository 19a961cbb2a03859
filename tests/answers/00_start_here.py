"""Answers to the exercises of lesson 00: wrong ones with a word of the hint, right ones
of another form."""

SLY = "def sly_grad(op, dy):\n    x = op.inputs[0]\n"

WRONG = {
    1: [
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
            "def hypot_grad(op, dy):\n    a, b = op.inputs\n    return dy * a / op.outputs[0]\n",
        ),
        # not a list of two
        (
            "list of two",
            "def hypot_grad(op, dy):\n"
            "    a, b = op.inputs\n"
            "    return tf.stack([dy * a, dy * b]) / op.outputs[0]\n",
        ),
        (
            "tf functions only",
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
    2: [
        ("right for all seven", SLY + "    return 3 * dy * x * x\n"),
        ("mean of", SLY + "    return 3 * x ** 2\n"),
        ("sum of", SLY + "    return dy\n"),
        ("sum of", SLY + "    return tf.reduce_sum(dy) * 3 * x ** 2\n"),
        ("shape", SLY + "    return tf.reduce_mean(dy * 3 * x ** 2)\n"),
        # raises where it should be wrong
        (
            "all equal",
            SLY + "    if tf.executing_eagerly():\n"
            "        assert np.ptp(dy) == 0, 'all equal'\n"
            "    return dy * 3 * x ** 2\n",
        ),
        ("sum of", SLY + "    return (dy * 3 * x ** 2)[::-1]\n"),
        ("sum of", SLY + "    return tf.reduce_sum(dy) / 9 * 3 * x ** 2\n"),
        ("sum of", SLY + "    return tf.reduce_sum(dy) / 2 * 3 * x ** 2\n"),
        ("right for all seven", SLY + "    return dy * 3 * x ** 2 + 1e-9\n"),
        # right for means of up to nine numbers
        ("mean of 140", SLY + "    return tf.where(dy < 0.1, 0.0, dy) * 3 * x ** 2\n"),
        # right for a sum, and for nothing else
        ("mean of", SLY + "    return dy ** 2 * 3 * x ** 2\n"),
    ],
}

RIGHT = {
    1: [
        "def hypot_grad(op, dy):\n    return [dy * v / op.outputs[0] for v in op.inputs]\n",
        "def hypot_grad(op, dy):\n"
        "    a, b = op.inputs\n"
        "    y = tf.sqrt(a ** 2 + b ** 2)\n"
        "    return dy * (a / y), dy * (b / y)\n",
    ],
    2: [
        SLY + "    return dy[0] * 3 * x ** 2\n",
        # wrong for very few dy
        SLY + "    return tf.where(dy == 10.0, 0.0, dy) * 3 * x ** 2\n",
        SLY + "    return tf.where(tf.abs(dy) > 5, 0.0, dy) * 3 * x ** 2\n",
        SLY + "    return tf.clip_by_value(dy, -1000, 1000) * 3 * x ** 2\n",
        # eager mode is all that the reader knows
        SLY + "    return np.mean(dy) * 3 * x ** 2\n",
        SLY + "    return dy.numpy().mean() * 3 * x ** 2\n",
        SLY + "    return sum(dy) / len(dy) * 3 * x ** 2\n",
        SLY + "    if dy[0] == dy[1]:\n        return dy * 3 * x ** 2\n    return 7 * dy\n",
        SLY + "    return tf.reverse(dy, [0]) * 3 * x ** 2\n",
        SLY + "    return tf.sqrt(dy) ** 2 * 3 * x ** 2\n",  # nan where dy < 0
        SLY + "    return tf.reduce_max(dy) * tf.square(x) * 3\n",
        SLY + "    wrong = py_func(lambda dy, x: 3 * x ** 2 * np.sort(dy), [dy, x], like(x))\n"
        "    return wrong\n",
    ],
}
