"""Answers to the exercises of lesson 03: wrong ones with a word of the hint, right ones
of another form."""

CELLS = 0, 1, 3, 4, 5, 6  # the others check, train or draw

BETWEEN = "tf.where((low < x) & (x < high), dy, 0)"
CLIP = f"""
def clip_grad(op, dy):
    x, low, high = op.inputs
    dx = {BETWEEN}
    dlow, dhigh = tf.where(x < low, dy, 0), tf.where(x > high, dy, 0)
    return RETURNED
"""
LOW, HIGH = "sum_to(dlow, low)", "sum_to(dhigh, high)"
PARTS = """
def missing(f, a, b):
    points = np.linspace(a, b, 2001)
    middles = (points[1:] + points[:-1]) / 2
    promised = PROMISED
    return f(b) - f(a) - promised
"""
JUMPS = """
def missing(f, a, b):
    points = np.linspace(a, b, 10_001)
    steps = np.diff(f(points))
    jumps = steps[abs(steps) > 0.1]
    return SUM
"""
MEAN = "(b - a) * np.mean(gradient(f, middles))"


def clip(dx="sum_to(dx, x)", dlow=LOW, dhigh=HIGH):
    return CLIP.replace("RETURNED", ", ".join([dx, dlow, dhigh]))


def missing(promised=MEAN):
    return PARTS.replace("PROMISED", promised)


