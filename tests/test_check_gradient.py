"""check_gradient: each wrong gradient is caught in words, and no right one."""

import itertools

import numpy as np
import pytest

from utils import check_gradient, py_func, tf

rng = np.random.default_rng(0)


def numbers(values, dtype="float64"):
    return tf.constant(values, dtype)


def op(forward, backward):
    """`forward` with the gradient `backward(dy, *xs)`, right or wrong."""

    @tf.custom_gradient
    def f(*xs):
        return forward(*xs), lambda dy: backward(dy, *xs)

    return f


def failure(f, inputs, **options):
    with pytest.raises(AssertionError) as caught:
        check_gradient(f, inputs, **options)
    report = caught.value.report
    assert not report and str(report) == str(caught.value)
    return str(caught.value)


# ...................................................................... wrong


def test_the_worst_element_is_named_as_promised():
    text = failure(op(tf.square, lambda dy, x: 2.1 * x * dy), [numbers([1.0, 2.0])])
    assert text.startswith(
        "input 0, element (1,): analytic 4.2, numeric 4.0 (2 of 2 elements wrong)"
    )
    assert "analytic / numeric is 1.05 in all of them" in text


@pytest.mark.parametrize("dtype", ["float32", "float64"])
class TestWrong:
    def test_missing_transpose(self, dtype):
        a, b = numbers(rng.normal(size=(2, 3, 3)), dtype)
        wrong = op(tf.matmul, lambda dy, a, b: (dy @ tf.transpose(b), a @ dy))
        assert "input 1, element" in (text := failure(wrong, [a, b]))
        assert "of 18 elements wrong" in text

    def test_sign(self, dtype):
        wrong = op(tf.cos, lambda dy, x: dy * tf.sin(x))
        text = failure(wrong, [numbers([0.3, 1, 2], dtype)])
        assert "(3 of 3 elements wrong)" in text
        assert "analytic / numeric is -1.0" in text

    def test_factor_1001(self, dtype):
        wrong = op(tf.exp, lambda dy, x: 1.001 * dy * tf.exp(x))
        text = failure(wrong, [numbers(rng.normal(size=20), dtype)])
        assert "analytic / numeric is 1.001" in text

    def test_one_element_of_a_thousand(self, dtype):
        factor = np.where(np.arange(1000) == 377, 1.5, 1)
        wrong = op(tf.square, lambda dy, x: 2 * x * dy * numbers(factor, dtype))
        text = failure(wrong, [numbers(rng.normal(size=1000), dtype)])
        assert text.startswith("input 0, element (377,): ")
        assert "(1 of 1000 elements wrong)" in text

    def test_one_element_of_a_hundred_thousand(self, dtype):
        factor = np.where(np.arange(100_000) == 37_700, 1.5, 1)
        wrong = op(tf.square, lambda dy, x: 2 * x * dy * numbers(factor, dtype))
        x = rng.normal(size=100_000)
        x[37_700] = 1.2
        text = failure(wrong, [numbers(x, dtype)])
        assert text.startswith("input 0, element (37700,): analytic 3.6, numeric 2.4")

    def test_no_sum_over_a_broadcast_axis(self, dtype):
        wrong = op(lambda x, y: x * y, lambda dy, x, y: (dy * y, dy * x))
        text = failure(wrong, [numbers([1, 2, 3], dtype), numbers(2, dtype)])
        assert "input 1: the gradient has shape (3,), the input has ()" in text

    def test_not_multiplied_by_dy(self, dtype):
        wrong = op(tf.square, lambda dy, x: 2 * x)
        text = failure(wrong, [numbers([1, 2, 3], dtype)])
        assert "not multiplied by dy" in text

    def test_missing_gradient(self, dtype):
        wrong = op(lambda x, y: x * y, lambda dy, x, y: (dy * y, None))
        text = failure(wrong, [numbers([1, 2], dtype), numbers([3, 4], dtype)])
        assert "input 1, element (1,): analytic None, numeric 2.0" in text
        assert "there is no gradient" in text

    def test_second_derivative(self, dtype):
        @tf.custom_gradient
        def square_grad(x, dy):
            return 3 * x * x * dy, lambda d: (7 * x * dy * d, 3 * x * x * d)

        wrong = op(lambda x: x**3, lambda dy, x: square_grad(x, dy))
        x = [numbers([1, 2], dtype)]
        assert check_gradient(wrong, x)
        text = failure(wrong, x, order=2)
        assert text.startswith("second derivative, input 0, element")

    def test_outside_of_a_kink(self, dtype):
        x = numbers([-1, 0, 2], dtype)
        wrong = op(tf.nn.relu, lambda dy, x: dy * numbers([0, 2, 1], dtype))
        text = failure(wrong, [x])
        assert "input 0, element (1,): analytic 2.0, numeric 1.0 (1 of 3" in text
        assert "f has a kink there, with the slopes 0.0 and 1.0" in text


