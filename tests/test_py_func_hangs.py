"""TensorFlow called inside of func works, or says in words why it can't."""

import pytest

import other_process

CALLS = """
import os
{setup}
import threading
import numpy as np
from utils import py_func, tf

inner = tf.function(lambda x: x + 1)
one = tf.constant(1.0)

def op(f):
    def func(a):
        return f(tf.constant(a)).numpy()
    return tf.function(lambda x: py_func(func, [x], tf.TensorSpec([], x.dtype)))

@tf.function
def count(x):
    def func(a):
        return a if a == 0 else count(tf.constant(a - 1)).numpy()
    return py_func(func, [x], tf.TensorSpec([], x.dtype))

def served():
    found = []
    work = op(inner)
    threads = [threading.Thread(target=lambda: found.append(float(work(one))))
               for _ in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    return sum(found) / len(found)

def mapped():
    step = lambda x: py_func(lambda a: inner(tf.constant(a)).numpy(), [x], x.dtype)
    return tf.function(lambda xs: tf.map_fn(step, xs))(tf.ones(12))[11]

def started():
    def work(x):
        found = []
        thread = threading.Thread(target=lambda: found.append(inner(x)))
        thread.start()
        thread.join()
        return found[0]
    return op(work)(one)

for call in {calls}:
    try:
        print(float(call()))
    except Exception as error:
        words = "calls a tf.function, which would wait for ever" in str(error)
        print("refused in words" if words else error)
"""
ONE_CORE = "os.sched_setaffinity(0, {0})"
CONFIGURED = """
import tensorflow as tf
tf.config.threading.set_inter_op_parallelism_threads({})
"""
ASYNCHRONOUS = """
import tensorflow as tf
tf.config.experimental.set_synchronous_execution(False)
"""
EVERY = """[
    lambda: op(inner)(one), lambda: op(op(op(inner)))(one),
    lambda: count(tf.constant(5)) + 2, mapped, served, started,
]"""


@pytest.mark.skipif("not hasattr(__import__('os'), 'sched_setaffinity')")
def test_one_core_is_enough():
    printed = other_process.run(
        CALLS.format(setup=ONE_CORE, calls=EVERY), TF_NUM_INTEROP_THREADS=""
    )
    assert printed.split() == ["2.0"] * 6


def test_asynchronous_eager_mode():
    calls = "[lambda: op(inner)(one), lambda: op(op(inner))(one)]"
    printed = other_process.run(CALLS.format(setup=ASYNCHRONOUS, calls=calls))
    assert printed.split() == ["2.0"] * 2


@pytest.mark.parametrize("threads", [1, 2])
def test_too_few_threads_are_an_error_in_words(threads):
    calls = "[lambda: op(op(op(inner)))(one), lambda: count(tf.constant(9))]"
    printed = other_process.run(
        CALLS.format(setup=CONFIGURED.format(threads), calls=calls)
    )
    assert printed.splitlines() == ["refused in words"] * 2


def test_what_hangs_all_the_same_is_told():
    code = """
    import contextlib, io, threading, time
    import tensorflow as tf
    tf.config.threading.set_inter_op_parallelism_threads(1)
    from custom_ops import hangs
    from utils import py_func

    inner = tf.function(lambda x: x + 1)
    hangs.SILENCE = 1

    def waits(x):
        thread = threading.Thread(target=lambda: inner(x), daemon=True)
        thread.start()
        thread.join(20)
        return x

    run = tf.function(lambda x: py_func(waits, [x], x.dtype))
    with contextlib.redirect_stderr(io.StringIO()) as said:
        run(tf.constant(1.0))
    print(said.getvalue())
    """
    printed = other_process.run(code)
    assert "(function waits) has been waiting for 1 s" in printed
    assert "TF_NUM_INTEROP_THREADS" in printed
