"""Answers to the exercises of lesson 04: wrong ones with a word of the hint, right ones
of another form."""

CELLS = 0, 1, 2, 3


def differences(slope, op="with_slope(func, slope)"):
    return f"""
def by_difference(func, h):
    def slope(x):
        return {slope}
    return {op}
"""


def by_numpy(slope):
    return differences(f"py_func(lambda x: {slope}, [x], like(x))")


def neuron(grad, value="tf.cast(x > 0.5, x.dtype)"):
    return f"""
@tf.custom_gradient
def fires(x):
    return {value}, lambda dy: {grad}
"""


INSIDE = "tf.cast(tf.abs(x - 0.5) < 1, x.dtype)"

WRONG = {
    1: [
        ("dy is 3", by_numpy("(func(x + h) - func(x - h)) / h")),
        ("dy is 3", by_numpy("(func(x + h) - func(x - h)) / 2")),
        ("dy is 3", by_numpy("(func(x + h) - func(x)) / h")),
        ("dy is 3", by_numpy("(func(x - h) - func(x + h)) / (2 * h)")),
        ("dy is 3", by_numpy("np.abs(func(x + h) - func(x - h)) / (2 * h)")),
        ("dy is 3", by_numpy("np.float64(func(x + 0.5) - func(x - 0.5))")),
        ("not yet", differences("(func(x + h) - func(x - h)) / (2 * h)")),
        ("np.floor", differences("0 * x", "with_slope(np.square, slope)")),
    ],
    2: [
        ("which x", neuron(f"dy * {INSIDE}")),
        ("which x", neuron("dy * tf.cast(tf.abs(x - 0.5) < 2, x.dtype) / 4")),
        ("which x", neuron("dy * tf.cast(tf.abs(x - 0.5) < 0.95, x.dtype) / 2")),
        ("which x", neuron("dy * tf.cast(tf.abs(x) < 1, x.dtype) / 2")),
        ("Did you use dy", neuron(f"{INSIDE} / 2")),
        ("Did you use dy", neuron(f"tf.reduce_mean(dy) * {INSIDE} / 2")),
        ("1 if x > 1/2", neuron(f"dy * {INSIDE} / 2", "tf.cast(x >= 0.5, x.dtype)")),
        ("floats: 1", neuron(f"dy * {INSIDE} / 2", "tf.where(x > 0.5, 1, 0)")),
    ],
}
RIGHT = {
    1: [
        by_numpy("(func(x + h) - func(x - h)) / (2 * h)"),
        """
def by_difference(func, h):
    op = with_slope(func, tf.zeros_like)
    return with_slope(func, lambda x: (op(x + h) - op(x - h)) / (2 * h))
""",
        """
def by_difference(func, h):
    def np_grad(x, dy):
        return dy * (func(x + h) - func(x - h)) / (2 * h)

    def grad(op, dy):
        return py_func(np_grad, [op.inputs[0], dy], like(dy))

    return lambda x: py_func(func, [x], like(x), grad=grad)
""",
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
    ],
}
