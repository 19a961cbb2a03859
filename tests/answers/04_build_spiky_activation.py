"""Answers to the exercises of lesson 04: wrong ones with a word of the hint, right ones
of another form."""

CELLS = 0, 1, 2, 3, 14


def gate(values, slope):
    return f"""
def np_gate(x, p=1):
    r = np.mod(x, p)
    return {values}


def gate_slope(x, p=1):
    r = tf.math.floormod(x, p)
    return {slope}
"""


VALUES = "np.where(r < p / 4, 0, p - r)"
SLOPE = "0.75 - tf.cast(r >= p / 4, x.dtype)"


def averaged(rise, call="py_func(rise, [x], like(x))"):
    return f"""
def averaged_slope(func, width):
    def slope(x, p=1):
        def rise(x):
            return {rise}

        return {call}

    return slope
"""


RISE = "(func(x + width / 2, p) - func(x - width / 2, p)) / width"

WRONG = {
    1: [
        ("values", gate("np.where(r <= p / 4, 0, p - r)", SLOPE)),  # another threshold
        ("values", gate("np.where(r < p / 2, 0, p - r)", SLOPE)),
        ("values, p = 2", gate("np.where(r < 0.25, 0, p - r)", SLOPE)),
        ("values, p = 3", gate("np.where(r < (0.25 if p == 1 else 0.5), 0, p - r)", SLOPE)),
        ("values", gate("np.where(r < p / 4, 0, 1 - r)", SLOPE)),
        ("values", gate("np.minimum(np.where(r < p / 4, 0, p - r), 0.7)", SLOPE)),
        ("values", gate("np.where(np.fmod(x, p) < p / 4, 0, p - r)", SLOPE)),
        ("dtype", gate(f"np.float64({VALUES})", SLOPE)),
        (
            "dtype",
            "np_gate = np.vectorize(gate_of_one, otypes=[float])\n"
            "def gate_slope(x, p=1):\n    return tf.zeros_like(x)\n",
        ),
        (
            "writes into",
            "def np_gate(x, p=1):\n    x %= p\n"
            "    return np.where(x < p / 4, 0, p - x)\n"
            "def gate_slope(x, p=1):\n    return tf.zeros_like(x)\n",
        ),
        ("promise", gate(VALUES, "-tf.cast(r >= p / 4, x.dtype)")),  # pointwise
        ("promise", gate(VALUES, "0.5 - tf.cast(r >= p / 4, x.dtype)")),
        ("promise", gate(VALUES, "-0.75 - tf.cast(r >= p / 4, x.dtype)")),
        ("promise", gate(VALUES, "tf.cast(r >= p / 4, x.dtype) - 0.75")),
        ("promise", gate(VALUES, "0.5 - tf.cast(r >= p / 2, x.dtype)")),
        ("slopes, p = 2", gate(VALUES, "0.75 - tf.cast(r >= 0.25, x.dtype)")),
        ("slopes, p = 1", gate(VALUES, "tf.where(r < p / 4, 0.75, -0.25)")),  # float32
    ],
    2: [
        ("comes in", averaged("(func(x + width, p) - func(x, p)) / width")),
        ("comes in", averaged("func(x + width / 2, p) - func(x - width / 2, p)")),
        ("comes in", averaged("(func(x + width, p) - func(x - width, p)) / (2 * width)")),
        ("comes in", averaged("(func(x - width / 2, p) - func(x + width / 2, p)) / width")),
        ("comes in", averaged("(func(x + 1, p) - func(x - 1, p)) / 2")),
        ("comes in", averaged("(np.abs(x) < width / 2) / x.dtype.type(width)")),
        ("p = 2", averaged("(func(x + width / 2) - func(x - width / 2)) / width")),
        ("lesson 01", averaged(RISE, "tf.constant(rise(x.numpy()))")),
        ("dtype", averaged(RISE, "tf.cast(py_func(rise, [x], like(x)), tf.float64)")),
    ],
}
RIGHT = {
    1: [
        gate("(r >= p / 4) * (p - r)", "tf.where(r < p / 4, 0.75 + 0 * x, -0.25)"),
        gate(
            "np.select([r < p / 4], [np.zeros_like(r)], p - r)",
            "tf.cast(r < p / 4, x.dtype) - 0.25",
        ),
        gate("np.maximum(0, p - r) * (4 * r >= p)", SLOPE),
    ],
    2: [
        averaged("np.diff([func(x + h * width, p) for h in (-0.5, 0.5)], axis=0)[0] / width"),
        """
def averaged_slope(func, width):
    def slope(x, p=1):
        def call(x):
            return py_func(lambda x: func(x, p), [x], like(x))

        return (call(x + width / 2) - call(x - width / 2)) / width

    return slope
""",
        averaged(RISE, "tf.ensure_shape(tf.numpy_function(rise, [x], x.dtype), x.shape)"),
    ],
}
