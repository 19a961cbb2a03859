"""Slow calls for lesson 13, and how to have many of them at once."""

import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np

COUNT, SECONDS = 32, 0.005


def waits(i):
    """As a call that waits for a disk, a network or another program."""
    time.sleep(SECONDS)
    return i


def python(i):
    """Python code that computes, and keeps Python's lock while it does."""
    end = time.thread_time() + SECONDS
    while time.thread_time() < end:
        pass
    return i


def numpy(i):
    """A NumPy function on a large array, which lets go of the lock."""
    end = time.thread_time() + SECONDS
    while time.thread_time() < end:
        np.sqrt(_LARGE, out=np.empty_like(_LARGE))
    return i


_LARGE = np.ones(200_000)


def threads(count=8):
    return ThreadPoolExecutor(count).map


def processes(count=8):
    """As copies of a server that has loaded TensorFlow, on Linux."""
    from notebooks.modules.processes import context, end_with_parent

    pool = ProcessPoolExecutor(count, context(), end_with_parent)
    list(pool.map(waits, range(count)))  # until all of them have started
    return pool.map


def seconds_of(mapping, call, rounds=2):
    """For all calls; the best of some rounds, since others may use the machine."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        assert list(mapping(call, range(COUNT))) == list(range(COUNT))
        times.append(time.perf_counter() - start)
    return min(times)
