"""Answers to the exercises of lesson 08: wrong ones with a word of the hint, right ones
of another form."""

CELLS = 0, 1, 2  # the others show, check or train

RANGE = """
def range_backward(data, rois, dy):
    dx = np.zeros_like(data)
    for place, pixels in bins(rois, dy.shape[1:3]):
        window = data[pixels]
        high = window == window.max(axis=(0, 1))
        low = window == window.min(axis=(0, 1))
        BODY
    return dx
"""
SHARED = "dx[pixels] += dy[place] * (high / high.sum((0, 1)) - low / low.sum((0, 1)))"
GRAD = """
def grad_of_grad(op, up):
    data, rois, argmax, dy = op.inputs
    images = tf.reshape(up, [tf.shape(up)[0], -1])
    images = tf.gather(images, tf.cast(rois[:, 0], tf.int32))
    places = tf.reshape(argmax, [tf.shape(argmax)[0], -1])
    found = tf.gather(images, tf.maximum(places, 0), batch_dims=1)
    found = tf.where(places >= 0, found, tf.zeros_like(found))
    return None, None, None, tf.reshape(found, tf.shape(dy))
"""


def pool_range(body=SHARED):
    return RANGE.replace("BODY", body)


def changed(old, new):
    assert old in GRAD
    return GRAD.replace(old, new)


WRONG = {
    1: [
        ("several are the largest", pool_range("dx[pixels] += dy[place] * high - dy[place] * low")),
        # where the largest is the smallest, the smallest is forgotten
        (
            "all are equal",
            pool_range(
                "lost = -1.0 * low / low.sum((0, 1))\n"
                "        shares = np.where(high, high / high.sum((0, 1)), lost)\n"
                "        dx[pixels] += dy[place] * shares"
            ),
        ),
        # right with up to five winners; right in the first bin
        ("several are the largest", pool_range(SHARED.replace("high.sum((0, 1))", "np.minimum(high.sum((0, 1)), 5)"))),
        ("several are the largest", pool_range("n = high.sum((0, 1)) if place[1:] == (0, 0) else 1\n        " + SHARED.replace("high.sum((0, 1))", "n"))),
        ("several are the smallest", pool_range(SHARED.replace("low.sum((0, 1))", "low[..., 0].sum()"))),
        # the runner-up, which is close, counts as a winner
        ("several are the smallest", pool_range().replace("window == window.min(axis=(0, 1))", "np.isclose(window, window.min(axis=(0, 1)), rtol=1e-6)")),
        # 2 for the first of the largest and -1 for the last also add up to 1
        (
            "is negative",
            pool_range(
                "flat = high.reshape(-1, high.shape[2])\n"
                "        first = high & (flat.cumsum(0) == 1).reshape(high.shape)\n"
                "        many = high.sum((0, 1)) > 1\n"
                "        rest = (high & ~first) / np.maximum(high.sum((0, 1)) - 1, 1)\n"
                "        shares = first * (1.0 + many) - rest\n"
                "        dx[pixels] += dy[place] * (shares - low / low.sum((0, 1)))"
            ),
        ),
        ("bins that share", pool_range(SHARED.replace("+=", "="))),
        (
            "outside the box",
            pool_range(
                "high = data[pixels[0]] == window.max(axis=(0, 1))\n"
                "        dx[pixels[0]] += dy[place] * high / high.sum((0, 1))\n"
                "        dx[pixels] -= dy[place] * low / low.sum((0, 1))"
            ),
        ),
        # +5 and -5 where all are equal; the first winner for a large dy, else the last
        ("all are equal", pool_range(SHARED + "\n        extra = 5.0 * (high & low)\n        extra[1:-1] = extra[:, 1:] = 0\n        extra[-1] *= -1\n        dx[pixels] += dy[place] * extra")),
        ("for every dy", pool_range("some = np.where(abs(dy[place]) > 1, np.cumsum(high, 0) == 1, np.cumsum(high[::-1], 0)[::-1] == 1) & high\n        dx[pixels] += dy[place] * (some / some.sum((0, 1)) - low / low.sum((0, 1)))")),
        ("two channels", pool_range("dx[pixels] += dy[place] * high / high.sum((0, 1))")),
        ("two channels", pool_range(SHARED.replace("dx[pixels]", "dx[0][pixels[1:]]"))),
    ],
    2: [
        ("image 2", changed("tf.gather(images, tf.cast(rois[:, 0], tf.int32))",
                            "tf.repeat(images[:1], tf.shape(rois)[0], axis=0)")),
        ("which image", changed("tf.gather(images, tf.cast(rois[:, 0], tf.int32))",
                                "tf.repeat(tf.gather(images, [tf.cast(rois[0, 0], "
                                "tf.int32)]), tf.shape(rois)[0], axis=0)")),
        ("first pixel", changed("places >= 0", "places > 0")),
        ("empty bin", changed("tf.where(places >= 0, found, tf.zeros_like(found))",
                              "found")),
        ("two channels", changed("tf.reshape(found, tf.shape(dy))", "up")),
        ("two channels", changed("tf.reshape(found, tf.shape(dy))",
                                 "dy * tf.reshape(found, tf.shape(dy))")),
        ("data and rois", changed("return None", "return up")),
        ("not yet", changed("return None, None, None, ", "return ")),
        ("float32", changed("tf.where(places >= 0, found, tf.zeros_like(found))",
                            "found * tf.cast(places >= 0, tf.float64)")),
        ("3 x 1", changed("tf.shape(dy))", "[tf.shape(dy)[0], 2, 2, 2])")),
        ("number of boxes", changed("tf.shape(dy))", "dy.shape)")),
    ],
}  # fmt: skip
RIGHT = {
    1: [
        pool_range(),
        # random shares, but fixed, and other ones in each bin
        pool_range(
            "share = np.random.default_rng(sum(place)).random(window.shape)\n"
            "        high, low = high * share, low * share\n        " + SHARED
        ),
        "def range_backward(data, rois, dy):\n"
        "    dx = np.zeros_like(data)\n"
        "    for place, (n, rows, columns) in bins(rois, dy.shape[1:3]):\n"
        "        window = data[n, rows, columns]\n"
        "        for c in range(data.shape[3]):\n"
        "            one = window[:, :, c]\n"
        "            y, x = np.unravel_index(one.argmax(), one.shape)\n"
        "            dx[n, rows.start + y, columns.start + x, c] += dy[place][c]\n"
        "            y, x = np.unravel_index(one.argmin(), one.shape)\n"
        "            dx[n, rows.start + y, columns.start + x, c] -= dy[place][c]\n"
        "    return dx\n",
    ],
    2: [
        "def grad_of_grad(op, up):\n"
        "    rois, argmax = op.inputs[1:3]\n"
        "    size = tf.size(up[0])\n"
        "    first = size * tf.cast(rois[:, 0], tf.int32)\n"
        "    places = argmax + first[:, None, None, None]\n"
        "    found = tf.gather(tf.reshape(up, [-1]), tf.maximum(places, 0))\n"
        "    dy = found * tf.cast(argmax >= 0, up.dtype)\n"
        "    return [tf.zeros_like(up), tf.zeros_like(rois), None, dy]\n",
        "def grad_of_grad(op, up):\n"
        "    def pick(up, rois, argmax):\n"
        "        image = rois[:, 0].astype(int)[:, None, None, None]\n"
        "        found = up.reshape(len(up), -1)[image, argmax]\n"
        "        return np.where(argmax < 0, 0, found)\n"
        "    dy = py_func(pick, [up, *op.inputs[1:3]], like(op.inputs[3]))\n"
        "    return None, None, None, dy\n",
    ],
}
