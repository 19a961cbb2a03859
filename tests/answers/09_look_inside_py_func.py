"""Answers to the exercises of lesson 09: wrong ones with a word of the hint, right ones
of another form."""

CELLS = 0, 1, 2, 3, 4, 5, 6, 11, 12  # the others only show something

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

    return run(*inp)
"""
NEW_NAME, REGISTER = 'f"Mine-{uuid.uuid4()}"', "tf.RegisterGradient(name)(grad)"
HELD = """
def held(f):
    return lambda func, inp, Tout, grad=None: f(func, inp, Tout, grad=grad)


my_better_py_func = held(py_func)
"""
SIGN_LOST = REGISTER.replace("(grad)", "(lambda op, dy: grad(op, abs(dy)))")


def named(name=NEW_NAME, register=REGISTER, node_type="PyFunc", dy="dy"):
    text = NAMED.replace("NAME", name).replace("REGISTER", register)
    return text.replace("TYPE", node_type).replace("DY", dy)


def better(body):
    return f"def my_better_py_func(func, inp, Tout, grad=None):\n    {body}\n"


AROUND = """
with tf.compat.v1.get_default_graph().gradient_override_map({"PyFunc": name}):
        return my_py_func(func, inp, Tout, grad)"""
NODE = """
@tf.function(autograph=False)
    def node(*inputs):
        return recipe_2016(func, inputs, Tout, grad)

    return my_py_func(func, inp, Tout, grad) if tf.executing_eagerly() else node(*inp)"""

STALE = """
names = {}


def my_better_py_func(func, inp, Tout, grad=None):
    if func not in names:
        names[func] = f"Mine-{uuid.uuid4()}"
        tf.RegisterGradient(names[func])(grad)
    with tf.compat.v1.get_default_graph().gradient_override_map({"PyFunc": names[func]}):
        return my_py_func(func, inp, Tout, grad)
"""
MAP = """
def map_with_gradient(f, backward):
    @tf.custom_gradient
    def whole_map(x):
        def whole_backward(dy):
            return BACK

        return VALUE, whole_backward

    return whole_map
"""
BACK = "tf.vectorized_map(lambda pair: backward(*pair), (x, dy))"


def whole_map(back=BACK, value="tf.vectorized_map(f, x)"):
    return MAP.replace("BACK", back).replace("VALUE", value)


PER_ELEMENT = """
def map_with_gradient(f, backward):
    def one(x_i):
        return f(x_i), lambda dy_i: backward(x_i, dy_i)

    return lambda x: MAP(tf.custom_gradient(one), x)
"""
STAND_IN = """
def map_with_gradient(f, backward):
    def one(x_i):
        y_i, still = f(x_i), tf.stop_gradient(x_i)
        slope = backward(still, tf.ones_like(y_i))
        return tf.stop_gradient(y_i) + tf.reduce_sum(slope * (x_i - still))

    return lambda x: tf.vectorized_map(one, x)
"""
AS_CLASS = """
class map_with_gradient:
    def __init__(self, f, backward):
        self.f, self.backward = f, backward

    def __call__(self, x):
        def back(dy):
            both = [x, dy]
            return tf.vectorized_map(lambda two: self.backward(two[0], two[1]), both)

        return tf.custom_gradient(lambda x: (tf.vectorized_map(self.f, x), back))(x)
