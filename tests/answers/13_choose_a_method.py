"""Answers to the exercises of lesson 13: wrong ones with a word of the hint, right ones
of another form."""

CELLS = 0, 1

CHOSEN = (
    'answers = {"a": "no op", "b": "numpy_function", "c": "TensorFlow\'s ops",\n'
    '           "d": "C++ op", "e": "py_func, recursive"}\n'
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
        ("wait", CHOSEN + 'answers["a"] = "numpy_function"\n'),
        # for what nobody differentiates
        ("trained", CHOSEN + 'answers["b"] = "py_func"\n'),
        # works on the phone
        ("the map", CHOSEN + 'answers["c"] = "custom_gradient, TF\'s ops"\n'),
        ("the phone", CHOSEN + 'answers["c"] = "py_func"\n'),
        ("server call", CHOSEN + 'answers["d"] = "TensorFlow\'s ops"\n'),
        # counts the forces alone
        ("how often", CHOSEN + 'answers["e"] = "py_func"\n'),
        ("KeyError", 'answers = {"a": "no op"}\n'),
    ],
    2: [
        # the transpose forgotten
        (
            "transpose",
            solve("z = sparse_solve(values, dy, rows, cols)", f"return -{PRODUCT}, z"),
        ),
        # rows and columns exchanged in the product
        (
            "input 0, element",
            solve(AGAIN, "return -tf.gather(z, cols) * tf.gather(y, rows), z"),
        ),
        ("input 0 is values", solve(AGAIN, f"return {PRODUCT}, z")),
        ("input 0 is values", solve(AGAIN, f"return z, -{PRODUCT}")),
        # b in the place of y: it is found for one number
        (
            "A = 2",
            solve(AGAIN, "return -tf.gather(z, rows) * tf.gather(b, cols), z"),
        ),
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
        (
            "second derivative",
            solve(AGAIN, "y = tf.stop_gradient(y)", f"return -{PRODUCT}, z"),
        ),
    ],
}

RIGHT = {
    1: [
        CHOSEN,
        'answers = dict(zip("abcde", ["no op", "numpy_function", "TensorFlow\'s ops",\n'
        '                             "C++ op", "py_func, recursive"]))\n',
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
