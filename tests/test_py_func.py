"""py_func gives the same value and gradient in every mode, or a clear error."""

import ast
import gc
import inspect
import sys
import weakref

import hypothesis
import keras
import numpy as np
import pytest
from hypothesis import strategies as st

import other_process
from utils import NoGradientError, py_func, tf

V1 = tf.compat.v1
SPEC = tf.TensorSpec([3])


def square_grad(op, dy):
    return 2 * op.inputs[0] * dy


def square(x, stateful=True):
    spec = tf.TensorSpec(x.shape, x.dtype)
    return py_func(np.square, [x], spec, stateful, grad=square_grad)


def square_with(grad):
    """It promises no shape."""
    return lambda x: py_func(np.square, [x], x.dtype, grad=grad)


def square_of_any_shape(x):
    return square_with(square_grad)(x)


def stateless_square(x):
    return square(x, stateful=False)


def cube_with_numpy_gradient(x):
    """A right first derivative, which has none of its own."""

    def grad(op, dy):
        return py_func(lambda x, dy: 3 * x * x * dy, [op.inputs[0], dy], dy.dtype)

    return py_func(lambda x: x**3, [x], x.dtype, grad=grad)


def without_gradient(x):
    return py_func(np.square, [x], tf.TensorSpec(x.shape, x.dtype))


def vector():
    return tf.constant([1.0, 2.0, 3.0])


# ....................................................................... modes


def value_and_slope(f, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return y, tape.gradient(y, x)


def slope(f, x):
    return value_and_slope(f, x)[1]


def in_eager_mode(f, x):
    return [result.numpy() for result in value_and_slope(f, x)]


def tape_inside(f, x, signature=None):
    run = tf.function(lambda x: value_and_slope(f, x), input_signature=signature)
    return [result.numpy() for result in run(x)]


def tape_outside(f, x):
    return in_eager_mode(tf.function(f), x)


def persistent(f, x):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
    tape.gradient(y, x)
    return y.numpy(), tape.gradient(y, x).numpy()


def in_session(f, x):
    with tf.Graph().as_default(), V1.Session() as session:
        placeholder = V1.placeholder(x.dtype, x.shape)
        y = f(placeholder)
        (dx,) = tf.gradients(y, placeholder)
        return session.run([y, dx], {placeholder: x.numpy()})


def unknown_shape(f, x):
    return tape_inside(f, x, [tf.TensorSpec(None, x.dtype)])


def each(name, *functions):
    return pytest.mark.parametrize(name, functions, ids=lambda f: f.__name__)


TAPES = [in_eager_mode, tape_inside, tape_outside]
with_tapes = each("mode", *TAPES)
known_shape = each("mode", *TAPES, persistent, in_session)
every_mode = each("mode", *TAPES, persistent, in_session, unknown_shape)
both = pytest.mark.parametrize("compiled", [False, True], ids=["eager", "graph"])


def call(compiled, func, inputs, Tout, **options):
    def run(*inputs):
        return py_func(func, list(inputs), Tout, **options)

    return (tf.function(run) if compiled else run)(*inputs)


@every_mode
@pytest.mark.parametrize("shape", [[], [0, 3], [2, 3]])
@each("op", square, square_of_any_shape, stateless_square)
def test_one_call_gives_one_answer(op, shape, mode):
    value, gradient = mode(op, tf.fill(shape, 3.0))
    assert value.shape == gradient.shape == tuple(shape)
    assert (value == 9).all() and (gradient == 6).all()


def nested_control_flow(op):
    def f(x):
        y = x
        for i in tf.range(3):
            if i % 2 == 0:
                y = op(y)
            else:
                j = 0
                while j < 2:
                    y += 0.1 * op(y)
                    j += 1
        return y

    return tf.autograph.to_graph(f)


@each("mode", tape_inside, tape_outside, in_session)
@each("op", square, stateless_square)
def test_nested_control_flow_has_the_gradient_of_tensorflows_op(mode, op):
    expected = mode(nested_control_flow(tf.square), vector())
    found = mode(nested_control_flow(op), vector())
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4)


