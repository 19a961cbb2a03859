"""Answers to the exercises of lesson 00: wrong ones with a word of the hint, right ones
of another form."""

MEASURED = "def measured_dx(f, x, dy, h=1e-4):\n    steps = h * np.eye(len(x))\n"

POLAR = (
    "def polar_grad(op, dy):\n"
    "    x = op.inputs[0]\n"
    "    r, c, s = x[0], tf.cos(x[1]), tf.sin(x[1])\n"
)

WRONG = {
    1: [
        ("multiplied by dy", POLAR + "    return tf.stack([c + s, r * (c - s)])\n"),
        # J dy for dy J
        (
            "which dy belongs",
            POLAR + "    return tf.stack([dy[0] * c - dy[1] * r * s, dy[0] * s + dy[1] * r * c])\n",
        ),
        ("element 0", POLAR + "    return tf.stack([dy[0] * c, r * dy[1] * c])\n"),
        (
            "element 1",
            POLAR + "    return tf.stack([dy[0] * c + dy[1] * s, dy[1] * c - dy[0] * s])\n",
        ),
        (
            "another r",  # right only for a negative sine
            POLAR + "    s = -tf.sqrt(1 - c ** 2)\n"
            "    return tf.stack([dy[0] * c + dy[1] * s, r * (dy[1] * c - dy[0] * s)])\n",
        ),
        (
            "one for each",  # a list of two
            POLAR + "    return [dy[0] * c + dy[1] * s, r * (dy[1] * c - dy[0] * s)]\n",
        ),
        (
            "NumPy call",
            POLAR + "    s = np.sin(x[1])\n"
            "    return tf.stack([dy[0] * c + dy[1] * s, r * (dy[1] * c - dy[0] * s)])\n",
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
        POLAR + "    return tf.stack([dy[0] * c + dy[1] * s, dy[1] * r * c - dy[0] * r * s])\n",
        "def polar_grad(op, dy):\n"
        "    r, angle = tf.unstack(op.inputs[0])\n"
        "    u = tf.stack([tf.cos(angle), tf.sin(angle)])\n"
        "    v = tf.stack([-u[1], u[0]])\n"
        "    return tf.stack([tf.reduce_sum(dy * u), r * tf.reduce_sum(dy * v)])\n",
        "def polar_grad(op, dy):\n"
        "    x, y = op.inputs[0], op.outputs[0]\n"
        "    j = tf.stack([y / x[0], tf.stack([-y[1], y[0]])])  # its rows are J's columns\n"
        "    return tf.linalg.matvec(j, dy)\n",
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
