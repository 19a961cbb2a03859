"""What more than one lesson needs: each right, and wrong use said in words."""

import numpy as np
import pytest

from utils import check_gradient, gradient, like, py_func, sum_to, tf

X = tf.constant([1.0, 2.0])


@pytest.mark.parametrize(
    "x, dtype, expected",
    [
        (X, "float32", [2, 4]),
        (3.0, "float32", 6),
        (np.array([1.0, 2.0]), "float64", [2, 4]),
        (tf.Variable([1.0]), "float32", [2]),
    ],
)
def test_gradient_takes_what_tensors_are_made_of(x, dtype, expected):
    found = gradient(tf.square, x)
    assert found.dtype == dtype and found.numpy().tolist() == expected


def test_gradient_of_a_list_is_a_list():
    dx, dy = gradient(lambda x, y: x * y, [X, 3.0])
    assert dx.numpy().tolist() == [3, 3] and dy.numpy() == 3
    (only,) = gradient(tf.square, (X,))
    assert only.numpy().tolist() == [2, 4]


def test_gradient_is_dense_or_none():
    assert gradient(lambda x: tf.gather(x, [1, 1]), X).numpy().tolist() == [0, 2]
    assert gradient(lambda x: tf.numpy_function(np.sin, [x], x.dtype), X) is None
    assert gradient(lambda x, y: 2 * x, [X, 1.0])[1] is None


def test_gradient_works_in_a_graph_and_of_a_gradient():
    def slope(x):
        return gradient(lambda x: x**3, x)

    for f in (slope, tf.function(slope)):
        assert f(X).numpy().tolist() == [3, 12]
        assert gradient(f, X).numpy().tolist() == [6, 12]


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(
    "small, large",
    [
        ((), ()),
        ((), (2, 3)),
        ((3,), (2, 3)),
        ((2, 1), (2, 3)),
        ((1, 1), (2, 3)),
        ((2, 3), (2, 3)),
        ((3, 1), (4, 3, 5)),
        ((0,), (2, 0)),
        ((1,), (0,)),
    ],
)
def test_sum_to_is_the_gradient_of_broadcasting(small, large, known):
    dy = tf.constant(np.random.default_rng(0).normal(size=large))
    x = tf.zeros(small, tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.broadcast_to(x, large)
    expected = tape.gradient(y, x, dy)
    unknown = tf.TensorSpec(None, tf.float64)
    f = sum_to if known else tf.function(sum_to, input_signature=[unknown] * 2)
    found = f(dy, x)
    assert found.shape == small and found.dtype == tf.float64
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize(
    "large, small", [((2,), (3,)), ((3,), (2, 3)), ((2, 3), (2, 2))]
)
def test_sum_to_says_which_shapes_do_not_fit(large, small):
    with pytest.raises(ValueError, match="sum_to: broadcasting does not lead") as error:
        sum_to(tf.zeros(large), tf.zeros(small))
    assert str(tf.TensorShape(large)) in str(error.value)
    assert str(tf.TensorShape(small)) in str(error.value)


def test_sum_to_makes_a_gradient_that_can_be_differentiated():
    def add_grad(op, dz):
        return [sum_to(dz, x) for x in op.inputs]

    def add(x, y):
        return py_func(np.add, [x, y], tf.float64, grad=add_grad)

    check_gradient(add, [np.ones((2, 3)), np.ones(3)], order=2)


def test_sum_to_keeps_a_known_shape_in_a_graph():
    @tf.function(input_signature=[tf.TensorSpec(None), tf.TensorSpec([3])])
    def f(dy, x):
        assert sum_to(dy, x).shape == [3]
        return sum_to(dy, x)

    assert f(tf.ones([2, 3]), tf.zeros(3)).numpy().tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    "x, shape, dtype",
    [
        (tf.zeros([2, 3]), [2, 3], "float32"),
        (tf.Variable([1, 2]), [2], "int32"),
        (np.zeros((4, 1)), [4, 1], "float64"),
        (3.0, [], "float32"),
        (tf.keras.Input([2]), [None, 2], "float32"),
        (tf.keras.Variable([1.0]), [1], "float32"),
    ],
)
def test_like_has_the_shape_and_dtype(x, shape, dtype):
    assert like(x) == tf.TensorSpec(shape, dtype)
