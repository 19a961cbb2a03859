"""Answers to the exercises of lesson 09: wrong ones with a word of the hint, right ones
of another form."""

CELLS = 0, 1, 2, 3, 4, 5, 6, 8, 11  # the others show what fails, and why

NAMED = """
def my_better_py_func(func, inp, Tout, grad=None):
    inp = [tf.identity(t) for t in inp]
    op = SimpleNamespace(inputs=inp)
    name = NAME
    REGISTER
    graph = tf.compat.v1.get_default_graph()

    @tf.custom_gradient
    def run(*inputs):
        with graph.gradient_override_map({"TYPE": name}):
            y = tf.numpy_function(func, inputs, Tout)
        return y, lambda dy: grad(op, DY)

    op.outputs = [run(*inp)]
    return op.outputs[0]
"""
NEW_NAME, REGISTER = 'f"Mine-{uuid.uuid4()}"', "tf.RegisterGradient(name)(grad)"
IN_GRAPH = f"if not tf.executing_eagerly(): {REGISTER}"
TWICE = """y = tf.numpy_function(func, inp, Tout)
    return op.outputs[0] + 0 * tf.stop_gradient(y)"""
SHAPED = "    y.set_shape(inp[0].shape)\n        return y,"
HELPER = "\ndef helper():\n    import tensorflow.python\n"
ALIAS = "\nfrom custom_ops.tensorflow_private import record_operation as record\n"
HELD = """
def held(f):
    return lambda func, inp, Tout, grad=None: f(func, inp, Tout, grad=grad)


my_better_py_func = held(py_func)
"""
STOP = "(lambda node, dy: grad(node, tf.stop_gradient(dy)))"
TUPLE = "(lambda dx: dx if isinstance(dx, tuple) else (tf.add_n([dx]),))(grad(op, dy))"
STOPPED = REGISTER.replace("(grad)", STOP)
SIGN_LOST = IN_GRAPH.replace("(grad)", "(lambda op, dy: grad(op, abs(dy)))")

ONCE_A_NAME = """
    try:
        tf.RegisterGradient(name)(grad)
    except KeyError:
        pass
"""


def named(name=NEW_NAME, register=REGISTER, node_type="PyFunc", dy="dy"):
    text = NAMED.replace("NAME", name).replace("REGISTER", register)
    return text.replace("TYPE", node_type).replace("DY", dy)


def better(body):
    return f"def my_better_py_func(func, inp, Tout, grad=None):\n    {body}\n"


INNER = """
def my_better_py_func(func, inp, Tout, grad=None):
    inp = [tf.identity(t) for t in inp]

    @tf.custom_gradient
    def run(*inputs):
        y = recipe_2016(func, inputs, Tout, grad)
        op = SimpleNamespace(inputs=inputs, outputs=[y])
        return y, lambda dy: grad(op, dy)

    return run(*inp)
"""

CAREFUL = """
def careful_py_func(func, inp, Tout, grad=None):
    x = inp[0]

    def careful_func(array):
        BEFORE
        y = func(array)
        AFTER
        return y

    def careful_grad(op, dy):
        dx = grad(op, dy)
        SHAPE
        return dx

    return my_py_func(careful_func, inp, Tout, careful_grad)
"""


def careful(
    before="array.setflags(write=False)", after="pass", shape="dx = tf.ensure_shape(dx, x.shape)"
):
    text = CAREFUL.replace("BEFORE", before).replace("AFTER", after)
    return text.replace("SHAPE", shape)


def raise_if(condition):
    return f"if {condition}: raise ValueError('not so')"


