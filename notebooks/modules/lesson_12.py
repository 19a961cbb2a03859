"""What lesson 12 needs besides its package: processes, a picture, and two checks."""

import inspect
import re
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from numpy.testing import assert_raises_regex as fails

from custom_ops.cpp_op import _go_on_without_compiler
from utils import compile_command, gives, gradient_right, holds, judge, tf

from .lesson_12_worker import attempt
from .processes import load_early, start
from .quiet import quietly

load_early("keras")
CPP = Path(__file__).resolve().parents[1] / "cpp"
FEW = "float32, segments = 2: are x's dtype and `segments` both used?"
FRIEND = """
import tensorflow as tf
tf.load_op_library({!r})
def y_and_dx(x, ids):
    x = tf.Variable(x, dtype="float64")
    with tf.GradientTape() as tape:
        y = tf.saved_model.load(".").call(x, ids)
    return [y.numpy(), tf.convert_to_tensor(tape.gradient(y, x, None, "zero")).numpy()]
"""


def look_for_compiler():
    """Without a C++ compiler, say so, and skip the cells that begin with `# C++`."""
    try:
        compile_command(next(CPP.rglob("*.cc")))
    except FileNotFoundError as error:
        _go_on_without_compiler(error)


def show(name, start, end=None):
    """Print a part of a file in cpp: from `start` to before `end`."""
    _, start, part = (CPP / name).read_text("utf-8").partition(start)
    print(start + (part.partition(end)[0] if end else part).rstrip())


def in_new_process(program, calls, folder):
    """A list of what these calls return in a program elsewhere, or of their errors."""
    process, connection = start(attempt, program, calls, str(folder))
    try:
        return connection.recv()
    except EOFError:  # it ended before it sent them
        process.join()
        return [f"dead, with exit code {process.exitcode}"]


def judge_choosy(f, library):
    """Judge exercise 1: what a process with only the library finds; the gradient."""
    x, ids = np.array([2, 3, 2.9, -5, 2.1, 80, 79.9]), np.int32([2, 0, 2, 6, 0, 1, 1])
    y = np.array([np.logaddexp.reduce(10 * x[ids == s]) for s in range(7)])
    dx = 10 * np.bincount(ids)[ids] * np.exp(10 * x - y[ids])

    def of_each(x, ids):  # as in the friend's loss
        return tf.gather(f(x, ids, 7), ids)

    def found():
        model = tf.Module()
        specs = tf.TensorSpec([None], tf.float64), tf.TensorSpec([None], tf.int32)
        model.call = tf.function(of_each, specs)
        call = f"y_and_dx({x.tolist()}, {ids.tolist()})"
        with tempfile.TemporaryDirectory() as folder, quietly():
            tf.saved_model.save(model, folder)
            [said] = in_new_process(FRIEND.format(str(library)), [call], folder)
        if isinstance(said, str):
            if "Slices" in said:
                said += ": what makes dy plain before our gradient is called?"
            raise (LookupError if "No gradient" in said else TypeError)(said)
        return said

    error, ours = (tf.errors.OpError, "not in 0 to"), "ids below 0: is y from our op?"
    task = "y[ids] and dx, in a process with only the library"
    judge(
        gives(found, [], [y[ids], dx], task, 1e-9, False),
        holds(lambda: not fails(*error, tf.function(f), x, -ids, 7), ours),
        gradient_right(lambda x: f(x, ids[4:], 2), [np.float32(x[:3])], FEW),
        holds(lambda: f(np.float32(x), ids, 7).dtype == "float32", "dtype of y"),
        gives(lambda: f(x, ids, 7)[3], [], -np.inf, "y of an empty segment"),
        seconds=100,
    )


def judge_friends(needs, program, library, folder):
    """Judge exercise 2: each friend's function with these parts, and without each."""
    package = sys.modules["segment_logsumexp"]
    functions = package.segment_logsumexp, package.SegmentLogsumexp
    parts = {
        "library": f"ops = tf.load_op_library({str(library)!r})",
        "gradient": inspect.getsource(package.segment_logsumexp_grad),
        "class": "\n".join(map(inspect.getsource, functions)),
    }
    program += '\n__name__ = "segment_logsumexp"'  # the class is registered under it

    def runs(friend, some):
        code = "\n".join([program, *[parts[part] for part in parts if part in some]])
        return in_new_process(code, [f"{friend}() is not None"], folder)[0]

    def verdict(friend):
        if friend not in needs:
            return f"no answer for {friend}"
        named = re.findall(r"\w+", str(needs[friend]))  # of a list, a set or a text
        if unknown := sorted(set(named) - set(parts)):
            return f"{friend}: {unknown}, but the parts are {sorted(parts)}"
        if (said := runs(friend, named)) is not True:
            return f"{friend}, with {named}: {said}"
        for part in named:
            if runs(friend, set(named) - {part}) is True:
                return f"{friend} works without {part!r}, too"
        return True

    hint = "what is loaded, and is it differentiated? Does the tape go through our op?"
    judge(
        *[holds(lambda f=friend: verdict(f), hint) for friend in "abcde"], seconds=100
    )


def draw_names(arrows=True):
    """The files and the parts of the package; with arrows, also who needs what."""
    _, axes = plt.subplots(figsize=(8, 2.6))
    boxes = ["registered: name of the op", "custom: name of the op, and the gradient",
             "model.keras: name of the class", "Python: gradient of the op",
             "library: C++ of the op", "Python: class of the layer"]  # fmt: skip
    if not arrows:
        boxes[:3] = [box.partition(":")[0] for box in boxes[:3]]
        axes.text(4.6, 2, "?", size=30, ha="center", va="center")
    rows, lefts, widths = [3, 2, 1, 3, 2, 1], [0] * 3 + [5.2] * 3, [4] * 3 + [3] * 3
    bars = axes.barh(rows, widths, 0.6, lefts, fc="w", ec="C0")
    axes.bar_label(bars, boxes, label_type="center")
    for tail, head, style in [
        ((4.05, 3), (5.15, 3), {"ls": "--"}),
        ((4.05, 3), (5.15, 2), {}),
        ((4.05, 2), (5.15, 2), {}),
        ((4.05, 1), (5.15, 1), {}),
        ((6.7, 1.32), (6.7, 1.68), {}),
        ((8.25, 1), (8.25, 3), {"ls": "--", "connectionstyle": "arc3,rad=0.6"}),
    ] * arrows:
        axes.annotate("", head, tail, arrowprops={"arrowstyle": "->", **style})
    axes.set(yticks=[], xticks=[2, 6.7], xlim=(-0.2, 8.9), frame_on=False)
    axes.set_xticklabels(["files", "package"], weight="bold")
    axes.tick_params(length=0)
