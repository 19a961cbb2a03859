"""TensorFlow called inside of func works, or says in words why it can't."""

import types

import pytest

import other_process
from custom_ops import hangs
from custom_ops.quiet_start import cores
from utils import tf

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


@pytest.mark.skipif("(__import__('os').cpu_count() or 1) < 2")
@pytest.mark.skipif("not hasattr(__import__('os'), 'sched_setaffinity')")
@pytest.mark.parametrize(
    ("cores", "set_before", "threads"),
    [("{0}", "", "2"), ("{0}", "3", "3"), ("{0, 1}", "", "")],
)
def test_one_core_gets_a_thread_more(cores, set_before, threads):
    code = f"""
    import os
    os.sched_setaffinity(0, {cores})
    import custom_ops.quiet_start
    print(os.environ["TF_NUM_INTEROP_THREADS"])
    """
    printed = other_process.run(code, TF_NUM_INTEROP_THREADS=set_before)
    assert printed.strip() == threads


@pytest.mark.parametrize("set_to", ["", "0", "7"])
def test_threads_are_the_cores_where_nothing_else_is_said(set_to, monkeypatch):
    monkeypatch.setenv("TF_NUM_INTEROP_THREADS", set_to)
    monkeypatch.setattr(
        tf.config.threading, "get_inter_op_parallelism_threads", lambda: 0
    )
    assert hangs.threads() == (int(set_to or 0) or cores())


def test_asynchronous_eager_mode():
    calls = "[lambda: op(inner)(one), lambda: op(op(inner))(one)]"
    printed = other_process.run(CALLS.format(setup=ASYNCHRONOUS, calls=calls))
    assert printed.split() == ["2.0"] * 2


@pytest.mark.parametrize("threads", [1, 2])
def test_no_thread_left(threads):
    """Its code runs op by op; a graph without code would wait, and says so."""
    calls = """[
        lambda: op(inner)(one), lambda: op(op(op(inner)))(one),
        lambda: count(tf.constant(9)) + 2, mapped, served,
        lambda: op(op(op(inner.get_concrete_function(one))))(one),
    ]"""
    printed = other_process.run(
        CALLS.format(setup=CONFIGURED.format(threads), calls=calls)
    )
    assert printed.splitlines() == ["2.0"] * 5 + ["refused in words"]


def test_what_runs_op_by_op_gives_what_its_graph_does():
    code = (
        CONFIGURED.format(1)
        + """
    import numpy as np
    from utils import py_func, tf

    total = tf.Variable(1.0)

    @tf.function
    def loop(x):
        def step(i):
            tf.cond(i % 2 == 0, lambda: total.assign_add(x), lambda: total)
            return [i + 1]

        tf.while_loop(lambda i: i < 10, step, [0])
        return total.read_value()

    @tf.function
    def several(x):
        return {"sum": x, "numbers": (2.0, np.float32(3)), "nothing": None}

    @tf.function
    def gradient(x):
        assert not isinstance(x, np.ndarray)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.map_fn(lambda t: t * x, tf.range(5.0))
        return tape.gradient(y, x)

    class Layer:
        @tf.function
        def double(self, x, times=2):
            return times * x

    def everything(x):
        told = several(x)
        numbers = [number.numpy() for number in told["numbers"]]
        assert told["nothing"] is None
        return [loop(x).numpy(), told["sum"].numpy(), *numbers,
                gradient(x).numpy(), Layer().double(x).numpy()]

    def in_graph(x):
        return py_func(lambda x: np.array(everything(x)), [x], tf.float32)

    x = tf.constant(2.0)
    plain = everything(x)
    total.assign(1.0)
    print(plain == tf.function(in_graph)(x).numpy().tolist())
    """.replace("\n    ", "\n")
    )
    assert other_process.run(code).strip() == "True"


