"""What a call of py_func costs, beside the bare recipe that it replaces.

    .venv/bin/python tests/benchmarks/measure_overhead.py

The bare recipe is tf.custom_gradient around tf.numpy_function. Both run in turn,
many times; the table gives medians and their ratio. Run it on a quiet machine.
"""

import os
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
import numpy as np  # noqa: E402

from utils import py_func, tf  # noqa: E402  (utils comes before TensorFlow)

ROUNDS = 31
CALLS_IN_GRAPH = 100


def square_grad(op, dy):
    return 2 * op.inputs[0] * dy


def helper(x):
    spec = tf.TensorSpec(x.shape, x.dtype)
    return py_func(np.square, [x], spec, grad=square_grad)


@tf.custom_gradient
def bare(x):
    y = tf.numpy_function(np.square, [x], x.dtype)
    y.set_shape(x.shape)
    return y, lambda dy: 2 * x * dy


def gradient(op, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = op(x)
    return tape.gradient(y, x)


def in_graph(step):
    """Many calls in one tf.function, so that the call of it does not count."""

    @tf.function
    def loop(op_input):
        result = op_input
        for _ in tf.range(CALLS_IN_GRAPH):
            result = step(op_input)
        return result

    return loop


def seconds(run, times):
    start = time.perf_counter()
    for _ in range(times):
        run()
    return (time.perf_counter() - start) / times


def compare(runs, times):
    """Median seconds of each of `runs`, taken in turn."""
    for run in runs:
        run()
    taken = [[seconds(run, times) for run in runs] for _ in range(ROUNDS)]
    return [statistics.median(column) for column in zip(*taken, strict=True)]


def main():
    print(f"TensorFlow {tf.__version__}, load {os.getloadavg()[0]:.2f}")
    print(f"{'':24}{'py_func':>12}{'bare':>12}{'ratio':>8}")
    for size in (1, 1000, 100_000, 4_000_000):
        x = tf.ones([size])
        times = max(1, min(100, 1_000_000 // size))
        for label, step in {
            "call": lambda op: op,
            "gradient": lambda op: lambda v: gradient(op, v),
        }.items():
            ops = [step(helper), step(bare)]
            rows = {
                f"eager {label}": ([lambda op=op: op(x) for op in ops], times, 1),
                f"graph {label}": (
                    [lambda loop=in_graph(op): loop(x) for op in ops],
                    max(1, times // CALLS_IN_GRAPH),
                    CALLS_IN_GRAPH,
                ),
            }
            for name, (runs, repeat, calls) in rows.items():
                if size == 4_000_000 and calls > 1:
                    repeat = 1
                a, b = (1e6 * t / calls for t in compare(runs, repeat))
                print(f"{size:>9} {name:14}{a:9.1f} µs{b:9.1f} µs{a / b:8.2f}")
    print(f"load {os.getloadavg()[0]:.2f}")


if __name__ == "__main__":
    main()
