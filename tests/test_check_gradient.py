"""check_gradient: each wrong gradient is caught in words, and no right one."""

import itertools
import re
from collections import Counter

import numpy as np
import pytest
from tensorflow.python.eager.record import could_possibly_record

from utils import GradientReport
from utils import check_gradient, like, py_func, tf

rng = np.random.default_rng(0)


def numbers(values, dtype="float64"):
    return tf.constant(values, dtype)


def op(forward, backward):
    """`forward` with the gradient `backward(dy, *xs)`, right or wrong."""

    @tf.custom_gradient
    def with_gradient(*xs):
        return forward(*xs), lambda dy: backward(dy, *xs)

    def f(*xs):  # tf.custom_gradient takes longer than the steps of most checks
        plain = tf.executing_eagerly() and not could_possibly_record()
        return (forward if plain else with_gradient)(*xs)

    return f


def failure(f, inputs, **options):
    with pytest.raises(AssertionError) as caught:
        check_gradient(f, inputs, **options)
    report = caught.value.report
    assert not report and str(report) == str(caught.value)
    return str(caught.value)


# ...................................................................... wrong


def test_a_wrong_gradient_is_a_short_traceback():
    with pytest.raises(AssertionError) as caught:
        check_gradient(op(tf.square, lambda dy, x: x * dy), [numbers(1.0)])
    assert [entry.name for entry in caught.traceback][1:] == ["check_gradient"]


def test_the_worst_element_is_named_as_promised():
    text = failure(op(tf.square, lambda dy, x: 2.1 * x * dy), [numbers([1.0, 2.0])])
    assert text.startswith(
        "input 0, element (1,): analytic 4.2, numeric 4.0 (2 of 2 elements wrong)"
    )
    assert "analytic / numeric is 1.05 in all of them" in text


def test_of_errors_of_one_size_the_first_is_named_whatever_rounding_says():
    wrong = op(tf.sin, lambda dy, x: dy * (tf.cos(x) + 1))
    for x in rng.normal(size=(10, 3)):
        assert failure(wrong, [numbers(x)]).startswith("input 0, element (0,): ")


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
        text = failure(wrong, [numbers(rng.normal(size=5), dtype)])
        assert "analytic / numeric is 1.001" in text

    @pytest.mark.slow
    def test_one_element_of_a_thousand(self, dtype):
        factor = np.where(np.arange(1000) == 377, 1.5, 1)
        wrong = op(tf.square, lambda dy, x: 2 * x * dy * numbers(factor, dtype))
        text = failure(wrong, [numbers(rng.normal(size=1000), dtype)])
        assert text.startswith("input 0, element (377,): ")
        assert "(1 of 1000 elements wrong)" in text

    @pytest.mark.slow
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


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
def test_wrong_inside_a_tf_function_in_coarse_dtypes(dtype):
    def grad(dy, x):
        return 2 * x * dy * (1 if tf.executing_eagerly() else 1.9)

    square = op(tf.square, grad)
    assert "found in tf.function" in failure(square, [numbers([1.0, 2.0], dtype)])


def test_wrong_inside_a_tf_function_beside_a_large_element():
    def grad(dy, x):
        return dy * [1e5, 1 if tf.executing_eagerly() else -1]

    f = op(lambda x: tf.reduce_sum([1e5, 1.0] * x), grad)
    text = failure(f, [tf.constant([1e-5, 1.0])])
    assert "element (1,): analytic -1.0, numeric 1.0" in text


def test_result_that_changes_from_call_to_call():
    calls = itertools.count()
    text = failure(lambda x: x * (1 + 0.01 * next(calls)), [numbers([1.0])])
    assert text == "f changes from call to call: 1.0, then 1.01"


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