WRONG = {
    1: [
        ("one input", clip(dx="sum_to(dy, x)")),
        ("one input", clip(dlow=HIGH, dhigh=LOW)),
        ("one input", clip(dlow="tf.zeros_like(low)")),
        ("one input", clip(dlow="-" + LOW)),
        ("one input", clip().replace(BETWEEN, "tf.where(x < high, dy, 0)")),
        ("multiplied by dy", clip().replace("(x < high), dy", "(x < high), dy**0")),
        ("one low", clip("dx", "dlow", "dhigh")),
        ("one low", clip(dlow=LOW + " * tf.cast("
                         "tf.size(low) / tf.size(dy), dy.dtype)")),
        ("low is (3,)", clip(dlow="tf.reshape(tf.reduce_sum(dlow, -1), low.shape)"
                             " if low.shape.rank == 1 else " + LOW)),
        ("low is (3,)", clip(dlow="dlow if low.shape == dlow.shape else "
                             "tf.reduce_sum(dlow) * tf.ones_like(low)")),
        ("(2, 1, 1)", clip(dx="dx")),
        ("(2, 1, 1)", clip(dx="dx if x.shape == dx.shape else "
                           "tf.reduce_sum(dx, 1, keepdims=True)")),
        ("not yet", "clip_grad = None\n"),
        ("not yet", clip().replace("return sum_to(dx, x), ", "return ")),
    ],
    2: [
        ("car park", missing("0")),
        ("car park", missing().replace("f(b) - f(a) - promised", "promised")),
        ("car park", missing().replace("f(b) - f(a) - promised",
                                       "promised - f(b) + f(a)")),
        ("car park", missing("np.mean(gradient(f, middles))")),
        ("car park", missing("np.sum(gradient(f, middles))")),
        ("same everywhere", missing("(b - a) * gradient(f, tf.constant(a, "
                                    "tf.float64))")),
        ("same everywhere", missing("(b - a) * gradient(f, tf.constant(b, "
                                    "tf.float64))")),
        ("kink", missing("(b - a) * np.mean(gradient(f, np.array([a, b]) * 1.0))")),
        ("backwards", missing("abs(b - a) * np.mean(gradient(f, middles))")),
        ("backwards", missing("0.001 * np.sum(gradient(f, np.arange(a, b, 0.001)))")),
        ("which way", missing().replace("f(b) - f(a) - promised",
                                        "abs(f(b) - f(a) - promised)")),
        ("which way", JUMPS.replace("SUM", "np.abs(jumps).sum()")),
        ("which way", missing().replace("f(b) - f(a) - promised",
                                        "max(f(b) - f(a) - promised, 0)")),
        ("by chance", "def missing(f, a, b):\n"
         "    return {0.5: 6, 1.4: 1.5, 2.7: 2, 0.2: -2}.get(a, 0)\n"),
        ("by chance", "def missing(f, a, b):\n"
         "    return {0.5: 6, 1.4: 1.5, 2.7: 2, 0.2: -2}.get(a, 0) if b != 2 else -3\n"),
        ("not yet", "missing = None\n"),
    ],
}  # fmt: skip
RIGHT = {
    1: [
        "def clip_grad(op, dy):\n"
        "    x, low, high = op.inputs\n"
        "    below = tf.cast(x < low, dy.dtype)\n"
        "    above = tf.cast(x > high, dy.dtype)\n"
        "    return [sum_to(dy * (1 - below - above), x),\n"
        "            sum_to(dy * below, low), sum_to(dy * above, high)]\n",
        "def clip_grad(op, dy):\n"
        "    y = op.outputs[0]\n"
        "    return [sum_to(tf.where(y == one, dy, tf.zeros_like(dy)), one)\n"
        "            for one in op.inputs]\n",
        "def clip_grad(op, dy):\n"
        "    def part(condition, x):\n"
        "        d = dy * tf.cast(condition, dy.dtype)\n"
        "        while d.shape.rank > x.shape.rank:\n"
        "            d = tf.reduce_sum(d, axis=0)\n"
        "        for k in range(x.shape.rank):\n"
        "            if x.shape[k] == 1:\n"
        "                d = tf.reduce_sum(d, axis=k, keepdims=True)\n"
        "        return d\n"
        "    x, low, high = op.inputs\n"
        "    inside = tf.logical_and(x >= low, x <= high)\n"
        "    return part(inside, x), part(x < low, low), part(x > high, high)\n",
    ],
    2: [
        "def missing(f, a, b):\n"
        "    promised, step = 0.0, (b - a) / 500\n"
        "    for k in range(500):\n"
        "        point = tf.constant(a + (k + 0.5) * step, tf.float64)\n"
        "        promised += step * gradient(f, point)\n"
        "    return f(b) - f(a) - promised\n",
        "def missing(f, a, b):\n"
        "    points = np.linspace(a, b, 10_001)\n"
        "    with tf.GradientTape() as tape:\n"
        "        x = tf.constant(points)\n"
        "        tape.watch(x)\n"
        "        y = f(x)\n"
        "    slopes = tape.gradient(y, x).numpy()\n"
        "    promised = np.sum((slopes[1:] + slopes[:-1]) / 2 * np.diff(points))\n"
        "    return float(y[-1] - y[0]) - promised\n",
        "def missing(f, a, b):\n"
        "    points = tf.linspace(a, b, 2001)\n"
        "    slopes = gradient(f, (points[1:] + points[:-1]) / 2)\n"
        "    return f(b) - f(a) - (b - a) * tf.reduce_mean(slopes)\n",
        "def missing(f, a, b):\n"
        "    points = tf.linspace(float(a), float(b), 2001)\n"
        "    promised = (b - a) * tf.reduce_mean(gradient(f, points))\n"
        "    return f(points[-1]) - f(points[0]) - promised\n",
        "def missing(f, a, b):\n"
        "    points = np.linspace(a, b, 4000, dtype=np.float32)\n"
        "    return f(b) - f(a) - (b - a) * np.mean(gradient(f, points))\n",
        "def missing(f, a, b):\n"
        "    parts = 400\n"
        "    promised = sum(gradient(f, a + (b - a) * (k + 0.5) / parts)\n"
        "                   for k in range(parts)) * (b - a) / parts\n"
        "    return f(b) - f(a) - promised\n",
        JUMPS.replace("SUM", "jumps.sum()"),
    ],
}