def test_wrong_only_inside_a_tf_function():
    def f(x):
        factor = 2.0 if tf.executing_eagerly() else 3.0
        return op(tf.square, lambda dy, x: factor * x * dy)(x)

    assert "found in tf.function" in failure(f, [numbers([1.0, 2.0])])


def test_result_that_changes_from_call_to_call():
    calls = itertools.count()
    text = failure(lambda x: x * (1 + 0.01 * next(calls)), [numbers([1.0])])
    assert text == "f changes from call to call: 1.01, then 1.02"


def test_gradient_that_changes_from_call_to_call():
    calls = itertools.count()
    wrong = op(tf.square, lambda dy, x: (2 + 0.01 * next(calls)) * x * dy)
    text = failure(wrong, [numbers([1.0])])
    assert "the gradient in eager mode changes from call to call" in text


def test_gradient_that_a_py_func_does_not_have():
    def cube(x):
        def grad(op, dy):
            return py_func(lambda x, dy: 3 * x * x * dy, [op.inputs[0], dy], dy.dtype)

        return py_func(lambda x: x**3, [x], x.dtype, grad=grad)

    x = [numbers([1.0, 2.0])]
    assert check_gradient(cube, x)
    text = failure(cube, x, order=2)
    assert text.startswith("second derivative, no gradient in eager mode: NoGradient")


def test_complex_gradient_that_is_not_conjugate():
    wrong = op(lambda z: z * z, lambda dy, z: 2 * z * dy)
    text = failure(wrong, [numbers([1 + 2j], "complex128")])
    assert "element (0,) (imaginary part): analytic 4.0, numeric -4.0" in text


# ...................................................................... right

