"""Answers to the exercises of lesson 04: wrong ones with a word of the hint, right ones
of another form."""

CELLS = 0, 1, 2, 3


def gate(slope):
    return f"""
def gate_slope(x, p=1):
    r = tf.math.floormod(x, p)
    return {slope}
"""


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
        ("promise", gate("-tf.cast(r >= p / 4, x.dtype)")),  # without the constant
        ("promise", gate("0.5 - tf.cast(r >= p / 4, x.dtype)")),
        ("promise", gate("0.25 - tf.cast(r >= p / 4, x.dtype)")),
        ("promise", gate("-0.75 - tf.cast(r >= p / 4, x.dtype)")),
        ("promise", gate("tf.cast(r >= p / 4, x.dtype) - 0.75")),
        ("promise", gate("0.75 - tf.cast(r >= 0.28 * p, x.dtype)")),
        ("slopes, p = 2", gate("0.75 * p - tf.cast(r >= p / 4, x.dtype)")),
        ("slopes, p = 2", gate("0.75 - tf.cast(r >= 0.25, x.dtype)")),
        ("slopes, p = 3", gate("np.float64(0.75) - tf.cast(r >= p / 4, 'float64')")),
    ],
    2: [
        ("comes in", averaged("(func(x + width, p) - func(x, p)) / width")),
        ("comes in", averaged("func(x + width / 2, p) - func(x - width / 2, p)")),
        ("comes in", averaged("(func(x + width, p) - func(x - width, p)) / (2 * width)")),
        ("comes in", averaged("(func(x - width / 2, p) - func(x + width / 2, p)) / width")),
        ("comes in", averaged("(func(x + 1, p) - func(x - 1, p)) / 2")),
        ("comes in", averaged("(np.abs(x) < width / 2) / x.dtype.type(width)")),
        ("p = 2", averaged("(func(x + width / 2) - func(x - width / 2)) / width")),
        ("needs py_func", averaged(RISE, "tf.constant(rise(x.numpy()))")),
        ("dtype of x", averaged(RISE, "tf.cast(py_func(rise, [x], like(x)), tf.float64)")),
        ("p = 1", averaged(RISE, "py_func(rise, [x], tf.float32)")),
    ],
}
RIGHT = {
    1: [
        gate("tf.where(r < p / 4, 0.75 + 0 * x, -0.25)"),
        gate("tf.cast(r < p / 4, x.dtype) - 0.25"),
        gate("py_func(lambda r: np.where(r < p / 4, 0.75, -0.25), [r], like(r))"),
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
