"""Lesson 07 draws and tries answers with this: C++ in a process that may crash."""

import contextlib
import itertools
import os
import signal
import tempfile
import zlib
from multiprocessing.pool import ThreadPool
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from utils import load_op, tf

from .lesson_00 import draw_graph
from .processes import start

KERNEL = """REGISTER_KERNEL_BUILDER(Name("Extremes").Device(
    tensorflow::DEVICE_CPU).TypeConstraint<{0}>("T"), ExtremesOp<{0}>);
"""
VECTORS = [[3, 1, 4], [7], [0.1, 0.3, 0.3, 0.1], [np.inf, np.inf], [-np.inf, -np.inf]]
VECTORS += [[1, 1 + 1e-15, 1 - 1e-15], [*range(70_000), -1]]  # equal as floats; long
VECTORS += [[-4e30, -2e30], [4e30, 2e30], [np.inf, 3.4028234663852886e38]]  # extreme


def draw_zero_out(*arrived):
    """Draw ZeroOut and what arrives for the indices: without a loop, then in one."""
    boxes = {"x": (0, 0.5, "$x = (5, 6, 7)$"), "op": (1, 0.5, "    ZeroOut    "),
             "y": (2.2, 0, "$y = (5, 0, 0)$"), "i": (2.2, 1, "indices = $(0, 1, 2)$"),
             "L": (3.2, 0, "$L = 10$")}  # fmt: skip
    size = (8, 2.5 * len(arrived))
    axes = plt.subplots(len(arrived), figsize=size, squeeze=False)[1].flat
    for ax, dindices in zip(axes, arrived, strict=True):
        back = ", ".join(str(dindices).strip("[]").split())
        draw_graph(ax, boxes, [("x", "op", "", "2, 0, 0"), ("op", "y", "", "2, 3, 4"),
                   ("op", "i", "", back), ("y", "L", "", "2, 3, 4")])  # fmt: skip
    if len(arrived) == 2:
        axes[0].set_title("no loop: the tape records ZeroOut", loc="left")
        title = "a loop in a tf.function: to the tape, the dotted frame is one op"
        axes[1].set_title(title, loc="left")
        axes[1].axvspan(0.67, 3.55, 0.02, 0.98, fill=False, linestyle=":")
    plt.show()


def dx_of_extremes(grad):
    """From (x, dlow, dhigh, dplaces) to dx; in a graph for an x of any length."""

    def dx(x, dlow, dhigh, dplaces):
        x = tf.boolean_mask(x, x == x)
        places = tf.cast([tf.argmin(x), tf.argmax(x)], tf.int32)
        low, high = tf.unstack(tf.gather(x, places))
        parts = {"inputs": [x], "outputs": [low, high, places]}
        op = type("Op", (), {**parts, "get_attr": {"T": x.dtype}.get})()  # has a hash
        dlow, dhigh = (tf.convert_to_tensor(dy, x.dtype) for dy in (dlow, dhigh))
        found = tf.nest.flatten(grad(op, dlow, dhigh, dplaces))
        if len(found) != 1:
            raise ValueError(f"{len(found)} gradients for one input")
        if isinstance(found[0], tf.IndexedSlices):
            raise TypeError("a sparse dx: return a plain tensor")
        return tf.convert_to_tensor(found[0], x.dtype)

    return dx


def load_extremes(code):
    """Load the op Extremes, of which this is the C++ code: once in a process."""
    zero_out = Path(__file__).parents[1] / "cpp" / "zero_out.cc"
    top = zero_out.read_text("utf-8").split("// The interface")[0]  # includes, usings
    top = top.replace("namespace {", "using namespace tensorflow;")
    text = "#define EIGEN_INTERNAL_DEBUGGING\n"  # so Eigen's arrays check each index
    text += f'{top}\n#line 1 "answer"\n{code}\n'
    text += KERNEL.format("float") + KERNEL.format("double")
    name = f"extremes_{os.getuid()}_{zlib.crc32(text.encode())}.cc"
    file = Path(tempfile.gettempdir(), name)
    file.write_text(text, "utf-8")
    return load_op(file)  # compiles it once: each code has a file that stays


def fault_of_extremes(code):
    """What is wrong with the op Extremes, whose C++ code this is; else True."""
    if "set_output" not in str(code):
        return "the shape function sets no output yet"
    connection, doing = start(try_extremes, code)[1], ""
    try:
        while isinstance(said := connection.recv(), tuple):
            [doing] = said
        return said
    except EOFError:
        hint = "is an index out of range? is vec<…> of the right dtype?"
        hint = "does the kernel refuse it?" if doing.startswith("of shape") else hint
        return f"it crashes, or takes 20 s, at x {doing}: {hint}"


def try_extremes(connection, code):
    """A target for `start`: sends the first fault, or True."""
    try:
        extremes = load_extremes(code).extremes
        signal.alarm(20)  # ends C++ code, too
        connection.send(first_fault(extremes, lambda doing: connection.send((doing,))))
    except Exception as error:
        connection.send(str(error))


def first_fault(extremes, at):
    """The first thing that is wrong with the op; True if there is nothing.

    `at` is told, before each try, which x it has.
    """
    for dtype, numbers in itertools.product(["float64", "float32"], VECTORS):
        a, x = np.array(numbers, dtype), tf.constant(numbers, dtype)
        places = [int(a.argmin()), int(a.argmax())]
        more = " …" * (len(numbers) > 4)
        at(f"= {numbers[:4]}{more} in {dtype}")
        right = [*a[places].tolist(), places]
        try:
            found = [y.numpy().tolist() for y in extremes(x)]
        except tf.errors.OpError as error:
            found = error.message.split("}} ")[-1]
        if found != right:
            return f"x = {numbers[:4]}{more} in {dtype}: {found} instead of {right}"
    for shape in (2, 3), (1, 3), (3, 1), (2, 2, 2), (0,), ():
        at(f"of shape {shape}")
        with contextlib.suppress(tf.errors.OpError):
            extremes(tf.ones(shape))
            return f"the kernel takes an input of shape {shape}"
    for shape in (3,), (1,), (None,), None, (2, 3), (2, 2, 2), ():
        fits = shape is None or len(shape) == 1
        right = "() float64 and () float64 and (2,) int32" if fits else "an error"
        with tf.Graph().as_default():
            x = tf.raw_ops.Placeholder(dtype=tf.float64, shape=shape)
            try:
                found = " and ".join(f"{y.shape} {y.dtype.name}" for y in extremes(x))
            except ValueError:
                found = "an error"
        if found != right:
            return f"the interface: x of {shape} gives {found} instead of {right}"
    at("of a million numbers, in several threads")
    up = tf.range(1e6)
    lows = ThreadPool(4).map(lambda x: int(extremes(x).places[0]), [up, -up] * 60)
    return lows == [0, 999_999] * 60 or "in several threads: what is kept in between?"