@pytest.mark.parametrize("dtype", ["float32", "float64"])
class TestWrongInHiding:
    """Wrong gradients that a simpler check lets pass."""

    def test_small_output_beside_a_large_one(self, dtype):
        wrong = tf.custom_gradient(
            lambda x: (
                (1e4 * tf.reduce_sum(x), tf.sin(x)),
                lambda dy0, dy1: 1e4 * dy0 + 1.02 * dy1 * tf.cos(x),
            )
        )
        text = failure(wrong, [numbers([0.1, 0.2, 0.3], dtype)])
        assert "upstream gradient: random for output 1, zeros for the others" in text

    def test_one_of_two_dys_forgotten(self, dtype):
        wrong = tf.custom_gradient(
            lambda x: ((x * x, 3 * x), lambda dy0, dy1: 2 * x * dy0 + 3)
        )
        assert "some of it is not multiplied by dy" in failure(
            wrong, [numbers([1, 2], dtype)]
        )

    def test_mean_of_dy(self, dtype):
        wrong = op(tf.square, lambda dy, x: 2 * x * tf.reduce_mean(dy))
        assert "look at how dy enters" in failure(wrong, [numbers([1, 2], dtype)])

    @pytest.mark.parametrize("gradient", [None, 0.0])
    def test_tiny_x_whose_steps_are_lost_in_rounding(self, dtype, gradient):
        wrong = op(
            lambda x: x + 1, lambda dy, x: None if gradient is None else gradient * dy
        )
        assert "2 of 2" in failure(wrong, [numbers([1e-6, 2e-6], dtype)])

    @pytest.mark.parametrize("f", [tf.norm, tf.sqrt])
    def test_nan_or_inf_where_f_is_finite(self, dtype, f):
        text = failure(f, [numbers([0.0, 0.0], dtype)])
        assert "the gradient is inf or nan" in text

    def test_second_derivative_by_dy(self, dtype):
        @tf.custom_gradient
        def square_grad(x, dy):
            return 2 * x * dy, lambda d: (2 * dy * d, None)

        wrong = op(tf.square, lambda dy, x: square_grad(x, dy))
        text = failure(wrong, [numbers([1, 2], dtype)], order=2)
        assert text.startswith("second derivative, dy 0, element (1,): analytic None")

    @pytest.mark.slow
    def test_two_opposite_errors_among_a_hundred_thousand(self, dtype):
        factor = np.ones(100_000)
        factor[5:7] = 1.3, 0.7
        wrong = op(tf.square, lambda dy, x: 2 * x * dy * numbers(factor, dtype))
        text = failure(wrong, [tf.ones(100_000, dtype)])
        assert text.startswith(("input 0, element (5,)", "input 0, element (6,)"))

    def test_projections_on_request(self, dtype):
        factor = np.where(np.arange(60) == 7, 1.5, 1)
        wrong = op(tf.square, lambda dy, x: 2 * x * dy * numbers(factor, dtype))
        text = failure(wrong, [tf.ones(60, dtype)], projections=4)
        assert text.startswith(
            "input 0, element (7,): analytic 3.0, numeric 2.0 "
            "(at least 1 of 60 elements wrong)"
        )

    def test_where_all_is_wrong_some_are_found_alone(self, dtype):
        wrong = op(tf.square, lambda dy, x: 3 * x * dy)
        text = failure(wrong, [tf.ones(2000, dtype)], projections=4)
        assert "analytic 3.0, numeric 2.0 (at least 1 of 2000" in text


def test_error_smaller_than_what_is_shown():
    wrong = op(tf.square, lambda dy, x: (2 + 1e-5) * x * dy)
    assert "analytic 2.00001, numeric 2.0 " in failure(wrong, [numbers([1.0])])


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
    "cancellation": (
        lambda x: tf.reduce_mean(x * x) - tf.reduce_mean(x) ** 2,
        [100 + rng.normal(size=9)],
    ),
    "below rounding": (
        lambda x: tf.nn.softmax_cross_entropy_with_logits(
            tf.one_hot([1, 2], 4, dtype=x.dtype), x
        ),
        [30 * rng.normal(size=(2, 4))],
    ),
    "very fast": (lambda x: tf.sin(1000 * x), [[1.0, 2.0, 3.0]]),
    "ties": (lambda x: tf.nn.max_pool2d(x, 2, 2, "SAME"), [np.zeros((1, 4, 4, 1))]),
    "near its edge": (tf.acos, [[0.999999, 0.0]]),
    "step": (tf.floor, [[4.0, 0.5]]),
    "layer norm": (
        lambda x: (
            (x - tf.reduce_mean(x)) * tf.math.rsqrt(tf.math.reduce_variance(x) + 1e-3)
        ),
        [rng.normal(size=9)],
    ),
}


SLOW = "below rounding", "reduction", "ties"  # each takes seconds
LOST = {"fast", "reduction", "steep", "cancellation", "very fast", "near its edge"}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.slow) if n in SLOW else n for n in RIGHT],
)
def test_right_gradients_pass(name, dtype):
    f, inputs = RIGHT[name]
    report = check_gradient(f, [numbers(x, dtype) for x in inputs])
    assert report and str(report).startswith("gradient right: ")
    bound = {"float32": 1e-3, "float64": 1e-6}[dtype]
    # float32 has no number between 1e6 and 1e6 + 0.0625, and a sum of thousands
    # has lost its last digits.
    if dtype == "float64" or name not in LOST:
        assert f"largest error: below {bound:.0e} " in str(report)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.slow