# ......................................................... higher derivatives


def second_derivative(f, compiled):
    def first(x):
        return slope(f, x)

    once = tf.function(first) if compiled == "first" else first

    def second(x):
        return slope(once, x)

    return (tf.function(second) if compiled == "second" else second)(vector())


compiled_part = pytest.mark.parametrize("compiled", ["none", "first", "second"])


@compiled_part
@each("op", square, square_of_any_shape)
def test_second_derivative_is_right(op, compiled):
    found = second_derivative(lambda x: op(x) * x, compiled)
    assert found.numpy().tolist() == [6, 12, 18]


@compiled_part
def test_missing_second_derivative_raises_when_it_runs(compiled):
    with pytest.raises((LookupError, tf.errors.OpError), match="has no gradient"):
        second_derivative(cube_with_numpy_gradient, compiled)


@both
def test_training_goes_on_under_two_tapes_without_a_second_derivative(compiled):
    def step(x):
        return value_and_slope(cube_with_numpy_gradient, x)

    x = vector()
    with tf.GradientTape() as outer:
        outer.watch(x)
        y, dx = (tf.function(step) if compiled else step)(x)
    assert outer.gradient(y, x).numpy().tolist() == [3, 12, 27]
    assert dx.numpy().tolist() == [3, 12, 27]


