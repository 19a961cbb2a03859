"""What a graph takes over without a copy can't be written by anybody else."""

import mmap
import weakref

import numpy as np
import pytest

from utils import py_func, tf

N = 64


def aligned():
    """An array in memory that TensorFlow would take over as it is."""
    memory = np.zeros(N * 4 + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start:][: N * 4].view(np.float32)


class Foreign:
    """An array of another library, which tells NumPy where its memory is."""

    def __init__(self, array):
        self.array = array

    def __array__(self, *_, **__):
        return self.array


def read_only(array):
    view = array.view()
    view.flags.writeable = False
    return view


buffer = aligned()
whole = np.zeros(N, np.float32)
of_mmap = np.frombuffer(mmap.mmap(-1, 4 * N), np.float32)

# The memory that func writes each time, and what it returns of it.
REUSED = {
    "itself": (whole, lambda: whole),
    "slice": (buffer, lambda: buffer[:]),
    "read-only view": (buffer, lambda: read_only(buffer)),
    "sliding window": (
        buffer,
        lambda: np.lib.stride_tricks.sliding_window_view(buffer, N)[0],
    ),
    "memoryview": (buffer, lambda: memoryview(buffer)),
    "__array__": (buffer, lambda: Foreign(buffer)),
    "subclass": (buffer, lambda: buffer.view(np.memmap)),
    "dlpack": (buffer, lambda: np.from_dlpack(buffer)),
    "mmap": (of_mmap, lambda: of_mmap[:]),
}


def first_of_each(func, steps):
    """What func(0), func(1), ... return in a dataset, read once all have run."""
    data = tf.data.Dataset.range(steps).map(lambda i: py_func(func, [i], tf.float32))
    return [float(y[0]) for y in list(data)]


@pytest.mark.parametrize("case", REUSED)
def test_memory_that_func_writes_again_is_copied(case):
    memory, result = REUSED[case]

    def func(i):
        memory[:] = i
        return result()

    assert first_of_each(func, 4) == [0, 1, 2, 3]


@pytest.mark.parametrize("hold", [lambda a: a, lambda a: a[:], weakref.ref])
def test_a_result_that_somebody_holds_is_copied(hold):
    kept = []

    def func(i):
        for holder in kept:
            array = holder() if isinstance(holder, weakref.ref) else holder
            if array is not None:
                array[...] = -1
        result = np.full(N, i, np.float32)
        kept.append(hold(result))
        return result

    steps = 40  # of these arrays, one in four lies as TensorFlow would take it over
    assert first_of_each(func, steps) == list(range(steps))


def test_a_fresh_result_is_not_copied():
    """Its memory is TensorFlow's from then on, if it lies as TensorFlow needs it."""
    places, seen = [], []

    def func(x):
        fresh = np.ones(1000, np.float32)
        places.append(fresh.ctypes.data)
        return fresh

    def look(x):
        seen.append(x.ctypes.data)
        return x[:1]

    @tf.function
    def run(x):
        return py_func(look, [py_func(func, [x], tf.float32)], tf.float32)

    keep = []  # so that each array lies elsewhere
    while not any(place % 64 == 0 for place in places[-20:]):
        keep += [np.ones(1000, np.float32), run(tf.ones(3))]
    for place, found in zip(places, seen, strict=True):
        assert (place == found) == (place % 64 == 0)


@pytest.mark.parametrize("share", [np.asarray, memoryview, Foreign])
def test_inputs_and_gradients_are_apart_from_foreign_memory(share):
    x, memory = tf.ones([N]), aligned()
    memory[:] = 2

    def grad(op, dy):
        return share(memory), dy * op.inputs[0]

    with tf.GradientTape() as tape:
        a = tf.ones([N])
        tape.watch([a, x])
        y = py_func(np.multiply, [share(memory), x], x.dtype, grad=grad)
        z = py_func(np.multiply, [a, x], x.dtype, grad=grad)
    memory[:] = 7
    assert y[0] == 2
    of_foreign, of_input = tape.gradient([y, z], [a, x])
    memory[:] = 9
    assert of_foreign[0] == 7 and of_input[0] == 2 + 1


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function])
def test_nothing_done_to_a_list_changes_a_gradient(wrap):
    def grad(op, a, b):
        result = a * (op.inputs + [b])[0] + b
        op.inputs.clear()
        op.outputs.reverse()
        return result

    @wrap
    def f(x):
        inputs, promised = [x], [tf.float32, tf.float32]
        ys = py_func(lambda x: [x, x], inputs, promised, grad=grad)
        y = ys.pop(0)
        inputs.clear()
        promised.clear()
        return y

    x = tf.constant([0.0, 1.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
    for _ in range(2):
        assert tape.gradient(y, x).numpy().tolist() == [0, 1]
