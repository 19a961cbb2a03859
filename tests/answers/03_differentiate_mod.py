"""Answers to the exercises of lesson 03: wrong ones with a word of the hint, right ones
of another form."""

CELLS = 0, 1, 2, 3, 4, 5, 7  # the others check, or come after the first search

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
def turn(a, b, circle):
    return RETURNED
"""
WRAPS = """[a := a - tf.where(a - b > circle / 2, circle, 0)
        + tf.where(a - b < -circle / 2, circle, 0) for _ in range({})][-1] - b"""
TRUNCATED = """def truncated(op, dy):
    x, p = op.inputs
    n = tf.sign(x / p) * tf.floor(tf.abs(x / p))
    return sum_to(dy, x), sum_to(-n * dy, p)


def"""
UNSUMMED = """def unsummed(op, dy):
    x, p = op.inputs
    return sum_to(dy, x), -tf.floor(x / p) * dy


def"""


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
        ("one input", clip(dlow=LOW + " * tf.cast(tf.sign(-low), dy.dtype)")),
        ("one low", clip(dlow="sum_to(dy * tf.cast(x < low, tf.float64), low)")),
        ("one low", clip(dhigh="sum_to(dhigh * tf.sign(x), high)")),
        ("(2, 1, 1)", clip(dx="dx")),
        ("(2, 1, 1)", clip(dx="dx if x.shape == dx.shape else "
                           "tf.reduce_sum(dx, 1, keepdims=True)")),
        ("not yet", "clip_grad = None\n"),
        ("not yet", clip().replace("return sum_to(dx, x), ", "return ")),
    ],
    2: [
        ("and back", turn("mod(a - b, circle)")),
        ("and back", turn("a - b")),
        ("and back", turn("tf.abs(mod(a - b + circle / 2, circle) - circle / 2)")),
        ("grows: +", turn("tf.minimum(mod(a - b, circle), mod(b - a, circle))")),
        ("and back", turn("mod(b - a + circle / 2, circle) - circle / 2")),
        ("and back", turn("mod(a - b + circle / 2, circle)")),
        ("and back", turn("mod(a, circle) - mod(b, circle)")),
        ("and back", turn("mod(a - b, circle / 2)")),
        ("below 0", turn(WRAPS.format(1))),
        ("below 0", turn(WRAPS.format(10))),
        ("clock face", turn("mod(a - b + 180, 360) - 180")),
        ("clock face", turn("mod(a - b + circle // 2, circle) - circle // 2")),
        ("clock face", turn("mod(a - b + circle / 3, circle) - circle / 3")),
        ("its gradient", turn("np.mod(a - b + circle / 2, circle) - circle / 2")),
        ("its gradient", turn("mod(a - b + circle / 2, tf.stop_gradient(circle))"
                              " - circle / 2")),
        ("its gradient", turn("mod(a - b + circle / 2, circle, truncated)"
                              " - circle / 2").replace("def", TRUNCATED)),
        ("its gradient", turn("tf.stop_gradient(mod(a - b + circle / 2, circle)"
                              " - circle / 2)")),
        ("its gradient", turn("mod(a - tf.stop_gradient(b) + circle / 2, circle)"
                              " - circle / 2")),
        ("one circle", turn("mod(a - b + circle / 2, circle, unsummed) - circle / 2")
         .replace("def", UNSUMMED)),
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
        turn("mod(circle / 2 + a - b, circle) - circle / 2"),
        turn("circle / 2 - mod(circle / 2 + b - a, circle)"),
        turn("tf.math.floormod(a - b + circle / 2, circle) - circle / 2"),
        turn("(a - b) - circle * tf.round((a - b) / circle)"),
        turn("circle * (mod((a - b) / circle + 0.5, 1.0) - 0.5)"),
        turn(
            "circle / 2 / np.pi * tf.atan2(tf.sin((a - b) * 2 * np.pi / circle), "
            "tf.cos((a - b) * 2 * np.pi / circle))"
        ),
        "def turn(a, b, circle):\n"
        "    left = mod(a - b, circle)\n"
        "    return tf.where(left > circle / 2, left - circle, left)\n",
        "def turn(a, b, circle):\n"
        "    def grad(op, dy):\n"
        "        a, b, circle = op.inputs\n"
        "        n = tf.round((a - b) / circle)\n"
        "        return sum_to(dy, a), sum_to(-dy, b), sum_to(-n * dy, circle)\n"
        "    shape = np.broadcast_shapes(a.shape, b.shape, circle.shape)\n"
        "    return py_func(lambda a, b, c: (a - b + c / 2) % c - c / 2, [a, b, circle],\n"
        "                   tf.TensorSpec(shape, tf.float64), grad=grad)\n",
        "def turn(a, b, circle):\n"
        "    a, b = tf.convert_to_tensor(a), tf.convert_to_tensor(b)\n"
        "    near, far = mod(a - b, circle), mod(b - a, circle)\n"
        "    return tf.where(near < far, near, -far)\n",
    ],
}
