"""Answers to the exercises of lesson 04: wrong ones with a word of the hint, right ones
of another form."""

CELLS = 0, 1, 4, 8


def mended(c, slope="slope(x) - c", func="func"):
    return f"""
def mended(func, slope):
    points = tf.constant((np.arange(1000) + 0.5) / 1000)
    c = {c}
    return with_slope({func}, lambda x: {slope})
"""


RIGHT_C = "float(np.mean(slope(points)) - func(1.0) + func(0.0))"


def neuron(grad, value="tf.cast(x > 0.5, x.dtype)"):
    return f"""
def firing(width):
    @tf.custom_gradient
    def fires(x):
        return {value}, lambda dy: {grad}

    return fires
"""


INSIDE = "tf.cast(tf.abs(x - 0.5) < width / 2, x.dtype)"

WRONG = {
    1: [
        ("np_spiky, float64", mended("0.25")),
        ("np_spiky", mended(RIGHT_C, "slope(x) + c")),
        ("np_high", mended("float(np.mean(slope(points)) - abs(func(1.0) - func(0.0)))")),
        ("np_spiky", mended(RIGHT_C, "0 * x - c")),
        ("round", mended("float(np.mean(slope(points))) and " + RIGHT_C)),
        ("np_high", mended("float(np.mean(slope(points)) - int(func(1.0) - func(0.0)))")),
        ("np_gate", mended("abs(" + RIGHT_C + ")")),
        ("np_high", mended("float(np.mean(slope(points)) or func(0.0) - func(1.0))")),
        ("np_high", mended("float(np.mean(slope(points)) - func(1.0))")),
        ("np_spiky", mended("float(np.sum(slope(points)) - func(1.0) + func(0.0))")),
        ("op returns", mended(RIGHT_C, func="lambda x: func(x) - c * x")),
        ("round", mended("float(np.mean(slope(points)) - func(1.5) + func(0.5))")),
    ],
    2: [
        ("which slope", neuron(f"dy * {INSIDE}")),
        ("width 0.5", neuron(f"dy * {INSIDE} / 2")),
        ("width 2", neuron(f"dy * {INSIDE} / 2 / width")),
        ("x's dtype", neuron(f"dy * {INSIDE} / 2", "tf.cast(x > 0.5, tf.float32)")),
        ("begin and end", neuron(f"dy * {INSIDE} / width".replace("/ 2", ""))),
        ("begin", neuron("dy * tf.cast((x > 0.5) & (x < 0.5 + width), x.dtype) / width")),
        ("Did you use dy", neuron(f"{INSIDE} / width")),
        ("Did you use dy", neuron(f"tf.reduce_mean(dy) * {INSIDE} / width")),
        ("1 if x > 1/2", neuron(f"dy * {INSIDE} / 2", "tf.cast(x >= 0.5, x.dtype)")),
        ("floats: 1", neuron(f"dy * {INSIDE} / 2", "tf.where(x > 0.5, 1, 0)")),
    ],
}
RIGHT = {
    1: [
        mended(RIGHT_C),
        mended(
            "tf.reduce_mean(slope(points)) - (func(2.25) - func(1.25))",
            "slope(x) - tf.cast(c, x.dtype)",
        ),
        """
def mended(func, slope):
    x = np.linspace(0, 1, 3001)
    c = float(np.sum(slope(tf.constant(x[:-1]))) / 3000 + func(x)[0] - func(x)[-1])

    def grad(op, dy):
        return dy * (slope(op.inputs[0]) - c)

    return lambda x: py_func(func, [x], like(x), grad=grad)
""",
    ],
    2: [
        neuron(f"{INSIDE} * dy / width", "tf.maximum(tf.sign(x - 0.5), 0)"),
        neuron("dy * (tf.sign(2 * x - 1 + width) - tf.sign(2 * x - 1 - width)) / 2 / width"),
        """
def firing(width):
    def fires(x):
        soft = tf.clip_by_value((x - 0.5) / width + 0.5, 0, 1)
        return soft + tf.stop_gradient(tf.cast(x > 0.5, x.dtype) - soft)

    return fires
""",
    ],
}