def jacobian(f, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tf.linalg.diag_part(tape.jacobian(y, x))


def forward_mode(f, x):
    with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as accumulator:
        y = f(x)
    return accumulator.jvp(y)


def slope_of_map(f, x):
    return slope(lambda x: tf.map_fn(f, x), x)


def slope_of_vectorized_map(f, x):
    return slope(lambda x: tf.vectorized_map(f, x), x)


def vectorized_map_of_slopes(f, x):
    return tf.vectorized_map(lambda v: slope(f, v), x)


@both
@pytest.mark.parametrize("op", [square, square_of_any_shape, tf.function(square)])
@each(
    "way",
    jacobian,
    forward_mode,
    slope_of_map,
    slope_of_vectorized_map,
    vectorized_map_of_slopes,
)
def test_other_ways_to_a_derivative_are_right(way, op, compiled):
    def run(x):
        return way(lambda x: op(x) * x, x)

    found = (tf.function(run) if compiled else run)(vector())
    np.testing.assert_allclose(found, [3, 12, 27])


@every_mode
def test_missing_gradient_is_an_error(mode):
    with pytest.raises((LookupError, tf.errors.OpError), match="has no gradient") as e:
        mode(without_gradient, vector())
    if mode is not tape_outside:  # there it is known only when the graph runs
        assert e.type is NoGradientError
    assert "py_func 'square' (function" in str(e.value)


# ................................................ dtypes, shapes and numbers

DTYPES = ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"]


@with_tapes
@pytest.mark.parametrize("dtype", DTYPES)
def test_value_and_gradient_have_the_dtype_of_the_input(mode, dtype):
    value, gradient = mode(square, tf.cast(vector(), dtype))
    assert value.dtype == gradient.dtype == tf.as_dtype(dtype).as_numpy_dtype
    assert gradient.tolist() == [2, 4, 6]


@both
@pytest.mark.parametrize(
    "result, dtype, expected",
    [
        (np.float64([1.5]), "float32", [1.5]),
        (np.float64([1.5]), "float8_e5m2", [1.5]),
        (np.int64([3]), "int32", [3]),
        (np.int64([3]), "int4", [3]),
        (3, "float32", 3),
        (2.5, "complex64", 2.5),
        (True, "bool", True),
        (np.array([1.0], ">f4"), "float32", [1]),
        (np.asfortranarray([[1.0, 2.0], [3.0, 4.0]]), "float64", [[1, 2], [3, 4]]),
        (np.broadcast_to(1.0, (2, 2)), "float64", [[1, 1], [1, 1]]),
        (np.array(["a", "é"]), "string", [b"a", "é".encode()]),
        (np.array([["ü", b"a\0"]], object).T, "string", [["ü".encode()], [b"a\0"]]),
        (b"a\0", "string", b"a\0"),
    ],
)
def test_results_are_cast_within_their_kind(compiled, result, dtype, expected):
    found = call(compiled, lambda x: result, [1.0], tf.as_dtype(dtype))
    assert found.dtype == dtype and np.asarray(found).tolist() == expected


@both
@pytest.mark.parametrize(
    "result, dtype, found, promised",
    [
        (np.int64([1]), "float32", "int64 (integer)", "float32 (float)"),
        (1.5, "int32", "float64 (float)", "int32 (integer)"),
        (np.complex64([1]), "float32", "complex64 (complex)", "float32 (float)"),
        (True, "float32", "bool (bool)", "float32 (float)"),
        ("a", "float32", "object (string)", "float32 (float)"),
        (np.datetime64(0, "ns"), "int64", "datetime64[ns] (datetime64[ns])", "int64"),
    ],
)
def test_a_change_of_kind_is_an_error(compiled, result, dtype, found, promised):
    with pytest.raises((TypeError, tf.errors.OpError)) as error:
        call(compiled, lambda x: result, [1.0], dtype)
    assert f"output 0 is {found}, but Tout promises {promised}" in str(error.value)


MASKED = np.ma.array([1.0, 2.0], mask=[True, False])


@both
@pytest.mark.parametrize(
    "func, Tout, text",
    [
        (lambda x: (x, x), tf.float32, "returned 2 results, but Tout promises 1"),
        (lambda x: x, [tf.float32] * 2, "returned 1 results, but Tout promises 2"),
        (lambda x: None, tf.float32, "returned 0 results, but Tout promises 1"),
        (lambda x: 2**40, tf.int32, "do not fit into int32"),
        (lambda x: 2**70, tf.int64, "do not fit into int64"),
        (lambda x: -1, tf.uint64, "do not fit into uint64"),
        (lambda x: 99, tf.as_dtype("int4"), "do not fit into int4"),
        (lambda x: x, tf.TensorSpec([2], tf.float32), r"has shape \(3,\).*\(2,\)"),
        (lambda x: MASKED, tf.float64, r"has no mask.*\.filled\(value\)"),
    ],
)
def test_a_broken_promise_is_named(compiled, func, Tout, text):
    kinds = TypeError, ValueError, tf.errors.OpError
    with pytest.raises(kinds, match=text) as error:
        call(compiled, func, [vector()], Tout)
    assert "py_func 'lambda' (function <lambda>)" in str(error.value)


@both
@pytest.mark.parametrize(
    "gradient, text",
    [
        (lambda op, dy: tf.reduce_sum(dy), r"input 0 has shape \(\), but.*\(3,\)"),
        (lambda op, dy: (dy, dy), "returned 2 gradients for 1 inputs; return"),
        (lambda op, dy: (), "returned 0 gradients for 1 inputs; return"),
        (lambda op, dy: tf.cast(dy, tf.complex64), "is complex64.*is float32"),
        (lambda op, dy: tf.cast(dy, tf.int32), "is int32.*is float32"),
    ],
)
def test_a_wrong_gradient_is_an_error(compiled, gradient, text):
    with pytest.raises((TypeError, ValueError), match=text):
        (tape_inside if compiled else in_eager_mode)(square_with(gradient), vector())


@pytest.mark.parametrize("gradient", [tf.transpose, tf.reduce_sum])
def test_a_gradients_wrong_shape_that_is_known_only_when_it_runs(gradient):
    f = square_with(lambda op, dy: gradient(dy))
    with pytest.raises(tf.errors.InvalidArgumentError, match="gradient of input 0 has"):
        unknown_shape(f, tf.ones([2, 3]))


@with_tapes
def test_a_gradient_in_another_float_dtype_is_cast(mode):
    f = square_with(lambda op, dy: tf.cast(dy, tf.float64))
    assert mode(f, vector())[1].dtype == np.float32


@with_tapes
def test_a_sparse_upstream_gradient_arrives_dense(mode):
    _, gradient = mode(lambda x: tf.gather(square(x), [0, 0, 2]), vector())
    assert gradient.tolist() == [4, 0, 6]


def test_a_known_shape_is_known_in_a_graph_and_where_it_is_imported():
    @tf.function(input_signature=[SPEC])
    def run(x):
        assert square_of_any_shape(x).shape.rank is None
        assert slope(square_of_any_shape, x).shape == [3]
        return square(x)

    graph = run.get_concrete_function().graph
    name = graph.outputs[0].name
    with tf.Graph().as_default():
        [y] = tf.import_graph_def(graph.as_graph_def(), return_elements=[name])
    assert y.shape == graph.outputs[0].shape == [3]


def several(x):
    """A float output beside others, and one more float."""

    def func(x):
        return 2 * x, x.astype(np.int32), x > 1, np.array([b"a"], object), 3 * x

    def grad(op, d0, d1, d2, d3, d4):
        assert d1.dtype == tf.int32 and d3.dtype == tf.string
        assert d0.shape == d4.shape == x.shape
        return 2 * d0 + 3 * d4

    spec = tf.TensorSpec(x.shape, x.dtype)
    return py_func(func, [x], [spec, tf.int32, tf.bool, tf.string, spec], grad=grad)


@known_shape
@pytest.mark.parametrize("output, right", [(0, 2), (4, 3)])
def test_an_unused_output_has_an_upstream_gradient_of_zeros(mode, output, right):
    _, gradient = mode(lambda x: several(x)[output], vector())
    assert gradient.tolist() == [right] * 3


@both
def test_a_list_in_gives_a_list_out(compiled):
    assert isinstance(call(compiled, lambda x: x, [1.0], [tf.float32]), list)
    assert call(compiled, lambda x: None, [1.0], []) == []


# ..................................................................... inputs


@both
def test_inputs_of_all_sorts_become_read_only_arrays(compiled):
    def kinds(*arrays):
        assert all(isinstance(array, np.ndarray) for array in arrays)
        assert not any(array.flags.writeable for array in arrays)
        return np.float32(len(arrays))

    inputs = [1, 2.0, [1, 2], np.ones(2), True, "s", 1j]
    variables = [tf.Variable(1.0), keras.Variable(1.0)]

    def run():
        return py_func(kinds, inputs + variables, tf.float32)

    assert (tf.function(run) if compiled else run)() == 9


@pytest.mark.parametrize("kind", [tf.Variable, keras.Variable])
def test_a_variable_gets_a_gradient(kind):
    variable = kind([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = py_func(np.square, [variable], tf.float32, grad=square_grad)
    target = variable if kind is tf.Variable else variable.value
    assert tape.gradient(y, target).numpy().tolist() == [2, 4]


@pytest.mark.parametrize(
    "arguments, text",
    [
        (("square", [1.0], tf.float32), "func must be callable, got 'square'"),
        ((np.square, 1.0, tf.float32), "inp must be a list of inputs, got float"),
        ((np.square, [1.0], "floaty"), "Tout must be a dtype.*got 'floaty'"),
        ((np.square, [1.0], tf.resource), "Tout must be a dtype.*got tf.resource"),
        ((np.square, [1.0], tf.float32, square_grad), "stateful must be.*grad=..."),
        ((np.square, [None], tf.float32), "input 0 is of type NoneType"),
        ((np.square, [{"a": 1}], tf.float32), "input 0 is of type dict; pass its"),
        ((np.square, [MASKED], tf.float32), "has no mask: pass x.filled"),
        ((np.square, [tf.ragged.constant([[1]])], tf.float32), "RaggedTensor; pass"),
        ((np.square, [tf.sparse.eye(2)], tf.float32), "SparseTensor; pass tf.sparse"),
        ((np.square, [1.0, object()], tf.float32), "input 1 is of type object"),
        ((np.add, [keras.Input([3]), {"a": 1}], SPEC), "input 1 is of type dict; pass"),
    ],
)
def test_what_an_op_cannot_take_is_refused(arguments, text):
    with pytest.raises(TypeError, match=text):
        py_func(*arguments)


# ................................................................... the world


@keras.saving.register_keras_serializable("tests")
class NumpyDense(keras.layers.Layer):
    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], 2))

    def call(self, x):
        def grad(op, dy):
            x, w = op.inputs
            return dy @ tf.transpose(w), tf.transpose(x) @ dy

        spec = tf.TensorSpec([x.shape[0], 2], x.dtype)
        return py_func(np.matmul, [x, self.kernel], spec, grad=grad)


