"""Lesson 13: a function in another process and on a phone, timings, two pictures."""

import functools
import itertools
import tempfile
import time
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


def call_times(functions, x, calls=100, rounds=21):
    """Microseconds of one call inside a graph: `rounds` numbers for each function.

    A graph runs f(x) `calls` times, one after the other. Each round times all functions
    in turn, so that a busy moment of the machine is shared by all.
    """

    def graph_of(f):
        @tf.function
        def run(x):
            for _ in tf.range(calls):
                y = f(x)
                y.set_shape(x.shape)  # tf.numpy_function does not know it
                x = 0.5 * y  # the next call has to wait for this one
            return x

        return run

    graphs = {name: graph_of(f) for name, f in functions.items()}
    times = {name: [] for name in functions}
    for run in graphs.values():
        with quietly():  # TensorFlow warns that we record many graphs
            run(x)
    for _ in range(rounds):
        for name, run in graphs.items():
            begin = time.perf_counter()
            run(x)
            times[name].append(1e6 * (time.perf_counter() - begin) / calls)
    return times


def four_calls(f, rounds=9):
    """Milliseconds of a graph with four calls of f: stateful, and with stateful=False.

    The two graphs take turns, and each number is the median of its rounds.
    """

    def graph_of(stateful):
        @tf.function
        def step(x):
            return [py_func(f, [x + i], like(x), stateful=stateful) for i in range(4)]

        return step

    x = tf.constant(0.0)
    graphs = graph_of(True), graph_of(False)
    for step in graphs:
        with quietly():  # TensorFlow warns that we record many graphs
            step(x)
    times = [
        [timeit.timeit(functools.partial(step, x), number=1) for step in graphs]
        for _ in range(rounds)
    ]
    return 1000 * np.median(times, axis=0)


QUESTIONS = [  # and what is left after the last "yes"
    "1  Does it have to be recomputed\nin every step?",
    "2  Is it beyond TensorFlow's ops?",
    "3  Can the op call back into Python?",
    "4  Does a gradient go through it?",
    "5  Is that gradient differentiated again?",
    "py_func, recursive: its grad is\nmade of ops that have gradients",
]
ANSWERS = [  # after a "no" to which row, with which words, and at which height
    (0, "no", 0, "no op: plain Python,\nbefore training or in a callback"),
    (1, "no", 1, "TensorFlow's ops, perhaps with a\nstand-in or custom_gradient"),
    (
        2,
        "no: not TensorFlow's runtime",
        1.69,
        "phone, TPU, browser, ONNX:\napproximate it, or leave it outside",
    ),
    (
        2,
        "no: without Python, or too slow",
        2.34,
        "C++ op;\nits gradient, if any, in Python",
    ),
    (3, "no", 3, "py_func without grad,\nor numpy_function"),
    (4, "no", 4, "py_func,\nwhose grad may call NumPy"),
]


def draw_path():
    """Draw the questions from top to bottom, and to the right of each its answer."""
    _, ax = plt.subplots(figsize=(9, 5.4))
    look = {"va": "center", "fontsize": 9}
    boxes = []
    for row, text in enumerate(QUESTIONS):
        frame = _frame("#dbe8f4" if row < len(QUESTIONS) - 1 else "#f4f4f4")
        text = ax.text(0, -row, text, ha="center", bbox=frame, **look)
        boxes.append(text.get_bbox_patch())
    for row, (box, below) in enumerate(itertools.pairwise(boxes)):
        down = {"arrowstyle": "<-", "color": "0.3", "patchB": box, "patchA": below}
        ax.annotate("", (0, -row), (0, -row - 1), arrowprops=down)
        ax.text(0.02, -row - 0.54, "yes", fontsize=9)
    for row, no, height, answer in ANSWERS:
        right = {"arrowstyle": "<-", "color": "0.3", "patchB": boxes[row]}
        look.update(bbox=_frame("#f4f4f4"), arrowprops=right)
        ax.annotate(answer, (0, -row), (0.8, -height), **look)
        ax.text(0.55, 0.13 - (row + height) / 2, no, ha="center", fontsize=9)
    ax.set(xlim=(-0.34, 1.42), ylim=(0.6 - len(QUESTIONS), 0.4))
    ax.axis("off")


def _frame(colour):
    return {"boxstyle": "round,pad=0.6", "fc": colour, "ec": "0.3"}


GOOD, BAD, SILENT = ("#f2f2f2", "black"), ("#f0c04c", "black"), ("#8c1515", "white")
PRICE = ("#faeccb", "black")
LOOKS = {"works": GOOD, "public API": GOOD, "refuses": BAD, "SILENT": SILENT}


def draw_table(found):
    """Draw found[way][test], a word each: light where all is well, dark for SILENT."""
    _, ax = plt.subplots(figsize=(9, 3))
    for row, words in enumerate(found.values()):
        for column, word in enumerate(words.values()):
            colour, ink = LOOKS.get(word, PRICE)
            ax.bar(column, 0.9, 0.94, row - 0.45, color=colour)
            ax.text(column, row, word, ha="center", va="center", color=ink, size=8)
    tests = list(next(iter(found.values())))
    ax.set_xticks(range(len(tests)), tests, fontsize=8)
    ax.set_yticks(range(len(found)), found)
    ax.set(ylim=(len(found) - 0.5, -0.5), xlim=(-0.5, len(tests) - 0.5))
    ax.xaxis.tick_top()
