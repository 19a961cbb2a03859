"""Lesson 07 tries answers with this: C++ in another process, as it may crash."""

import contextlib
import itertools
import signal
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from utils import gradient, load_op, tf

from .processes import start

ZERO_OUT = Path(__file__).parents[1] / "cpp" / "zero_out.cc"
MORE = """// Eigen, TensorFlow's library of arrays, looks at each index with this.
#define EIGEN_INTERNAL_DEBUGGING
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
"""
KERNEL = """REGISTER_KERNEL_BUILDER(Name("Extremes").Device(
    tensorflow::DEVICE_CPU).TypeConstraint<{0}>("T"), ExtremesOp<{0}>);
"""
VECTORS = (
    [3, 1, 4],
    [7],
    [0.1, 0.3, 0.3, 0.1],
    [np.inf, np.inf],
    [-np.inf, -np.inf],
    [1, 1 + 1e-9, 1 - 1e-9],  # equal as floats
    [*range(70_000), -1],  # places that 16 bits do not hold
)


def dindices_of(ops, loss_is_function, tape_inside, float_indices):
    """What arrives for the indices of ZeroOut, which the loss does not use."""
    arrived = []

    @ops.RegisterGradient("ZeroOut")
    def zero_out_grad(op, dy, dindices):
        arrived.append(dindices)
        return dy

    def loss(x):
        return ops.zero_out(x, out_idx=tf.float64 if float_indices else tf.int32).y

    f = tf.function(loss) if loss_is_function else loss
    (tf.function(gradient) if tape_inside else gradient)(f, np.ones(3))
    return arrived[-1]


def dx_of_extremes(grad):
    """From (x, dvalues, dplaces) to dx; in a graph for an x of any length."""

    def dx(x, dvalues, dplaces):
        @tf.custom_gradient  # stands for the op
        def extremes(x):
            x = tf.boolean_mask(x, x == x)
            places = tf.cast([tf.argmin(x), tf.argmax(x)], tf.int32)
            op = SimpleNamespace(inputs=[x], outputs=[tf.gather(x, places), places],
                                 get_attr={"T": x.dtype}.get)  # fmt: skip
            return tuple(op.outputs), lambda dvalues, _: grad(op, dvalues, dplaces)

        return gradient(lambda x: tf.reduce_sum(dvalues * extremes(1 * x)[0]), x)

    return dx


def load_extremes(code):
    """Load the op Extremes, of which this is the C++ code: once in a process."""
    top = ZERO_OUT.read_text("utf-8").split("// The interface")[0]  # includes, usings
    top = top.replace("namespace {", "using namespace tensorflow;")
    kernels = KERNEL.format("float") + KERNEL.format("double")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "extremes.cc"
        file.write_text(f'{MORE}{top}\n#line 1 "answer"\n{code}\n{kernels}', "utf-8")
        return load_op(file)


def fault_of_extremes(code):
    """What is wrong with the op Extremes, whose C++ code this is; else True."""
    if "set_output" not in str(code):
        return "the shape function sets no output yet"
    try:
        return start(try_extremes, code)[1].recv()
    except EOFError:
        return "it ends the process, or takes 20 s: is x a vector, each index inside?"


def try_extremes(connection, code):
    """A target for `start`: sends the first fault, or True."""
    try:
        extremes = load_extremes(code).extremes
        signal.alarm(20)  # ends C++ code, too
        connection.send(first_fault(extremes))
    except Exception as error:
        connection.send(str(error))


def first_fault(extremes):
    """The first thing that is wrong with the op; True if there is nothing."""
    for dtype, numbers in itertools.product(["float64", "float32"], VECTORS):
        a = np.array(numbers, dtype)
        places = [int(a.argmin()), int(a.argmax())]
        right = [a[places].tolist(), places]
        try:
            found = [y.numpy().tolist() for y in extremes(a)]
        except tf.errors.OpError as error:
            found = error.message.split("}} ")[-1]
        if found != right:
            more = " …" * (len(numbers) > 4)
            return f"x = {numbers[:4]}{more} in {dtype}: {found} instead of {right}"
    for shape in (2, 3), (2, 2, 2), (0,), ():
        with contextlib.suppress(tf.errors.OpError):
            extremes(np.ones(shape))
            return f"the kernel takes an input of shape {shape}"
    for shape in (3,), (1,), (None,), None, (2, 3), (2, 2, 2), ():
        refused = shape is not None and len(shape) != 1
        right = "an error" if refused else "(2,) and (2,)"
        with tf.Graph().as_default():
            x = tf.raw_ops.Placeholder(dtype=tf.float64, shape=shape)
            try:
                found = " and ".join(str(y.shape) for y in extremes(x))
            except ValueError:
                found = "an error"
        if found != right:
            return f"shape function: x of {shape} gives {found} instead of {right}"
    return True
