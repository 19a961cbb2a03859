"""Lesson 13: a function in another process, timings, two pictures, a check."""

import functools
import tempfile
import textwrap
import timeit
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from utils import holds, judge, load_op, tf  # utils before TensorFlow

from .processes import context, load_early
from .quiet import quietly

ROUND_SQUARE = Path(__file__).resolve().parents[1] / "cpp" / "round_square.cc"
SPEC = tf.TensorSpec([2], tf.float32)  # what the lesson's functions take and give
OTHERS = tf.Graph()  # in another process, it keeps alive what its ops call
load_early()  # the other processes come late in the lesson


def call_in_other_process(f, x, numpy_ops):
    """f(x) by another process, which knows f from a SavedModel alone.

    It has loaded the C++ op, and has made `numpy_ops` ops of its own, which return -x.
    A script that calls this needs `if __name__ == "__main__":` around its own code.
    """
    module = tf.Module()
    module.f = tf.function(f, input_signature=[SPEC])
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(module, folder)
        return _other_process(numpy_ops).apply(_load_and_call, (folder, x.numpy()))


@functools.cache
def _other_process(numpy_ops):
    return context.Pool(1, _prepare, [numpy_ops])


def _prepare(numpy_ops):
    load_op(ROUND_SQUARE)
    with OTHERS.as_default():
        for _ in range(numpy_ops):
            tf.numpy_function(np.negative, [np.float32(1)], tf.float32)


def _load_and_call(folder, x):
    with quietly():
        return tf.saved_model.load(folder).f(x).numpy()


def fastest(functions, x, clock):
    """Seconds of each function's fastest call; they take turns."""
    runs = [functools.partial(f, x) for f in functions]
    with quietly():  # TensorFlow warns that we record many graphs
        times = [[timeit.timeit(run, "", clock, 1) for run in runs] for _ in range(9)]
    return np.min(times, axis=0)


PATH = """\
1  Must it run inside a training step, tf.data or a finished model?
no op: plain Python before any of these, between steps, or in a callback
2  Do TensorFlow's ops lack something, or are they too slow?
TensorFlow's ops, perhaps with a stand-in or custom_gradient
3  Can the op reach your Python function, and fast enough?
C++ op (then 4 and 5 for its gradient); XLA, TPU: TF ops, perhaps with an approximation
4  Should a gradient go through it?
py_func, no gradient: tf.stop_gradient makes its result a constant
5  Is that gradient differentiated again?
py_func; its grad may call NumPy, by py_func as well
py_func, recursive: its grad is made of ops that have gradients""".split("\n")


def draw_path():
    """Draw the questions from top to bottom, and to the right of each its answer."""
    _, ax = plt.subplots(figsize=(9, 5))
    look = {"ha": "center", "va": "center", "fontsize": 9}
    arrow = look | {"arrowprops": {"arrowstyle": "->", "color": "0.3", "shrinkB": 0}}
    for place, text in enumerate(PATH):
        row, column = place // 2, 1.4 * (place % 2)
        colour = "#dbe8f4" if text[0].isdigit() else "#f4f4f4"
        ax.barh(row, 1, 0.64, column, align="center", color=colour, ec="0.3")
        ax.text(column + 0.5, row, textwrap.fill(text, 38), **look)
        if column:
            ax.annotate("no", (1.4, row), (1.1, row), **arrow)
            ax.annotate("yes", (0.5, row + 0.69), (0.5, row + 0.41), **arrow)
    ax.set(xlim=(-0.02, 2.42), ylim=(5.4, -0.4))
    ax.axis("off")


COLOURS = {"refuses": "#f0c04c", "SILENT": "#8c1515", "private": "#d0d0d0"}


def draw_table(found):
    """Draw found[way][test]: light where all is well, dark for SILENT."""
    _, ax = plt.subplots(figsize=(9, 3.2))
    for row, words in enumerate(found.values()):
        for column, word in enumerate(words.values()):
            ax.barh(row, 0.94, 0.9, column - 0.47, color=COLOURS.get(word, "#f2f2f2"))
            ink = "white" if word == "SILENT" else "black"
            ax.text(column, row, word, ha="center", va="center", color=ink, size=8)
    ax.set_xticks(range(len(words)), words, fontsize=8)
    ax.set_yticks(range(len(found)), found)
    ax.set(ylim=(len(found) - 0.5, -0.5), xlim=(-0.5, len(words) - 0.5))
    ax.xaxis.tick_top()


HINTS = """\
py_func; a: what is a call beside 50 ms? Is the gradient differentiated again?
TensorFlow's ops; b: what runs on a phone? Which stand-in has the gradient we want?
no op; c: how often, and does the next step wait for it?
C++ op; d: what does a call to Python cost beside 2 µs?
py_func, recursive; e: how many times does the tape differentiate the energy?
py_func, no gradient; f: should the network change the grades?""".split("\n")


def judge_answers(answers):
    """Exercise 1: does each situation leave the path where its hint stands?"""
    hints = dict(line.split("; ") for line in HINTS)
    exits = list(hints)

    def test(exit):
        found = answers.get(hints[exit][0])  # by its letter
        return found == exit if found in exits else f"{found!r} is not in {exits}"

    judge(*(holds(functools.partial(test, exit), hints[exit]) for exit in exits))