def square_loss(y, p):
    def grad(op, dy):
        y, p = op.inputs
        return None, 2 * (p - y) * dy[:, None]

    spec = tf.TensorSpec(y.shape[:1], p.dtype)
    return py_func(lambda y, p: ((p - y) ** 2).sum(-1), [y, p], spec, grad=grad)


@pytest.mark.parametrize("policy", ["float32", "mixed_bfloat16"])
def test_keras_trains_an_activation_a_layer_a_loss_and_a_metric(policy, tmp_path):
    keras.utils.set_random_seed(0)
    x = np.random.default_rng(0).normal(size=(64, 4)).astype("float32")
    layers = [NumpyDense(dtype=policy), keras.layers.Activation(square)]
    model = keras.Sequential([keras.Input([4]), *layers, keras.layers.Dense(1)])
    model.compile("adam", square_loss, metrics=[square_loss], jit_compile=False)
    losses = model.fit(x, x[:, :1], epochs=4, verbose=0).history["loss"]
    assert losses[-1] < losses[0]
    named = keras.Sequential([keras.Input([4]), NumpyDense(dtype=policy)])
    named.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(named(x), loaded(x))


@pytest.fixture
def mixed_precision():
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy("mixed_float16")
    yield
    keras.config.set_dtype_policy(before)


