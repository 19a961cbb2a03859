"""Answers to the exercises of lesson 13: wrong ones with a word of the hint, right ones
of another form."""

CELLS = 0, 1, 2, 6, 12

CHOSEN = (
    'answers = {"a": "py_func", "b": "TensorFlow\'s ops", "c": "no op",\n'
    '           "d": "numpy_function", "e": "C++ op"}\n'
)


SOLVE = """
def sparse_solve(values, b, rows, cols):
    def np_solve(values, b):
        return spsolve(csc_matrix((values, (rows, cols))), b)

    def grad(op, dy):
        values, b = op.inputs
        y = op.outputs[0]
GRAD
    return py_func(np_solve, [values, b], like(b), grad=grad)
"""


def solve(*lines):
    return SOLVE.replace("GRAD", "".join(f"        {line}\n" for line in lines))


def probe(*lines):
    return "def probe(way):\n" + "".join(f"    {line}\n" for line in lines)


STEP = "step = tf.function(way)"
DIFFER = "return step(x) != step(x), [True, True]"
AGAIN = "z = sparse_solve(values, dy, cols, rows)"
PRODUCT = "tf.gather(z, rows) * tf.gather(y, cols)"

WRONG = {
    1: [
        # a second derivative that nobody takes, and too short a way to be worth it
        ("beside 50", CHOSEN + 'answers["a"] = "py_func, recursive"\n'),
        ("beside 50", CHOSEN + 'answers["a"] = "C++ op"\n'),
        # no gradient on the way back, and no Python on a phone
        ("on a phone", CHOSEN + 'answers["b"] = "numpy_function"\n'),
        ("on a phone", CHOSEN + 'answers["b"] = "py_func"\n'),
        ("wait for it", CHOSEN + 'answers["c"] = "numpy_function"\n'),
        ("learn", CHOSEN + 'answers["d"] = "py_func, recursive"\n'),
        ("beside 2", CHOSEN + 'answers["e"] = "numpy_function"\n'),
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
        # one element that is new, the first one, or five of fifty
        ("do you look at each", probe(STEP, "return np.allclose(step(x), step(x)), False")),
        ("do you look at each", probe(STEP, "return step(x)[0] != step(x)[0], True")),
        (
            "do you look at each",
            probe(
                STEP,
                "fifty = tf.ones(50)",
                "new = (step(fifty) != step(fifty)).numpy()",
                "return new[:5], True",
            ),
        ),
        # fails both: equal results wanted
        ("by_op is right", probe(STEP, "return step(x), step(x)")),
        ("'nope' is not defined", probe("return nope(way), True")),
    ],
    3: [
        # the transpose forgotten
        ("transpose", solve("z = sparse_solve(values, dy, rows, cols)", f"return -{PRODUCT}, z")),
        # rows and columns exchanged in the product
        ("input 0, element", solve(AGAIN, "return -tf.gather(z, cols) * tf.gather(y, rows), z")),
        ("input 0 is values", solve(AGAIN, f"return {PRODUCT}, z")),
        ("input 0 is values", solve(AGAIN, f"return z, -{PRODUCT}")),
        # b in the place of y: it is found for one number
        ("A = 2", solve(AGAIN, "return -tf.gather(z, rows) * tf.gather(b, cols), z")),
        # NumPy without a gradient of its own
        (
            "of its own",
            solve(
                "transpose = lambda v, dy: spsolve(csc_matrix((v, (cols, rows))), dy)",
                "z = py_func(transpose, [values, dy], like(dy))",
                f"return -{PRODUCT}, z",
            ),
        ),
        # what hides y's dependence on the inputs
        ("second derivative", solve(AGAIN, "y = tf.stop_gradient(y)", f"return -{PRODUCT}, z")),
    ],
}

RIGHT = {
    1: [CHOSEN + 'answers["d"] = "py_func"\n', CHOSEN + 'answers["f"] = "no op"\n'],
    2: [
        probe(STEP, "a, b = step(x).numpy(), step(x).numpy()", "return not np.any(a == b), True"),
        probe(STEP, "return np.ptp([step(x) for _ in range(9)], axis=0) > 0, True"),
        # recorded for any length
        probe("step = tf.function(way, input_signature=[tf.TensorSpec([None])])", DIFFER),
        # a pipeline, which records the way, too
        probe(
            "noisy = tf.data.Dataset.from_tensors(x).repeat(2).map(way)",
            "first, second = noisy",
            "return first.numpy() != second.numpy(), [True, True]",
        ),
    ],
    3: [
        # the whole matrix dA, of which the numbers are taken
        solve(
            AGAIN,
            "d = -z[:, None] * y[None, :]",
            "return tf.gather_nd(d, np.stack([rows, cols], 1)), z",
        ),
        # y computed anew
        solve(
            "y = sparse_solve(values, b, rows, cols)",
            "z = sparse_solve(values, dy, cols, rows)",
            "return [tf.negative(tf.gather(y, cols) * tf.gather(z, rows)), z]",
        ),
    ],
}
