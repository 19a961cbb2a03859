"""Answers to the exercises of lesson 13: wrong ones with a word of the hint, right ones
of another form."""

CELLS = 0, 1

CHOSEN = (
    'answers = {"a": "py_func", "b": "py_func, 2nd order", "c": "C++ op",\n'
    '           "d": "py_func, no gradient", "e": "no op", "f": "py_func",\n'
    '           "g": "TensorFlow\'s ops", "h": "TensorFlow\'s ops",\n'
    '           "ab": 5, "cd": 3, "ef": 1, "gh": 2}\n'
)


def op(*lines, value="erfcx", slope="2 * op.inputs[0] * op.outputs[0] - C"):
    code = ["C = 2 / np.sqrt(np.pi)", *lines, "def by_scipy(x):"]
    code += [f"    return py_func({value}, [x], like(x), grad=lambda op, dy: dy * ({slope}))"]
    return "\n".join(code) + "\n"


SLOPE = "def slope(x):\n    return 2 * x * erfcx(x) - C\n"
BENT = "def bent(x):\n    return 2 * erfcx(x) + 2 * x * slope(x)\n"
BY_NUMPY = "py_func(slope, op.inputs, like(dy), grad=lambda op, dy: dy * {})"

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
        ("second derivative", op(SLOPE, slope=BY_NUMPY[:35] + ")")),
        # a slope whose own gradient is wrong, or stopped, or lost without an error
        ("second derivative", op(SLOPE, slope=BY_NUMPY.format("2"))),
        ("second derivative", op(slope="2 * op.inputs[0] * tf.stop_gradient(op.outputs[0]) - C")),
        ("second derivative", op(SLOPE, slope="tf.numpy_function(slope, op.inputs, dy.dtype)")),
        ("first derivative", op(slope="2 * op.inputs[0] * op.outputs[0]")),
        # TensorFlow's formula, where exp overflows
        (
            "overflows",
            op(slope="2 * op.inputs[0] * tf.exp(op.inputs[0]**2) * tf.math.erfc(op.inputs[0]) - C"),
        ),
        ("the value", op(value="lambda x: erfcx(x) + 1", slope="2 * op.inputs[0] - C")),
        # NumPy in a gradient that is only recorded
        ("first derivative", op(slope="2 * op.inputs[0] * erfcx(op.inputs[0]) - C")),
    ],
}

RIGHT = {
    1: [CHOSEN, CHOSEN + 'answers["i"] = "no op"\n', CHOSEN + 'answers["ab"] = 5.0\n'],
    2: [
        op(),
        op(slope="2 * op.inputs[0] * by_scipy(op.inputs[0]) - C"),
        op(SLOPE, BENT, slope=BY_NUMPY.format("py_func(bent, op.inputs, like(dy))")),
    ],
}