def test_a_hundred_thousand_elements_pass(dtype):
    x = numbers(rng.normal(size=100_000), dtype)
    assert check_gradient(lambda x: tf.sin(x) * tf.nn.relu(x), [x])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_short_floats(dtype):
    x = [numbers([1, 2, 0.5], dtype)]
    assert check_gradient(lambda x: x * x, x)
    assert "3 of 3" in failure(op(tf.square, lambda dy, x: 3 * x * dy), x)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_scalars_of_short_floats(dtype):
    x, one = numbers([1, 2, 0.5], dtype), numbers(1, dtype)
    assert check_gradient(lambda x: tf.reduce_sum(x * x), [x])
    assert check_gradient(lambda x: x * x, [one])
    wrong = op(lambda x: tf.reduce_sum(x * x), lambda dy, x: 3 * x * dy)
    assert "3 of 3" in failure(wrong, [x])


@pytest.mark.parametrize("f", [lambda z: z * z, tf.abs, tf.math.conj, tf.math.exp])
def test_complex(f):
    assert check_gradient(f, [z])


def test_both_parts_of_a_complex_number_have_a_name():
    z = numbers([1 + 1j, 2 + 3j, 3 - 1j], "complex128")
    for factor, part in (2, "real"), (1 + 1j, "imaginary"):
        factors = numbers([1, 1, factor], "complex128")
        wrong = op(tf.math.conj, lambda dy, z, by=factors: tf.math.conj(dy) * by)
        assert f"element (2,) ({part} part)" in failure(wrong, [z])


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
    text = str(report).split("\n")[-1]
    assert text == (
        f"input 0, element (1,): a kink, the gradient {float(at_zero)} lies between "
        "the slopes 0.0 and 1.0"
    )
    assert text in str(report)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_jump_is_named(dtype):
    x = numbers([0.3, 1.0], dtype)
    report = check_gradient(lambda x: tf.math.floormod(x, 1.0), [x])
    (text,) = report.jumps
    text = str(report).split("\n")[-1]
    assert text == (
        "input 0, element (1,): a jump, the gradient 1.0 is that beside it, 1.0 to 1.0"
    )
    assert check_gradient(tf.sign, [numbers([0.0, 1.0], dtype)]).jumps
    wrong = op(tf.sign, lambda dy, x: dy)
    assert "f has a jump there" in failure(wrong, [numbers([0.0], dtype)])


def in_float32(f):
    """f computes in float32, whatever it is given: no float64 tells more."""
    return lambda *xs: f(*[tf.cast(x, tf.float32) for x in xs])


def test_what_rounding_hides_is_said():
    report = check_gradient(in_float32(tf.cos), [numbers([1e-6, 1.0], "float32")])
    assert report.undecided == 1
    assert "1 of 2 elements undecided" in str(report)


def test_missing_gradients_in_random_directions():
    x = numbers(np.linspace(1, 6, 50))
    for f, second in (tf.multiply, "needed"), (lambda x, y: x * 3, "not needed"):
        lost = op(f, lambda dy, x, y, f=f: (dy * f(1 + 0 * x, y), None))
        if second == "needed":
            text = failure(lost, [x, x + 1], projections=5)
            assert "analytic None" in text and "there is no gradient" in text
        else:
            said = str(check_gradient(lost, [x, x + 1], projections=5))
            assert "input 1: no gradient, and none is needed" in said


def test_random_directions_are_said():
    x = numbers([1.0, 2.0, 3.0])
    said = "2 random directions, each of at most 2 elements"
    assert said in str(check_gradient(tf.square, [x], projections=2))
    assert "directions" not in str(check_gradient(tf.square, [x]))


def test_up_to_a_thousand_elements_are_looked_at_one_by_one():
    for n, said in (1000, False), (1001, True):
        report = check_gradient(tf.square, [numbers(np.linspace(1, 2, n))])
        assert ("random directions" in str(report)) == said


def calls_of(f, inputs):
    """How often a check calls f in eager mode, by the dtype of its input."""
    counted = Counter()

    def counting(x):
        counted[x.dtype.name] += tf.executing_eagerly()
        return f(x)

    assert check_gradient(counting, inputs)
    return counted


def test_what_rests_is_looked_at_with_few_steps():
    assert calls_of(tf.nn.relu, [numbers(np.full(100, -1.0))])["float64"] < 30 * 100




def test_an_input_that_stays_is_not_made_anew():
    given = []  # all of them, so that no id is given twice

    def product(x, y):
        given.append((x, y))
        return x * y

    check_gradient(product, [numbers([1.0]), numbers([2.0, 3.0])])
    xs, ys = (len(set(map(id, tensors))) for tensors in zip(*given, strict=True))
    assert xs < ys < len(given)