def test_what_runs_op_by_op_keeps_to_its_signature():
    code = (
        CONFIGURED.format(1)
        + """
    import numpy as np
    from utils import py_func, tf

    S = tf.TensorSpec
    add = tf.function(lambda x: x + 1, input_signature=[S([], tf.uint8)])
    length = tf.function(lambda x: x.shape[0], input_signature=[S([3], "float32")])
    size = tf.function(lambda x: x.dtype.size, input_signature=[S(None, "float32")])
    both = tf.function(lambda *xs: xs[0] + xs[1], input_signature=[S([], "int64")] * 2)

    class Model(tf.Module):
        @tf.function(input_signature=[
            S([], "uint8"), {"a": S([], "uint8"), "b": [S([], "uint8")] * 2}])
        def call(self, x, nested, k=2):
            return (x + nested["a"] + nested["b"][0] * nested["b"][1]) * k

    model, nested = Model(), {"a": np.int64(200), "b": [20, 20]}

    def everything():
        one = tf.constant(1, tf.uint8)
        found = [add(255), add(one), length([5, 6, 7]), both(2, np.int64(3)),
                 size(np.ones(2)), size([1, 2]), model.call(1, nested),
                 model.call(nested=nested, x=one)]
        return [float(value) for value in found]

    run = tf.function(lambda: py_func(lambda: np.array(everything()), [], tf.float64))
    print(everything() == run().numpy().tolist())
    shapes = tf.function(lambda x: x, input_signature=[S([2], "float32")])
    try:
        tf.function(lambda: py_func(lambda: shapes([1.0]).numpy(), [], tf.float32))()
    except tf.errors.InvalidArgumentError as error:
        print("Can not cast" in str(error))
    """.replace("\n    ", "\n")
    )
    assert other_process.run(code).split() == ["True"] * 2


def test_what_fails_op_by_op_says_why():
    code = (
        CONFIGURED.format(1)
        + """
    from utils import py_func, tf

    def jacobian(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        return tape.jacobian(y, x)

    def nested(x):
        return tf.function(jacobian)(x)

    mapped = lambda x: tf.vectorized_map(lambda v: 2 * v, x)
    gradients = tf.function(lambda x: tf.gradients(x * x, x)[0])
    for f in jacobian, mapped, gradients, nested:
        func = lambda x: f(tf.constant(x)).numpy()
        try:
            tf.function(lambda x: py_func(func, [x], tf.float32))(tf.ones(2))
        except tf.errors.OpError as error:
            head, chain = str(error).split("Traceback (most recent call last)", 1)
            note = "ran op by op here, for all threads (1) on which TensorFlow runs"
            print(head.count(note), note in chain, head.count("INTEROP_THREADS=256"))
    """.replace("\n    ", "\n")
    )
    assert other_process.run(code).splitlines() == ["1 True 1"] * 4


def test_tracebacks_of_a_tf_function_have_no_frame_of_ours():
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.function(lambda x: tf.debugging.check_numerics(x, "no"))(float("nan"))
    assert not [entry for entry in caught.traceback if "custom_ops" in str(entry.path)]


@pytest.mark.parametrize(
    ("file", "threads", "told"),
    [
        ("tensorflow/x.py", 2, True),
        ("tensorflow/x.py", 1, True),
        ("mine.py", 2, False),  # it may wait for whatever it likes
        ("mine.py", 1, True),  # nothing is left that could wake it
    ],
)
def test_a_wait_is_told_if_it_is_for_tensorflow(
    file, threads, told, monkeypatch, capsys
):
    monkeypatch.setattr(hangs, "threads", lambda: threads)
    monkeypatch.setattr(hangs, "_running", {1: ("py_func 'f'", 0)})
    code = types.SimpleNamespace(co_filename=file)
    frame = types.SimpleNamespace(f_code=code, f_lineno=3, f_back=None)
    hangs._say("py_func 'f'", frame)
    assert ("py_func 'f' has been waiting" in capsys.readouterr().err) == told


@pytest.mark.slow
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
        thread.join(5)
        return x

    run = tf.function(lambda x: py_func(waits, [x], x.dtype))
    with contextlib.redirect_stderr(io.StringIO()) as said:
        run(tf.constant(1.0))
    print(said.getvalue())
    """
    printed = other_process.run(code)
    assert "(function waits) has been waiting for 1 s (line " in printed
    assert " of <string>), and nothing else happens" in printed
    assert "TF_NUM_INTEROP_THREADS" in printed
