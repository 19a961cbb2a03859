"""Answers to the exercises of lesson 13: wrong ones with a word of the hint, right ones
of another form."""

CELLS = 0, 1

CHOSEN = (
    'answers = {"a": "py_func", "b": "TensorFlow\'s ops", "c": "TensorFlow\'s ops",\n'
    '           "d": "no op", "e": "py_func, recursive", "f": "numpy_function",\n'
    '           "g": "C++ op"}\n'
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
        ("question 2", CHOSEN + 'answers["c"] = "C++ op"\n'),
        ("wait for it", CHOSEN + 'answers["d"] = "numpy_function"\n'),
        # counts the first derivative alone
        ("differentiated", CHOSEN + 'answers["e"] = "py_func"\n'),
        ("trained", CHOSEN + 'answers["f"] = "py_func"\n'),
        ("a million", CHOSEN + 'answers["g"] = "numpy_function"\n'),
        ("a million", CHOSEN + 'answers["g"] = "TensorFlow\'s ops"\n'),
        ("not in", CHOSEN + 'answers["f"] = "tf.numpy_function"\n'),
        ("g: ", CHOSEN + 'del answers["g"]\n'),
    ],
    2: [
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
            "have a gradient",
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
    1: [
        CHOSEN + "answers = dict(reversed(answers.items()))\n",
        CHOSEN + 'answers["h"] = "no op"\n',
    ],
    2: [
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