z = numbers([1 + 2j, 3 - 1j], "complex128")
RIGHT = {
    "matmul": (tf.matmul, [rng.normal(size=(2, 3)), rng.normal(size=(3, 4))]),
    "tiny and large": (lambda x: x**3 + x, [[1e-6, 1e-3, 1, 1e3, 1e6]]),
    "pole nearby": (tf.math.log, [[1e-6, 1e-3, 1, 1e3, 1e6]]),
    "flat near zero": (tf.cos, [[1e-6, 1e-3, 1, 10]]),
    "fast": (tf.sin, [[1e6, 1]]),
    "steep": (tf.sqrt, [[1e-12, 1]]),
    "saturated": (tf.sigmoid, [[-30, 0, 30]]),
    "sum of ones": (tf.nn.softmax, [rng.normal(size=(4, 5))]),
    "several": (lambda a, b: [a * b, tf.reduce_sum(a) + tf.sin(b)], [[1, 2], [3, 4]]),
    "jump nearby": (lambda x: tf.math.floormod(x, 1), [[0.3, 0.999, 1.001]]),
    "reduction": (lambda x: tf.reduce_sum(x * x), [rng.normal(size=3000)]),
    "scalar": (tf.exp, [1.0]),
    "empty": (tf.exp, [np.zeros((0, 2))]),
    "constant": (tf.zeros_like, [[1.0, 2.0]]),
    "zero": (lambda x: x**2, [[0.0, 1.0]]),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", RIGHT)
def test_right_gradients_pass(name, dtype):
    f, inputs = RIGHT[name]
    report = check_gradient(f, [numbers(x, dtype) for x in inputs])
    assert report and str(report).startswith("gradient right: ")
    bound = {"float32": 1e-3, "float64": 1e-6}[dtype]
    # float32 has no number between 1e6 and 1e6 + 0.0625, and a sum of thousands
    # has lost its last digits.
    if dtype == "float64" or name not in ("fast", "reduction"):
        assert f"largest error: below {bound:.0e} " in str(report)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_hundred_thousand_elements_pass(dtype):
    x = numbers(rng.normal(size=100_000), dtype)
    assert check_gradient(lambda x: tf.sin(x) * tf.nn.relu(x), [x])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_short_floats(dtype):
    x = [numbers([1, 2, 0.5], dtype)]
    assert check_gradient(lambda x: x * x, x)
    assert "3 of 3" in failure(op(tf.square, lambda dy, x: 3 * x * dy), x)


@pytest.mark.parametrize("f", [lambda z: z * z, tf.abs, tf.math.conj, tf.math.exp])
def test_complex(f):
    assert check_gradient(f, [z])


def test_integers_are_held_fixed():
    report = check_gradient(
        lambda x, n: [x ** tf.cast(n, x.dtype), n], [numbers([1.0, 2.0]), 3]
    )
    assert "2 elements" in str(report)


def test_input_that_does_not_matter_needs_no_gradient():
    f = op(lambda x, y: 2 * x, lambda dy, x, y: (2 * dy, None))
    report = check_gradient(f, [numbers([1.0]), numbers([1.0])])
    assert "input 1: no gradient, and none is needed" in str(report)


@pytest.mark.parametrize("at_zero", [0, 0.5, 1])
def test_kink_is_named(at_zero):
    f = op(tf.nn.relu, lambda dy, x: dy * numbers([0, at_zero, 1]))
    report = check_gradient(f, [numbers([-1, 0, 2])])
    (text,) = report.kinks
    assert text == (
        f"input 0, element (1,): a kink, the gradient {float(at_zero)} lies between "
        "the slopes 0.0 and 1.0"
    )
    assert text in str(report)


def test_jump_is_named():
    report = check_gradient(lambda x: tf.math.floormod(x, 1.0), [numbers([0.3, 1.0])])
    (text,) = report.jumps
    assert "element (1,): a jump, the gradient 1.0 is that of one side" in text


def test_what_cannot_be_decided_is_said():
    x = numbers([0.3, 1 + 1e-7], "float32")  # the next number below is the jump
    report = check_gradient(lambda x: tf.math.floormod(x, 1.0), [x])
    (text,) = report.doubts
    assert text.startswith("input 0, element (1,): not checked, no two")
    assert text in str(report)


def test_second_derivative():
    report = check_gradient(lambda x: x**3, [numbers([1.0, 2.0])], order=2)
    assert "order 2" in str(report) and "second derivative, largest" in str(report)


def test_report_draws_itself():
    report = check_gradient(tf.sin, [numbers([0.0, 1.0])])
    axes = report.draw().axes
    assert [ax.get_title() for ax in axes] == ["analytic", "numeric", "error"]
    assert all(ax.get_xlabel() and ax.get_ylabel() for ax in axes)
    np.testing.assert_allclose(axes[0].lines[0].get_ydata(), np.cos([0.0, 1.0]))
    np.testing.assert_allclose(axes[1].lines[0].get_ydata(), np.cos([0.0, 1.0]))


# ................................................................ bad arguments


@pytest.mark.parametrize(
    "arguments, error, text",
    [
        ((tf.sin, numbers([1.0])), TypeError, "inputs must be a list.*pass \\[x\\]"),
        ((tf.sin, [1]), TypeError, "no input is of float.*got int32"),
        ((tf.sin, [numbers(1.0)], 3), ValueError, "order must be 1 or 2, got 3"),
        ((tf.math.log, [numbers([-1.0])]), ValueError, "f is not finite"),
        ((lambda x: tf.argmax(x), [numbers([1.0])]), TypeError, "no float or complex"),
        ((tf.sin, [tf.ragged.constant([[1.0]])]), TypeError, "RaggedTensor"),
    ],
)
def test_bad_arguments(arguments, error, text):
    with pytest.raises(error, match=text):
        check_gradient(*arguments)


# ............................................................... the other tool

OPS = [
    tf.sin, tf.cos, tf.tan, tf.exp, tf.tanh, tf.sigmoid, tf.square, tf.math.softplus,
    tf.math.erf, tf.math.expm1, tf.math.log1p, tf.math.atan, tf.nn.softmax,
    tf.nn.log_softmax, tf.math.cumsum, tf.reduce_logsumexp, tf.linalg.inv,
    tf.linalg.det, tf.math.lgamma, tf.transpose,
]  # fmt: skip


@pytest.mark.parametrize("f", OPS, ids=lambda f: f.__name__)
def test_agrees_with_tensorflows_own_tool(f):
    x = numbers(rng.uniform(0.1, 0.9, (3, 3)))
    theoretical, numeric = tf.test.compute_gradient(f, [x], delta=1e-5)
    np.testing.assert_allclose(theoretical[0], numeric[0], rtol=1e-5, atol=1e-7)
    report = check_gradient(f, [x])
    np.testing.assert_allclose(
        report.analytic, np.sum(theoretical[0], axis=0), rtol=1e-7, atol=1e-9
    )
    wrong = op(f, lambda dy, x: 1.01 * tf.ones_like(x))
    assert "elements wrong" in failure(wrong, [x])
