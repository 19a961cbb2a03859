"""Errors keep their cause and their words; odd dtypes, masks, texts and numba."""

import functools
import os
import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import pytest

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


def test_an_error_is_the_users_own_in_eager_mode_and_its_text_in_a_graph():
    def fails(x):
        raise KeyError("the key")

    with pytest.raises(KeyError, match="the key"):
        py_func(fails, [X], tf.float32, name="keyed")
    text = said(fails)
    assert "py_func 'fails' (function fails) failed with KeyError: 'the key'" in text
    assert 'raise KeyError("the key")' in text and "test_py_func_errors.py" in text


def test_stop_iteration_does_not_end_a_dataset():
    def stops(x):
        raise StopIteration

    data = tf.data.Dataset.range(3).map(lambda x: py_func(stops, [x], tf.int64))
    with pytest.raises(tf.errors.UnknownError, match="failed with StopIteration"):
        list(data)


def adds_one(x):
    x += 1
    return x


@both
@pytest.mark.parametrize(
    "func", [np.ndarray.sort, adds_one, lambda x: np.put(x, [0], 1)]
)
def test_who_writes_into_an_input_is_told_to_copy_it_first(wrap, func):
    variable = tf.Variable([2.0, 1.0])
    with pytest.raises((ValueError, tf.errors.OpError), match=r"x = x.copy\(\)"):
        wrap(lambda: py_func(func, [variable], tf.float32))()
    assert variable.numpy().tolist() == [2, 1]


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


@both
def test_numba_with_a_written_signature(wrap):
    numba = pytest.importorskip("numba")
    twice = numba.njit("float32[:](float32[:])")(lambda x: x * np.float32(2))
    y = wrap(lambda: py_func(twice, [X], X.dtype))()
    assert y.numpy().tolist() == [2, 4]


@both
def test_texts(wrap):
    texts = np.array([["ü", b"a\0"], ["\0", b""]], object)
    y = wrap(lambda: py_func(lambda x: texts.T, [X], tf.string))()
    assert y.numpy().tolist() == [["ü".encode(), b"\0"], [b"a\0", b""]]


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