@pytest.mark.parametrize("dtype", ["float64", "float16"])
@pytest.mark.parametrize(
    "other, other_dtype",
    [
        (2, "int32"),
        ([2.0, 2.0], "float32"),
        (np.full(2, 2.0), "float64"),
        (tf.Variable(2.0), "float32"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_keras_input_and_what_is_beside_it_keep_their_dtypes(
    mixed_precision, other, other_dtype, dtype
):
    seen = []

    def func(x, other):
        seen.append((x.dtype, other.dtype))
        return (x * other).astype(x.dtype)

    def grad(op, dy):
        return dy * tf.cast(op.inputs[1], dy.dtype), None

    x = keras.Input([2], dtype=dtype)
    y = py_func(
        func, [x, other], tf.TensorSpec([None, 2], tf.as_dtype(dtype)), grad=grad
    )
    z = tf.ones([1, 2], dtype)
    model = keras.Model(x, y)
    for run in (model, keras.models.clone_model(model), tf.function(model)):
        found, gradient = value_and_slope(run, z)
        assert found.dtype == gradient.dtype == dtype
        assert found.numpy().tolist() == gradient.numpy().tolist() == [[2, 2]]
    assert seen == [(dtype, other_dtype)] * 3


def test_a_keras_input_trains_without_xla_and_says_what_it_needs(monkeypatch, tmp_path):
    x = keras.Input([4])
    y = py_func(np.square, [x], tf.TensorSpec([None, 4], tf.float32), grad=square_grad)
    model = keras.Model(x, y)
    assert y.shape == (None, 4)
    devices = [tf.config.PhysicalDevice("/gpu:0", "GPU")]
    with monkeypatch.context() as patched:  # jit_compile="auto" looks for a GPU
        patched.setattr(tf.config, "list_physical_devices", lambda *_: devices)
        model.compile("sgd", "mse")
        other = keras.Sequential([keras.layers.Dense(4)])
        other.compile("sgd", "mse")
    assert not model.jit_compile and other.jit_compile is (sys.platform != "darwin")
    model.fit(np.ones((8, 4)), np.ones((8, 4)), verbose=0)
    with pytest.raises(TypeError, match="call it in a Layer of your own"):
        model.save(tmp_path / "model.keras")
    with pytest.raises(ValueError, match="give Tout a tf.TensorSpec"):
        py_func(np.square, [x], tf.float32)


def test_autograph_leaves_numpy_code_alone():
    """It rewrites what is defined in a tf.function; what that calls stays as it is."""
    files = []

    def np_twice(x):
        files.append(inspect.currentframe().f_code.co_filename)
        return 2 * x

    @tf.function
    def run(x):
        def inner(x):
            return np_twice(x)

        return py_func(inner, [x], tf.float32)

    assert run(tf.constant(1.0)) == 2
    assert files == [__file__]


def test_xla_names_the_cause():
    with pytest.raises(tf.errors.InvalidArgumentError, match="PyFunc"):
        tf.function(square, jit_compile=True)(vector())


@pytest.mark.slow
def test_saved_model_in_another_process_says_so_and_runs_nothing_else(tmp_path):
    class Model(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def __call__(self, x):
            return square(x)

    tf.saved_model.save(Model(), str(tmp_path))
    printed = other_process.run(
        f"""
        from utils import py_func, tf
        others = []
        for _ in range(9):
            for op in py_func, tf.numpy_function:
                f = tf.function(lambda x, op=op: op(lambda x: -x, [x], tf.float32))
                f(tf.ones(1))
                others.append(f)
        try:
            print(tf.saved_model.load({str(tmp_path)!r})(tf.ones(1)))
        except tf.errors.OpError as error:
            print("said:", error)
        """
    )
    assert printed.startswith("said:"), printed
    assert "py_func 'square' (function square): its Python code" in printed
    assert "no SavedModel" in printed


def test_a_graph_takes_its_python_code_with_it():
    """However it was made; what tf.custom_gradient keeps is there for ever."""

    alive = []

    def use():
        def func(x):
            return x

        def grad(op, dy):
            return dy

        def f(x):
            return py_func(func, [x], x.dtype, grad=grad)

        alive.extend([weakref.ref(func), weakref.ref(grad)])
        for mode in in_eager_mode, tape_inside, tape_outside, in_session:
            mode(f, vector())
        list(tf.data.Dataset.from_tensors(vector()).map(f))
        tf.cond(tf.constant(True), lambda: f(vector()), vector)
        V1.wrap_function(f, [SPEC])(vector())

    use()
    gc.collect()
    assert [ref for ref in alive if ref() is not None] == []


def test_the_python_code_lives_as_long_as_its_graph():
    def branch(x):
        return tf.cond(x[0] > 0, lambda: square(x), lambda: x)

    def inner(x):
        return tf.function(square)(x)

    for body in (square, branch, inner):
        traced = tf.function(body).get_concrete_function(SPEC)
        data = iter(tf.data.Dataset.from_tensors(vector()).map(body))
        gc.collect()
        assert traced(vector()).numpy().tolist() == [1, 4, 9]
        assert [y.numpy().tolist() for y in data] == [[1, 4, 9]]


# ................................................................. properties

layouts = st.sampled_from(
    [
        lambda a: a,
        lambda a: np.asarray(a, order="F"),
        lambda a: a.astype(a.dtype.newbyteorder()),
        lambda a: np.repeat(np.asarray(a)[..., None], 2, -1)[..., 0],
    ]
)

# name -> NumPy's function, its gradient, TensorFlow's, the shapes of the inputs
PAIRS = {
    "square": (np.square, square_grad, tf.square, lambda n, k, m: [()]),
    "floormod": (
        np.mod,
        lambda op, dy: (dy, -dy * tf.floor(op.inputs[0] / op.inputs[1])),
        tf.math.floormod,
        lambda n, k, m: [(n, k, m), (n, k, m)],
    ),
    "matmul": (
        np.matmul,
        lambda op, dy: (
            dy @ tf.transpose(op.inputs[1]),
            tf.transpose(op.inputs[0]) @ dy,
        ),
        tf.matmul,
        lambda n, k, m: [(n, k), (k, m)],
    ),
}


@hypothesis.settings(max_examples=50, deadline=None, derandomize=True)
@hypothesis.given(
    name=st.sampled_from(sorted(PAIRS)),
    sizes=st.tuples(*[st.integers(0, 3)] * 3),
    dtype=st.sampled_from(["float32", "float64"]),
    layout=layouts,
    compiled=st.booleans(),
    seed=st.integers(0, 99),
)
def test_it_agrees_with_tensorflows_own_op(name, sizes, dtype, layout, compiled, seed):
    func, grad, theirs, shapes = PAIRS[name]
    rng = np.random.default_rng(seed)
    inputs = [tf.constant(rng.uniform(0.5, 3, s), dtype) for s in shapes(*sizes)]

    def ours(*xs):
        y = theirs(*xs)
        spec = tf.TensorSpec(y.shape, y.dtype)
        return py_func(lambda *a: layout(func(*a)), xs, spec, grad=grad)

    def both_gradients(*xs):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(xs)
            ys = [ours(*xs), theirs(*xs)]
        return ys, [tape.gradient(y, xs) for y in ys]

    # on a GPU, theirs would round the factors of a product
    tf.config.experimental.enable_tensor_float_32_execution(False)
    run = tf.function(both_gradients) if compiled else both_gradients
    (own, right), (own_gradients, right_gradients) = run(*inputs)
    np.testing.assert_allclose(own, right, rtol=1e-5)
    for found, expected in zip(own_gradients, right_gradients, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_a_complex_gradient_follows_tensorflows_convention():
    own = square_with(lambda op, dy: dy * tf.math.conj(2 * op.inputs[0]))
    z = tf.constant([1 + 2j, 3 - 1j])
    for f in (tf.math.real, tf.math.imag, tf.abs):
        found = slope(lambda z, f=f: f(own(z)), z)
        np.testing.assert_allclose(found, slope(lambda z, f=f: f(tf.square(z)), z))


# .............................................................. private names


def test_private_names_are_where_we_look_for_them():
    """A release of TensorFlow that moves one of them fails here, in words."""
    moved = "TensorFlow moved %s: find what tf.%s calls today, and change its use"
    from tensorflow.python.eager import record
    from tensorflow.python.ops import script_ops

    for name in ("record_operation", "stop_recording"):
        assert hasattr(record, name), moved % (name, "custom_gradient")
    assert "isinstance(func, EagerFunc)" in inspect.getsource(
        script_ops.FuncRegistry.__call__
    ), moved % ("EagerFunc, which gets (device, token, arrays)", "py_function")
    table = script_ops._py_funcs
    assert isinstance(table._funcs, weakref.WeakValueDictionary), moved % (
        "the table of Python functions",
        "numpy_function",
    )


UNCHANGED = """
import sys, threading
import numpy as np
import tensorflow as tf

tf.function(lambda x: tf.numpy_function(np.square, [x], x.dtype))(tf.ones(2))

def held():
    found = {}
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] == "tensorflow":
            for key, value in list(vars(module).items()):
                found[name, key] = id(value)
                if isinstance(value, type) and value.__module__ == name:
                    for attribute in list(vars(value)):
                        if not attribute.startswith(("_abc_", "__abstract")):
                            found[name, key, attribute] = id(vars(value)[attribute])
    return found

before, threads, kept = held(), threading.active_count(), [held()]
from utils import py_func
square = lambda x: py_func(
    np.square, [x], x.dtype, grad=lambda op, dy: 2 * dy * op.inputs[0])
for run in square, tf.function(square):
    x = tf.ones(2)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = run(x)
    tape.gradient(y, x)
after = held()
print(sorted(key for key in before if before[key] != after.get(key)))
print(threading.active_count() - threads)
"""


@pytest.mark.slow
def test_import_and_first_calls_change_nothing_of_tensorflow():
    """Compared: what each of its modules and classes holds."""
    changed, threads = other_process.run(UNCHANGED).splitlines()
    assert ast.literal_eval(changed) == []
    assert threads == "0"
