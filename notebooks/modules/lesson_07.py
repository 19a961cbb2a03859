"""Lesson 07 tries the answers to its exercises with this.

It tries an op in a process of its own, as a wrong kernel may end the process.
"""

import hashlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from utils import gradient, load_op, tf

TOP = Path(__file__).parents[1] / "cpp" / "zero_out.cc"  # its includes and usings
MORE = """// Eigen, TensorFlow's library of arrays, looks at each index with this.
#define EIGEN_INTERNAL_DEBUGGING
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
"""
KERNELS = """
#define REGISTER_KERNEL(type)                                  \\
  REGISTER_KERNEL_BUILDER(Name("Extremes")                     \\
                              .Device(tensorflow::DEVICE_CPU)  \\
                              .TypeConstraint<type>("T"),      \\
                          ExtremesOp<type>)
REGISTER_KERNEL(float);
REGISTER_KERNEL(double);
"""
VECTORS = (
    [3, 1, 2],
    [-2, -5, -3],
    [7],
    [0.1, 0.3, 0.3, 0.1],
    [np.inf, np.inf],
    [-np.inf, -np.inf],
    [1, 1 + 1e-9, 1 - 1e-9],  # equal as floats
    [1e300, 1e301],
    [*range(70_000), -1],  # places that 16 bits do not hold
)


def dindices_of(ops, recorded, all_inside, float_indices):
    """What arrives for the indices of ZeroOut, which the loss does not use."""
    arrived = []

    @ops.RegisterGradient("ZeroOut")
    def zero_out_grad(op, dy, dindices):
        arrived.append(dindices)
        return ops.zero_out(dy).y

    def loss(x):
        out_idx = tf.float64 if float_indices else tf.int32
        return tf.reduce_sum(ops.zero_out(x, out_idx=out_idx).y)

    def dx(x):
        return gradient(tf.function(loss) if recorded else loss, x)

    (tf.function(dx) if all_inside else dx)(np.array([5.0, 6, 7]))
    return arrived[-1]


def dx_of_extremes(grad):
    """From (x, dvalues, dplaces) to the dx of Extremes, by the gradient `grad`.

    In a graph, the op does not know the length of x.
    """

    def dx(x, dvalues, dplaces):
        @tf.custom_gradient  # stands for the op
        def extremes(x):
            x = tf.boolean_mask(x, x == x)
            places = tf.cast([tf.argmin(x), tf.argmax(x)], tf.int32)
            op = SimpleNamespace(inputs=[x], outputs=[tf.gather(x, places), places],
                                 get_attr={"T": x.dtype}.get)  # fmt: skip

            def dx(dvalues, _):
                dxs = grad(op, dvalues, dplaces)
                if isinstance(dxs, (list, tuple)) and len(dxs) != 1:
                    raise ValueError(f"{len(dxs)} gradients for an op with one input")
                return dxs

            return tuple(op.outputs), dx

        return gradient(lambda x: tf.reduce_sum(dvalues * extremes(1 * x)[0]), x)

    return dx


def load_extremes(code):
    """Compile the op Extremes and load it: once in a process.

    The check and a later call compile it once, as it stays in load_op's cache.
    """
    top = TOP.read_text("utf-8").split("// The interface")[0]
    top = top.replace("namespace {", "using namespace tensorflow;")
    text = f'{MORE}{top}\n#line 1 "answer"\n{code}\n{KERNELS}'
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    name = hashlib.sha256(text.encode()).hexdigest()[:20]
    file = cache / "tensorflow-load-op" / name / "extremes.cc"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")
    return load_op(file)


def fault_of_extremes(code):
    """What is wrong with the op Extremes, else True.

    Args:
        code: the interface and the kernel's class in C++, as a text.
    """
    if not isinstance(code, str):
        return f"C++ code is a text, not {type(code).__name__}"
    if "set_output" not in code:
        return "the shape function sets no output yet"
    path = os.pathsep.join(folder or "." for folder in sys.path)
    tried = subprocess.run(
        [sys.executable, __file__], env={**os.environ, "PYTHONPATH": path},
        input=code, capture_output=True, text=True, errors="replace",
    )  # fmt: skip
    if tried.returncode == -signal.SIGALRM:
        return "stopped after 20 seconds: do your loops come to an end?"
    if tried.returncode < 0:
        return "it ends the process: does it read or write where nothing is?"
    said = tried.stdout.strip()
    return True if said == "right" else said or tried.stderr[-500:]


def first_fault(extremes):
    """The first thing that is wrong with the op; None if there is nothing."""
    for dtype in "float64", "float32":
        for numbers in VECTORS:
            a = np.array(numbers, dtype)
            places = np.array([a.argmin(), a.argmax()])
            first = ", ".join(map(str, numbers[:4])) + ", …" * (len(numbers) > 4)
            shown = f"for x = [{first}] in {dtype}"
            try:
                found = extremes(a)
            except tf.errors.OpError as error:
                return f"{shown}: {error.message.split('}} ')[-1]}"
            for name, right in ("values", a[places]), ("places", places):
                y = getattr(found, name).numpy()
                if not np.array_equal(y, right):
                    return f"{shown}: {name} {y.tolist()} instead of {right.tolist()}"
    for x in np.ones((2, 3)), np.ones(0), np.array(3.0):
        try:
            extremes(x)
        except tf.errors.OpError:
            continue
        return f"the kernel takes an input of shape {x.shape}"
    for shape in [3], [1], [None], None:
        spec = tf.TensorSpec(shape, tf.float64)
        try:
            traced = tf.function(extremes).get_concrete_function(spec)
        except ValueError:
            return f"the shape function refuses an input of shape {spec.shape}"
        for name, y in traced.structured_outputs._asdict().items():
            if y.shape != (2,):
                return (f"in a tf.function with x of shape {spec.shape}, {name} has "
                        f"the shape {y.shape}")  # fmt: skip
    for shape in [2, 3], []:
        spec = tf.TensorSpec(shape, tf.float64)
        try:
            tf.function(extremes).get_concrete_function(spec)
        except ValueError:
            continue
        return f"the shape function takes an input of shape {spec.shape}"
    return None


if __name__ == "__main__":
    try:
        module = load_extremes(sys.stdin.read())
    except ValueError as error:
        print(error)
    else:
        signal.alarm(20)  # ends C++ code, too
        print(first_fault(module.extremes) or "right")
