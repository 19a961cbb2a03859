"""What a call of py_func costs, beside the bare recipe or an older py_func.

    .venv/bin/python benchmarks/measure_overhead.py [CHECKOUT]

The bare recipe is tf.custom_gradient around tf.numpy_function; with the folder of
another checkout, it is the py_func of that checkout. Both run in turn, in one process,
many times; the table gives medians and their ratio. Run it on a quiet machine.
"""

import importlib.util
import os
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import numpy as np  # noqa: E402

from utils import py_func, tf  # noqa: E402  (utils comes before TensorFlow)

ROUNDS = 31
CALLS_IN_GRAPH = 100


def square_grad(op, dy):
    return 2 * op.inputs[0] * dy


def squared_by(py_func):
    def square(x):
        spec = tf.TensorSpec(x.shape, x.dtype)
        return py_func(np.square, [x], spec, grad=square_grad)

    return square


def py_func_of(checkout):
    """The py_func of another checkout, beside ours."""
    package = Path(checkout, "custom_ops")
    spec = importlib.util.spec_from_file_location(
        "other_custom_ops",
        package / "__init__.py",
        submodule_search_locations=[str(package)],
    )
    sys.modules[spec.name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.py_func


@tf.custom_gradient
def bare(x):
    y = tf.numpy_function(np.square, [x], x.dtype)
    y.set_shape(x.shape)
    return y, lambda dy: 2 * x * dy


def differentiated(op):
    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = op(x)
        return tape.gradient(y, x)

    return gradient


def in_graph(step):
    """Many calls in one tf.function, so that the call of it does not count."""

    @tf.function
    def loop(op_input):
        result = op_input
        for _ in tf.range(CALLS_IN_GRAPH):
            result = step(op_input)
        return result

    return loop


def seconds(run, x, times):
    start = time.perf_counter()
    for _ in range(times):
        run(x)
    return (time.perf_counter() - start) / times


def compare(ours, theirs, x, times):
    """Median seconds of a call of each of the two, taken in turn."""
    ours(x), theirs(x)
    taken = [
        (seconds(ours, x, times), seconds(theirs, x, times)) for _ in range(ROUNDS)
    ]
    return [statistics.median(column) for column in zip(*taken, strict=True)]


def main():
    helper, other, name = squared_by(py_func), bare, "bare"
    if sys.argv[1:]:
        other, name = squared_by(py_func_of(sys.argv[1])), "other"
    print(f"TensorFlow {tf.__version__}, load {os.getloadavg()[0]:.2f}")
    print(f"{'':24}{'py_func':>12}{name:>12}{'ratio':>8}")
    for size in (1, 1000, 100_000, 4_000_000):
        x = tf.ones([size])
        times = max(1, min(100, 1_000_000 // size))
        rows = {
            "eager call": (helper, other, times, 1),
            "eager gradient": (differentiated(helper), differentiated(other), times, 1),
            "graph call": (in_graph(helper), in_graph(other), 1, CALLS_IN_GRAPH),
            "graph gradient": (
                in_graph(differentiated(helper)),
                in_graph(differentiated(other)),
                1,
                CALLS_IN_GRAPH,
            ),
        }
        for name, (ours, theirs, repeat, calls) in rows.items():
            a, b = (1e6 * t / calls for t in compare(ours, theirs, x, repeat))
            print(f"{size:>9} {name:14}{a:9.1f} µs{b:9.1f} µs{a / b:8.2f}")
    print(f"load {os.getloadavg()[0]:.2f}")


if __name__ == "__main__":
    main()
