"""Answers to the exercises of lesson 00: wrong ones with a word of the hint, right ones
of another form."""

MEASURED = "def measured_dx(f, x, dy, h=1e-4):\n    steps = h * np.eye(len(x))\n"

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
            "input 0",
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
            "element (2,)",  # a guard against a small y that is too large
            "def hypot_grad(op, dy):\n"
            "    y = tf.maximum(op.outputs[0], 2)\n"
            "    return [dy * v / y for v in op.inputs]\n",
        ),
        # not a list of two
        (
            "one for each",
            "def hypot_grad(op, dy):\n"
            "    a, b = op.inputs\n"
            "    return tf.stack([dy * a, dy * b]) / op.outputs[0]\n",
        ),
        (
            "NumPy call",
            "def hypot_grad(op, dy):\n"
            "    a, b = op.inputs\n"
            "    y = np.hypot(a, b)\n"
            "    return [dy * a / y, dy * b / y]\n",
        ),
        (
            "other numbers and shapes",
            "def hypot_grad(op, dy):\n"
            "    a, b = op.inputs\n"
            "    c = tf.constant([8 / 17, -5 / 13, -3 / 5], a.dtype)\n"
            "    d = tf.constant([-15 / 17, 12 / 13, -4 / 5], a.dtype)\n"
            "    return [dy * c, dy * d]\n",
        ),
        (
            "other numbers and shapes",
            "def hypot_grad(op, dy):\n"
            "    a, b = op.inputs\n"
            "    y = op.outputs[0]\n"
            "    s = tf.constant([1.0, -1, -1], a.dtype)\n"
            "    t = tf.constant([-1.0, 1, -1], a.dtype)\n"
            "    return [dy * s * abs(a) / y, dy * t * abs(b) / y]\n",
        ),
    ],
    2: [
        # all elements at once
        ("graph", MEASURED + "    return dy @ (f(x + h) - f(x - h)) / (2 * h) + 0 * x\n"),
        ("graph", MEASURED + "    return [sum(f(x + s) - f(x - s)) / (2 * h) for s in steps]\n"),
        # J dy for dy J
        (
            "graph",
            MEASURED + "    j = [(f(x + s) - f(x - s)) / (2 * h) for s in steps]\n"
            "    return dy @ np.array(j)\n",
        ),
        # only the y of the same number
        (
            "x[0] alone",
            MEASURED + "    j = [(f(x + s) - f(x - s)) / (2 * h) for s in steps]\n"
            "    return dy * np.diag(j)\n",
        ),
        (
            "three_outputs",  # no more y than there are x
            MEASURED + "    j = [f(x + s) - f(x - s) for s in steps]\n"
            "    return [sum(d * v for d, v, _ in zip(dy, w, x)) / (2 * h) for w in j]\n",
        ),
        # a step of its own in place of h
        (
            "np_cube",
            "def measured_dx(f, x, dy, h=1e-4):\n"
            "    steps = 1e-4 * np.eye(len(x))\n"
            "    return [dy @ (f(x + s) - f(x - s)) / 2e-4 for s in steps]\n",
        ),
        ("3.01", MEASURED + "    return [dy @ (f(x + s) - f(x)) / h for s in steps]\n"),
        (
            "three_outputs",  # steps as large as x asks for: 0 / 0
            MEASURED + "    return [dy @ (f(x + v * s) - f(x - v * s)) / (2 * h * v)\n"
            "            for v, s in zip(np.array(x), steps)]\n",
        ),
        (
            "last bit",  # + h, - 2 h, + h does not give back x
            "def measured_dx(f, x, dy, h=1e-4):\n"
            "    x, dx = np.asarray(x), []\n"
            "    for j in range(len(x)):\n"
            "        x[j] += h\n"
            "        more = f(x)\n"
            "        x[j] -= 2 * h\n"
            "        dx += [dy @ (more - f(x)) / (2 * h)]\n"
            "        x[j] += h\n"
            "    return dx\n",
        ),
        (
            "as long as x",  # as long as dy
            MEASURED + "    steps = steps[: len(dy)]\n"
            "    return [dy @ (f(x + s) - f(x - s)) / (2 * h) for s in steps]\n",
        ),
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
        MEASURED + "    return [dy @ (f(x + s) - f(x - s)) / (2 * h) for s in steps]\n",
        MEASURED + "    j = np.array([f(x + s) - f(x - s) for s in steps]).T / (2 * h)\n"
        "    return dy @ j\n",
        "def measured_dx(f, x, dy, h=1e-4):\n"
        "    x, dx = np.array(x), []\n"
        "    for j in range(x.size):\n"
        "        old = x[j]\n"
        "        x[j] = old + h\n"
        "        more = f(x)\n"
        "        x[j] = old - h\n"
        "        dx += [sum(dy * (more - f(x))) / (2 * h)]\n"
        "        x[j] = old\n"
        "    return tf.stack(dx)\n",
    ],
}
