"""Errors keep their cause and blame the right one; odd dtypes, masks and numba."""

import functools
import io
import os
import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import pytest

from custom_ops.tensors import has_mask
from utils import py_func, tf

ROOT = Path(__file__).resolve().parents[1]
X = tf.constant([1.0, 2.0])
both = pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "tf"])


def said(func, Tout=tf.float32, x=X):
    with pytest.raises(tf.errors.OpError) as error:
        tf.function(lambda: py_func(func, [x], Tout))()
    return str(error.value)


def test_the_whole_chain_is_told():
    def func(x):
        try:
            {}["key"]
        except KeyError as error:
            raise RuntimeError("no such table") from error  # this line raised

    text = said(func)
    assert '{}["key"]' in text and "# this line raised" in text


def test_an_error_whose_traceback_cannot_be_shown():
    class Odd(Exception):
        __cause__ = property(lambda self: 1 / 0)

    def func(x):
        raise Odd("as it is")

    text = said(func)
    assert "failed with Odd: as it is" in text
    assert "(its traceback can't be shown: ZeroDivisionError)" in text


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_what_is_no_exception_is_named(kind):
    def func(x):
        raise kind("why")

    assert f"(function func) failed with {kind.__name__}: why" in said(func)
    with pytest.raises(kind, match="why"):
        py_func(func, [X], tf.float32)


@pytest.mark.parametrize(
    "odd", ["\0", "\udc80", "{0} %s %d", "{{node x}}", "a" * 10**5]
)
def test_odd_messages_come_to_their_end(odd):
    def func(x):
        raise ValueError(f"before {odd} after")

    assert "before" in said(func) and "after" in said(func)


LOCKED = np.zeros(3)
LOCKED.flags.writeable = False


def writes_table(x):
    LOCKED[0] = 1


def writes_broadcast(x):
    np.broadcast_to(np.float32(0), (3,))[0] = 1


def raises_itself(x):
    raise ValueError("database is read-only")


def writes_view(x):
    x.reshape(-1)[0] = 1


def writes_by_numpy(x):
    np.put(x, [0], 1)


def writes_memoryview(x):
    memoryview(x)[0] = 1.0


def writes_held_memoryview(x):
    view = memoryview(x)[1:]
    view[0] = 1.0


def writes_what_a_writable_memoryview_holds(x):
    view = memoryview(bytearray(4))
    x.put([0], view[0])


def writes_other_memoryview(x):
    view = memoryview(b"1234")
    view[int(x[0])] = 1


def unlocks(x):
    x.setflags(write=True)


def unlocks_flag(x):
    x.flags.writeable = True


def unlocks_other(x):
    table = np.frombuffer(b"1234", np.uint8)
    table.setflags(write=bool(x[0]))


def resizes(x):
    x.resize(4)


def resizes_other(x):
    half = np.zeros(4)[:2]
    half.resize(x.shape[0] + 2)


def reads_into(x):
    io.BytesIO(b"12345678").readinto(x)


def reads_into_other(x):
    table = b"1234"
    io.BytesIO(x).readinto(table)


@both
@pytest.mark.parametrize(
    "func, ours",
    [
        (writes_memoryview, True),
        (writes_held_memoryview, True),
        (writes_what_a_writable_memoryview_holds, True),
        (writes_other_memoryview, False),
        (unlocks, True),
        (unlocks_flag, True),
        (unlocks_other, False),
        (resizes, True),
        (resizes_other, False),
        (reads_into, True),
        (reads_into_other, False),
        (writes_table, False),
        (writes_broadcast, False),
        (raises_itself, False),
        (writes_view, True),
        (writes_by_numpy, True),
        (np.ndarray.sort, True),
    ],
)
def test_read_only_is_blamed_on_the_input_only_where_it_is(wrap, func, ours):
    with pytest.raises((ValueError, TypeError, tf.errors.OpError)) as error:
        wrap(lambda: py_func(func, [X], tf.float32))()
    assert ("writes into its input" in str(error.value)) is ours
    assert ("copy it first: x = x.copy()" in str(error.value)) is ours


def test_any_callable_has_a_name():
    class Odd:
        __name__ = 3

        def __call__(self, x):
            return 2 * x

        def __getattr__(self, name):
            raise RuntimeError(name)

    def named(x):
        return 2 * x

    named.__name__ = named.__qualname__ = "a\0\udc80{{node b}}"
    for func in (Odd(), named, functools.partial(named)):
        for name in (None, "scope/", "\0", "a b", "x"):

            @tf.function
            def run():
                ys = [py_func(func, [X], X.dtype, name=name) for _ in range(2)]  # noqa: B023
                return tf.add_n(ys)

            assert run().numpy().tolist() == [4, 8]


@pytest.mark.parametrize("closed", ["2>&-", "<&- >&- 2>&-"])
@pytest.mark.slow
def test_import_without_stderr(closed, tmp_path):
    file = tmp_path / "fine"
    code = f"import utils, pathlib; pathlib.Path({str(file)!r}).write_text('x')"
    subprocess.run(f'"{sys.executable}" -c "{code}" {closed}', shell=True, cwd=ROOT)
    assert file.exists()


# ................................................................ odd dtypes