def test_five_kinks_are_named_and_the_others_counted():
    text = str(check_gradient(tf.nn.relu, [numbers(np.zeros(8))]))
    assert text.count("a kink") == 5 and "and 3 more like this" in text


def test_a_report_without_numbers_draws_nothing():
    assert not GradientReport()  # nothing is right yet
    calls = itertools.count()
    with pytest.raises(AssertionError) as caught:
        check_gradient(lambda x: x * (1 + 0.01 * next(calls)), [numbers([1.0])])
    with pytest.raises(ValueError, match="nothing to draw: f changes from call"):
        caught.value.report.draw()


def test_second_derivative():
    report = check_gradient(lambda x: x**3, [numbers([1.0, 2.0])], order=2)
    assert "order 2" in str(report) and "second derivative, largest" in str(report)


@pytest.mark.parametrize(
    "f",
    [
        tf.nn.softmax,
        tf.nn.log_softmax,
        tf.nn.relu,
        lambda x: 3 * x,
        tf.transpose,
        lambda x: tf.gather(x, [0, 0]),
        lambda x: tf.matmul(x, x, transpose_b=True),
    ],
)
@pytest.mark.parametrize(
    "dtype", [pytest.param("float32", marks=pytest.mark.slow), "float64"]
)
def test_right_second_derivatives_pass(f, dtype):
    assert check_gradient(f, [numbers([[0.3, -2.0, 1.0]], dtype)], order=2)


@pytest.mark.parametrize("sign", [-1, 1])
def test_second_derivative_where_the_first_is_0(sign):
    """At a minimum, where every f is tried: its value and its slope are 0 there."""

    @tf.custom_gradient
    def slope(x, dy):
        return 2 * x * dy, lambda d: (sign * 2 * d * dy, 2 * x * d)

    square = op(tf.square, lambda dy, x: slope(x, dy))
    report = verdict(square, [numbers([0.0, 0.0])], order=2)
    assert report == ("right" if sign == 1 else "wrong")


@pytest.mark.parametrize("f", [tf.floor, lambda x: 0 * x])
def test_no_second_derivative_of_a_constant(f):
    assert verdict(f, [numbers([0.5, 1.2])], order=2) == "right"


@pytest.mark.parametrize(
    "dtype", [pytest.param("bfloat16", marks=pytest.mark.slow), "float32", "float64"]
)
@pytest.mark.parametrize(
    "f", [tf.square, lambda x: x**3, lambda x: tf.nn.relu(x) ** 2, tf.nn.l2_loss]
)
def test_nothing_but_zeros_is_right(f, dtype):
    x = numbers([0.0, 0.0], dtype)
    assert verdict(f, [x]) == "right"
    crooked = op(lambda x: f(x) + 0.2 * tf.reduce_sum(x), lambda dy, x: 0 * x)
    assert verdict(crooked, [x]) == "wrong"


def test_report_draws_itself():
    report = check_gradient(tf.sin, [numbers([0.0, 1.0])])
    axes = report.draw().axes
    assert [ax.get_title() for ax in axes] == ["analytic", "numeric", "error"]
    assert axes[0].get_ylabel() == "input 0\nderivative"
    assert all(ax.get_xlabel() and ax.get_ylabel() for ax in axes)
    np.testing.assert_allclose(axes[0].lines[0].get_ydata(), np.cos([0.0, 1.0]))
    np.testing.assert_allclose(axes[1].lines[0].get_ydata(), np.cos([0.0, 1.0]))


@pytest.mark.parametrize(
    "shape, drawn", [((4,), 0), ((2, 4), 0), ((4, 2), 0), ((3, 4), 3), ((3, 3, 3), 0)]
)
def test_a_matrix_of_some_size_is_drawn_as_an_image(shape, drawn):
    axes = (
        check_gradient(tf.sin, [np.linspace(0, 1, 27)[: np.prod(shape)].reshape(shape)])
        .draw()
        .axes
    )
    assert sum(len(ax.images) for ax in axes) == drawn


def test_failed_report_draws_the_wrong_elements():
    factor = np.where(np.roll(np.eye(3), 1, axis=0), 1.5, 1)
    wrong = op(tf.square, lambda dy, x: 2 * x * dy * numbers(factor))
    with pytest.raises(AssertionError) as caught:
        check_gradient(wrong, [tf.ones((3, 3), tf.float64)])
    report = caught.value.report
    np.testing.assert_array_equal(report.wrong[0], factor > 1)
    np.testing.assert_allclose(report.numeric[0], np.full((3, 3), 2.0))
    axes = report.draw().axes
    np.testing.assert_allclose(axes[0].images[0].get_array(), 2 * factor)
    crosses = axes[2].lines[0].get_xydata().tolist()  # column, row
    assert crosses == [[2, 0], [0, 1], [1, 2]]


