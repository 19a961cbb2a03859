"""Answers to the exercises of lesson 12: wrong ones with a word of the hint, right ones
of another form."""

CELLS = 0, 1  # the others build a wheel

HEAD = """clip = '''
template <typename T>
void Clip(const T* x, T low, T high, T* y, int64_t begin, int64_t end) {
"""
TAIL = "}\n'''\n"
EACH = "  for (int64_t i = begin; i < end; ++i) "

WRONG = {
    1: [
        (
            "elements wrong",
            "def clip_grad(op, dy):\n"
            "    x, low, high = op.inputs\n"
            "    inside = tf.cast((x > low) & (x < high), dy.dtype)\n"
            "    return dy * inside, tf.zeros_like(low), tf.zeros_like(high)\n",
        ),
        (
            "shape",
            "def clip_grad(op, dy):\n"
            "    x, low, high = op.inputs\n"
            "    zero = tf.zeros_like(dy)\n"
            "    below, above = tf.where(x < low, dy, zero), tf.where(x > high, dy, zero)\n"
            "    return dy - below - above, below, above\n",
        ),
        (
            "upstream gradient: ones",
            "def clip_grad(op, dy):\n"
            "    x, low, high = op.inputs\n"
            "    zero = tf.zeros_like(dy)\n"
            "    below, above = tf.where(x < low, dy, zero), tf.where(x > high, dy, zero)\n"
            "    return dy - below - above, tf.reduce_sum(above), tf.reduce_sum(below)\n",
        ),
        (
            "elements wrong",
            "def clip_grad(op, dy):\n"
            "    x, low, high = op.inputs\n"
            "    zero = tf.zeros_like(dy)\n"
            "    below, above = tf.where(x < low, dy, zero), tf.where(x > high, dy, zero)\n"
            "    return dy - below - above, tf.reduce_mean(below), tf.reduce_mean(above)\n",
        ),
        (
            "multiplied by dy",
            "def clip_grad(op, dy):\n"
            "    x, low, high = op.inputs\n"
            "    count = lambda which: tf.reduce_sum(tf.cast(which, x.dtype))\n"
            "    return (tf.cast((x > low) & (x < high), x.dtype),\n"
            "            count(x < low), count(x > high))\n",
        ),
        (
            "tf.function",
            "def clip_grad(op, dy):\n"
            "    x, low, high = (v.numpy() for v in op.inputs)\n"
            "    return (dy * ((x > low) & (x < high)), tf.reduce_sum(dy * (x < low)),\n"
            "            tf.reduce_sum(dy * (x > high)))\n",
        ),
        (
            "in float32",
            "def clip_grad(op, dy):\n"
            "    x, low, high = op.inputs\n"
            "    zero = tf.zeros_like(dy)\n"
            "    below, above = tf.where(x < -0.5, dy, zero), tf.where(x > 1.5, dy, zero)\n"
            "    return dy - below - above, tf.reduce_sum(below), tf.reduce_sum(above)\n",
        ),
        (
            "elements wrong",
            "def clip_grad(op, dy):\n"
            "    x, low, high = op.inputs\n"
            "    zero = tf.zeros_like(dy)\n"
            "    below, above = tf.where(x < 0, dy, zero), tf.where(x > high, dy, zero)\n"
            "    return dy - below - above, tf.reduce_sum(below), tf.reduce_sum(above)\n",
        ),
        (
            "elements wrong",
            "def clip_grad(op, dy):\n"
            "    x, low, high = op.inputs\n"
            "    zero = tf.zeros_like(dy)\n"
            "    below, above = tf.where(x < low, dy, zero), tf.where(x > 1.2, dy, zero)\n"
            "    return dy - below - above, tf.reduce_sum(below), tf.reduce_sum(above)\n",
        ),
        (
            "line 3 of your cell",
            "def clip_grad(op, dy):\n"
            "    x, low, high = op.inputs\n"
            "    return tf.where(low < x < high, dy, 0), low, high\n",
        ),
        # on a bound: to both, and to none
        (
            "once",
            "def clip_grad(op, dy):\n"
            "    x, low, high = op.inputs\n"
            "    zero = tf.zeros_like(dy)\n"
            "    return (tf.where((x >= low) & (x <= high), dy, zero),\n"
            "            tf.reduce_sum(tf.where(x <= low, dy, zero)),\n"
            "            tf.reduce_sum(tf.where(x >= high, dy, zero)))\n",
        ),
        (
            "once",
            "def clip_grad(op, dy):\n"
            "    x, low, high = op.inputs\n"
            "    zero = tf.zeros_like(dy)\n"
            "    return (tf.where((x > low) & (x < high), dy, zero),\n"
            "            tf.reduce_sum(tf.where(x < low, dy, zero)),\n"
            "            tf.reduce_sum(tf.where(x > high, dy, zero)))\n",
        ),
        # to the other bound, and without dy
        (
            "once",
            "def clip_grad(op, dy):\n"
            "    x, low, high = op.inputs\n"
            "    dx = tf.where((x > low) & (x < high), dy, tf.zeros_like(dy))\n"
            "    dlow = tf.reduce_sum(dy[x < low])\n"
            "    return dx, dlow, tf.reduce_sum(dy) - tf.reduce_sum(dx) - dlow\n",
        ),
        (
            "once",
            "def clip_grad(op, dy):\n"
            "    x, low, high = op.inputs\n"
            "    dx = tf.where((x > low) & (x < high), dy, tf.zeros_like(dy))\n"
            "    dx += tf.cast((x == low) | (x == high), dy.dtype)\n"
            "    return dx, tf.reduce_sum(dy[x < low]), tf.reduce_sum(dy[x > high])\n",
        ),
        (
            "in float32",
            "def clip_grad(op, dy):\n"
            "    x, low, high = op.inputs\n"
            "    axes = [0, 1][:len(x.shape)]\n"
            "    zero = tf.zeros_like(dy)\n"
            "    return (tf.where((x > low) & (x < high), dy, zero),\n"
            "            tf.reduce_sum(tf.where(x <= low, dy, zero), axes),\n"
            "            tf.reduce_sum(tf.where(x >= high, dy, zero), axes))\n",
        ),
    ],
    2: [
        (
            "outside",
            HEAD
            + "  for (int64_t i = 0; i < end; ++i) y[i] = std::clamp(x[i], low, high);\n"
            + TAIL,
        ),
        (
            "outside",
            HEAD
            + "  for (int64_t i = begin; i <= end; ++i) y[i] = std::clamp(x[i], low, high);\n"
            + TAIL,
        ),
        (
            "wrong",
            HEAD + EACH + "y[i] = std::max(std::min(x[i], low), high);\n" + TAIL,
        ),
        (
            "double",
            HEAD
            + EACH
            + "y[i] = std::clamp(float(x[i]), float(low), float(high));\n"
            + TAIL,
        ),
        (
            "a number is wrong",
            HEAD + EACH + "y[i] = std::clamp(x[i], T(-1) / 3, T(2) / 3);\n" + TAIL,
        ),
        (
            "a number is wrong",
            HEAD
            + EACH
            + "y[i] = x[i] < 0 ? std::max(x[i], low) : std::min(x[i], high);\n"
            + TAIL,
        ),
        (
            "x was written",
            HEAD + EACH + "y[i] = ((T*)x)[i] = std::clamp(x[i], low, high);\n" + TAIL,
        ),
        (
            "n = 300, begin = 0, end = 300",
            HEAD
            + EACH
            + "y[uint8_t(i)] = std::clamp(x[uint8_t(i)], low, high);\n"
            + TAIL,
        ),
        ("compile", HEAD + EACH + "y[i] = clip(x[i], low, high);\n" + TAIL),
        ("come to an end", HEAD + "  for (;;) y[begin] = low;\n" + TAIL),
    ],
}
RIGHT = {
    1: [
        "def clip_grad(op, dy):\n"
        "    x, low, high = op.inputs\n"
        "    below, above = tf.cast(x < low, dy.dtype), tf.cast(x > high, dy.dtype)\n"
        "    return [dy * (1 - below - above), tf.reduce_sum(dy * below),\n"
        "            tf.reduce_sum(dy * above)]\n",
        "def clip_grad(op, dy):\n"
        "    x, low, high = op.inputs\n"
        "    y = op.outputs[0]\n"
        "    return (tf.where(x == y, dy, tf.zeros_like(dy)),\n"
        "            tf.reduce_sum(dy[x < low]), tf.reduce_sum(dy[x > high]))\n",
        "def clip_grad(op, dy):\n"
        "    x, low, high = op.inputs\n"
        "    zero = tf.zeros_like(dy)\n"
        "    return (tf.where((x > low) & (x < high), dy, zero),\n"
        "            tf.reduce_sum(tf.where(x <= low, dy, zero)),\n"
        "            tf.reduce_sum(tf.where(x >= high, dy, zero)))\n",
    ],
    2: [
        HEAD + EACH + "y[i] = std::clamp(x[i], low, high);\n" + TAIL,
        HEAD
        + "  std::transform(x + begin, x + end, y + begin, [=](T v) {\n"
        + "    return std::min(std::max(v, low), high);\n"
        + "  });\n"
        + TAIL,
    ],
}
