"""Lesson 13: seven ways to make an op, and eleven probes of what each of them can do.

A *way* takes a tensor x and gives its squares and its cubes, as [x**2, x**3]; its
optional second argument is the function to wrap, by default `powers`. A *probe* is
a function of a way that yields pairs: what was found, and what is right. `outcome`
looks at them. To try a way of your own:

    >>> from modules.lesson_13 import PROBES, outcome
    >>> outcome(lambda x, func: func(x), PROBES["jacobian"])[0]
    'yes'
"""

import functools
import gc
import tempfile
import time
import timeit
import weakref
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from utils import gradient, like, load_op, py_func, tf  # utils before TensorFlow

from .processes import context, end_with_parent, start
from .quiet import quietly

POINTS = [1.0, 4.0]  # cubes 1, 64; first derivatives 3, 48; second 6, 24
POWERS_CC = Path(__file__).resolve().parents[1] / "cpp" / "powers.cc"
PROBES = {}


# The ways


def powers(x):
    """The square and the cube, of a NumPy array and of a tensor alike."""
    square = x * x
    return [square, square * x]


def slope(x, d_square, d_cube):
    """The gradient of `powers`, made of TensorFlow's ops."""
    return 2 * x * d_square + 3 * x * x * d_cube


def decorated_tf_ops(x, func=powers):
    """`stop_gradient` hides the gradient of the ops inside, which is equal to ours:
    without it nobody would see where ours is not used."""

    @tf.custom_gradient
    def op(x):
        return func(tf.stop_gradient(x)), lambda *dys: slope(x, *dys)

    return op(x)


def decorated_numpy(x, func=powers):
    """The decorator around NumPy, with static shapes put in by hand."""

    @tf.custom_gradient
    def op(x):
        outputs = tf.numpy_function(func, [x], [x.dtype] * 2)
        for y in outputs:
            y.set_shape(x.shape)
        return outputs, lambda *dys: slope(x, *dys)

    return op(x)


def our_py_func(x, func=powers):
    def grad(op, *dys):
        return slope(op.inputs[0], *dys)

    return py_func(func, [x], [like(x)] * 2, grad=grad)


def all_ways():
    """The seven ways by name, the one in C++ compiled."""
    module = load_op(POWERS_CC)

    @module.RegisterGradient("Powers")
    def powers_grad(op, *dys):
        return slope(op.inputs[0], *dys)

    return {
        "TensorFlow ops": lambda x, func=powers: func(x),
        "decorated TF ops": decorated_tf_ops,
        "decorated NumPy": decorated_numpy,
        "numpy_function": lambda x, f=powers: tf.numpy_function(f, [x], [x.dtype] * 2),
        "py_function": lambda x, f=powers: tf.py_function(f, [x], [x.dtype] * 2),
        "our py_func": our_py_func,
        "C++ op": lambda x, func=None: module.powers(x),  # what it computes is fixed
    }


# What no probe asks. Is the gradient one's own, does the row hold for a function of
# NumPy's, may it compute what TensorFlow has no op for, does TFLite (phones) take it?
FACTS = ["own_gradient", "calls_numpy", "new_to_tensorflow", "tflite_for_phones"]
_OFFERS = {
    "TensorFlow ops": ["tflite_for_phones"],
    "decorated TF ops": ["own_gradient", "tflite_for_phones"],
    "decorated NumPy": FACTS[:3],
    # No gradient is among its passed probes. Those of `py_function` hold for
    # TensorFlow's ops: around NumPy it has no gradient either.
    "numpy_function": ["calls_numpy", "new_to_tensorflow"],
    "our py_func": FACTS[:3],
    "C++ op": ["own_gradient", "new_to_tensorflow"],
}


def offers(name, row):
    """The needs that a way meets: what it is made for, and its passed probes."""
    passed = {need for need, (word, _) in row.items() if word == "yes"}
    return passed.union(_OFFERS.get(name, ()))


# The probes


def outcome(way, probe):
    """("yes", "None", "wrong" or "error", the reason); the first failure decides."""
    reason = "the probe yields nothing"
    try:
        with quietly():  # probes fail on purpose
            for found, right in probe(way):
                reason = f"found {found}, right is {right}"
                if found is None:
                    return "None", reason
                if not np.allclose(found, right):
                    return "wrong", reason
    except Exception as error:
        return "error", f"{type(error).__name__}: {error}"
    return "yes", reason


def probe(function):
    PROBES[function.__name__] = function
    return function


def points():
    return tf.constant(POINTS)


def cube(way):
    return lambda x: way(x, powers)[1]


def slope_of(f):
    return lambda x: gradient(f, x)


def modes(f):
    """f in eager mode and as a graph: the outcomes may differ."""
    return f, tf.function(f)


