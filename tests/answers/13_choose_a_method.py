"""Answers to the exercises of lesson 13: wrong ones with a word of the hint, right ones
of another form."""

CELLS = 0, 1, 3, 10, 16

CHOSEN = (
    'answers = {"a": "py_func", "b": "TensorFlow\'s ops", "c": "TensorFlow\'s ops",\n'
    '           "d": "C++ op", "e": "py_func, 2nd order", "f": "py_func, no gradient",\n'
    '           "g": "no op"}\n'
)


def probe(*lines):
    return "def probe(way):\n" + "".join(f"    {line}\n" for line in lines)


STEP = "step = tf.function(way)"
DIFFER = "return step(x) != step(x), [True, True]"

WRONG = {
    1: [
        # a second derivative that nobody takes, and too short a way to be worth it
        ("beside 50", CHOSEN + 'answers["a"] = "py_func, 2nd order"\n'),
        # no gradient on the way back, and no Python on a phone
        ("on a phone", CHOSEN + 'answers["b"] = "py_func, no gradient"\n'),
        ("a TPU reach", CHOSEN + 'answers["c"] = "py_func"\n'),
        ("beside 2", CHOSEN + 'answers["d"] = "py_func, no gradient"\n'),
        ("change the grades", CHOSEN + 'answers["f"] = "py_func"\n'),
        ("who plays", CHOSEN + 'answers["f"] = "no op"\n'),
        ("how many times", CHOSEN + 'answers["e"] = "py_func"\n'),
        ("through the drag", CHOSEN + 'answers["g"] = "py_func"\n'),
        ("not in", CHOSEN + 'answers["d"] = "tf.numpy_function"\n'),
        ("e: ", CHOSEN + 'del answers["e"]\n'),
    ],
    2: [
        # no tf.function, one for each call, and one that is recorded with both calls
        ("recorded once", probe("return way(x) != way(x), [True, True]")),
        ("recorded once", probe("step = lambda x: tf.function(way)(x)", DIFFER)),
        (
            "recorded once",
            probe("twice = tf.function(lambda x: way(x) - way(x))", "return twice(x) != 0, True"),
        ),
        # the gradient is right for both
        ("recorded once", probe("return gradient(tf.function(way), x), [1, 1]")),
        # what NumPy's noise looks like
        (
            "two steps",
            probe(
                STEP,
                "noise = [step(x) - x for _ in range(99)]",
                "return (abs(np.mean(noise, 0)) < 0.5) & (np.std(noise, 0) > 0.5), True",
            ),
        ),
        # fails both: equal results wanted
        ("by_op is right", probe(STEP, "return step(x), step(x)")),
        # refuses add_noise, which has to be SILENT
        (
            "to be SILENT",
            probe("step = tf.function(way, input_signature=[tf.TensorSpec([None])])", DIFFER),
        ),
        ("'nope' is not defined", probe("return nope(way), True")),
    ],
}

RIGHT = {
    1: [CHOSEN, CHOSEN + 'answers["h"] = "no op"\n'],
    2: [
        probe(STEP, "a, b = step(x).numpy(), step(x).numpy()", "return not np.any(a == b), True"),
        probe(STEP, "return np.ptp([step(x) for _ in range(9)], axis=0) > 0, True"),
        # a pipeline, which records the way, too
        probe(
            "noisy = tf.data.Dataset.from_tensors(x).repeat(2).map(way)",
            "first, second = noisy",
            "return first.numpy() != second.numpy(), [True, True]",
        ),
    ],
}