def test_nothing_on_stderr(capfd):
    for _ in range(8):  # TensorFlow warns about many traces of one function
        check_gradient(lambda x: x if x[0] > 0 else -x, [numbers([1.0])])
    assert capfd.readouterr().err == ""


# ................................................................ bad arguments


@pytest.mark.parametrize(
    "arguments, error, text",
    [
        ((tf.sin, numbers([1.0])), TypeError, "inputs must be a list.*pass \\[x\\]"),
        ((tf.sin, [1]), TypeError, "no input is of float.*got int32"),
        ((tf.sin, [numbers(1.0)], 3), ValueError, "order must be 1 or 2, got 3"),
        ((tf.math.log, [numbers([-1.0])]), ValueError, "f is not finite"),
        ((lambda x: tf.argmax(x), [numbers([1.0])]), TypeError, "no float or complex"),
        ((tf.sin, []), TypeError, "an empty list"),
        ((None, [1.0]), TypeError, "f must be callable"),
        ((tf.sin, [1.0], 1, 0), ValueError, "projections must be a positive integer"),
        ((tf.sin, [tf.ragged.constant([[1.0]])]), TypeError, "RaggedTensor"),
    ],
)
def test_bad_arguments(arguments, error, text):
    with pytest.raises(error, match=text):
        check_gradient(*arguments)


# ............................................................... the other tool