NOT_AROUND = "if tf.executing_eagerly() or dx.graph is x.graph: dx = tf.ensure_shape(dx, x.shape)"
WRONG = {
    1: [
        ("eager", better("return recipe_2016(func, inp, Tout, grad)")),
        (
            "tape inside",
            better(
                "make = my_py_func if tf.executing_eagerly() else recipe_2016\n"
                "    return make(func, inp, Tout, grad)"
            ),
        ),
        ("map", named(node_type="IdentityN")),
        # one gradient for all of the same code
        ("two_scales", named('f"{grad.__qualname__} {grad.__code__.co_firstlineno}"', ONCE_A_NAME)),
        # the record forgets dy
        ("look at op and dy", named(dy="1.0")),
        # right for each y of its own only
        (
            "cumsum: does grad get dy",
            named().replace(
                "grad(op, dy)",
                "[None if dx is None else dx * tf.cast(dy, dx.dtype)"
                " for dx in tf.nest.flatten(grad(op, tf.ones_like(dy)))]",
            ),
        ),
        # its gradient looks at tensors of another graph
        ("around map", named(register="tf.RegisterGradient(name)(lambda node, dy: grad(op, dy))")),
        # for an input's dtype or shape, or for two inputs
        ("inputs", named(register=IN_GRAPH).replace("Tout)", "inp[0].dtype)")),
        ("inputs", named(register=IN_GRAPH).replace("(func, inputs", "(func, inputs[:2]")),
        ("inputs", named(register=IN_GRAPH).replace("Tout)", "inp[-1].dtype)")),
        ("inputs", named(register=IN_GRAPH).replace("    return y,", SHAPED)),
        ("register a gradient name", named()),
        ("weighted_sums in the map", named(register=SIGN_LOST)),
        ("in the map: can", named(register=STOPPED)),
        ("tuple or a list", named(register=IN_GRAPH).replace("grad(op, dy)", TUPLE)),
        ("private names", named(register=IN_GRAPH + "\n    helper()") + HELPER),
        ("private names", named(register=IN_GRAPH + "\n    record") + ALIAS),
        ("without py_func", "my_better_py_func = py_func"),
        ("without py_func", HELD),
        ("how many calls of func", named(register=IN_GRAPH).replace("return op.outputs[0]", TWICE)),
        ("has op.outputs[0] a record", INNER),
        (
            "in a branch",
            named(register=IN_GRAPH).replace(
                "[tf.identity(t) for t in inp]", "[tf.identity(inp[0]), *inp[1:]]"
            ),
        ),
        (
            "in a branch",
            named(register=IN_GRAPH).replace("    inp = [tf.identity(t) for t in inp]\n", ""),
        ),
    ],
    2: [
        ("dx of shape (), eager", careful(shape="pass")),
        (
            "dx of shape (2,)",
            careful(shape="dx = tf.ensure_shape(dx, x.shape) if x.shape.rank else dx"),
        ),
        ("(2, 3)", careful(before="array = array.copy() if array.ndim == 1 else array")),
        ("float64", careful(before='if array.dtype != "float64": array.setflags(write=False)')),
        ("int32", careful(before='if array.dtype != "int32": array.setflags(write=False)')),
        ("around call", careful(shape=NOT_AROUND)),
        ("call my_py_func", "careful_py_func = py_func"),
        # y may be x, and a writer may keep the sum
        ("returns its input", careful("pass", raise_if("y is array"))),
        ("swaps_two", careful("old = array.sum()", raise_if("array.sum() != old"))),
        ("adds_little", careful("old = +array", raise_if("not np.allclose(array, old)"))),
        # shapes of shapes are broadcast, and an empty one is equal to all
        ("()", careful(shape="tf.debugging.assert_equal(tf.shape(dx), tf.shape(x))")),
        # hides it
        ("()", careful(shape="dx = tf.broadcast_to(dx, x.shape)")),
        ("(3, 2)", careful(shape="dx = tf.reshape(dx, x.shape)")),
        # the last dimension only
        (
            "(1, 3)",
            careful(shape="dx = tf.ensure_shape(dx, (len(x.shape) - 1) * [None] + x.shape[-1:])"),
        ),
        # nobody uses what it returns, so a graph leaves it out
        ("tape inside", careful(shape="tf.ensure_shape(dx, x.shape)")),
        # the shape of dy is that of y
        ("another shape", careful(shape="dx = tf.ensure_shape(dx, dy.shape)")),
        # in a graph the shape of dx may be unknown
        ("may be unknown", careful(shape=raise_if("dx.shape != x.shape"))),
        ("op is correct", careful(shape="dx = tf.stop_gradient(tf.ensure_shape(dx, x.shape))")),
        ("float32, after", careful(shape="dx = tf.cast(tf.ensure_shape(dx, x.shape), 'float64')")),
        ("op.outputs", careful().replace("= grad(op", "= grad(SimpleNamespace(inputs=[x])")),
        # refuses too much
        ("another shape", careful(after="assert y.shape == array.shape")),
        ("float32", careful(before="array = array.astype(float)")),
        ("integer x", careful(before="array = array.astype(Tout.as_numpy_dtype)")),
        ("shape ()", careful(before="array = np.atleast_1d(array).copy()")),
        ("int32", careful(before='array.setflags(write=array.dtype.kind != "f")')),
        ("refuse a correct one", careful(after="array.setflags(write=True)")),
    ],
}

RIGHT = {
    1: [
        named(register=IN_GRAPH),
        named(register=IN_GRAPH)
        + "\nimport functools\nmy_better_py_func = functools.partial(my_better_py_func)",
    ],
    2: [
        careful(before="array = array.copy()"),
        careful("old = array.copy()", "assert np.array_equal(old, array)"),
        careful("old = array.copy()", "y = np.copy(y)\n        np.asarray(array)[...] = old"),
        """
f = cube_by(py_func)  # another f than the one inside


def careful_py_func(func, inp, Tout, grad=None):
    def f(array):
        array = np.array(array)
        array.flags.writeable = False
        return func(array)

    def of_shape(op, dy):
        dx = grad(op, dy)
        dx.shape.assert_is_compatible_with(inp[0].shape)
        return tf.ensure_shape(dx, inp[0].shape)

    return my_py_func(f, inp, Tout, of_shape)
""",
    ],
}
