"""The probes of lesson 13: what can a way to make an op do?

A *way* takes a tensor x and gives its squares and its cubes, as [x**2, x**3]; its
optional second argument is the function to wrap, by default `powers`. A *probe* is
a function of a way that yields pairs: what was found, and what is right. `outcome`
looks at them. To try a way of your own:

    >>> from notebooks.modules.probes import PROBES, outcome
    >>> outcome(lambda x, func: func(x), PROBES["jacobian"])[0]
    'yes'
"""

import functools
import gc
import tempfile
import time
import weakref

import numpy as np

from notebooks.modules.processes import start
from utils import load_op, stderr_held_back, tf  # utils comes before TensorFlow

POINTS = [1.0, 4.0]  # cubes 1, 64; first derivatives 3, 48; second 6, 24
PROBES = {}
# Probes fail on purpose, and the reason comes in Python's error.
terminal_aside = functools.partial(stderr_held_back, shown_on_failure=False)


def probe(function):
    PROBES[function.__name__] = function
    return function


def outcome(way, probe):
    """("yes", "None", "wrong" or "error", the reason); the first failure decides."""
    reason = "the probe yields nothing"
    try:
        with terminal_aside():
            for found, right in probe(way):
                reason = f"found {found}, right is {right}"
                if found is None:
                    return "None", reason
                if not np.allclose(found, right):
                    return "wrong", reason
    except Exception as error:
        return "error", f"{type(error).__name__}: {error}"
    return "yes", reason


def powers(x):
    """The square and the cube, of a NumPy array and of a tensor alike."""
    square = x * x
    return [square, square * x]


def points():
    return tf.constant(POINTS)


def cube(way):
    return lambda x: way(x, powers)[1]


def gradient(f):
    """The function that computes the gradient of f."""

    def gradient_of_f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)

    return gradient_of_f


def modes(f):
    """f in eager mode and as a graph: the outcomes may differ."""
    return f, tf.function(f)


def concrete(f):
    return tf.function(f).get_concrete_function(tf.TensorSpec([2], tf.float32))


@probe
def eager(way):
    yield gradient(cube(way))(points()), [3, 48]


@probe
def inner_tape(way):
    yield tf.function(gradient(cube(way)))(points()), [3, 48]


@probe
def outer_tape(way):
    yield gradient(tf.function(cube(way)))(points()), [3, 48]


@probe
def session(way):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = points()
        (dx,) = tf.gradients(way(x, powers)[1], x)
        yield (None if dx is None else session.run(dx)), [3, 48]


@probe
def second_order(way):
    for f in modes(gradient(gradient(cube(way)))):
        yield f(points()), [6, 24]


@probe
def jacobian(way):
    def jacobian_of_cube(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = way(x, powers)[1]
        return tape.jacobian(y, x)

    for f in modes(jacobian_of_cube):
        yield f(points()), np.diag([3, 48])


@probe
def vectorized_map(way):
    def mapped(x):
        return tf.vectorized_map(cube(way), x)

    x = points()[:, None]
    yield mapped(x), [[1], [64]]
    yield gradient(mapped)(x), [[3], [48]]


@probe
def forward_mode(way):
    def push(x):
        with tf.autodiff.ForwardAccumulator(x, tf.ones(2)) as forward:
            y = way(x, powers)[1]
        return forward.jvp(y)

    for f in modes(push):
        yield f(points()), [3, 48]


@probe
def static_shape(way):
    """Is the shape known before anything runs?"""
    shape = concrete(cube(way)).structured_outputs.shape
    yield (None if shape.rank is None else shape.as_list()), [2]


@probe
def dtype_checked(way):
    """Is a float64 cast, or an error, where float32 is promised?"""

    def careless(x):
        return [x * x, x * x * x * np.ones(2)]  # NumPy: float64

    for f in modes(lambda x: way(x, careless)[1]):
        yield f(points()).dtype == tf.float32, True


@probe
def keras_input(way):
    import keras  # only here: it is slow to load

    symbol = keras.Input([2])
    model = keras.Model(symbol, way(symbol, powers)[1])
    yield model(points()[None]), [[1, 64]]


@probe
def saved_model(way):
    """Saved, loaded by another process with NumPy ops of its own, called there."""
    yield called_elsewhere(cube(way), own_ops=500), [1, 64]


@probe
def xla(way):
    compiled = tf.function(gradient(cube(way)), jit_compile=True)
    yield compiled(points()), [3, 48]


@probe
def several_outputs(way):
    """Do both outputs add to one gradient, and each alone?"""
    yield gradient(lambda x: tf.add_n(way(x, powers)))(points()), [5, 56]
    yield gradient(lambda x: way(x, powers)[0])(points()), [2, 8]


@probe
def leaks_nothing(way):
    """Is a graph freed once nobody uses it?"""
    gc.freeze()  # what is older need not be searched, which takes long
    step = concrete(cube(way))
    graph = weakref.ref(step.graph)
    del step
    gc.collect()
    gc.unfreeze()
    yield graph() is None, True


def tflite(way):
    """No field of the table: does TFLite, for phones, take it? It needs no gradient."""
    convert = tf.lite.TFLiteConverter.from_concrete_functions
    yield len(convert([concrete(cube(way))], tf.Module()).convert()) > 0, True


def called_elsewhere(f, own_ops=0):
    """f([1, 4]) in another process, which knows f from a SavedModel alone.

    Args:
        f: takes a tensor of two float32 numbers.
        own_ops: how many NumPy ops of its own that process has; they return -x.
    """
    with tempfile.TemporaryDirectory() as folder:
        module = tf.Module()
        spec = tf.TensorSpec([2], tf.float32)
        module.f = tf.function(f, input_signature=[spec])
        tf.saved_model.save(module, folder)
        other = _other_process(own_ops)
        other.send(folder)
        found = other.recv()
    if isinstance(found, str):
        raise RuntimeError(found)
    return found


def _load_and_call(connection, own_ops, knows_powers):
    """Run by the other process: call each SavedModel that it is told of.

    It knows the C++ op, as a program that uses a model with one must.
    """
    if knows_powers:
        load_op("powers.cc")
    own = tf.Graph()
    with own.as_default():
        for _ in range(own_ops):
            tf.numpy_function(lambda x: [-x, -x], [1.0], [tf.float32] * 2)
    while True:
        folder = connection.recv()
        try:
            found = tf.saved_model.load(folder).f([1.0, 4.0]).numpy().tolist()
        except Exception as error:
            found = f"{type(error).__name__}: {error}"
        connection.send(found)


@functools.cache
def _other_process(own_ops):
    """Our end of the connection to it; started once."""
    return start(_load_and_call, own_ops, _knows("Powers"))[1]


def _knows(op):
    try:
        return bool(tf.Graph().op_def_for_type(op))
    except RuntimeError:
        return False


def in_graph(way):
    """A loop inside a graph that calls the way `count` times, each on the last cube."""

    @tf.function(reduce_retracing=True)
    def loop(x, count):
        for _ in tf.range(count):
            y = way(x)[1]
            y.set_shape(x.shape)  # not every way knows it
            x = y
        return x

    return loop


def seconds(f, *args, count=1, rounds=3):
    """Of one of the `count` calls that f(*args) makes; the best of some rounds."""
    f(*args)  # traces
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        f(*args)
        times.append((time.perf_counter() - start) / count)
    return min(times)
