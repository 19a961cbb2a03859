"""Lesson 13: a function in another process, timings, two pictures, a check."""

import tempfile
import textwrap
from functools import cache, partial
from time import process_time
from timeit import repeat

import matplotlib.pyplot as plt
import numpy as np

from utils import holds, judge, load_op, tf  # utils before TensorFlow

from .processes import context, load_early
from .quiet import quietly

COLOURS = {"refuses": "#f0c04c", "SILENT": "#8c1515", "private": "#d0d0d0"}
_pool = cache(context.Pool)
load_early()  # the other processes come late in the lesson


def call_in_other_process(f, x, numpy_ops):
    """f(x) from a SavedModel, by a process with our C++ op and NumPy ops of its own."""
    module = tf.Module()
    module.f = tf.function(f, input_signature=[tf.TensorSpec([2])])
    with tempfile.TemporaryDirectory() as folder, quietly():
        tf.saved_model.save(module, folder)
        return _pool(1, _prepare, (numpy_ops,)).apply(_call, (folder, x.numpy()))


def _prepare(numpy_ops):
    load_op("cpp/round_square.cc")
    with tf.compat.v1.get_default_graph().as_default():  # it keeps what its ops call
        for _ in range(numpy_ops):
            tf.numpy_function(np.negative, [np.float32(1)], tf.float32)


def _call(folder, x):
    with quietly():
        return tf.saved_model.load(folder).f(x).numpy()


def spread(f, *args):
    """The least and the most processor time of nine calls, after a first one, in s."""
    return np.quantile(repeat(partial(f, *args), "", process_time, 10, 1)[1:], [0, 1])


PATH = """\
0 0 1  Must TensorFlow itself (in a training step, tf.data, a saved model) call \
your function?
0 1.5 no op, but plain Python; give the tape its gradient by output_gradients=...
1 0 2  Do TensorFlow's ops fall short (of the value or the gradient that you want, \
too slow, too much work)?
1 1.5 TensorFlow's ops, perhaps with custom_gradient or a stand-in
2 0 3  Can the op call your Python function, and is that fast enough?
1.75 1.5 C++ op, or work done before the model
2.25 1.5 TensorFlow's ops after all, or no XLA (but a TPU needs it)
3 0 4  Do you need its gradient?
3 1.5 py_func, no gradient: tf.stop_gradient makes its result a constant
4 0 5  Is that gradient differentiated again?
4 1.5 py_func; its grad may itself be a py_func
5 0 py_func, 2nd order: grad built from ops that have gradients (for example itself)"""
NO = {1.75: "no: too slow, or\nanother program", 2.25: "no: for XLA\nor on a TPU"}


def draw_path():
    """Draw the questions from top to bottom, and to the right of each its answers."""
    _, ax = plt.subplots(figsize=(9, 5.4))
    look = {"ha": "center", "va": "center", "fontsize": 9}
    arrow = look | {"arrowprops": {"arrowstyle": "->", "color": "0.3", "shrinkB": 0}}
    for line in PATH.split("\n"):
        row, left, text = line.split(maxsplit=2)
        row, left, height = float(row), float(left), 0.42 if "." in row else 0.68
        colour = "#dbe8f4" if text[0].isdigit() else "#f4f4f4"
        ax.barh(row, 1, height, left, color=colour, ec="0.3")
        ax.text(left + 0.5, row, textwrap.fill(text, 40), **look)
        if left:
            ax.annotate(NO.get(row, "no"), (1.5, row), (1.19, row), **arrow)
        elif row:
            ax.annotate("yes", (0.5, row - 0.34), (0.5, row - 0.57), **arrow)
    ax.set(xlim=(-0.02, 2.52), ylim=(5.4, -0.4))
    ax.axis("off")


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
py_func; a: is the gradient differentiated again?
py_func, 2nd order; b: how many times does the tape differentiate the solver?
C++ op; c: who chooses each move? What does a call to Python cost beside 2 µs?
py_func, no gradient; d: can one call make all moves? Should the network change them?
no op; e: must TensorFlow call the drag, if its gradient is known?
py_func; f: who calls the drag in a step of fit? Is its gradient differentiated again?
TensorFlow's ops; g: what can run on a TPU?
TensorFlow's ops; h: which function of TensorFlow's ops could stand in for it?
5; ab: which question has another answer for b?
3; cd: which question has another answer for d?
1; ef: which is the first question with another answer for f?
2; gh: which is the first question with another answer for h?""".split("\n")


def judge_answers(given):
    """Exercise 1: is what is given what stands before the hint?"""
    wanted = dict(line.split("; ")[::-1] for line in HINTS)
    known = sorted({exit for exit in wanted.values() if not exit.isdigit()})

    def test(hint, exit):
        found = str(given.get(hint.split(":")[0]))
        if found in known or exit.isdigit():
            return found == exit
        return f"{found!r} is not in {known}"

    def told(hint):  # only for what is answered
        name = hint.split(":")[0]
        is_open = isinstance(given, dict) and given.get(name) in ("?", 0)
        return f"{name}: still open" if is_open else hint

    judge(*(holds(partial(test, *one), told(one[0])) for one in wanted.items()))
