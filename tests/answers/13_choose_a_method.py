"""Answers to the exercises of lesson 13: wrong ones with a word of the hint, right ones
of another form."""

CELLS = 0, 1, 2, 3

PROBE = """
def asked_twice(way):
    with tf.GradientTape(PERSISTENT) as tape:
        tape.watch(x)
        y = way(x)[1]
"""
KEEPS = PROBE.replace("PERSISTENT", "persistent=True")
RUNS = "def numeric_dx(run, p, dy, h=1e-5):\n"

WRONG = {
    1: [
        ("two pairs", KEEPS + "    yield tape.gradient(y, x), [3, 48]\n"),
        (
            "RuntimeError",
            PROBE.replace("PERSISTENT", "")
            + "    yield tape.gradient(y, x), [3, 48]\n" * 2,
        ),
        # two tapes, each asked once
        (
            "one tape",
            "def asked_twice(way):\n"
            "    for _ in range(2):\n"
            "        yield gradient(lambda x: way(x)[1], x), [3, 48]\n",
        ),
        # two tapes side by side
        (
            "one tape",
            "def asked_twice(way):\n"
            "    with tf.GradientTape() as a, tf.GradientTape() as b:\n"
            "        a.watch(x)\n"
            "        b.watch(x)\n"
            "        y = way(x)[1]\n"
            "    yield a.gradient(y, x), [3, 48]\n"
            "    yield b.gradient(y, x), [3, 48]\n",
        ),
        # asked once, shown two times
        (
            "one tape",
            KEEPS + "    dx = tape.gradient(y, x)\n" + "    yield dx, [3, 48]\n" * 2,
        ),
        ("each pair", KEEPS + "    yield tape.gradient(y, x), [3, 47]\n" * 2),
        # compares the first answer with the second
        (
            "each pair",
            KEEPS + "    yield tape.gradient(y, x), tape.gradient(y, x)\n"
            "    yield tape.gradient(y, x), [3, 48]\n",
        ),
        (
            "each pair that you yield",
            KEEPS + "    return tape.gradient(y, x), [3, 48]\n",
        ),
        (
            "yield the None",
            KEEPS + "    yield tape.gradient(y, x).numpy(), [3, 48]\n" * 2,
        ),
    ],
    2: [
        # for three parameters only
        (
            "sum over the outputs",
            RUNS + "    return np.array([dy @ (run(p + h * e) - run(p - h * e))\n"
            "                     for e in np.eye(3)]) / (2 * h)\n",
        ),
        # changes the parameters that it was given
        (
            "read-only",
            RUNS + "    dx = np.zeros(len(p))\n"
            "    for j in range(len(p)):\n"
            "        q = p\n"
            "        q[j] += h\n"
            "        dx[j] = dy @ (run(q) - run(p)) / h\n"
            "    return dx\n",
        ),
        # a list of numbers, where an array is asked for
        (
            "no NumPy array",
            RUNS + "    return [dy @ (run(p + h * e) - run(p - h * e)) / (2 * h)\n"
            "            for e in np.eye(len(p))]\n",
        ),
        # no sum over the outputs
        (
            "has shape (3, 6)",
            RUNS + "    return np.array([run(p + h * e) - run(p - h * e)\n"
            "                     for e in np.eye(len(p))]) / (2 * h)\n",
        ),
        # forgets dy
        (
            "sum over the outputs",
            RUNS + "    return np.array([(run(p + h * e) - run(p - h * e)).sum()\n"
            "                     for e in np.eye(len(p))]) / (2 * h)\n",
        ),
        # the transpose of what is wanted
        (
            "sum over the outputs",
            RUNS + "    J = np.array([run(p + h * e) - run(p - h * e)\n"
            "                  for e in np.eye(len(p))]) / (2 * h)\n"
            "    return dy @ J\n",
        ),
        # divides by h
        (
            "sum over the outputs",
            RUNS + "    return np.array([dy @ (run(p + h * e) - run(p - h * e)) / h\n"
            "                     for e in np.eye(len(p))])\n",
        ),
        # forward differences with a step so small that the values agree
        (
            "at p - h",
            RUNS + "    h = 1e-8\n"
            "    return np.array([dy @ (run(p + h * e) - run(p))\n"
            "                     for e in np.eye(len(p))]) / h\n",
        ),
        # forward differences
        (
            "central differences",
            RUNS + "    return np.array([dy @ (run(p + h * e) - run(p))\n"
            "                     for e in np.eye(len(p))]) / h\n",
        ),
        # takes the number of outputs for the number of parameters
        (
            "sum over the outputs",
            RUNS + "    return np.array([dy @ (run(p + h * e) - run(p - h * e))\n"
            "                     for e in np.eye(len(dy))]) / (2 * h)\n",
        ),
        # runs the simulator for each output anew
        (
            "two runs",
            RUNS + "    return np.array([sum(\n"
            "        dy[i] * (run(p + h * e)[i] - run(p - h * e)[i])\n"
            "        for i in range(len(dy))) for e in np.eye(len(p))]) / (2 * h)\n",
        ),
    ],
}

RIGHT = {
    1: [
        KEEPS + "    for _ in range(2):\n        yield tape.gradient(y, x), [3, 48]\n",
        KEEPS + "    first, second = [tape.gradient(y, x) for _ in range(2)]\n"
        "    yield first, [3.0, 48.0]\n"
        "    yield second, np.array([3, 48])\n",
    ],
    2: [
        RUNS + "    J = np.array([run(p + h * e) - run(p - h * e)\n"
        "                  for e in np.eye(len(p))]) / (2 * h)\n"
        "    return J @ dy\n",
        RUNS + "    dx = np.zeros(len(p))\n"
        "    for j in range(len(p)):\n"
        "        e = np.zeros(len(p))\n"
        "        e[j] = 1e-6\n"
        "        dx[j] = (dy * (run(p + e) - run(p - e))).sum() / 2e-6\n"
        "    return dx\n",
        # all runs to the right, and then all to the left, one parameter at a time
        RUNS + "    q, found = p.copy(), []\n"
        "    for step in h, -h:\n"
        "        for j in range(len(p)):\n"
        "            q[j] = p[j] + step\n"
        "            found.append(dy @ run(q) / (2 * step))\n"
        "            q[j] = p[j]\n"
        "    return np.reshape(found, (2, -1)).sum(0)\n",
    ],
}
