"""Answers to the exercises of lesson 09: wrong ones with a word of the hint, right ones
of another form."""

CELLS = 0, 1, 2, 3, 6, 7, 10, 11  # the others draw, or lead through the museum

NAMED = """
def my_better_py_func(func, inp, Tout, grad=None):
    @tf.custom_gradient
    def run(*inputs):
        name = NAME
        REGISTER
        graph = tf.compat.v1.get_default_graph()
        with graph.gradient_override_map({"TYPE": name}):
            y = tf.numpy_function(func, inputs, Tout)
        op = SimpleNamespace(inputs=inputs, outputs=[y])
        return y, lambda dy: grad(op, DY)
    return run(*inp)
"""
NEW_NAME, REGISTER = 'f"Mine-{uuid.uuid4()}"', "tf.RegisterGradient(name)(grad)"
ONCE = "if not registered: registered.append(tf.RegisterGradient(name)(grad))"

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


FINITE = """
def finite(grad):
    def checked(op, dy):
        dx = grad(op, dy)
        TEST
        return RESULT
    return checked
"""


def finite(test="", result="dx"):
    return FINITE.replace("TEST", test).replace("RESULT", result)


ALL = "tf.reduce_all(tf.math.is_finite(dx))"

FIRST_RUN = """
def finite(grad):
    def checked(op, dy):
        runs = []

        def look(dx):
            runs.append(dx)
            assert len(runs) > 1 or np.isfinite(dx).all()
            return dx

        dx = grad(op, dy)
        return tf.ensure_shape(tf.numpy_function(look, [dx], dx.dtype), dx.shape)

    return checked
"""

WRONG = {
    1: [
        ("eager", better("return recipe_2016(func, inp, Tout, grad)")),
        (
            "tape_inside",
            better(
                "make = my_py_func if tf.executing_eagerly() else recipe_2016\n"
                "    return make(func, inp, Tout, grad)"
            ),
        ),
        ("map", named(node_type="PyFuncStateless")),
        ("map", named(node_type="IdentityN")),
        # one gradient for every op
        ("each node", "registered = []\n" + named('"One for all"', ONCE)),
        # the record forgets dy
        ("look at op and dy", named(dy="1.0")),
        # a gradient of its own for one function only
        ("each node", named(register="tf.RegisterGradient(name)(cube_grad)")),
        # two gradients of one name
        ("each node", named("grad.__name__", ONCE_A_NAME)),
        # an op without outputs
        ("look at op", named().replace(", outputs=[y]", "")),
        ("py_func itself", better("return py_func(func, inp, Tout, grad=grad)")),
    ],
    2: [
        ("tf.function", finite("if not np.isfinite(dx).all(): raise ValueError")),
        (
            "tf.function, x",
            finite("if tf.executing_eagerly() and not np.isfinite(dx).all(): raise ValueError"),
        ),
        # looks at dy
        ("inf", finite("dy = tf.debugging.check_numerics(dy, 'dy')")),
        # hides it
        ("inf", finite("dx = tf.where(tf.math.is_finite(dx), dx, 0)")),
        # one kind of three
        ("-inf", finite("tf.debugging.Assert(tf.reduce_all(dx != np.inf), [dx])")),
        ("inf", finite("tf.debugging.Assert(tf.reduce_all(dx == dx), [dx])")),
        ("nan", finite("tf.debugging.Assert(~tf.reduce_any(tf.math.is_inf(dx)), [dx])")),
        # refuses everything
        ("finite", finite("raise ValueError('not finite')")),
        # loses the gradient
        ("finite", finite("tf.debugging.check_numerics(dx, 'dx')", "None")),
        # prints
        ("inf", finite("tf.print(dx)")),
        # the raise runs while the graph is recorded
        ("recorded", finite(f"if not {ALL}: raise ValueError('not finite')")),
        # only the first run
        ("tf.function, x", FIRST_RUN),
        # looks at x and dy
        ("5e29", finite("tf.debugging.assert_positive(op.inputs[0])")),
        (
            "5e29",
            finite(
                "tf.debugging.assert_positive(op.inputs[0])\n"
                "        dy = tf.debugging.check_numerics(dy, 'dy')"
            ),
        ),
        # a sum that overflows
        ("large", finite("tf.debugging.check_numerics(tf.reduce_sum(dx), 'the sum')")),
    ],
}

RIGHT = {
    1: [
        named(),
        # a list of one output
        """
def my_better_py_func(func, inp, Tout, grad=None):
    @tf.custom_gradient
    def run(*inputs):
        y = recipe_2016(func, inputs, Tout, grad)
        op = SimpleNamespace(inputs=inputs, outputs=[y])

        def backward(dy):
            return grad(op, dy)

        return [y], backward

    return run(*inp)[0]
""",
        # the name around all of the twelve lines
        """
def my_better_py_func(func, inp, Tout, grad=None):
    name = f"Mine-{uuid.uuid4()}"
    tf.RegisterGradient(name)(grad)
    graph = tf.compat.v1.get_default_graph()
    with graph.gradient_override_map({"PyFunc": name}):
        return my_py_func(func, inp, Tout, grad)
""",
    ],
    2: [
        finite(result='tf.debugging.check_numerics(dx, "dx")'),
        finite(f"tf.debugging.Assert({ALL}, [dx])"),
        finite("tf.debugging.assert_all_finite(dx, 'dx')"),
        """
def finite(grad):
    def look(dx):
        if not np.isfinite(dx).all():
            raise ValueError(f"dx is {dx}")
        return dx

    def checked(op, dy):
        dx = grad(op, dy)
        return py_func(look, [dx], dx.dtype)

    return checked
""",
        """
def finite(grad):
    def look(dx):
        assert not np.isnan(dx).any() and not np.isinf(dx).any()
        return dx

    def checked(op, dy):
        dx = grad(op, dy)
        return my_py_func(look, [dx], dx.dtype)

    return checked
""",
    ],
}
