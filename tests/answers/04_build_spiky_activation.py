"""Answers to the exercises of lesson 04: wrong ones with a word of the hint, right ones
of another form."""

CELLS = 0, 1, 2, 3


def gate(slope):
    return f"""
def gate_slope(x):
    r = tf.math.floormod(x, 1)
    return {slope}
"""


def neuron(grad, value="tf.cast(x > 0.5, x.dtype)"):
    return f"""
@tf.custom_gradient
def fires(x):
    return {value}, lambda dy: {grad}
"""


INSIDE = "tf.cast(tf.abs(x - 0.5) < 1, x.dtype)"

WRONG = {
    1: [
        ("promise", gate("-tf.cast(r >= 0.25, x.dtype)")),  # without the constant
        ("promise", gate("0.5 - tf.cast(r >= 0.25, x.dtype)")),
        ("promise", gate("-0.75 - tf.cast(r >= 0.25, x.dtype)")),
        ("promise", gate("tf.cast(r >= 0.25, x.dtype) - 0.75")),
        ("promise", gate("0.75 - tf.cast(r >= 0.26, x.dtype)")),
        ("promise", gate("tf.cast((x >= 0) & (x < 0.25), x.dtype) - 0.25")),
        ("promise", gate("0.75 - tf.cast((r >= 0.25) | (r < 0.1), x.dtype)")),
        ("not yet", gate("np.float64(0.75) - tf.cast(r >= 0.25, 'float64')")),
    ],
    2: [
        ("what does it promise", neuron(f"dy * {INSIDE}")),
        ("what does it promise", neuron("dy * tf.cast(tf.abs(x - 0.5) < 2, x.dtype) / 4")),
        ("for which x", neuron("dy * tf.cast(tf.abs(x - 0.5) < 0.95, x.dtype) / 2")),
        ("for which x", neuron("dy * tf.cast(tf.abs(x) < 1, x.dtype) / 2")),
        ("did you use dy", neuron(f"{INSIDE} / 2")),
        ("did you use dy", neuron(f"tf.reduce_mean(dy) * {INSIDE} / 2")),
        ("did you use dy", neuron(f"tf.abs(dy) * {INSIDE} / 2")),
        ("1 if x > 1/2", neuron(f"dy * {INSIDE} / 2", "tf.cast(x >= 0.5, x.dtype)")),
        ("floats: 1", neuron(f"dy * {INSIDE} / 2", "tf.where(x > 0.5, 1, 0)")),
    ],
}
RIGHT = {
    1: [
        gate("tf.where(r < 0.25, 0.75, -0.25)"),
        gate(
            "(f := -tf.cast(r >= 0.25, x.dtype)) - np.mean("
            "-1.0 * (np.linspace(0, 1, 1001) >= 0.25)).astype(f.dtype.name)"
        ),
        gate("py_func(lambda r: np.where(r < 0.25, 0.75, -0.25), [r], like(r))"),
    ],
    2: [
        neuron("dy * tf.where(tf.abs(x - 0.5) < 1, 0.5, 0.0)", "tf.where(x > 0.5, 1.0, 0.0)"),
        """
def step(x):
    return tf.cast(x > 0.5, x.dtype)


@tf.custom_gradient
def fires(x):
    return step(x), lambda dy: dy * (step(x + 1) - step(x - 1)) / 2
""",
        """
def np_fires(x):
    return (x > 0.5).astype(x.dtype)


def slope(x):
    return py_func(lambda x: (np_fires(x + 1) - np_fires(x - 1)) / 2, [x], like(x))


fires = with_slope(np_fires, slope)
""",
    ],
}