OPS = [
    tf.sin, tf.exp, tf.square, tf.math.expm1, tf.nn.softmax, tf.math.cumsum,
    tf.reduce_logsumexp, tf.linalg.inv, tf.linalg.det, tf.math.lgamma,
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("f", OPS, ids=lambda f: f.__name__)
def test_agrees_with_tensorflows_own_tool(f):
    x = numbers(rng.uniform(0.1, 0.9, (3, 3)))
    theoretical, numeric = tf.test.compute_gradient(f, [x], delta=1e-5)
    np.testing.assert_allclose(theoretical[0], numeric[0], rtol=1e-5, atol=1e-7)
    report = check_gradient(f, [x])
    expected = np.sum(theoretical[0], axis=0).reshape(3, 3)
    np.testing.assert_allclose(report.analytic[0], expected, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(report.numeric[0], expected, rtol=1e-6, atol=1e-6)
    wrong = op(f, lambda dy, x: 1.01 * tf.ones_like(x))
    assert "elements wrong" in failure(wrong, [x])


# ............................................................... what was attacked


def verdict(f, inputs, **options):
    """right, wrong or undecided, as the first line says."""
    try:
        report = check_gradient(f, inputs, **options)
    except AssertionError:
        return "wrong"
    first = str(report).split("\n")[0]
    assert ("undecided" in first) == bool(report.undecided)
    return "undecided" if report.undecided else "right"


def scaled(f, factors):
    """f, with the elements of its gradient multiplied by wrong factors."""
    return lambda x: f(op(tf.identity, lambda dy, x: dy * tf.cast(factors, x.dtype))(x))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("size", [np.inf, -np.inf, np.nan])
def test_gradient_that_is_not_finite(dtype, size):
    wrong = op(tf.square, lambda dy, x: dy * tf.cast(size, x.dtype))
    text = failure(wrong, [numbers([1.0, 2.0], dtype)])
    assert f"analytic {size}, numeric" in text
    assert "the gradient is inf or nan where f is finite" in text
    assert "numeric nan" not in text and "numeric inf" not in text


def test_a_number_below_the_least_is_not_called_wrong():
    assert verdict(lambda x: 1.0 * x, [numbers([1e-308])]) != "wrong"


def test_missing_gradient_where_the_slope_happens_to_be_0():
    for f in (np.square, np.cos, lambda x: np.maximum(x - 1, 0)):
        text = failure(
            lambda x, f=f: tf.numpy_function(f, [x], x.dtype),
            [tf.zeros([3], tf.float64)],
        )
        assert "analytic None, numeric 0.0" in text
    assert check_gradient(tf.round, [numbers([0.2, 1.3])])  # steps have none


@pytest.mark.parametrize("f, x, factor", [
    (lambda x: tf.sin(10 * x), [1.0, 2.0], 1.001),
    (lambda x: tf.sin(x + 1e-3) - tf.sin(x), [1.0], 1.01),
    (tf.exp, [0.3], 1.00002),
    (tf.nn.relu, [1e-6, 1.0], [0.5, 1.0]),
    (tf.nn.relu, [1e-9, 1.0], [0.9, 1.0]),
    (lambda x: tf.stack([1e7 * x[0], x[1]]), [1.0, 1.0], [1.0, 1.5]),
])  # fmt: skip
def test_small_errors_of_smooth_functions(f, x, factor):
    assert verdict(f, [numbers(x)]) == "right"
    assert verdict(scaled(f, factor), [numbers(x)]) == "wrong"


def test_wrong_sign_beside_a_large_output():
    @tf.custom_gradient
    def f(x):
        return tf.stack(
            [1e7 * x, tf.sin(x)]
        ), lambda dy: 1e7 * dy[0] - tf.cos(x) * dy[1]

    assert verdict(f, [numbers(1.0)]) == "wrong"


def test_upstream_gradients_of_both_signs():
    wrong = op(tf.sin, lambda dy, x: tf.abs(dy) * tf.cos(x))
    for seed in range(3):
        assert verdict(wrong, [numbers(1.0)], seed=seed) == "wrong"


NOT_LINEAR = {
    "clipped by its norm": lambda dy: tf.clip_by_norm(dy, 5.0),
    "clipped one by one": lambda dy: tf.clip_by_value(dy, -5.0, 5.0),
    "nan where dy is 0": lambda dy: dy * dy / dy,
    "dead where dy is small": lambda dy: tf.where(tf.abs(dy) < 1, 0 * dy, dy),
    "of a mean": lambda dy: (
        tf.reduce_sum(dy) / tf.math.count_nonzero(dy, dtype=dy.dtype)
    ),
}


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("name", NOT_LINEAR)
def test_a_gradient_that_is_not_linear_in_dy(name, size):
    bend = NOT_LINEAR[name]
    x = tf.linspace(0.3, 1.2, size)
    wrong = op(lambda x: tf.sin(x), lambda dy, x: bend(dy) * tf.cos(x))
    if name != "of a mean" or size > 1:  # of one dy the mean is right but for 0
        assert verdict(wrong, [x]) == "wrong"
    assert "not linear in dy" in failure(wrong, [x[:1]])


@pytest.mark.parametrize(("f", "place", "dtype"), [
    (lambda x: 40000 * x, [1.0, 0.5], "float16"), (tf.exp, [10.9], "float16"),
    (tf.exp, [88.6], "float32")])  # fmt: skip
def test_a_gradient_near_the_largest_number(f, place, dtype):
    assert verdict(f, [numbers(place, dtype)]) == "right"
    assert verdict(scaled(f, -1), [numbers(place, dtype)]) == "wrong"


@pytest.mark.parametrize("width", [1e-3])
@pytest.mark.parametrize("gradient", [0.0, 0.5])
def test_a_narrow_bend_is_no_kink(width, gradient):
    """Long steps take it for one, where every slope in between would be right."""

    def f(x):
        return py_func(
            lambda a: np.sqrt(a * a + np.float32(width**2)),
            [x],
            tf.float32,  # no second opinion in float64
            grad=lambda op, dy: dy * (op.inputs[0] / op.outputs[0] + gradient),
        )

    found = verdict(f, [tf.constant([0.0])])
    assert found == ("wrong" if gradient else "right")








@pytest.mark.slow
def test_all_elements_wrong_in_projections():
    x = numbers(np.random.default_rng(0).normal(size=3000), "float32")
    few = {"projections": 20}
    assert verdict(scaled(tf.reduce_logsumexp, 1.1), [x], **few) == "wrong"
    assert verdict(tf.reduce_logsumexp, [x], **few) != "wrong"


LOGITS = [[12.0, 0.1, -0.1], [0.2, 14.0, 0.0], [0.1, -0.2, 16.0]]
CANCEL = {
    "confident": (
        lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits([0, 1, 2], x),
        LOGITS,
    ),
    "log(1 + x)": (lambda x: tf.math.log(1 + x), [1e-3]),
    "1 - cos": (lambda x: 1 - tf.cos(x), [1e-3]),
    "batch norm": (
        lambda x: (x - tf.reduce_mean(x, 0)) / tf.math.reduce_std(x, 0),
        [[100.0, 1.0], [101.0, 1.1], [99.0, 1.3]],
    ),
    "there and back": (lambda x: (x + 1e4) - 1e4, [1.0]),
}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(n, marks=pytest.mark.slow)
        if n in ("confident", "batch norm")
        else n
        for n in CANCEL
    ],
)
def test_right_where_f_cancels(name, dtype):
    f, x = CANCEL[name]
    found = verdict(f, [numbers(x, dtype)])
    assert found == "right" if dtype == "float64" else found != "wrong"


