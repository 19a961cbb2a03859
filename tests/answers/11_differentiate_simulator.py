"""Answers to the exercises of lesson 11: wrong ones with a word of the hint, right
ones of another form."""

CELLS = 0, 1, 2, 3, 4

WRONG = {
    1: [
        ("differentiate", "def root_grad(op, db):\n    return db\n"),
        (
            "differentiate",
            "def root_grad(op, db):\n    return db * (1 + tf.exp(op.outputs[0]))\n",
        ),
        (
            "differentiate",
            "def root_grad(op, db):\n    return db / (1 + tf.exp(op.inputs[0]))\n",
        ),
        ("dy", "def root_grad(op, db):\n    return 1 / (1 + tf.exp(op.outputs[0]))\n"),
        ("minus", "def root_grad(op, db):\n    return minus * db\n"),
        # differences of the solver
        (
            "runs the solver again",
            "def root_grad(op, db):\n"
            "    a = op.inputs[0]\n\n"
            "    def slope(a):\n"
            "        return (find_root(a + 1e-5) - find_root(a - 1e-5)) / 2e-5\n\n"
            "    return db * py_func(slope, [a], like(a))\n",
        ),
    ],
    2: [
        ("two numbers", "def growth(t, ys, r):\n    pass\n"),
        (
            "two numbers",
            "def growth(t, ys, r):\n    y, s = ys\n"
            "    dy = r * y * (1 - y)\n"
            "    ds = r * (1 - 2 * y) * s + y * (1 - y)\n",
        ),
        (
            "depends on r too",
            "def growth(t, ys, r):\n    y, s = ys\n"
            "    return [r * y * (1 - y), y * (1 - y)]\n",
        ),
        (
            "depends on r too",
            "def growth(t, ys, r):\n    y, s = ys\n"
            "    return [r * y * (1 - y), r * (1 - 2 * y) * s]\n",
        ),
        (
            "depends on r too",
            "def growth(t, ys, r):\n    y, s = ys\n"
            "    return [r * y * (1 - y), r * (1 - y) * s + y * (1 - y)]\n",
        ),
        (
            "not yet",
            "def growth(t, ys, r):\n    y, s = ys\n"
            "    return r * (1 - 2 * y) * s + y * (1 - y)\n",
        ),
    ],
}

RIGHT = {
    1: [
        "def root_grad(op, db):\n"
        "    a, b = op.inputs[0], op.outputs[0]\n"
        "    return db / (1 + a - b)\n",
        "def root_grad(op, db):\n"
        "    (b,) = op.outputs\n"
        "    return [db * tf.sigmoid(-b)]\n",
    ],
    2: [
        "def growth(t, ys, r):\n"
        "    y, s = ys\n"
        "    return np.array([r * y - r * y**2, y - y**2 + (r - 2 * r * y) * s])\n",
        "def growth(t, ys, r):\n"
        "    slope = ys[0] * (1 - ys[0])\n"
        "    return r * slope, slope + r * ys[1] * (1 - 2 * ys[0])\n",
    ],
}