SMALL = ["bfloat16", "float8_e5m2", "float8_e4m3fn", "int4", "uint4"]


@both
@pytest.mark.parametrize("dtype", SMALL)
@pytest.mark.parametrize("shape", [(), (2,)])
def test_small_dtypes(wrap, dtype, shape):
    dtype = tf.as_dtype(dtype)
    x = tf.constant(np.ones(shape).astype(dtype.as_numpy_dtype), dtype)
    seen = []

    def func(a):
        seen.append((type(a), tf.as_dtype(a.dtype), a.shape))
        return a + a

    y = wrap(lambda x: py_func(func, [x], tf.TensorSpec(shape, dtype)))(x)
    assert seen == [(np.ndarray, dtype, shape)]
    assert (y.numpy().astype(int) == 2).all()


@both
@pytest.mark.parametrize(
    "value, dtype", [(2**70, "int64"), (-1, "uint64"), (99, "int4"), (-1, "uint4")]
)
def test_integers_that_do_not_fit(wrap, value, dtype):
    with pytest.raises((ValueError, tf.errors.OpError), match="do not fit into"):
        wrap(lambda: py_func(lambda x: value, [X], tf.as_dtype(dtype)))()


@both
def test_masks_are_refused(wrap):
    masked = np.ma.array([1.0, 2.0], mask=[True, False])
    for result in (masked, np.ma.masked):
        with pytest.raises((TypeError, tf.errors.OpError), match=r"\.filled\(value\)"):
            wrap(lambda: py_func(lambda x: result, [X], tf.float64))()  # noqa: B023
    with pytest.raises(TypeError, match="has no mask"):
        py_func(np.square, [masked], tf.float64)


MASKED = np.ma.array([1.0, 2.0], mask=[True, False])


@both
@pytest.mark.parametrize(
    "inside",
    [[MASKED], [[MASKED, MASKED]], ([0.0, 1.0], MASKED), [1.0, np.ma.masked]],
    ids=["list", "list of list", "tuple", "number"],
)
@pytest.mark.filterwarnings("ignore:Warning. converting a masked element")
def test_masks_inside_of_lists_are_refused(wrap, inside):
    def masked_gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = py_func(lambda x: x, [x], x.dtype, grad=lambda op, dy: [inside])
        return tape.gradient(y, x)

    for call in (
        lambda: py_func(lambda x: [inside], [X], [tf.float64]),
        lambda: py_func(lambda x: x, [inside], tf.float64),
        lambda: masked_gradient(tf.zeros(np.shape(inside))),
    ):
        with pytest.raises((TypeError, tf.errors.OpError), match="has no mask"):
            wrap(call)()


def test_a_list_that_holds_itself_is_looked_at_once():
    twice = []
    twice += [twice, twice]
    assert not has_mask(twice)
    twice.append(np.ma.array([1.0], mask=[1]))
    assert has_mask(twice)


@both
def test_numba_with_a_written_signature(wrap):
    numba = pytest.importorskip("numba")
    twice = numba.njit("float32[:](float32[:])")(lambda x: x * np.float32(2))
    y = wrap(lambda: py_func(twice, [X], X.dtype))()
    assert y.numpy().tolist() == [2, 4]
    with pytest.raises((TypeError, tf.errors.OpError), match="without types"):
        wrap(lambda: py_func(lambda x: twice(x), [X], X.dtype))()


@both
def test_texts(wrap):
    texts = np.array([["ü", b"a\0"], ["\0", b""]], object)
    y = wrap(lambda: py_func(lambda x: texts.T, [X], tf.string))()
    assert y.numpy().tolist() == [["ü".encode(), b"\0"], [b"a\0", b""]]


@both
@pytest.mark.parametrize("text", ["\ud800", ["a", "\udc80"], np.array(["\udfff"])])
def test_a_text_that_can_not_be_encoded_is_named(wrap, text):
    with pytest.raises((ValueError, tf.errors.OpError)) as error:
        wrap(lambda: py_func(lambda x: [text], [X], [tf.string], name="opname"))()
    said = "py_func 'opname' (function <lambda>): output 0 has a text that UTF-8 can't"
    assert said in str(error.value)


@pytest.mark.parametrize("policy", ["float32", "mixed_float16"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_keras_input_keeps_its_dtype(policy, dtype, tmp_path):
    seen = set()

    def func(x):
        seen.add(x.dtype)
        return x * x

    def grad(op, dy):
        seen.add(np.dtype(dy.dtype.as_numpy_dtype))
        return 2 * op.inputs[0] * dy

    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(policy)
    try:
        x = keras.Input([1], dtype=dtype)
        y = py_func(func, [x], tf.TensorSpec([None, 1], tf.as_dtype(dtype)), grad=grad)
        model = keras.Model(x, y)
    finally:
        keras.config.set_dtype_policy(before)
    z = tf.constant([[3.0]], dtype)
    for run in (model, keras.models.clone_model(model)):
        with tf.GradientTape() as tape:
            tape.watch(z)
            out = run(z)
        assert out.dtype == dtype and out == 9 and tape.gradient(out, z) == 6
    assert seen == {np.dtype(dtype)}
    with pytest.raises(TypeError, match="call it in a Layer of your own"):
        model.save(os.path.join(tmp_path, "model.keras"))
