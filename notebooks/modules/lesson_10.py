"""Lesson 10: lesson 02's digits and NumPy functions, and the time that a call takes."""

from contextlib import contextmanager
from time import perf_counter
from unittest import mock

import matplotlib.pyplot as plt
import numpy as np

from utils import tf

calls = []  # what the NumPy functions below were called for, in order
ROW = 5  # calls that are timed together: one alone is too short


def prepare(images, labels):
    """Pixels from 0 to 1, one digit a row, and rows with a 1 at the label."""
    pixels = images.reshape(len(images), -1) / np.float32(255)
    return tf.constant(pixels), tf.one_hot(labels, 10)


def draw_batches(n, steps, size=100):
    """The numbers of `size` of n digits for each step: every digit once an epoch."""
    rng = np.random.default_rng(0)
    epochs = -(-steps * size // n)  # rounded up
    order = np.concatenate([rng.permutation(n) for _ in range(epochs)])
    return order[: steps * size].reshape(steps, size)


def np_matmul(a, b):
    calls.append("matmul")
    return a @ b


def np_log_sum_exp(y):
    """The logarithm of the sum of exp(y), row by row: (n, classes) to (n,)."""
    calls.append("log_sum_exp")
    m = y.max(axis=1)
    return m + np.log(np.exp(y - m[:, None]).sum(axis=1))


def np_softmax(y):
    """Probabilities of the scores y, row by row."""
    calls.append("softmax")
    e = np.exp(y - y.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def best_seconds(*runs, rounds=25):
    """The shortest time of each run. They take turns, so that a busy moment of the
    machine hits all of them; the first round, which may trace, is never the best."""
    best = [np.inf] * len(runs)
    for _ in range(rounds):
        for k, run in enumerate(runs):
            begin = perf_counter()
            run()
            best[k] = min(best[k], perf_counter() - begin)
    return best


def microseconds(f, xs, in_graph=False):
    """The time of one call of f for each x; of one inside a graph that makes many."""

    def row(x):
        for _ in range(ROW):
            x = f(x)
        return x

    def run(x):
        if in_graph:
            spec = tf.TensorSpec(x.shape, x.dtype)
            graph = tf.function(row).get_concrete_function(spec)
            return lambda: graph(x)
        return lambda: row(x)

    return np.array(best_seconds(*map(run, xs), rounds=40)) / ROW * 1e6


def draw_costs(sizes, alone, ops):
    """Time of a call over its size; a dot where the work equals the call's cost."""
    _, ax = plt.subplots()
    ax.loglog(sizes, alone, "-", color="0.4", label="np.sin alone")
    rising = np.maximum.accumulate(alone)  # without the noise
    looks = [("--", "full", 8), (":", "none", -14)]  # no two differ in colour alone
    for (name, times), (style, fill, up) in zip(ops.items(), looks, strict=True):
        (line,) = ax.loglog(sizes, times, style, label=f"as an op, {name}")
        if rising[0] <= times[0] <= rising[-1]:
            size = np.exp(np.interp(np.log(times[0]), np.log(rising), np.log(sizes)))
            ax.plot(size, times[0], "o", color=line.get_color(), fillstyle=fill)
            text = f"{float(f'{size:.2g}'):,.0f}"
            ax.annotate(text, (size, times[0]), (6, up), textcoords="offset points")
    room = sizes[0] / 2, sizes[-1] * 4  # for the numbers beside the dots
    ax.set(xlabel="numbers", ylabel="microseconds a call", xlim=room)
    ax.legend()


@contextmanager
def same_start():
    """Inside of it, NumPy's generators that are given no seed all start alike.

    Elsewhere they ask the operating system for a start, which no other process has.
    So noise that differs here from seed to seed comes from the seeds: exercise 2.
    """
    where = "numpy.random.bit_generator.randbits"
    with mock.patch(where, lambda bits: 1, create=True):
        yield
