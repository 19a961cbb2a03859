"""py_func gives the same value and gradient in every mode, or a clear error."""

import ast
import functools
import gc
import inspect
import json
import sys
import threading
import weakref

import hypothesis
import keras
import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import other_process
from notebooks.modules.lesson_14 import configurations
from utils import NoGradientError, py_func, tf

V1 = tf.compat.v1


def square_grad(op, dy):
    return 2 * op.inputs[0] * dy


def square(x, stateful=True):
    spec = tf.TensorSpec(x.shape, x.dtype)
    return py_func(np.square, [x], spec, stateful, grad=square_grad)


def square_of_any_shape(x):
    return py_func(np.square, [x], x.dtype, grad=square_grad)


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


def in_eager_mode(f, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return y.numpy(), tape.gradient(y, x).numpy()


def tape_inside(f, x):
    @tf.function
    def run(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return y, tape.gradient(y, x)

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
    @tf.function(input_signature=[tf.TensorSpec(None, x.dtype)])
    def run(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return y, tape.gradient(y, x)

    return [result.numpy() for result in run(x)]


MODES = [
    in_eager_mode, tape_inside, tape_outside, persistent, in_session, unknown_shape,
]  # fmt: skip
every_mode = pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.__name__)


@every_mode
@pytest.mark.parametrize("op", [square, square_of_any_shape, stateless_square])
def test_one_call_one_answer(mode, op):
    value, gradient = mode(op, vector())
    assert value.tolist() == [1, 4, 9] and gradient.tolist() == [2, 4, 6]


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

    return f


@pytest.mark.parametrize("mode", [tape_inside, tape_outside])
@pytest.mark.parametrize("op", [square, stateless_square])
def test_nested_control_flow(mode, op):
    expected = mode(nested_control_flow(tf.square), vector())
    for found, right in zip(
        mode(nested_control_flow(op), vector()), expected, strict=True
    ):
        np.testing.assert_allclose(found, right, rtol=1e-4)


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_control_flow_in_a_session(version):
    getattr(V1, f"{'en' if version == 'v2' else 'dis'}able_control_flow_v2")()
    try:

        def f(x):
            _, y = V1.while_loop(lambda i, _: i < 2, lambda i, y: (i + 1, square(y)),
                                 [0, x])  # fmt: skip
            return V1.cond(x[0] > 0, lambda: square(y), lambda: y)

        _, gradient = in_session(f, vector())
        np.testing.assert_allclose(gradient, 8 * vector() ** 7)
    finally:
        V1.enable_control_flow_v2()


# ......................................................... higher derivatives


@pytest.mark.parametrize("op", [square, square_of_any_shape])
@pytest.mark.parametrize("compiled", ["eager", "inner", "outer"])
def test_second_derivative(op, compiled):
    def first(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = op(x) * x
        return tape.gradient(y, x)

    once = tf.function(first) if compiled == "outer" else first

    def second(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            dx = once(x)
        return tape.gradient(dx, x)

    run = tf.function(second) if compiled == "inner" else second
    assert run(vector()).numpy().tolist() == [6, 12, 18]


def product_gradient(how, op, x):
    """The derivative of op(x) * x by other means than a tape and no more."""
    if how == "forward mode":
        with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as accumulator:
            y = op(x) * x
        return accumulator.jvp(y)
    with tf.GradientTape() as tape:
        tape.watch(x)
        if how == "jacobian":
            y = op(x) * x
        else:
            y = getattr(tf, how)(lambda v: op(v) * v, x)
    if how == "jacobian":
        return tf.linalg.diag_part(tape.jacobian(y, x))
    return tape.gradient(y, x)


@pytest.mark.parametrize("op", [square, square_of_any_shape, stateless_square])
@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    "how", ["jacobian", "map_fn", "vectorized_map", "forward mode"]
)
def test_other_ways_to_a_derivative(how, compiled, op):
    def run(x):
        return product_gradient(how, op, x)

    found = (tf.function(run) if compiled else run)(vector())
    np.testing.assert_allclose(found, [3, 12, 27])


def test_batch_jacobian_and_forward_mode_around_a_function():
    x = tf.reshape(tf.range(6.0), [2, 3])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = square(x)
    np.testing.assert_allclose(tape.batch_jacobian(y, x), tf.linalg.diag(2 * x).numpy())
    with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as accumulator:
        y = tf.function(square)(x)
    np.testing.assert_allclose(accumulator.jvp(y), 2 * x)


def test_gradient_of_each_example_inside_vectorized_map():
    def gradient(v):
        with tf.GradientTape() as tape:
            tape.watch(v)
            y = square(v) * v
        return tape.gradient(y, v)

    assert tf.vectorized_map(gradient, vector()).numpy().tolist() == [3, 12, 27]


# ........................................................... missing gradients


@every_mode
def test_missing_gradient_is_an_error(mode):
    with pytest.raises((LookupError, tf.errors.OpError), match="has no gradient") as e:
        mode(without_gradient, vector())
    if mode is not tape_outside:  # there it is known only when the graph runs
        assert e.type is NoGradientError
    assert "py_func 'square' (function" in str(e.value)


@pytest.mark.parametrize("compiled", ["eager", "inner", "outer"])
def test_missing_second_derivative_raises_when_it_runs(compiled):
    def first(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = cube_with_numpy_gradient(x)
        return tape.gradient(y, x)

    once = tf.function(first) if compiled == "outer" else first

    def second(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            dx = once(x)
        return tape.gradient(dx, x)

    run = tf.function(second) if compiled == "inner" else second
    with pytest.raises((LookupError, tf.errors.OpError), match="has no gradient"):
        run(vector())


@pytest.mark.parametrize("compiled", [False, True])
def test_training_under_two_tapes_goes_on(compiled):
    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = cube_with_numpy_gradient(x)
        return y, tape.gradient(y, x)

    x = vector()
    with tf.GradientTape() as outer:
        outer.watch(x)
        y, dx = (tf.function(step) if compiled else step)(x)
    assert outer.gradient(y, x).numpy().tolist() == [3, 12, 27]
    assert dx.numpy().tolist() == [3, 12, 27]


# ................................................ dtypes, shapes and numbers

DTYPES = ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"]


@pytest.mark.parametrize("mode", [in_eager_mode, tape_inside, tape_outside])
@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(mode, dtype):
    value, gradient = mode(square, tf.cast(vector(), dtype))
    assert value.dtype == gradient.dtype == tf.as_dtype(dtype).as_numpy_dtype
    assert gradient.tolist() == [2, 4, 6]


def call(compiled, func, inputs, Tout, **options):
    def run(*inputs):
        return py_func(func, list(inputs), Tout, **options)

    return (tf.function(run) if compiled else run)(*inputs)


both = pytest.mark.parametrize("compiled", [False, True], ids=["eager", "graph"])


@both
@pytest.mark.parametrize(
    "result, dtype, expected",
    [
        (np.float64([1.5]), "float32", [1.5]),
        (np.int64([3]), "int32", [3]),
        (3, "float32", 3),
        (2.5, "complex64", 2.5),
        (True, "bool", True),
        (np.array([1.0], ">f4"), "float32", [1]),
        (np.asfortranarray([[1.0, 2.0], [3.0, 4.0]]), "float64", [[1, 2], [3, 4]]),
        (np.arange(6.0)[::-2], "float64", [5, 3, 1]),
        (np.broadcast_to(1.0, (2, 2)), "float64", [[1, 1], [1, 1]]),
        (np.array(["a", "é"]), "string", [b"a", "é".encode()]),
        (b"a\0", "string", b"a\0"),
    ],
)
def test_results_are_cast_within_their_kind(compiled, result, dtype, expected):
    found = call(compiled, lambda x: result, [1.0], dtype)
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


@both
@pytest.mark.parametrize(
    "func, Tout, text",
    [
        (lambda x: (x, x), tf.float32, "returned 2 results, but Tout promises 1"),
        (lambda x: x, [tf.float32] * 2, "returned 1 results, but Tout promises 2"),
        (lambda x: None, tf.float32, "returned 0 results, but Tout promises 1"),
        (lambda x: 2**40, tf.int32, "do not fit into int32"),
        (lambda x: x, tf.TensorSpec([2], tf.float32), r"has shape \(3,\).*\(2,\)"),
        (lambda x: x.sort(), tf.float32, "copy it first: x = x.copy"),
    ],
)
def test_broken_promises(compiled, func, Tout, text):
    with pytest.raises((ValueError, tf.errors.OpError), match=text) as error:
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
def test_wrong_gradients_are_errors(compiled, gradient, text):
    def f(x):
        return py_func(np.square, [x], x.dtype, grad=gradient)

    with pytest.raises((TypeError, ValueError), match=text):
        (tape_inside if compiled else in_eager_mode)(f, vector())


@pytest.mark.parametrize(
    "gradient", [lambda op, dy: tf.transpose(dy), lambda op, dy: tf.reduce_sum(dy)]
)
def test_wrong_shape_that_is_known_only_when_it_runs(gradient):
    def f(x):
        return py_func(np.square, [x], x.dtype, grad=gradient)

    with pytest.raises(tf.errors.InvalidArgumentError, match="gradient of input 0 has"):
        unknown_shape(f, tf.ones([2, 3]))


def test_gradient_in_another_float_dtype_is_cast():
    def f(x):
        def grad(op, dy):
            return tf.cast(dy, tf.float64)

        return py_func(np.square, [x], x.dtype, grad=grad)

    for mode in (in_eager_mode, tape_inside, tape_outside):
        assert mode(f, vector())[1].dtype == np.float32


@every_mode
@pytest.mark.parametrize("shape", [[], [0, 3], [1], [2, 0], [2, 3]])
def test_scalars_and_empty_batches(mode, shape):
    value, gradient = mode(square, tf.fill(shape, 3.0))
    assert value.shape == gradient.shape == tuple(shape)
    assert (gradient == 6).all()


def test_static_shapes():
    @tf.function
    def run(x):
        assert square(x).shape == [3] and square_of_any_shape(x).shape.rank is None
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = square_of_any_shape(x)
        assert tape.gradient(y, x).shape == [3]
        return y

    run(vector())


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


@every_mode
@pytest.mark.parametrize("output, slope", [(0, 2), (4, 3)])
def test_several_outputs_of_which_one_is_used(mode, output, slope):
    if mode is unknown_shape:
        pytest.skip("several() is written for a known shape")
    _, gradient = mode(lambda x: several(x)[output], vector())
    assert gradient.tolist() == [slope] * 3


@both
def test_a_list_in_gives_a_list_out(compiled):
    assert isinstance(call(compiled, lambda x: x, [1.0], [tf.float32]), list)
    assert call(compiled, lambda x: None, [1.0], []) == []


def test_sparse_upstream_gradient_arrives_dense():
    for mode in (in_eager_mode, tape_inside, tape_outside):
        _, gradient = mode(lambda x: tf.gather(square(x), [0, 0, 2]), vector())
        assert gradient.tolist() == [4, 0, 6]


def test_complex_follows_tensorflows_convention():
    def own(z):
        def grad(op, dy):
            return dy * tf.math.conj(2 * op.inputs[0])

        return py_func(np.square, [z], z.dtype, grad=grad)

    z = tf.constant([1 + 2j, 3 - 1j])
    for f in (tf.math.real, tf.math.imag, tf.abs):
        _, found = in_eager_mode(lambda z, f=f: f(own(z)), z)
        _, right = in_eager_mode(lambda z, f=f: f(tf.square(z)), z)
        np.testing.assert_allclose(found, right)


# ..................................................................... inputs


@both
def test_inputs_of_all_sorts(compiled):
    def kinds(*arrays):
        assert all(isinstance(array, np.ndarray) for array in arrays)
        assert not any(array.flags.writeable for array in arrays)
        return np.float32(len(arrays))

    inputs = [1, 2.0, [1, 2], np.ones(2), True, "s", 1j]
    variables = [tf.Variable(1.0), keras.Variable(1.0)]

    def run():
        return py_func(kinds, inputs + variables, tf.float32)

    assert (tf.function(run) if compiled else run)() == 9


def test_variables():
    for variable in (tf.Variable([1.0, 2.0]), keras.Variable([1.0, 2.0])):
        with tf.GradientTape() as tape:
            y = py_func(np.square, [variable], tf.float32, grad=square_grad)
        target = getattr(variable, "value", variable)
        target = variable if callable(target) else target
        assert tape.gradient(y, target).numpy().tolist() == [2, 4]


@pytest.mark.parametrize(
    "arguments, text",
    [
        (("square", [1.0], tf.float32), "func must be callable, got 'square'"),
        ((np.square, 1.0, tf.float32), "inp must be a list of inputs, got float"),
        ((np.square, [1.0], "floaty"), "Tout must be a dtype.*got 'floaty'"),
        ((np.square, [1.0], tf.resource), "Tout must be a dtype.*got tf.resource"),
        ((np.square, [1.0], tf.variant), "Tout must be a dtype.*got tf.variant"),
        ((np.square, [1.0], tf.float32, square_grad), "stateful must be.*grad=..."),
        ((np.square, [None], tf.float32), "input 0 is of type NoneType"),
        ((np.square, [{"a": 1}], tf.float32), "input 0 is of type dict; pass its"),
        ((np.square, [tf.ragged.constant([[1]])], tf.float32), "RaggedTensor; pass"),
        ((np.square, [tf.sparse.eye(2)], tf.float32), "SparseTensor; pass tf.sparse"),
        ((np.square, [1.0, object()], tf.float32), "input 1 is of type object"),
    ],
)
def test_what_is_refused(arguments, text):
    with pytest.raises(TypeError, match=text):
        py_func(*arguments)


# ................................................................... the world


def test_datasets_threads_and_tensorflow_inside():
    def inner(x):
        return tf.function(tf.square)(tf.constant(x)).numpy()

    data = tf.data.Dataset.range(8).map(
        lambda x: py_func(inner, [x], tf.TensorSpec([], tf.int64)), num_parallel_calls=4
    )
    iterator = iter(data)
    del data
    gc.collect()
    assert [int(x) for x in iterator] == [k * k for k in range(8)]

    slopes = [None] * 8

    def work(k):
        def f(x):
            return py_func(lambda x: k * x, [x], x.dtype, grad=lambda op, dy: k * dy)

        slopes[k] = tape_inside(f, vector())[1][0]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert slopes == list(range(8))


def test_mirrored_strategy():
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    with strategy.scope():
        weights = tf.Variable(vector())

    @tf.function
    def step():
        def gradient():
            with tf.GradientTape() as tape:
                y = py_func(np.square, [weights], tf.float32, grad=square_grad)
            return tape.gradient(y, weights)

        return strategy.reduce("SUM", strategy.run(gradient), axis=None)

    assert strategy.num_replicas_in_sync == 2
    assert step().numpy().tolist() == [4, 8, 12]


WORKER = """
import numpy as np
import tensorflow as tf
from utils import py_func

strategy = tf.distribute.MultiWorkerMirroredStrategy()
with strategy.scope():
    weights = tf.Variable([1.0, 2.0, 3.0])

@tf.function
def step():
    def update():
        worker = tf.distribute.get_replica_context().replica_id_in_sync_group
        with tf.GradientTape() as tape:
            y = py_func(np.square, [weights], tf.float32,
                        grad=lambda op, dy: 2 * op.inputs[0] * dy)
            loss = tf.reduce_sum(y) * tf.cast(worker + 1, tf.float32)
        gradient = tape.gradient(loss, weights)
        total = tf.distribute.get_replica_context().all_reduce("SUM", gradient)
        weights.assign_sub(0.1 * total)

    strategy.run(update)

step()
step()
print("weights:", *(f"{w:.4g}" for w in weights.numpy()))
connection.send("done")
connection.recv()  # the others may still need this one
"""


@pytest.mark.slow
def test_multi_worker_mirrored_strategy():
    workers = [
        other_process.OtherProcess(WORKER, TF_CONFIG=json.dumps(config))
        for config in configurations(2)
    ]
    assert [worker.hear() for worker in workers] == ["done"] * 2
    for worker in workers:
        worker.say("end")
        # Of w**2 and 2 w**2 together: w - 0.1 * (2 w + 4 w) = 0.4 w, twice.
        assert worker.printed() == "weights: 0.16 0.32 0.48\n"


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


@pytest.mark.parametrize("policy", ["float32", "mixed_bfloat16", "mixed_float16"])
def test_keras_activation_layer_loss_and_metric(policy, tmp_path):
    keras.utils.set_random_seed(0)
    x = np.random.default_rng(0).normal(size=(64, 4)).astype("float32")
    y = x[:, :1]
    model = keras.Sequential(
        [
            keras.Input([4]),
            NumpyDense(dtype=policy),
            keras.layers.Activation(square),
            keras.layers.Dense(1, dtype="float32"),
        ]
    )
    model.compile("adam", square_loss, metrics=[square_loss], jit_compile=False)
    losses = model.fit(x, y, epochs=4, verbose=0).history["loss"]
    assert losses[-1] < losses[0]
    named = keras.Sequential([keras.Input([4]), NumpyDense(dtype=policy)])
    named.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(named(x), loaded(x))


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

        y = py_func(inner, [x], tf.float32)
        y += py_func(lambda x: np_twice(x), [x], tf.float32)
        y += py_func(np.frompyfunc(inner, 1, 1), [x], tf.float32)
        return y + py_func(functools.partial(inner), [x], tf.float32)

    assert run(tf.constant(1.0)) == 8
    assert files == [__file__] * 4


def test_a_known_shape_is_in_the_graph_itself():
    spec = tf.TensorSpec([2], tf.float32)
    run = tf.function(lambda x: py_func(np.square, [x], spec))
    graph = run.get_concrete_function(spec).graph
    with tf.Graph().as_default():
        [y] = tf.import_graph_def(
            graph.as_graph_def(), return_elements=[graph.outputs[0].name]
        )
    assert y.shape == [2]


def test_autograph_leaves_py_func_alone():
    """To rewrite it takes a second. Two stars mark what was left as it is."""
    with pytest.raises(TypeError, match=r"in py_func +\*\*\n"):
        tf.function(lambda x: py_func(np.sin, [x], "no dtype"))(1.0)


def test_keras_does_without_xla_on_a_gpu(monkeypatch):
    devices = [tf.config.PhysicalDevice("/gpu:0", "GPU")]
    monkeypatch.setattr(tf.config, "list_physical_devices", lambda *_: devices)
    x = keras.Input([4])
    spec = tf.TensorSpec([None, 4], tf.float32)
    for y, wants_xla in (
        (keras.layers.Dense(4)(x), sys.platform != "darwin"),
        (py_func(np.square, [x], spec, grad=square_grad), False),
    ):
        model = keras.Model(x, y)
        model.compile(loss="mse")  # jit_compile="auto" looks for a GPU
        assert model.jit_compile is wants_xla


def test_keras_input():
    x = keras.Input([4])
    y = py_func(np.square, [x], tf.TensorSpec([None, 4], tf.float32), grad=square_grad)
    model = keras.Model(x, y)
    assert y.shape == (None, 4)
    model.compile("sgd", "mse", jit_compile=False)
    model.fit(np.ones((8, 4)), np.ones((8, 4)), verbose=0)
    with pytest.raises(ValueError, match="give Tout a tf.TensorSpec"):
        py_func(np.square, [x], tf.float32)


@pytest.mark.parametrize(
    "other, dtype",
    [
        (2.0, "float32"),
        (2, "int32"),
        ([2.0, 2.0], "float32"),
        (np.full(2, 2.0), "float64"),
        (np.float64(2), "float64"),
        (tf.constant(2.0), "float32"),
        (tf.Variable(2.0), "float32"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_keras_input_beside_numbers(other, dtype):
    seen = []

    def func(x, other):
        seen.append(other.dtype)
        return (x * other).astype(x.dtype)

    def grad(op, dy):
        return dy * tf.cast(op.inputs[1], dy.dtype), None

    x = keras.Input([2])
    y = py_func(func, [x, other], tf.TensorSpec([None, 2], tf.float32), grad=grad)
    z = tf.ones([1, 2])
    model = keras.Model(x, y)
    for run in (model, keras.models.clone_model(model), tf.function(model)):
        with tf.GradientTape() as tape:
            tape.watch(z)
            found = run(z)
        assert found.numpy().tolist() == [[2, 2]]
        assert tape.gradient(found, z).numpy().tolist() == [[2, 2]]
    assert seen == [dtype] * 3


def test_keras_input_beside_what_is_refused():
    spec = tf.TensorSpec([None, 2], tf.float32)
    with pytest.raises(TypeError, match="input 1 is of type dict; pass its values"):
        py_func(np.multiply, [keras.Input([2]), {"a": 1}], spec)


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


SPEC = tf.TensorSpec([3])


def test_a_graph_takes_its_python_code_with_it():
    """However it was made; what tf.custom_gradient keeps is there for ever."""

    class Large:
        pass

    alive = []

    def use():
        large = Large()
        alive.append(weakref.ref(large))

        def f(x):
            def grad(op, dy, large=large):
                return dy

            return py_func(lambda x, large=large: x, [x], x.dtype, grad=grad)

        for mode in in_eager_mode, tape_inside, tape_outside, in_session:
            mode(f, vector())
        list(tf.data.Dataset.from_tensors(vector()).map(f))
        tf.cond(tf.constant(True), lambda: f(vector()), vector)
        V1.wrap_function(f, [SPEC])(vector())

    for _ in range(3):
        use()
    gc.collect()
    assert [ref for ref in alive if ref() is not None] == []


def test_the_code_lives_as_long_as_the_graph():
    def branch(x):
        return tf.cond(x[0] > 0, lambda: square(x), lambda: x)

    def inner(x):
        return tf.function(square)(x)

    for body in (square, branch, inner):
        traced = tf.function(body).get_concrete_function(SPEC)
        data = tf.data.Dataset.from_tensors(vector()).map(body)
        gc.collect()
        assert traced(vector()).numpy().tolist() == [1, 4, 9]
        assert [y.numpy().tolist() for y in data] == [[1, 4, 9]]


def test_a_graph_without_its_code_says_so():
    """A dataset inside of another one, whose own object nobody keeps."""

    def inside():
        return tf.data.Dataset.range(3).map(square)

    data = tf.data.Dataset.from_tensors(inside())
    gc.collect()
    with pytest.raises(tf.errors.OpError, match="as long as the function is kept"):
        [list(part) for part in data]


# ................................................................. properties

shapes = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)
layouts = st.sampled_from(
    [
        lambda a: a,
        lambda a: np.asarray(a, order="F"),
        lambda a: a.astype(a.dtype.newbyteorder()),
        lambda a: np.repeat(np.asarray(a)[..., None], 2, -1)[..., 0],
    ]
)
quick = hypothesis.settings(max_examples=25, deadline=None, derandomize=True)

PAIRS = {
    "square": (np.square, square_grad, tf.square, 1),
    "log": (np.log, lambda op, dy: dy / op.inputs[0], tf.math.log, 1),
    "relu": (
        lambda x: np.maximum(x, 0),
        lambda op, dy: dy * tf.cast(op.inputs[0] > 0, dy.dtype),
        tf.nn.relu,
        1,
    ),
    "floormod": (
        np.mod,
        lambda op, dy: (dy, -dy * tf.floor(op.inputs[0] / op.inputs[1])),
        tf.math.floormod,
        2,
    ),
}


@quick
@hypothesis.given(
    name=st.sampled_from(sorted(PAIRS)),
    shape=shapes,
    dtype=st.sampled_from(["float32", "float64"]),
    layout=layouts,
    compiled=st.booleans(),
    seed=st.integers(0, 99),
)
def test_agrees_with_tensorflows_own_op(name, shape, dtype, layout, compiled, seed):
    func, grad, theirs, count = PAIRS[name]
    rng = np.random.default_rng(seed)
    inputs = [
        tf.constant(rng.uniform(0.5, 3, shape).astype(dtype)) for _ in range(count)
    ]

    def ours(*xs):
        spec = tf.TensorSpec(xs[0].shape, xs[0].dtype)
        return py_func(lambda *a: layout(func(*a)), xs, spec, grad=grad)

    def both_gradients(*xs):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(xs)
            ys = [ours(*xs), theirs(*xs)]
        return ys, [tape.gradient(y, xs) for y in ys]

    run = tf.function(both_gradients) if compiled else both_gradients
    (own, right), (own_gradients, right_gradients) = run(*inputs)
    np.testing.assert_allclose(own, right, rtol=1e-5)
    for found, expected in zip(own_gradients, right_gradients, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5)


@quick
@hypothesis.given(
    sizes=st.tuples(*[st.integers(0, 4)] * 3), layout=layouts, compiled=st.booleans()
)
def test_matmul_agrees_with_tensorflows(sizes, layout, compiled):
    n, k, m = sizes
    rng = np.random.default_rng(0)
    inputs = [tf.constant(rng.normal(size=s)) for s in [(n, k), (k, m)]]

    def ours(a, b):
        def grad(op, dy):
            return dy @ tf.transpose(b), tf.transpose(a) @ dy

        return py_func(lambda a, b: layout(a @ b), [a, b], a.dtype, grad=grad)

    def both_gradients(a, b):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([a, b])
            ys = [ours(a, b), a @ b]
        return ys, [tape.gradient(y, [a, b]) for y in ys]

    run = tf.function(both_gradients) if compiled else both_gradients
    (own, right), gradients = run(*inputs)
    np.testing.assert_allclose(own, right)
    for found, expected in zip(*gradients, strict=True):
        np.testing.assert_allclose(found, expected)


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
