"""Errors keep their cause and their words, whatever func is and raises."""

import functools

import numpy as np
import pytest

from utils import py_func, tf

X = tf.constant([1.0, 2.0])
both = pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "tf"])


def said(func, **options):
    with pytest.raises(tf.errors.OpError) as error:
        tf.function(lambda: py_func(func, [X], tf.float32, **options))()
    return str(error.value)


def test_an_error_is_the_users_own_in_eager_mode_and_its_whole_chain_in_a_graph():
    def fails(x):
        try:
            {}["key"]
        except KeyError as error:
            raise LookupError("no such table") from error  # this line raised

    with pytest.raises(LookupError, match="no such table"):
        py_func(fails, [X], tf.float32)
    text = said(fails, name="table")
    assert "py_func 'table' (function fails) failed with LookupError: no such" in text
    assert '{}["key"]' in text and "# this line raised" in text
    assert "test_py_func_errors.py" in text


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_what_is_no_exception_is_named(kind):
    def func(x):
        raise kind("why")

    assert f"(function func) failed with {kind.__name__}: why" in said(func)
    with pytest.raises(kind, match="why"):
        py_func(func, [X], tf.float32)


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
@pytest.mark.parametrize("func", [np.ndarray.sort, adds_one])
def test_who_writes_into_an_input_is_told_to_copy_it_first(wrap, func):
    variable = tf.Variable([2.0, 1.0])
    with pytest.raises((ValueError, tf.errors.OpError), match=r"x = x.copy\(\)"):
        wrap(lambda: py_func(func, [variable], tf.float32))()
    assert variable.numpy().tolist() == [2, 1]


@pytest.mark.parametrize("name", [None, "scope/", "a b"])
def test_any_callable_and_any_name_make_an_op(name):
    func = functools.partial(np.multiply, 2)
    run = tf.function(lambda: py_func(func, [X], X.dtype, name=name))
    assert run().numpy().tolist() == [2, 4]


@both
def test_numba_with_a_written_signature(wrap):
    numba = pytest.importorskip("numba")
    twice = numba.njit("float32[:](float32[:])")(lambda x: x * np.float32(2))
    y = wrap(lambda: py_func(twice, [X], X.dtype))()
    assert y.numpy().tolist() == [2, 4]
