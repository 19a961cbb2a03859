"""What lesson 12 needs besides its package: processes, a picture, and two checks."""

import functools
import os
import tempfile
import zlib
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
CHECK = "ids(i) >= 0 && ids(i) < segments_"
FEW = "float32, segments = 2:"
LISTS = "for (int64_t i = 0; i < count; ++i) members[ids(i)].push_back(i);"
FRIEND = """
import tensorflow as tf
from custom_ops import load_op
fault = True
try:
    {}
except ValueError as error:
    fault = str(error)
def y_and_dx(ids, dy=None):
    x = tf.Variable({}[:len(ids)], dtype="float64")
    with tf.GradientTape() as tape:
        y = tf.saved_model.load(".").call(x, ids)
    dy = dy and tf.constant(dy, "float64")
    return tf.concat([y, tape.gradient(y, x, dy, "zero")], 0).numpy()
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


def of_friend(f, load, x, calls):
    """What a friend's program gets: f(x, ids) saved here, and these calls elsewhere."""
    model = tf.Module()
    specs = tf.TensorSpec([None], tf.float64), tf.TensorSpec([None], tf.int32)
    model.call = tf.function(f, specs)
    with tempfile.TemporaryDirectory() as folder, quietly():
        tf.saved_model.save(model, folder)
        return in_new_process(FRIEND.format(load, x.tolist()), calls, folder)


def judge_choosy(f, library):
    """Judge exercise 1: what a process with only the library finds; the gradient."""
    x, ids = np.array([2, 3, 2.9, -5, 2.1, 80, 79.9]), np.int32([2, 0, 2, 6, 0, 1, 1])
    y = np.array([np.logaddexp.reduce(10 * x[ids == s]) for s in range(7)])
    dx = 10 * np.bincount(ids)[ids] * np.exp(10 * x - y[ids])
    right = np.concatenate([y[ids], dx])
    load, calls = f"tf.load_op_library({str(library)!r})", [f"y_and_dx({ids.tolist()})"]

    def of_each(x, ids):  # as in the friend's loss
        return tf.gather(f(x, ids, 7), ids)

    def found():
        return of_friend(of_each, load, x, calls)[0]

    error, ours = (tf.errors.OpError, "not in 0 to"), "ids below 0: is y from our op?"
    task = "y, then dx, with only the library; a tf.gather follows:"
    judge(
        gives(found, [], right, task, 1e-9, False),
        holds(lambda: not fails(*error, tf.function(f), x, -ids, 7), ours),
        gradient_right(lambda x: f(x, ids[4:], 2), [np.float32(x[:3])], FEW),
        seconds=100,
    )


def judge_padded(condition, lists, padded_dx, ops):
    """Judge exercise 2: the op with this C++, and its gradient, in a new process."""
    code = next(CPP.rglob("segment_logsumexp.cc")).read_text("utf-8")
    code = code.replace(CHECK, str(condition)).replace(LISTS, str(lists))
    code = f"#define _GLIBCXX_ASSERTIONS\n{code}"  # so a vector refuses a wrong index
    name = f"padded_{os.getuid()}_{zlib.crc32(code.encode())}.cc"
    file = Path(tempfile.gettempdir(), name)  # stays, so it is compiled once
    file.write_text(code, "utf-8")
    x, ids = np.array([0.5, 7, 719, 1.5, 800, 720]), [-1, 1, 3, 1, -1, 3]
    y = np.array([-np.inf, np.logaddexp(7, 1.5), -np.inf, np.logaddexp(719, 720)])
    dx = [0, 2, -3, 2, 0, -3] * np.exp(np.minimum(x - y[[1, 1, 3, 1, 1, 3]], 0))
    tried = ids, [0, -1], [-2], [-3], [4]
    calls = [f"y_and_dx({these}, [5.0, 2.0, 7.0, -3.0])" for these in tried]

    def padded(segments):
        @tf.custom_gradient
        def op(x, ids):
            y = ops.segment_logsumexp(x, ids, segments=segments)
            return y, lambda dy: (padded_dx(x, ids, y, dy), None)

        return op

    def few(x):
        return padded(2)(x, tf.constant([0, 1, 0]))

    @functools.cache
    def found():  # all in one process; if that dies, only so much
        said = of_friend(padded(4), f"load_op({str(file)!r})", x, ["fault", *calls])
        if str(said[0]).endswith("code -6"):
            said[0] += ", an index outside a vector"
        return said

    def on_one():
        return padded_dx(*map(tf.constant, one))

    def part(k, places):
        said = found()[k]  # a text is an error
        return said if isinstance(said, str) else said[places]

    def refused(k):
        return "not in 0 to" in str(found()[k]) or f"ids = {tried[k - 1]}: not refused"

    one = np.array([0.5, 7]), np.int32([0, -1]), np.array([0.5]), np.array([3.0])
    uses = ("ids", condition), ("segments_", condition), ("members", lists)
    cpp, values, dxs = "C++ with ids, segments_ and members", slice(4), slice(4, None)
    judge(
        holds(lambda: all(name in str(text) for name, text in uses), cpp),
        holds(lambda: found()[0], "your code, compiled, saved and called"),
        gives(lambda: part(1, values), [], y, f"y for ids = {ids}", 1e-9, False),
        gives(lambda: part(1, dxs), [], dx, f"dx for ids = {ids}", 1e-9, False),
        gives(lambda: part(2, dxs), [], [5, 0], "dx for ids = [0, -1]", 0, False),
        gives(on_one, [], [3, 0], "dx for ids = [0, -1], one segment", 0, False),
        *[holds(lambda k=k: refused(k)) for k in (3, 4, 5)],
        gradient_right(few, [np.float32([0.5, 7, -2])], FEW),
        seconds=300,
    )


def draw_names(arrows=True):
    """The files and the parts of the package; with arrows, also who needs what."""
    _, axes = plt.subplots(figsize=(8, 2.6))
    boxes = ["registered: name of the op", "custom: name of the op, and the gradient",
             "model.keras: name of the class", "Python: gradient of the op",
             "library: C++ of the op", "Python: class of the layer"]  # fmt: skip
    if not arrows:
        boxes[:3] = [box.partition(":")[0] for box in boxes[:3]]
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
