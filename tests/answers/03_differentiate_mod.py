"""Answers to the exercises of lesson 03: wrong ones with a word of the hint, right ones
of another form."""

CELLS = 0, 1, 2, 3, 4, 5, 6, 9, 19  # the others check, train or draw

BETWEEN = "tf.where((low < x) & (x < high), dy, 0)"
CLIP = f"""
def clip_grad(op, dy):
    x, low, high = op.inputs
    dx = {BETWEEN}
    dlow, dhigh = tf.where(x < low, dy, 0), tf.where(x > high, dy, 0)
    return RETURNED
"""
LOW, HIGH = "sum_to(dlow, low)", "sum_to(dhigh, high)"
WAY = """
def vane_loss(p, x):
    way = WAY
    return tf.reduce_mean(way ** 2, axis=-1)
"""
SHORTER = "mod(x - p + turn / 2, turn) - turn / 2"


def clip(dx="sum_to(dx, x)", dlow=LOW, dhigh=HIGH):
    return CLIP.replace("RETURNED", ", ".join([dx, dlow, dhigh]))


def vane(way):
    return WAY.replace("WAY", way)


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
        ("where is the circle cut", vane("mod(x - p + turn / 4, turn) - turn / 4")),
        ("where is the circle cut", vane("mod(x - p, turn) - turn / 2")),
        ("where is the circle cut", vane("mod(x - p + turn / 2, turn)")),
        ("where is the circle cut", vane("x - p")),
        ("where is the circle cut", vane("tf.minimum(tf.abs(x - p), "
                                         "turn - tf.abs(x - p))")),
        ("where is the circle cut", vane("mod(x + 180 - mod(p, turn), turn) - 180")
         .replace("way ** 2", "tf.abs(way)")),
        ("where is the circle cut", vane(SHORTER).replace("mean", "sum")),
        ("where is the circle cut", vane("2 * np.pi / turn * (" + SHORTER + ")")),
        # right for six readings only
        ("other readings", vane(SHORTER).replace("mean(way ** 2, axis=-1)",
                                                 "sum(way ** 2, axis=-1) / 6")),
        ("gradient", vane("tf.stop_gradient(" + SHORTER + ")")),
        ("not yet", vane(SHORTER).replace(", axis=-1", "")),
        ("not yet", "vane_loss = None\n"),
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
        "def vane_loss(p, x):\n"
        "    way = mod(x - p, turn)\n"
        "    return tf.reduce_mean(tf.minimum(way, turn - way) ** 2, axis=-1)\n",
        vane("tf.math.floormod(p - x + 180, 360) - 180"),
        vane("(x - p) - 360 * tf.round((x - p) / 360)"),
        "def vane_loss(p, x):\n"
        "    a = (x - p) * np.pi / 180\n"
        "    way = tf.atan2(tf.sin(a), tf.cos(a)) * 180 / np.pi\n"
        "    return tf.reduce_mean(tf.square(way), axis=1)\n",
    ],
}
