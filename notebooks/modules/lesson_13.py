"""Lesson 13: a function in another process, timings, two pictures, a check."""

import re
import tempfile
import textwrap
from functools import cache, partial, reduce
from pathlib import Path
from time import process_time
from timeit import repeat
from zlib import crc32

import matplotlib.pyplot as plt
import numpy as np

from utils import holds, judge, load_op, tf  # utils before TensorFlow

from .processes import context, load_early
from .quiet import quietly

COLOURS = {"refuses": "#f0c04c", "SILENT": "#8c1515", "private": "#d0d0d0"}
_pool = cache(partial(context.Pool, 1, load_op, ("cpp/round_square.cc",)))
load_early()  # the other processes come late in the lesson


def call_in_other_process(f, x, own_ops):
    """f(x) from a SavedModel, by a process with our C++ op and NumPy ops of its own."""
    module = tf.Module()
    module.f = tf.function(f, input_signature=[tf.TensorSpec([2])])
    tasks = None if own_ops else 1  # of a process; a new one has no ops of its own
    with tempfile.TemporaryDirectory() as folder, quietly():
        tf.saved_model.save(module, folder)
        return _pool(tasks).apply(_call, (folder, x.numpy(), own_ops))


def _call(folder, x, own_ops):
    named = re.findall(rb"pyfunc_(\d+)", Path(folder, "saved_model.pb").read_bytes())
    with quietly(), tf.compat.v1.get_default_graph().as_default():  # it keeps them
        for _ in range(own_ops * (1 + max(map(int, named), default=0))):
            tf.numpy_function(np.negative, [np.float32(1)], tf.float32)
    with quietly():
        return tf.saved_model.load(folder).f(x).numpy()


def microseconds(way, x):
    """The processor time of a call, one of 100 in a row: the least and the most."""
    calls = tf.function(lambda x: reduce(lambda y, _: way(y), range(100), x))
    runs = repeat(partial(calls, x), "", process_time, 10, 1)[1:]
    return f"{1e4 * min(runs):.0f} to {1e4 * max(runs):.0f}"


PATH = """\
0 0 1  Must a graph (tf.function, fit, tf.data, a saved model) call your function?
0 1.2 no op: your own code calls it, and may hand the tape its gradient
1 0 2  Do you need more than TensorFlow's ops (in value, derivatives, speed or effort)?
1 1.2 TensorFlow's ops, perhaps with a stand-in or custom_gradient
2 0 3  Can the graph call your Python (in this process, outside XLA, fast enough)?
2 1.2 where XLA must compile it (TPU): TensorFlow's ops; else: a C++ op (ask 4 and 5)
3 0 4  Do you need the gradient?
3 1.2 py_func, no gradient: tf.stop_gradient makes its result a constant
4 0 5  Is that gradient differentiated again?
4 1.2 py_func; its grad may itself be a py_func
5 0 py_func, 2nd order: all that grad computes with has a gradient"""


def draw_path():
    """Draw the questions from top to bottom, and to the right of each its answers."""
    _, ax = plt.subplots(figsize=(9, 5.4))
    look = {"ha": "center", "va": "center", "fontsize": 9}
    arrow = look | {"arrowprops": {"arrowstyle": "->", "color": "0.3", "shrinkB": 0}}
    for line in PATH.split("\n"):
        row, left, text = line.split(maxsplit=2)
        row, left, height = int(row), float(left), 0.68
        colour = "#dbe8f4" if text[0].isdigit() else "#f4f4f4"
        ax.barh(row, 1, height, left, color=colour, ec="0.3")
        ax.text(left + 0.5, row, textwrap.fill(text, 46), **look)
        if left:
            ax.annotate("no", (1.2, row), (1.05, row), **arrow)
        elif row:
            ax.annotate("yes", (0.5, row - 0.34), (0.5, row - 0.57), **arrow)
    ax.set(xlim=(-0.02, 2.22), ylim=(5.4, -0.4))
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


EXITS = "C++ op;TensorFlow's ops;no op;py_func;py_func, 2nd order;py_func, no gradient"
HINTS = """\
4dd34388 a: can this graph call Python? Is the gradient differentiated again?
aeb073c7 b: how many times does the tape differentiate the solver?
36384ff1 c: where does the graph run? What does that program have of yours?
3f3d4e98 d: where does tf.data run? Does a photo need a gradient?
8c24d7c7 e: who calls the drag, a graph or your own code?
29b22e41 f: who calls the drag in a step of fit? Is its gradient differentiated again?
36da1e87 g: what can run on a TPU?
c0a5baef h: which function of TensorFlow's ops could stand in for it?
2abab0b5 ab: which question has another answer for b?
6d5da1b9 cd: which is the first question with another answer for d?
a5bc4b27 ef: which is the first question with another answer for f?
9c22ff1c gh: which is the first question with another answer for h?""".split("\n")


def judge_answers(given):
    """Exercise 1: does each answer have the checksum that stands before its hint?"""
    given, exits = given if isinstance(given, dict) else {}, EXITS.split(";")

    def test(code, name):
        found = str(given.get(name)).replace("’", "'").removesuffix(".0")
        if found in [*exits, "?"] or len(name) == 2:
            return crc32(f"{name} {found}".encode()) == int(code, 16)
        return f"{found!r} is not in {exits}"

    def one(line):
        code, told = line.split(maxsplit=1)
        name = told.split(":")[0]
        told = f"{name}: still open" if given.get(name, "?") in ("?", 0) else told
        return holds(partial(test, code, name), told)

    judge(*map(one, HINTS))
