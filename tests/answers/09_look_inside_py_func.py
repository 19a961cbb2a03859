"""Answers to the exercises of lesson 09: wrong ones with a word of the hint, right ones
of another form."""

CELLS = 0, 1, 2, 3, 7, 9, 10  # the others draw, or lead through the museum

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
        ("look at dy", named(dy="1.0")),
        # a gradient of its own for one function only
        ("each node", named(register="tf.RegisterGradient(name)(cube_grad)")),
    ],
    2: [
        ("tf.function", finite("if not np.isfinite(dx).all(): raise ValueError")),
        (
            "tf.function, x",
            finite(
                "if tf.executing_eagerly() and not np.isfinite(dx).all():"
                " raise ValueError"
            ),
        ),
        # looks at dy
        ("inf", finite("dy = tf.debugging.check_numerics(dy, 'dy')")),
        # hides it
        ("inf", finite("dx = tf.where(tf.math.is_finite(dx), dx, 0)")),
        # one kind of three
        ("-inf", finite("tf.debugging.Assert(tf.reduce_all(dx != np.inf), [dx])")),
        ("inf", finite("tf.debugging.Assert(tf.reduce_all(dx == dx), [dx])")),
        (
            "nan",
            finite("tf.debugging.Assert(~tf.reduce_any(tf.math.is_inf(dx)), [dx])"),
        ),
        # refuses everything
        ("finite", finite("raise ValueError('not finite')")),
        # loses the gradient
        ("finite", finite("tf.debugging.check_numerics(dx, 'dx')", "None")),
        # prints
        ("inf", finite("tf.print(dx)")),
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