@tf.custom_gradient
def half_too_much(x, y):
    return 1e7 * x + y, lambda dy: [1e7 * dy, 1.5 * dy]


def test_what_float32_cannot_tell_is_undecided():
    one = tf.constant([1.0])
    report = check_gradient(in_float32(half_too_much), [one, one])
    assert report.undecided == 1 and report.verdict == "undecided"
    report = check_gradient(in_float32(lambda x: 1e7 + x), [one])
    assert str(report).startswith("gradient undecided: 1 of 1 elements")
    assert not report and "float64, another x or a smaller f" in str(report)


@pytest.mark.parametrize("constant", [1e7, pytest.param(1e8, marks=pytest.mark.slow)])
@pytest.mark.parametrize("gradient", [lambda dy, x: 0 * dy, lambda dy, x: None])
def test_a_slope_that_rounding_hides_is_not_taken_for_none(constant, gradient):
    lost, x = op(lambda x: constant + x, gradient), tf.constant([1.3])
    assert "numeric 1.0" in failure(lost, [x])
    in_one = in_float32(lambda x: constant + x)
    assert verdict(op(in_one, gradient), [x]) != "right"
    for at_rest in (lambda x: constant + 0 * x, lambda x: constant + tf.nn.relu(-x)):
        assert verdict(at_rest, [x]) == "right"


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("gradient", [lambda dy, x: 0 * dy, lambda dy, x: None])
def test_a_gradient_of_0_is_wrong_where_f_moves_only_near_x(gradient, n):
    wave = op(lambda x: (x - 1) * tf.exp(-(((x - 1) / 0.001) ** 2)), gradient)
    assert verdict(wave, [tf.ones(n, tf.float64)]) == "wrong"


def test_a_simulator_is_not_run_far_away_for_a_gradient_of_0():
    farthest = 0

    def simulate(x):
        nonlocal farthest
        farthest = max(farthest, abs(x[0] - 1), abs(x[1] - 1))
        return 30 * np.exp(x)

    def grad(op, dy):
        return dy * op.outputs[0] * [1, 0]

    x = numbers([1.0, 1.0])
    text = failure(lambda x: py_func(simulate, [x], like(x), grad=grad), [x])
    assert "element (1,): analytic 0.0" in text and farthest < 0.5


class TestFloat64Tells:
    """What a coarse dtype hides, where f takes float64 as well."""

    def test_a_wrong_gradient_that_rounding_hides(self):
        one = tf.constant([1.0])
        assert "analytic 1.5, numeric 1.0" in failure(half_too_much, [one, one])
        assert check_gradient(lambda x: 1e7 + x, [one]).undecided == 0

    @pytest.mark.parametrize("x", [1.0, 0.3])
    def test_no_gradient_where_f_itself_computes_in_float32(self, x):
        def double(x):
            return tf.cast(in_float32(lambda x: 2 * x)(x), x.dtype)

        f = op(double, lambda dy, x: 0 * dy)
        assert "analytic 0.0, numeric 2.0" in failure(f, [tf.constant([x])])
        report = check_gradient(f, [numbers([x])])
        assert report.undecided == 1
        assert re.search(r"numeric \S+ give or take \de-\d\d$", str(report))

    @pytest.mark.parametrize(
        "offset", [pytest.param(0.001, marks=pytest.mark.slow), 0.01]
    )
    def test_a_wrong_sign_one_rounding_from_a_kink(self, offset):
        x = tf.constant([1 + offset, 1.0, 1 - offset], tf.float16)
        assert check_gradient(lambda x: tf.norm(x - 1), [x])
        assert "-1.0 in all" in failure(scaled(lambda x: tf.norm(x - 1), -1), [x])

    @pytest.mark.parametrize(
        ("f", "place", "dtype"),
        [
            (lambda x: (x + 100) ** 2 - 1e4 - 200 * x, [0.5, 1.3, -2.0], "bfloat16"),
            (lambda x: (x + 100) ** 2 - 1e4 - 200 * x, [0.03, -0.011], "float16"),
            (lambda x: (x + 10) ** 3 - 1e3 - 300 * x - 30 * x**2, [0.03], "float16"),
        ],
    )
    def test_a_right_gradient_is_not_refused_for_rounding(self, f, place, dtype):
        check_gradient(f, [numbers(place, dtype)])  # right or undecided

    def test_what_only_float32_makes_wrong_may_stay_undecided(self):
        # A tf.function may compute it better, but that is not all that counts.
        lost = op(lambda x: 1e7 + x, lambda dy, x: (1e8 + dy) - 1e8)
        assert check_gradient(lost, [tf.constant([1.0])]).undecided == 1
        assert check_gradient(lost, [numbers([1.0])], rtol=1e-4).undecided == 0

    def test_f_does_without_float64(self):
        def square(x):
            if x.dtype != tf.float32:
                raise ValueError("single precision only")
            return tf.square(x)

        x = tf.constant([1.0, 3.0])
        assert "is 1.5 in all" in failure(scaled(square, 1.5), [x])
        assert check_gradient(lambda x: tf.nn.relu(square(x) - 1), [x])

    def test_a_gradient_that_only_float32_makes_wrong(self):
        lost = op(tf.nn.softplus, lambda dy, x: dy * (1 - 1 / (1 + tf.exp(x))))
        text = failure(lost, [tf.constant([-20.0])])  # exp(-20) is lost beside 1
        assert "analytic 0.0, numeric 2.061e-09" in text
        assert check_gradient(lost, [numbers([-20.0])], rtol=1e-4)