"""

WRONG = {
    1: [
        ("eager", better("return recipe_2016(func, inp, Tout, grad)")),
        ("tape inside", better(
            "make = my_py_func if tf.executing_eagerly() else recipe_2016\n"
            "    return make(func, inp, Tout, grad)")),
        ("in a map", named(node_type="IdentityN")),
        # one name for all ops of a function, or the gradient of its first op
        ("dx = 100 dy", STALE),
        ("dx = 7 dy", named("grad.__name__").replace("tf.RegisterGradient", "name in SEEN or SEEN.add(name) or tf.RegisterGradient").replace("\ndef", "SEEN = set()\n\ndef", 1)),
        ("Registering two", named("func.__name__")),
        # the backward function or the node forgets dy, or its sign
        ("dy reversed", named(dy="tf.ones_like(dy)")),
        ("dy reversed", named(dy="tf.ones_like(dy)").replace("ones_like(dy))", "ones_like(dy)) * dy")),
        ("eager", named(dy="1.0")),
        ("second derivative", named(dy="dy").replace("grad(op, dy)\n", "tf.nest.map_structure(tf.stop_gradient, grad(op, dy))\n")),
        # its gradient looks at tensors of another graph
        ("in a map", named(register="tf.RegisterGradient(name)(lambda node, dy: grad(op, dy))")),
        ("dy reversed in a map", named(register=SIGN_LOST)),
        ("two ops", named().replace("(func, inputs", "(func, inputs[:1]")),
        ("two ops", named().replace("in inp]", "in inp[:1]]")),
        ("a variable", named().replace("(func, inputs", "(func, inp").replace("inp = [tf.identity(t) for t in inp]", "pass").replace("op = SimpleNamespace(inputs=inp)", "op = SimpleNamespace(inputs=[tf.identity(t) for t in inp])")),
        ("dx = 7 dy", STALE.replace("[func]", "[grad.__code__]").replace("func not in", "grad.__code__ not in")),
        ("a variable that changes", named().replace("identity(t) for t in inp]", "identity(t) for t in inp] if not tf.executing_eagerly() else inp")),
        ("calls py_func", "my_better_py_func = py_func"),
        ("calls py_func", HELD.replace("=grad)", "=lambda op, dy: grad(SimpleNamespace(inputs=op.inputs), dy))")),
        ("calls py_func", named().replace("my_better_py_func", "build") + better(
            "return (py_func if tf.executing_eagerly() else build)(func, inp, Tout, grad=grad)")),
        ("what func returns", named().replace("inputs, Tout", "inputs, inp[0].dtype")),
        ("what func returns", named().replace(
            "y = tf.numpy_function(func, inputs, Tout)", "narrow = inp[0].dtype\n"
            "            y = tf.cast(tf.numpy_function(lambda *a: np.asarray(func(*a)).astype("
            "narrow.as_numpy_dtype), inputs, narrow), Tout)")),
        ("what func returns", named().replace("return y,", "y.set_shape(inputs[0].shape)\n        return y,")),
        ("what func returns", named().replace("identity(t)", "cast(t, 'float32')").replace("inputs, Tout", "inputs, 'float32'")),
    ],
    2: [
        ("hundred, eager", PER_ELEMENT.replace("MAP", "tf.vectorized_map")),
        ("clipped", whole_map("backward(x, dy)")),
        # the whole dy for each element, or none
        ("hundred", whole_map("tf.vectorized_map(lambda x: backward(x, dy), x)")),
        ("hundred", whole_map(BACK.replace("dy)", "tf.ones_like(dy))"))),
        ("clipped", whole_map(BACK.replace("(x, dy)", "(tf.ones_like(x), dy)"))),
        ("missing 1 required", whole_map("tf.vectorized_map(backward, (x, dy))")),
        ("hundred", whole_map("tf.vectorized_map(lambda x: backward(x, 1.0), x)")),
        # a gradient that is not linear in dy has no stand-in
        ("clipped", STAND_IN),
        ("hundred", whole_map(BACK.replace("(x, dy)", "(dy, x)"))),
        ("doubled", whole_map(BACK.replace("(x, dy)", "(x, tf.reshape(dy, [-1]))"))),
        ("clipped", whole_map(BACK.replace("(x, dy)", "(abs(x), dy)"))),
        ("hundred", whole_map(BACK.replace("dy)", "tf.sign(dy))"))),
        ("hundred", whole_map(BACK.replace("dy)", "tf.clip_by_value(dy, -1, 1))"))),
        ("a loop", PER_ELEMENT.replace("MAP", "tf.map_fn")),
        ("a loop", whole_map(value="tf.map_fn(f, x)")),
        ("value", whole_map(value="tf.vectorized_map(lambda x: 0 * f(x), x)")),
        ("value", whole_map(value="tf.stack([f(x) for x in tf.unstack(x)])")),
        ("a loop", whole_map(BACK.replace("vectorized_map", "map_fn").replace(
            "(x, dy))", "(x, dy), fn_output_signature=x.dtype)"))),
    ],
}  # fmt: skip

RIGHT = {
    1: [
        named(),
        better(
            "name = f'Mine-{uuid.uuid4()}'\n    tf.RegisterGradient(name)(grad)"
            + AROUND.replace("\nwith", "\n    with")
        ),
        better(NODE.strip()),
    ],
    2: [AS_CLASS, whole_map("tf.vectorized_map(lambda a: backward(a[0], a[1]), [x, dy])")],
}
