"""What a graph takes over without a copy can't be written by anybody else."""

import ctypes
import mmap
import weakref

import numpy as np
import pytest

from utils import py_func, tf

V1 = tf.compat.v1
N = 64


def aligned(dtype=np.float32):
    """An array in memory that TensorFlow would take over as it is."""
    memory = np.zeros(N * 8 + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start:][: N * np.dtype(dtype).itemsize].view(dtype)


class Subclass(np.ndarray):
    pass


class WithArray:
    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


def read_only(array):
    view = array.view()
    view.flags.writeable = False
    return view


buffer = aligned()
of_ctypes = (ctypes.c_float * N).from_address(buffer.ctypes.data)
of_mmap = np.frombuffer(mmap.mmap(-1, 4 * N), np.float32)
of_bytearray = np.frombuffer(bytearray(4 * N), np.float32)

# The memory that func writes each time, and what it returns of it.
REUSED = {
    "itself": (buffer, lambda: buffer),
    "slice": (buffer, lambda: buffer[:]),
    "reshaped twice": (buffer, lambda: buffer.reshape(2, -1).ravel()),
    "read-only view": (buffer, lambda: read_only(buffer)),
    "sliding window": (
        buffer,
        lambda: np.lib.stride_tricks.sliding_window_view(buffer, N)[0],
    ),
    "as_strided": (buffer, lambda: np.lib.stride_tricks.as_strided(buffer, (N,), (4,))),
    "memoryview": (buffer, lambda: memoryview(buffer)),
    "__array__": (buffer, lambda: WithArray(buffer)),
    "subclass": (buffer, lambda: buffer.view(Subclass)),
    "under a subclass": (buffer, lambda: buffer.view(Subclass).view(np.ndarray)),
    "ctypes": (buffer, lambda: np.ctypeslib.as_array(of_ctypes)),
    "dlpack": (buffer, lambda: np.from_dlpack(buffer)),
    "mmap": (of_mmap, lambda: of_mmap[:]),
    "bytearray": (of_bytearray, lambda: of_bytearray[:]),
}


@pytest.mark.parametrize("case", REUSED)
def test_memory_that_func_writes_again_is_copied(case):
    memory, result = REUSED[case]

    def func(i):
        memory[:] = i
        return result()

    data = tf.data.Dataset.range(4).map(lambda i: py_func(func, [i], tf.float32))
    assert [float(y[0]) for y in list(data)] == [0, 1, 2, 3]

    @tf.function
    def run():
        found = []
        for i in range(4):
            with tf.control_dependencies(found):
                found.append(py_func(func, [tf.constant(i)], tf.float32))
        return found

    assert [float(y[0]) for y in run()] == [0, 1, 2, 3]


HOLDERS = {
    "array": lambda a, kept: kept.append(a),
    "view": lambda a, kept: kept.append(a[:]),
    "memoryview": lambda a, kept: kept.append(np.asarray(memoryview(a))),
    "weak reference": lambda a, kept: kept.append(weakref.ref(a)),
}


@pytest.mark.parametrize("case", HOLDERS)
def test_a_result_that_somebody_holds_is_copied(case):
    kept = []

    def func(i):
        for holder in kept:
            array = holder() if isinstance(holder, weakref.ref) else holder
            if array is not None:
                array[...] = -1
        result = np.full(N, i, np.float32)
        HOLDERS[case](result, kept)
        return result

    steps = 40  # of these arrays, one in four lies as TensorFlow would take it over
    data = tf.data.Dataset.range(steps).map(lambda i: py_func(func, [i], tf.float32))
    assert [float(y[0]) for y in list(data)] == list(range(steps))


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


def test_variables_of_tensorflow_1_do_not_show_through():
    with tf.Graph().as_default(), V1.Session() as session:
        variable = V1.get_variable(
            "v", [N], initializer=V1.zeros_initializer(), use_resource=False
        )
        y = py_func(lambda x: x, [variable], tf.float32)
        with tf.control_dependencies([y]):
            changed = variable.assign(tf.ones([N]))
        with tf.control_dependencies([changed]):
            late = tf.identity(y)
        session.run(variable.initializer)
        assert session.run(late)[0] == 0


def test_inputs_and_gradients_are_apart_from_foreign_memory():
    x = tf.ones([N])
    memory = aligned()
    for foreign in (memory, WithArray(memory), memoryview(memory)):
        memory[:] = 2
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = py_func(
                lambda a, x: a * x,
                [foreign, x],
                x.dtype,
                grad=lambda op, dy: (None, dy * op.inputs[0]),
            )
        memory[:] = 7
        assert tape.gradient(y, x)[0] == 2
    for make in (lambda: memory, lambda: WithArray(memory)):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = py_func(np.square, [x], x.dtype, grad=lambda op, dy, make=make: make())
        found = tape.gradient(y, x)
        memory[:] = 9
        assert found[0] == 7
        memory[:] = 7


class With:
    """An object that tells NumPy where its memory is, in one of three ways."""

    def __init__(self, name, array):
        self.array = array
        told = lambda *_, **__: array  # noqa: E731
        setattr(self, name, getattr(array, name) if "array_" in name[2:-2] else told)


@pytest.mark.parametrize(
    "name", ["__array__", "__array_interface__", "__array_struct__"]
)
def test_what_only_tells_where_its_memory_is_is_copied(name):
    x, memory = tf.ones([N]), aligned()
    memory[:] = 2

    def grad(op, dy):
        return With(name, memory), dy * op.inputs[0]

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = py_func(lambda a, x: a * x, [With(name, memory), x], x.dtype, grad=grad)
    memory[:] = 7
    assert y[0] == 2 and tape.gradient(y, x)[0] == 2

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = py_func(lambda x: x + 0, [x], x.dtype, grad=lambda *_: grad(*_)[0])
    found = tape.gradient(y, x)
    memory[:] = 9
    assert found[0] == 7


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function])
def test_nothing_done_to_a_list_changes_a_gradient(wrap):
    x, kinds = tf.constant([0.0, 1.0]), set()

    def grad(op, a, b):
        kinds.add((type(op), type(op.inputs), type(op.outputs)))
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

    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
    for _ in range(2):
        assert tape.gradient(y, x).numpy().tolist() == [0, 1]
    assert [kind[1:] for kind in kinds] == [(list, list)]