def test_the_same_tensor_twice_and_by_another_way():
    x = numbers([1.0, 2.0])
    assert check_gradient(tf.multiply, [x, x])
    assert check_gradient(lambda t: t * x, [x])
    v = tf.Variable([1.0, 2.0], dtype=tf.float64)
    assert check_gradient(lambda t: t * v, [v])


def test_no_kink_where_the_slopes_are_equal():
    assert not check_gradient(tf.nn.elu, [numbers([0.0, 1.0])]).kinks
    text = failure(scaled(tf.nn.elu, 2.0), [numbers([0.0, 1.0])])
    assert "kink" not in text


def test_f_that_ends_away_from_x():
    def simulator(x):
        if np.any(np.abs(x - 1) > 0.3):
            raise FloatingPointError("diverged")
        return np.exp(x)

    def f(x):
        return py_func(simulator, [x], x.dtype, grad=lambda op, dy: dy * op.outputs[0])

    assert verdict(f, [numbers([1.0])]) == "right"
    assert verdict(scaled(f, 1.001), [numbers([1.0])]) == "wrong"
    shapes = lambda x: tf.boolean_mask(x, x > 0.5)  # noqa: E731
    assert verdict(shapes, [numbers([1.0, 2.0])]) == "right"
    with pytest.raises(ValueError, match="raises at the inputs.*diverged"):
        check_gradient(f, [numbers([2.0])])


@pytest.mark.parametrize("inputs, options, error, text", [
    ([[np.inf, 1.0]], {}, ValueError, "input 0 is not finite: 1 of 2"),
    ([[1.0], [np.nan]], {}, ValueError, "input 1 is not finite"),
    ([[1.0]], {"rtol": 0}, ValueError, "rtol must be a positive number"),
    ([[1.0]], {"rtol": -1e-3}, ValueError, "rtol must be a positive number"),
    ([[1.0]], {"rtol": np.nan}, ValueError, "rtol must be a positive number"),
    ([[1.0]], {"rtol": "small"}, TypeError, "rtol must be a positive number"),
    ([[1.0]], {"projections": np.nan}, ValueError, "projections must be"),
    ([[1.0]], {"seed": -1}, ValueError, "seed must be"),
])  # fmt: skip
def test_arguments_that_are_refused(inputs, options, error, text):
    with pytest.raises(error, match=text):
        check_gradient(lambda *x: tf.add_n(x), [numbers(x) for x in inputs], **options)


DIFFERENTIAL = [
    tf.sin, tf.cos, tf.tan, tf.exp, tf.tanh, tf.sigmoid, tf.square, tf.math.softplus,
    tf.math.erf, tf.math.expm1, tf.math.log1p, tf.math.atan, tf.nn.softmax,
    tf.reduce_logsumexp, tf.nn.elu,
]  # fmt: skip


@pytest.mark.parametrize(
    "seed",
    [*range(4), *[pytest.param(n, marks=pytest.mark.slow) for n in range(4, 20)]],
)
def test_against_tensorflows_own_ops(seed):
    """Right gradients are never refused, wrong ones never accepted."""
    draw = np.random.default_rng(seed)
    for dtype, least in (("float64", 1e-4), ("float32", 1e-2)):
        f = DIFFERENTIAL[draw.integers(len(DIFFERENTIAL))]
        x = numbers(draw.normal(size=3) * 10.0 ** draw.integers(-3, 1), dtype)
        if f in (tf.math.log1p,):
            x = tf.abs(x)
        assert verdict(f, [x]) != "wrong"
        factors = np.ones(3)
        factors[draw.integers(3)] = 1 + draw.choice([-1, 1]) * draw.uniform(least, 1)
        assert verdict(scaled(f, factors), [x]) != "right"
