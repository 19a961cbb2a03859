"""What more than one lesson needs: each right, and wrong use said in words."""

import doctest

import numpy as np
import pytest

import custom_ops.exercises
import custom_ops.gradient_helpers
from utils import check_gradient, gradient, like, py_func, sum_to, tf


@pytest.mark.parametrize("module", [custom_ops.gradient_helpers, custom_ops.exercises])
def test_examples(module):
    found = doctest.testmod(module, extraglobs={"np": np})
    assert found.attempted and not found.failed


def test_gradient_of_one_and_of_several():
    x = tf.constant([1.0, 2.0])
    assert gradient(tf.square, x).numpy().tolist() == [2, 4]
    dx, dy = gradient(lambda x, y: x * y, [x, 3.0])
    assert dx.numpy().tolist() == [3, 3] and dy.numpy() == 3
    (only,) = gradient(tf.square, [x])
    assert only.numpy().tolist() == [2, 4]
    assert gradient(tf.square, (x,))[0].shape == [2]


def test_gradient_takes_what_tensors_are_made_of():
    assert gradient(tf.square, 3.0).numpy() == 6
    assert gradient(tf.square, np.array([1.0, 2.0])).dtype == tf.float64
    assert gradient(tf.square, tf.Variable([1.0])).numpy() == [2]
    dx = gradient(lambda x: tf.gather(x, [1, 1]), tf.constant([1.0, 2.0]))
    assert dx.numpy().tolist() == [0, 2]  # a dense tensor
    assert gradient(lambda x: [x, 2 * x], tf.constant(1.0)).numpy() == 3


def test_a_missing_gradient_is_none():
    x = tf.constant([1.0])
    assert gradient(lambda x: tf.numpy_function(np.sin, [x], x.dtype), x) is None
    assert gradient(lambda x, y: 2 * x, [x, 1.0])[1] is None


def test_gradient_in_a_graph_and_of_a_gradient():
    x = tf.constant([1.0, 2.0])
    assert tf.function(lambda x: gradient(tf.square, x))(x).numpy().tolist() == [2, 4]

    def slope(x):
        return gradient(lambda x: x**3, x)

    assert gradient(slope, x).numpy().tolist() == [6, 12]


SHAPES = [
    ((), ()),
    ((), (2, 3)),
    ((3,), (2, 3)),
    ((1,), (4,)),
    ((2, 1), (2, 3)),
    ((1, 3), (2, 3)),
    ((1, 1), (2, 3)),
    ((2, 3), (2, 3)),
    ((3, 1), (4, 3, 5)),
    ((1, 1, 1), (1, 1, 1)),
    ((0,), (2, 0)),
    ((1,), (0,)),
]


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(("small", "large"), SHAPES)
def test_sum_to(small, large, known):
    dy = np.random.default_rng(0).normal(size=large)
    x = np.zeros(small)
    with tf.GradientTape() as tape:
        t = tf.constant(x)
        tape.watch(t)
        y = tf.broadcast_to(t, large)
    expected = tape.gradient(y, t, tf.constant(dy))
    unknown = tf.TensorSpec(None, tf.float64)
    f = sum_to if known else tf.function(sum_to, input_signature=[unknown] * 2)
    found = f(tf.constant(dy), tf.constant(x))
    assert found.shape == small and found.dtype == tf.float64
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("large", "small"), [((2,), (3,)), ((3,), (2, 3)), ((2, 3), (2, 2)), ((1,), (3,))]
)
def test_sum_to_says_which_shapes_do_not_fit(large, small):
    with pytest.raises(ValueError, match="sum_to: broadcasting does not lead") as error:
        sum_to(tf.zeros(large), tf.zeros(small))
    assert str(tf.TensorShape(large)) in str(error.value)
    assert str(tf.TensorShape(small)) in str(error.value)


def test_sum_to_in_a_gradient():
    def add_grad(op, dz):
        return [sum_to(dz, x) for x in op.inputs]

    def add(x, y):
        return py_func(np.add, [x, y], tf.float64, grad=add_grad)

    check_gradient(add, [np.ones((2, 3)), np.ones(3)], order=2)
    check_gradient(add, [np.ones((2, 1)), np.ones((1, 3))])


def test_sum_to_keeps_a_known_shape_in_a_graph():
    @tf.function(input_signature=[tf.TensorSpec(None), tf.TensorSpec([3])])
    def f(dy, x):
        assert sum_to(dy, x).shape == [3]
        return sum_to(dy, x)

    assert f(tf.ones([2, 3]), tf.zeros(3)).numpy().tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    ("x", "shape", "dtype"),
    [
        (tf.zeros([2, 3]), [2, 3], "float32"),
        (tf.Variable([1, 2]), [2], "int32"),
        (np.zeros((4, 1)), [4, 1], "float64"),
        (3.0, [], "float32"),
        ([1, 2], [2], "int32"),
        (True, [], "bool"),
        (tf.constant("text"), [], "string"),
        (tf.keras.Input([2]), [None, 2], "float32"),
        (tf.keras.Variable([1.0]), [1], "float32"),
    ],
)
def test_like(x, shape, dtype):
    assert like(x) == tf.TensorSpec(shape, dtype)


def test_like_of_nothing():
    with pytest.raises(ValueError):
        like(None)
