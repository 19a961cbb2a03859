"""Answers to the exercises of lesson 13: wrong ones with a word of the hint, right ones
of another form."""

CELLS = 0, 1

CHOSEN = (
    'answers = {"a": "py_func", "b": "py_func, 2nd order", "c": "C++ op",\n'
    '           "d": "py_func, no gradient", "e": "no op", "f": "py_func",\n'
    '           "g": "TensorFlow\'s ops", "h": "TensorFlow\'s ops",\n'
    '           "ab": 5, "cd": 3, "ef": 1, "gh": 2}\n'
)


def op(dx, then="return value", value="erfcx(x)"):
    return f"""
C = 2 / np.sqrt(np.pi)


def np_erfcx(x):
    value = {value}
    return value, 2 * x * value - C


def by_scipy(x):
    def grad(op, dvalue, dslope):
        value, slope = op.outputs
        return {dx}

    value, slope = py_func(np_erfcx, [x], [like(x), like(x)], grad=grad)
    {then}
"""


BY_PRODUCT = "dvalue * slope + dslope * (2 * value + 2 * {} * slope)"
OUR_X = BY_PRODUCT.format("op.inputs[0]")

WRONG = {
    1: [
        # a second derivative that nobody takes, and one that is forgotten
        ("a: ", CHOSEN + 'answers["a"] = "py_func, 2nd order"\n'),
        ("how many times", CHOSEN + 'answers["b"] = "py_func"\n'),
        ("of yours", CHOSEN + 'answers["c"] = "py_func, no gradient"\n'),
        ("a photo need", CHOSEN + 'answers["d"] = "py_func"\n'),
        ("tf.data run", CHOSEN + 'answers["d"] = "C++ op"\n'),
        ("calls the drag", CHOSEN + 'answers["e"] = "py_func"\n'),
        ("in a step of fit", CHOSEN + 'answers["f"] = "no op"\n'),
        ("run on a TPU", CHOSEN + 'answers["g"] = "py_func"\n'),
        ("not in", CHOSEN + 'answers["d"] = "tf.numpy_function"\n'),
        ("e: ", CHOSEN + 'del answers["e"]\n'),
        ("ab: ", CHOSEN + 'answers["ab"] = 4\n'),
        ("cd: ", CHOSEN + 'answers["cd"] = 4\n'),
        ("stand in", CHOSEN + 'answers["h"] = "py_func"\n'),
        ("ef: ", CHOSEN + 'answers["ef"] = True\n'),
        ("still open", "answers = None\n"),
    ],
    2: [
        ("second derivative", op("dvalue * slope")),
        # one term of the product rule, or dslope with the wrong factor, or without one
        ("second derivative", op("dvalue * slope + dslope * 2 * value")),
        ("second derivative", op("dvalue * slope + 2 * dslope")),
        ("second derivative", op("dvalue * slope + dslope")),
        ("second derivative", op(OUR_X.replace("2 * value", "2 * dvalue * value"))),
        ("second derivative", op(OUR_X.replace("* slope)", "* tf.stop_gradient(dvalue))"))),
        ("first derivative", op(OUR_X.replace("dvalue * ", ""))),
        ("third derivative", op(OUR_X.replace("dslope * ", "dslope * tf.stop_gradient"))),
        ("op.inputs", op(BY_PRODUCT.format("x"))),
        # TensorFlow's formula, where exp overflows
        ("overflows", op("0", then="return tf.exp(x**2) * tf.math.erfc(x)")),
        ("the value", op(OUR_X, value="erfcx(x) + 1")),
    ],
}

RIGHT = {
    1: [CHOSEN, CHOSEN + 'answers["i"] = "no op"\n', CHOSEN + 'answers["ab"] = 5.0\n'],
    2: [
        op(OUR_X),
        op(
            "dvalue * slope + dslope * (2 * value + 2 * op.inputs[0] * (2 * op.inputs[0] * value - C))"
        ),
        op("dvalue * (2 * op.inputs[0] * by_scipy(op.inputs[0]) - C)"),
    ],
}