def concrete(f):
    return tf.function(f).get_concrete_function(tf.TensorSpec([2], tf.float32))


@probe
def first_order(way):
    """In eager mode; a tape inside a tf.function, around it; in a session; two outputs,
    which have to add to one gradient."""
    f = cube(way)
    yield gradient(f, points()), [3, 48]
    yield tf.function(slope_of(f))(points()), [3, 48]
    yield gradient(tf.function(f), points()), [3, 48]
    yield gradient(lambda x: tf.add_n(way(x, powers)), points()), [5, 56]
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = points()
        yield session.run(tf.gradients(f(x), x)[0]), [3, 48]


@probe
def second_order(way):
    for f in modes(slope_of(slope_of(cube(way)))):
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
    yield gradient(mapped, x), [[3], [48]]


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
    yield called_elsewhere(cube(way)), [1, 64]


@probe
def xla(way):
    compiled = tf.function(slope_of(cube(way)), jit_compile=True)
    yield compiled(points()), [3, 48]


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


def called_elsewhere(f):
    """f([1, 4]) in another process, which knows f from a SavedModel alone.

    That process has 500 NumPy ops of its own, which return -x, and knows the C++ op,
    as a program that uses a model with one must.
    """
    with tempfile.TemporaryDirectory() as folder:
        module = tf.Module()
        spec = tf.TensorSpec([2], tf.float32)
        module.f = tf.function(f, input_signature=[spec])
        with quietly():
            tf.saved_model.save(module, folder)
        other = _other_process()
        other.send(folder)
        found = other.recv()
    if isinstance(found, str):
        raise RuntimeError(found)
    return found


@functools.cache
def _other_process():
    """Our end of the connection to it; started once."""
    return start(_load_and_call)[1]


def _load_and_call(connection):
    load_op(POWERS_CC)
    graph = tf.Graph()
    with graph.as_default():
        for _ in range(500):
            tf.numpy_function(lambda x: [-x, -x], [1.0], [tf.float32] * 2)
    while True:
        try:
            model = tf.saved_model.load(connection.recv())
            found = model.f(POINTS).numpy().tolist()
        except Exception as error:
            found = f"{type(error).__name__}: {error}"
        connection.send(found)


# What it costs


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


def seconds(f, *args, count=1):
    """Of one of the `count` calls that f(*args) makes; the best of three rounds."""
    f(*args)  # traces
    return min(timeit.repeat(lambda: f(*args), number=1, repeat=3)) / count


# Slow calls, and how to have many of them at once

SECONDS = 0.005
_LARGE = np.ones(200_000)


def waits(i):
    """As a call that waits for a disk, a network or another program."""
    time.sleep(SECONDS)


def python(i, work=lambda: None):
    """Python code that computes, and keeps Python's lock while it does."""
    end = time.thread_time() + SECONDS
    while time.thread_time() < end:
        work()


def numpy(i):
    """A NumPy function on a large array, which lets go of the lock."""
    python(i, lambda: np.sqrt(_LARGE))


def pools(count=8):
    """Maps that call a function in so many threads, or processes, at a time."""
    processes = ProcessPoolExecutor(count, context, end_with_parent)
    list(processes.map(waits, range(count)))  # until all of them have started
    return {"threads": ThreadPoolExecutor(count).map, "processes": processes.map}


# The picture

WORKS = "works", "✓", "#f2f2f2", "black"
REFUSES = "refuses", "!", "#f0c04c", "black"
SILENT = "SILENT", "✗", "#8c1515", "white"
LOOKS = {"yes": WORKS, "error": REFUSES, "None": SILENT, "wrong": SILENT}


def draw_table(found):
    """The table as a picture: lightness, sign and word say the same thing."""
    fig, ax = plt.subplots(figsize=(9, 3.2))
    for row, answers in enumerate(found.values()):
        for column, (word, _) in enumerate(answers.values()):
            kind, sign, colour, ink = LOOKS[word]
            ax.bar(column, 0.9, 0.92, row - 0.45, color=colour)
            text = {"ha": "center", "va": "center", "color": ink, "size": 7}
            ax.text(column, row, f"{sign}\n{kind}", **text)
    labels = [need.replace("_", " ") for need in PROBES]
    ax.set_xticks(range(len(labels)), labels, rotation=40, ha="left")
    ax.set_yticks(range(len(found)), found)
    ax.set(ylim=(len(found) - 0.5, -0.5), xlim=(-0.5, len(labels) - 0.5))
    ax.xaxis.tick_top()
    for kind, sign, colour, _ in (WORKS, REFUSES, SILENT):
        ax.bar(0, 0, color=colour, label=f"{sign} {kind.lower()}")
    fig.legend(loc="outside lower center", ncols=3)
