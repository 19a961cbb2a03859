"""Answers to the exercises of lesson 13: wrong ones with a word of the hint, right ones
of another form."""

CELLS = 0, 1, 2, 4, 5, 6, 7, 8

CHOSEN = (
    'answers = {"a": "no op", "b": "numpy_function", "c": "TensorFlow\'s ops",\n'
    '           "d": "C++ op", "e": "py_func, recursive",\n'
    '           "f": ["numpy_function", "py_function"]}\n'
)
PROBE = """
def inside(way):
    return tf.vectorized_map(lambda x: gradient(way, x), x), [2.4, 5.6]
"""


def probe(found, right="[2.4, 5.6]"):
    return f"{CHOSEN}def inside(way):\n    return {found}, {right}\n"


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
        ("how often", CHOSEN + PROBE + 'answers["a"] = "numpy_function"\n'),
        # for what nobody differentiates
        ("trained", CHOSEN + PROBE + 'answers["b"] = "py_func"\n'),
        # works on the phone
        ("the map", CHOSEN + PROBE + 'answers["c"] = "custom_gradient, TF\'s ops"\n'),
        ("the phone", CHOSEN + PROBE + 'answers["c"] = "py_func"\n'),
        # a million calls of Python, and TensorFlow's ops can't do it
        ("a million", CHOSEN + PROBE + 'answers["d"] = "numpy_function"\n'),
        ("a million", CHOSEN + PROBE + 'answers["d"] = "TensorFlow\'s ops"\n'),
        # counts the forces alone
        ("how often", CHOSEN + PROBE + 'answers["e"] = "py_func"\n'),
        # loses its second derivative silently
        ("how often", CHOSEN + PROBE + 'answers["e"] = "custom_gradient, NumPy"\n'),
        ("no row's name", CHOSEN + PROBE + 'answers["b"] = "tf.numpy_function"\n'),
        ("KeyError", PROBE + 'answers = {"a": "no op", "f": []}\n'),
        # only what is silent, and nothing
        ("for which ways", CHOSEN + PROBE + 'answers["f"] = ["numpy_function"]\n'),
        ("for which ways", CHOSEN + PROBE + 'answers["f"] = []\n'),
        ("no row's name", CHOSEN + PROBE + 'answers["f"] = ["tf.py_function"]\n'),
        # the tape around the map
        ("a tape in it", probe("gradient(lambda x: tf.vectorized_map(way, x), x)")),
        # no map, and another one
        ("vectorized_map", probe("gradient(way, x)")),
        ("vectorized_map", probe("tf.map_fn(lambda x: gradient(way, x), x)")),
        # compared with itself
        (
            "depend on the way",
            probe("tf.vectorized_map(lambda x: gradient(way, x), x)", "gradient(way, x)"),
        ),
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
        CHOSEN + PROBE + 'answers["e"] = "custom_gradient, recursive"\n',
        PROBE + 'answers = dict(zip("abcde", ["no op", "numpy_function", "TensorFlow\'s ops",\n'
        '                             "C++ op", "py_func, recursive"]))\n'
        'answers["f"] = ("py_function", "numpy_function")\n',
        # a tape by hand, in a graph, on a batch of one
        CHOSEN
        + """
def inside(way):
    def one(element):
        with tf.GradientTape() as tape:
            tape.watch(element)
            y = way(element)
        return tape.gradient(y, element)

    return tf.function(lambda x: tf.vectorized_map(one, x))(x), np.array([2.4, 5.6])
""",
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
