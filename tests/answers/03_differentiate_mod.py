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
TURN = """
def turn(a, b):
    return RETURNED
"""


def clip(dx="sum_to(dx, x)", dlow=LOW, dhigh=HIGH):
    return CLIP.replace("RETURNED", ", ".join([dx, dlow, dhigh]))


def turn(returned):
    return TURN.replace("RETURNED", returned)


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
        ("and back", turn("mod(a - b, 360)")),
        ("and back", turn("a - b")),
        ("and back", turn("tf.abs(mod(a - b + 180, 360) - 180)")),
        ("and back", turn("tf.minimum(mod(a - b, 360), mod(b - a, 360))")),
        ("and back", turn("mod(b - a + 180, 360) - 180")),
        ("and back", turn("mod(a - b + 180, 360)")),
        ("and back", turn("mod(a - b, 360) - 180")),
        ("and back", turn("mod(a, 360) - mod(b, 360)")),
        ("and back", turn("mod(a - b, 180)")),
        ("any size", turn("tf.where(a - b > 180, a - b - 360, "
                          "tf.where(a - b < -180, a - b + 360, a - b))")),
        ("half way", turn("mod(a - b + 90, 360) - 90")),
        ("half way", turn("mod(a - b + 175, 360) - 175")),
        ("half way", turn("mod(a - b + 90, 180) - 90")),
        ("any size", turn("tf.sin((a - b) * np.pi / 180) * 20 / np.sin(np.pi / 9)")),
        ("the gradient", turn("np.mod(a - b + 180, 360) - 180")),
        ("the gradient", turn("tf.stop_gradient(mod(a - b + 180, 360) - 180)")),
        ("the gradient", turn("mod(a - tf.stop_gradient(b) + 180, 360) - 180")),
        ("(2, 1)", "def turn(a, b):\n"
         "    return py_func(lambda a, b: (a - b + 180) % 360 - 180, [a, b], like(a),\n"
         "                   grad=lambda op, dy: (dy, -dy))\n"),
        ("not yet", "turn = None\n"),
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
        turn("mod(180 + a - b, 360) - 180"),
        turn("180 - mod(180 + b - a, 360)"),
        turn("tf.math.floormod(a - b + 180, 360) - 180"),
        turn("(a - b) - 360 * tf.round((a - b) / 360)"),
        turn(
            "tf.atan2(tf.sin((a - b) * np.pi / 180), tf.cos((a - b) * np.pi / 180)) * 180 / np.pi"
        ),
        "def turn(a, b):\n"
        "    left = mod(a - b, 360.0)\n"
        "    return tf.where(left > 180, left - 360, left)\n",
        "def turn(a, b):\n"
        "    a, b = tf.convert_to_tensor(a), tf.convert_to_tensor(b)\n"
        "    near, far = mod(a - b, 360), mod(b - a, 360)\n"
        "    return tf.where(near < far, near, -far)\n",
    ],
}
