"""Lesson 13: a function in another process and on a phone, timings, two pictures."""

import functools
import tempfile
import textwrap
import timeit
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from utils import like, load_op, py_func, tf  # utils before TensorFlow

from .processes import load_early, start
from .quiet import quietly

ROUND_SQUARE = Path(__file__).resolve().parents[1] / "cpp" / "round_square.cc"
SPEC = tf.TensorSpec([2], tf.float32)  # what the lesson's functions take and give
load_early()  # the other processes come late in the lesson


def call_in_other_process(f, x, numpy_ops):
    """f(x) by another process, which knows f from a SavedModel alone.

    It has loaded the C++ op, and has made `numpy_ops` ops of its own, which return -x.
    """
    module = tf.Module()
    module.f = tf.function(f, input_signature=[SPEC])
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(module, folder)
        connection = _other_process(numpy_ops)
        connection.send((folder, x.numpy()))
        found = connection.recv()
    if isinstance(found, str):
        raise RuntimeError(found)
    return found


@functools.cache
def _other_process(numpy_ops):
    """Our end of the connection to it; started once for each number."""
    return start(_load_and_call, numpy_ops)[1]


def _load_and_call(connection, numpy_ops):
    load_op(ROUND_SQUARE)
    graph = tf.Graph()
    with graph.as_default():
        for _ in range(numpy_ops):
            tf.numpy_function(np.negative, [np.float32(1)], tf.float32)
    while True:
        folder, x = connection.recv()
        try:
            with quietly():
                found = tf.saved_model.load(folder).f(x).numpy()
        except Exception as error:
            found = f"{type(error).__name__}: {error}"
        connection.send(found)


def call_on_phone(f, x):
    """f(x) by TensorFlow Lite, which runs models on phones: converted, then run."""
    traced = tf.function(f).get_concrete_function(SPEC)
    convert = tf.lite.TFLiteConverter.from_concrete_functions
    model = convert([traced], tf.Module()).convert()
    with warnings.catch_warnings(action="ignore"):  # that this class is moving
        phone = tf.lite.Interpreter(model_content=model)
    phone.allocate_tensors()
    phone.set_tensor(phone.get_input_details()[0]["index"], x.numpy())
    phone.invoke()
    return phone.get_tensor(phone.get_output_details()[0]["index"])


def call_times(functions, x, calls=100):
    """Microseconds of one call inside a graph, which makes `calls` calls in a row."""

    def graph_of(f):
        @tf.function
        def run(x):
            for _ in tf.range(calls):
                y = f(x)
                y.set_shape(x.shape)  # tf.numpy_function does not know it
                x = 0.5 * y  # the next call has to wait for this one
            return x

        return run

    seconds = _fastest([graph_of(f) for f in functions.values()], x, tries=21)
    return dict(zip(functions, 1e6 * seconds / calls, strict=True))


def four_calls(f):
    """Milliseconds of a graph with four calls of f: stateful, and stateless."""

    def graph_of(stateful):
        @tf.function
        def run(x):
            return [py_func(f, [x + i], like(x), stateful=stateful) for i in range(4)]

        return run

    return 1000 * _fastest([graph_of(True), graph_of(False)], tf.constant(0.0), tries=9)


def _fastest(graphs, x, tries):
    """Seconds of each graph's fastest run; the graphs take turns."""
    runs = [functools.partial(graph, x) for graph in graphs]
    with quietly():  # TensorFlow warns that we record many graphs
        for run in runs:
            run()
    times = [[timeit.timeit(run, number=1) for run in runs] for _ in range(tries)]
    return np.min(times, axis=0)


QUESTIONS = [
    "1  Must it run again in every step, or at each request?",
    "2  Is it beyond TensorFlow's ops, or too slow with them?",
    "3  Can the op call back into Python?",
    "4  Should a gradient go through it?",
    "5  Is that gradient differentiated again?",
]
ANSWERS = [  # to "no", and after the last "yes"
    "no op: plain Python, before training or in a callback",
    "TensorFlow's ops, perhaps with a stand-in or custom_gradient",
    "no Python, or too slow: C++ op; phone, TPU, browser: approximate it, or leave "
    "it outside of the model",
    "its result is used as a constant: py_func without grad",
    "py_func; its grad may call NumPy, by py_func as well",
    "py_func, recursive: its grad is made of ops that have gradients",
]


def draw_path():
    """Draw the questions from top to bottom, and to the right of each its answer."""
    _, ax = plt.subplots(figsize=(9, 5.4))
    look = {"ha": "center", "va": "center", "fontsize": 9}
    arrow = look | {"arrowprops": {"arrowstyle": "->", "color": "0.3", "shrinkB": 0}}

    def box(column, row, text, colour):
        ax.barh(row, 1, 0.62, column, align="center", color=colour, ec="0.3")
        ax.text(column + 0.5, row, textwrap.fill(text, 38), **look)

    for row, question in enumerate(QUESTIONS):
        box(0, row, question, "#dbe8f4")
        box(1.4, row, ANSWERS[row], "#f4f4f4")
        ax.annotate("no", (1.4, row), (1.1, row), **arrow)
        ax.annotate("yes", (0.5, row + 0.69), (0.5, row + 0.41), **arrow)
    box(0, row + 1, ANSWERS[-1], "#f4f4f4")
    ax.set(xlim=(-0.02, 2.42), ylim=(row + 1.4, -0.4))
    ax.axis("off")


COLOURS = {"works": "#f2f2f2", "public API": "#f2f2f2", "refuses": "#f0c04c"}
COLOURS |= {"private API": "#faeccb", "recompile": "#faeccb", "SILENT": "#8c1515"}


def draw_table(found):
    """Draw found[way][test], a word each: light where all is well, dark for SILENT."""
    _, ax = plt.subplots(figsize=(9, 3))
    for row, words in enumerate(found.values()):
        for column, word in enumerate(words.values()):
            ax.barh(row, 0.94, 0.9, column - 0.47, color=COLOURS[word])
            ink = "white" if word == "SILENT" else "black"
            ax.text(column, row, word, ha="center", va="center", color=ink, size=8)
    ax.set_xticks(range(len(words)), words, fontsize=8)
    ax.set_yticks(range(len(found)), found)
    ax.set(ylim=(len(found) - 0.5, -0.5), xlim=(-0.5, len(words) - 0.5))
    ax.xaxis.tick_top()
