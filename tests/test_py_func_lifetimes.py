"""The code of an op lives as long as a graph can run it, and no longer."""

import gc
import weakref

import pytest
from tensorflow.python.framework.convert_to_constants import (
    convert_variables_to_constants_v2,
)

from custom_ops.lifetimes import _tensor_that_holds
from utils import py_func, tf

V1 = tf.compat.v1
SPEC = [tf.TensorSpec([2])]


def square(x, kept=None):
    def func(a, kept=kept):
        return a * a

    return py_func(func, [x], tf.TensorSpec(x.shape, x.dtype))


def numbers():
    return tf.data.Dataset.range(3).map(square)


def in_cond(x):
    return tf.cond(tf.reduce_sum(x) > 0, lambda: square(x), lambda: x)


def values(datasets):
    gc.collect()
    return [[int(value) for value in data] for data in datasets]


def test_a_tensor_that_holds_an_op():
    """At whatever address its memory lies."""

    class Op:
        pass

    ops = [Op() for _ in range(20)]
    seen = [weakref.ref(op) for op in ops]
    tensors = [_tensor_that_holds(op) for op in ops]
    del ops
    gc.collect()
    assert all(op() for op in seen)
    del tensors
    gc.collect()
    assert not any(op() for op in seen)


@pytest.mark.slow
def test_datasets_of_datasets():
    of = tf.data.Dataset
    assert values(of.from_tensor_slices([numbers(), numbers()])) == [[0, 1, 4]] * 2
    assert values(of.from_tensors(numbers()).repeat(2)) == [[0, 1, 4]] * 2
    branches = of.from_tensors(of.range(3).map(in_cond))
    assert values(branches) == [[0, 1, 4]]
    variant = tf.data.experimental.to_variant(numbers())
    spec = tf.TensorSpec([], tf.int64)
    assert values([tf.data.experimental.from_variant(variant, spec)]) == [[0, 1, 4]]
    assert values([tf.function(numbers)()]) == [[0, 1, 4]]


def traced_before(concrete=False):
    """A function that was tried before a dataset gets it, and then forgotten."""
    step = tf.function(square)
    step(tf.constant(1, tf.int64))
    return step.get_concrete_function(tf.TensorSpec([], tf.int64)) if concrete else step


@pytest.mark.parametrize("concrete", [False, True])
def test_datasets_that_call_what_was_traced_before(concrete):
    of = tf.data.Dataset

    def made(wrap=lambda step: step):
        step = wrap(traced_before(concrete))
        return of.range(3).map(lambda x: step(x))

    assert values(of.from_tensors(made()).repeat(2)) == [[0, 1, 4]] * 2
    assert values(of.range(2).map(lambda i: made())) == [[0, 1, 4]] * 2
    assert values([tf.function(made)()]) == [[0, 1, 4]]
    inside = made(lambda step: tf.function(lambda x: step(x) + 1))
    assert values(of.from_tensors(inside)) == [[1, 2, 5]]
    branch = made(lambda step: lambda x: tf.cond(x > 1, lambda: step(x), lambda: x))
    assert values(of.from_tensors(branch)) == [[0, 1, 4]]


def test_frozen_functions():
    weight = tf.Variable([1.0, 2.0])
    for body in (square, in_cond, tf.function(square)):
        traced = tf.function(lambda x, body=body: body(x * weight))
        frozen = convert_variables_to_constants_v2(traced.get_concrete_function(*SPEC))
        del traced
        gc.collect()
        assert frozen(tf.ones(2))[0].numpy().tolist() == [1, 4]


def test_a_plain_function_captures_nothing():
    assert not tf.function(square).get_concrete_function(*SPEC).captured_inputs


def test_wrapped_and_pruned_functions():
    called = tf.function(square)
    called(tf.ones(2))
    for body in (square, in_cond, tf.function(square), lambda x, step=called: step(x)):
        wrapped = V1.wrap_function(lambda x, body=body: body(x) + 1, SPEC)
        pruned = wrapped.prune(wrapped.inputs[0], wrapped.outputs[0])
        del wrapped
        gc.collect()
        assert pruned(tf.fill([2], 2.0)).numpy().tolist() == [5, 5]


def test_a_graph_that_was_written_down():
    assert tf.Graph.as_graph_def.__doc__  # as TensorFlow wrote it
    graph_def = tf.function(square).get_concrete_function(*SPEC).graph.as_graph_def()
    gc.collect()
    place, op = (
        next(node.name for node in graph_def.node if node.op == kind)
        for kind in ("Placeholder", "PyFunc")
    )
    with tf.Graph().as_default(), V1.Session() as session:
        x = tf.constant([1.0, 3.0])
        (y,) = tf.import_graph_def(graph_def, {place: x}, [f"{op}:0"])
        assert session.run(y).tolist() == [1, 9]


def test_a_dataset_in_a_graph_of_a_session():
    with tf.Graph().as_default(), V1.Session() as session:
        entries = V1.data.make_initializable_iterator(numbers())
        entry = entries.get_next()
        gc.collect()
        session.run(entries.initializer)
        assert [session.run(entry) for _ in range(3)] == [0, 1, 4]


def test_datasets_and_wrapped_functions_leave_nothing_behind():
    class Large:
        pass

    alive = []

    def use():
        large = Large()
        alive.append(weakref.ref(large))
        list(tf.data.Dataset.range(3).map(lambda x: square(x, large)))
        step = tf.function(lambda x: square(x, large))
        step(tf.constant(1, tf.int64))
        list(tf.data.Dataset.from_tensors(tf.data.Dataset.range(3).map(step)))
        V1.wrap_function(lambda x: square(x, large) + 1, SPEC)(tf.ones(2))

    for _ in range(5):
        use()
    gc.collect()
    assert [ref for ref in alive if ref() is not None] == []
