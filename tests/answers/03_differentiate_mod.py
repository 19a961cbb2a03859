"""Answers to the exercises of lesson 03: wrong ones with a word of the hint, right ones
of another form."""

CELLS = 0, 1, 5, 7, 10, 14, 15, 18

FMOD = """
def fmod_grad(op, dy):
    x, p = op.inputs
    n = tf.sign(x / p) * tf.floor(tf.abs(x / p))
    return DX, DP
"""


def fmod(dx="sum_to(dy, x)", dp="sum_to(-n * dy, p)"):
    return FMOD.replace("DX", dx).replace("DP", dp)


WRONG = {
    1: [
        ("how is n rounded", fmod().replace("tf.sign", "tf.abs")),
        (
            "how is n rounded",
            "def fmod_grad(op, dy):\n"
            "    x, p = op.inputs\n"
            "    return sum_to(dy, x), sum_to(-tf.round(x / p) * dy, p)\n",
        ),
        ("how is n rounded", fmod(dp="sum_to(n * dy, p)")),
        ("how is n rounded", fmod(dp="sum_to(tf.zeros_like(dy), p)")),
        ("multiplied by dy", fmod(dp="sum_to(-n, p)")),
        ("7 terms", fmod(dx="dy", dp="-n * dy")),
        (
            "7 terms",
            fmod(dp="sum_to(-n * dy, p) * (tf.size(p) / tf.size(dy))"),
        ),
        ("sum both", fmod(dx="dy")),
        (
            "float32",
            fmod(dp="sum_to(-n * dy, p)").replace(
                "n = ", "n = tf.constant(1.0, tf.float64) * "
            ),
        ),
        ("not yet", "fmod_grad = None\n"),
        (
            "three axes",
            "def fmod_grad(op, dy):\n"
            "    x, p = op.inputs\n"
            "    d = -tf.sign(x / p) * tf.floor(tf.abs(x / p)) * dy\n"
            "    if p.shape.rank == 0:\n"
            "        dp = tf.reduce_sum(d)\n"
            "    else:\n"
            "        dp = d if d.shape == p.shape else tf.reduce_sum(d, axis=0)\n"
            "    if dy.shape == x.shape:\n"
            "        return dy, dp\n"
            "    return tf.reduce_sum(dy, axis=1, keepdims=True), dp\n",
        ),
        (
            "a large row",
            "def fmod_grad(op, dy):\n"
            "    x, p = op.inputs\n"
            "    n = tf.cast(tf.cast(x / p, tf.int8), x.dtype)\n"
            "    return sum_to(dy, x), sum_to(-n * dy, p)\n",
        ),
        ("dx is dy", fmod(dx="sum_to(-dy, x)")),
        (
            "three axes",
            "def fmod_grad(op, dy):\n"
            "    x, p = op.inputs\n"
            "    n = tf.sign(x / p) * tf.floor(tf.abs(x / p))\n"
            "    def s(d, t):\n"
            "        if t.shape == d.shape or t.shape.rank == 0:\n"
            "            return d if t.shape.rank else tf.reduce_sum(d)\n"
            "        if t.shape.rank == 1:\n"
            "            return tf.reduce_sum(d, axis=0)\n"
            "        return tf.reduce_sum(d, axis=1, keepdims=True)\n"
            "    return s(dy, x), s(-n * dy, p)\n",
        ),
    ],
    2: [
        ("narrow valley", "stages = [1, 20]\n"),
        ("narrow valley", "stages = [20, 5, 1]\n"),
        ("narrow valley", "stages = [1, 5]\n"),
        ("narrow valley", "stages = [1, 15, 20]\n"),
        ("narrow valley", "stages = [3, 10, 20]\n"),
        ("three stages", "stages = [1, 3, 6, 12, 20]\n"),
        ("three stages", "stages = list(range(1, 21))\n"),
        ("three stages", "stages = 20\n"),
        ("from 1 to 20", "stages = [1, 10, 40]\n"),
        ("from 1 to 20", "stages = [-19, 10, 20]\n"),
        ("from 1 to 20", "stages = [0, 10, 20]\n"),
        ("whole numbers", "stages = [1.0, 5.0, 20.0]\n"),
        ("three stages", "stages = []\n"),
        ("not yet", "stages = None\n"),
    ],
}
RIGHT = {
    1: [
        "def fmod_grad(op, dy):\n"
        "    x, p = op.inputs\n"
        "    n = tf.where(x / p < 0, tf.math.ceil(x / p), tf.floor(x / p))\n"
        "    return sum_to(dy, x), -sum_to(n * dy, p)\n",
        "def fmod_grad(op, dy):\n"
        "    x, p = op.inputs\n"
        "    n = (x - op.outputs[0]) / p\n"
        "    return sum_to(dy, x), sum_to(-n * dy, p)\n",
        "def fmod_grad(op, dy):\n"
        "    x, p = op.inputs\n"
        "    n = tf.cast(tf.cast(x / p, tf.int64), x.dtype)\n"
        "    return sum_to(dy, x), sum_to(-n * dy, p)\n",
    ],
    2: [
        "stages = [1, 8, 20]\n",
        "stages = (1, 3, 20)\n",
        "stages = np.array([1, 6, 19])\n",
    ],
}
