"""check_gradient: each wrong gradient is found and told in words, and no right one."""

import itertools

import numpy as np
import pytest
from tensorflow.python.eager.record import could_possibly_record

from utils import check_gradient, like, py_func, tf

rng = np.random.default_rng(0)
both_dtypes = pytest.mark.parametrize("dtype", ["float32", "float64"])
DTYPES = ["bfloat16", "float16", "float32", "float64"]
all_dtypes = pytest.mark.parametrize("dtype", DTYPES)


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


def scaled(f, factors):
    """f, with the elements of its gradient multiplied by wrong factors."""
    return lambda x: f(op(tf.identity, lambda dy, x: dy * tf.cast(factors, x.dtype))(x))


def in_float32(f):
    """f computes in float32, whatever it is given: no float64 tells more."""
    return lambda *xs: f(*[tf.cast(x, tf.float32) for x in xs])


def failure(f, inputs, **options):
    """What a wrong gradient is told to be."""
    with pytest.raises(AssertionError) as caught:
        check_gradient(f, inputs, **options)
    report = caught.value.report
    assert report.verdict == "wrong" and not report
    assert str(report) == str(caught.value)
    return str(caught.value)


def verdict(f, inputs, **options):
    try:
        report = check_gradient(f, inputs, **options)
    except AssertionError as wrong:
        return wrong.report.verdict
    assert str(report).startswith(f"gradient {report.verdict}: ")
    assert bool(report) == report.ok == (report.verdict == "right")
    return report.verdict


# ...................................................................... wrong


def test_the_worst_element_is_named():
    wrong = op(tf.square, lambda dy, x: 2.1 * x * dy)
    with pytest.raises(AssertionError) as caught:
        check_gradient(wrong, [numbers([1.0, 2.0])])
    assert [entry.name for entry in caught.traceback][1:] == ["check_gradient"]
    assert str(caught.value) == (
        "input 0, element (1,): analytic 4.2, numeric 4.0 (2 of 2 elements wrong)\n"
        "found in eager mode, upstream gradient: ones\n"
        "analytic / numeric is 1.05 in all of them"
    )
    worst = caught.value.report.worst
    assert (worst.input, worst.index, worst.kind) == ("input 0", "(1,)", "smooth")
    assert (worst.analytic, worst.numeric) == pytest.approx((4.2, 4.0))
    assert [one.verdict for one in caught.value.report.elements] == ["wrong", "wrong"]
    with pytest.raises(AssertionError, match="gradient: ones$"):  # "1.0" says nothing
        check_gradient(op(tf.square, lambda dy, x: 2.0002 * x * dy), [numbers([1, 2])])


@both_dtypes
class TestWrong:
    def test_one_element_of_three_hundred(self, dtype):
        factor = np.where(np.arange(300) == 177, 1.5, 1)
        text = failure(scaled(tf.square, factor), [numbers(1 + rng.random(300), dtype)])
        assert text.startswith("input 0, element (177,): ")
        assert "(1 of 300 elements wrong)" in text

    def test_no_sum_over_a_broadcast_axis(self, dtype):
        wrong = op(lambda x, y: x * y, lambda dy, x, y: (dy * y, dy * x))
        text = failure(wrong, [numbers([1, 2, 3], dtype), numbers(2, dtype)])
        assert "input 1: the gradient has shape (3,), the input has ()" in text

    def test_missing_gradient(self, dtype):
        wrong = op(lambda x, y: x * y, lambda dy, x, y: (dy * y, None))
        text = failure(wrong, [numbers([1, 2], dtype), numbers([3, 4], dtype)])
        assert "input 1, element (1,): analytic None, numeric 2.0" in text
        assert "there is no gradient" in text

    def test_outside_of_a_kink(self, dtype):
        wrong = op(tf.nn.relu, lambda dy, x: dy * numbers([0, 2, 1], dtype))
        text = failure(wrong, [numbers([-1, 0, 2], dtype)])
        assert "input 0, element (1,): analytic 2.0, numeric 1.0 (1 of 3" in text
        assert "f has a kink there, with the slopes 0.0 and 1.0" in text

    @pytest.mark.parametrize("gradient", [None, 0.0])
    def test_tiny_x_whose_steps_are_lost_in_rounding(self, dtype, gradient):
        wrong = op(
            lambda x: x + 1, lambda dy, x: None if gradient is None else gradient * dy
        )
        assert "2 of 2" in failure(wrong, [numbers([1e-6, 2e-6], dtype)])


def test_the_report_says_how_far_off_a_right_gradient_is():
    nearly = op(tf.square, lambda dy, x: 2.002 * x * dy)
    report = check_gradient(nearly, [numbers([1.0, 2.0])], rtol=0.01)
    assert report.largest_error == pytest.approx(0.001, rel=0.01)


@all_dtypes
def test_a_wrong_second_derivative(dtype):
    @tf.custom_gradient
    def slope(x, dy):
        return 3 * x * x * dy, lambda d: (7 * x * dy * d, 3 * x * x * d)

    wrong = op(lambda x: x**3, lambda dy, x: slope(x, dy))
    x = numbers([1, 2], dtype)
    assert check_gradient(wrong, [x])
    text = failure(wrong, [x], order=2)
    assert text.startswith("second derivative, input 0, element (1,)")


@all_dtypes
def test_wrong_only_inside_a_tf_function(dtype):
    def grad(dy, x):
        return 2 * x * dy * (1 if tf.executing_eagerly() else 1.9)

    text = failure(op(tf.square, grad), [numbers([1.0, 2.0], dtype)])
    assert "found in tf.function" in text


def test_what_changes_from_call_to_call():
    calls = itertools.count()
    text = failure(lambda x: x * (1 + 0.01 * next(calls)), [numbers([1.0])])
    assert text == "f changes from call to call: 1.0, then 1.01"
    wrong = op(tf.square, lambda dy, x: (2 + 0.01 * next(calls)) * x * dy)
    assert "the gradient in eager mode changes" in failure(wrong, [numbers([1.0])])


def test_a_gradient_that_a_py_func_does_not_have():
    def cube(x):
        def grad(op, dy):
            return py_func(lambda x, dy: 3 * x * x * dy, [op.inputs[0], dy], dy.dtype)

        return py_func(lambda x: x**3, [x], x.dtype, grad=grad)

    text = failure(cube, [numbers([1.0, 2.0])], order=2)
    assert text.startswith("second derivative, no gradient in eager mode: NoGradient")


@all_dtypes
@pytest.mark.parametrize("size", [np.inf, np.nan])
def test_a_gradient_that_is_not_finite(dtype, size):
    wrong = op(tf.square, lambda dy, x: dy * tf.cast(size, x.dtype))
    text = failure(wrong, [numbers([1.0, 2.0], dtype)])
    assert f"analytic {size}, numeric" in text


def test_a_missing_gradient_where_the_slope_happens_to_be_0():
    for f in (np.square, np.cos, lambda x: np.maximum(x - 1, 0)):
        text = failure(
            lambda x, f=f: tf.numpy_function(f, [x], x.dtype),
            [tf.zeros([3], tf.float64)],
        )
        assert "analytic None, numeric 0.0" in text


@pytest.mark.parametrize("factor, part", [(2, "real"), (1 + 1j, "imaginary")])
def test_both_parts_of_a_complex_number_have_a_name(factor, part):
    z = numbers([1 + 1j, 2 + 3j, 3 - 1j], "complex128")
    factors = numbers([1, 1, factor], "complex128")
    wrong = op(tf.math.conj, lambda dy, z: tf.math.conj(dy) * factors)
    assert f"element (2,) ({part} part)" in failure(wrong, [z])


@pytest.mark.parametrize("f, x, factor", [
    (lambda x: tf.sin(10 * x), [1.0, 2.0], 1.001),
    (lambda x: tf.sin(x + 1e-3) - tf.sin(x), [1.0], 1.01),
    (tf.exp, [0.3], 1.00002),
    (tf.nn.relu, [1e-6, 1.0], [0.5, 1.0]),
    (tf.nn.relu, [1e-9, 1.0], [0.9, 1.0]),
    (lambda x: tf.stack([1e7 * x[0], x[1]]), [1.0, 1.0], [1.0, 1.5]),
    (lambda x: tf.stack([1e7 * x[0], tf.sin(x[0])]), [1.0], -1.0),
])  # fmt: skip
def test_small_errors_of_smooth_functions(f, x, factor):
    assert verdict(f, [numbers(x)]) == "right"
    assert verdict(scaled(f, factor), [numbers(x)]) == "wrong"


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("gradient", [lambda dy, x: 0 * dy, lambda dy, x: None])
def test_a_gradient_of_0_is_wrong_where_f_moves_only_near_x(gradient, n):
    wave = op(lambda x: (x - 1) * tf.exp(-(((x - 1) / 0.001) ** 2)), gradient)
    assert verdict(wave, [tf.ones(n, tf.float64)]) == "wrong"


@pytest.mark.parametrize("bend", [
    lambda dy: tf.clip_by_norm(dy, 5.0),
    lambda dy: tf.clip_by_value(dy, -5.0, 5.0),
    lambda dy: dy * dy / dy,
    lambda dy: tf.where(tf.abs(dy) < 1, 0 * dy, dy),
], ids=["clipped by its norm", "clipped", "nan at 0", "dead where small"])  # fmt: skip
def test_a_gradient_that_is_not_linear_in_dy(bend):
    for x in (tf.constant([0.3]), tf.constant([0.3, 0.7, 1.2])):
        wrong = op(tf.sin, lambda dy, x: bend(dy) * tf.cos(x))
        assert "not linear in dy" in failure(wrong, [x])


def test_only_a_gradient_that_is_right_for_ones_is_said_to_be():
    def doubled(a, b):  # of an output that comes twice
        return op(lambda x: tf.stack([x, x]), lambda dy, x: a * dy[0] + b * dy[1])

    x = numbers([1.0, 2.0])
    said = "right for an upstream gradient of ones: look at how dy enters"
    assert said in failure(doubled(1.5, 0.5), [x])
    assert said not in failure(doubled(1.5, 0.52), [x])


# ................................................................. staircases

STAIRS = {
    "round to 0.01": lambda x: np.round(x, 2),
    "floor to 0.01": lambda x: np.floor(100 * x) / 100,
    "8 bits": lambda x: np.round(256 * x) / 256,
    "16 bits": lambda x: np.round(65536 * x) / 65536,
    "whole": np.round,
    "float16 inside": lambda x: x.astype(np.float16).astype(x.dtype),
}


@both_dtypes
@pytest.mark.parametrize("x", [[0.3, -1.1, 0.7], [0.5, 1.0, -0.25], [123.4, 1000, 50]])
@pytest.mark.parametrize("name", STAIRS)
def test_a_staircase_has_the_gradient_0_and_no_other(name, x, dtype):
    def f(x, slope):
        return py_func(STAIRS[name], [x], like(x), grad=lambda op, dy: slope * dy)

    if name == "16 bits" and x[1] == 1000:  # as low as float32 rounds there
        x = [4.0, 5.1, 6.2]
    x = numbers(x, dtype)
    assert verdict(lambda x: f(x, 1.0), [x]) == "wrong"
    assert verdict(lambda x: f(x, 0.0), [x]) == "right"


@both_dtypes
@pytest.mark.parametrize("digits", [6, 8])
@pytest.mark.parametrize("slope", [0.0, 1.0])
def test_stairs_that_may_be_rounding_are_undecided(digits, slope, dtype):
    def f(x):
        def func(x):
            return np.round(x, digits)

        return py_func(func, [x], like(x), grad=lambda op, dy: slope * dy)

    found = verdict(f, [numbers([1.3, -1.7], dtype)])
    if dtype == "float64" or digits == 6:  # in float32 8 digits are no stairs
        assert found == "undecided"


def test_steps_need_no_gradient():
    report = check_gradient(tf.round, [numbers([0.2, 1.3])])
    assert "input 0: no gradient, and none is needed" in str(report)
    f = op(lambda x, y: 2 * x, lambda dy, x, y: (2 * dy, None))
    report = check_gradient(f, [numbers([1.0]), numbers([1.0])])
    assert "input 1: no gradient, and none is needed" in str(report)


# ...................................................................... right

LOGITS = [[12.0, 0.1, -0.1], [0.2, 14.0, 0.0], [0.1, -0.2, 16.0]]
# fmt: off
RIGHT = {
    "tiny and large": (lambda x: x**3 + x, [[1e-6, 1e-3, 1, 1e3, 1e6]]),
    "pole nearby": (tf.math.log, [[1e-6, 1e-3, 1, 1e3, 1e6]]),
    "fast": (tf.sin, [[1e6, 1]]),
    "steep": (tf.sqrt, [[1e-12, 1]]),
    "saturated": (tf.sigmoid, [[-30, 0, 30]]),
    "sum of ones": (tf.nn.softmax, [rng.normal(size=(4, 5))]),
    "several": (lambda a, b: [a * b, tf.reduce_sum(a) + tf.sin(b)], [[1, 2], [3, 4]]),
    "jump nearby": (lambda x: tf.math.floormod(x, 1), [[0.3, 0.999, 1.001]]),
    "scalar": (tf.exp, [1.0]),
    "empty": (tf.exp, [np.zeros((0, 2))]),
    "constant": (tf.zeros_like, [[1.0, 2.0]]),
    "nothing but zeros": (lambda x: tf.nn.relu(x) ** 2, [[0.0, 0.0]]),
    "cancellation": (lambda x: tf.reduce_mean(x * x) - tf.reduce_mean(x) ** 2,
                     [100 + rng.normal(size=9)]),
    "below rounding": (lambda x: tf.nn.softmax_cross_entropy_with_logits(
        tf.one_hot([1, 2], 4, dtype=x.dtype), x), [30 * rng.normal(size=(2, 4))]),
    "confident": (lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(
        [0, 1, 2], x), [LOGITS]),
    "very confident": (lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(
        [0, 1, 2], x), [[[18, 0.1, -0.3], [-0.1, 19, 0.3], [0.4, 0.2, 20]]]),
    "there and back": (lambda x: (x + 1e4) - 1e4, [1.0]),
    "1 - cos": (lambda x: 1 - tf.cos(x), [1e-3]),
    "log(1 + x)": (lambda x: tf.math.log(1 + x), [1e-6]),
    "very fast": (lambda x: tf.sin(1000 * x), [[1.0, 2.0, 3.0]]),
    "ties": (lambda x: tf.nn.max_pool2d(x, 2, 2, "SAME"), [np.zeros((1, 4, 4, 1))]),
    "many ties": (lambda x: tf.nn.max_pool2d(x, 2, 2, "SAME"),
                  [np.zeros((1, 16, 16, 4))]),
    "near its edge": (tf.acos, [[0.999999, 0.0]]),
    "step": (tf.floor, [[4.0, 0.5]]),
    "layer norm": (lambda x: (x - tf.reduce_mean(x)) * tf.math.rsqrt(
        tf.math.reduce_variance(x) + 1e-3), [rng.normal(size=9)]),
}
# fmt: on


@both_dtypes
@pytest.mark.parametrize("name", RIGHT)
def test_right_gradients_pass(name, dtype):
    f, inputs = RIGHT[name]
    report = check_gradient(f, [numbers(x, dtype) for x in inputs])
    assert report.verdict == "right" and report.undecided == 0
    size = sum(np.size(x) for x in inputs)
    assert str(report).startswith(f"gradient right: {size} elements, order 1, eager")
    if dtype == "float64":
        assert report.largest_error < (2e-6 if name == "very confident" else 1e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["confident", "there and back", "1 - cos"])
def test_right_gradients_are_not_refused_in_short_floats(name, dtype):
    f, inputs = RIGHT[name]
    assert verdict(f, [numbers(x, dtype) for x in inputs]) != "wrong"


@pytest.mark.parametrize(("f", "place", "dtype"), [
    (lambda x: 40000 * x, [1.0, 0.5], "float16"), (tf.exp, [10.9], "float16"),
    (tf.exp, [88.6], "float32")])  # fmt: skip
def test_a_gradient_near_the_largest_number(f, place, dtype):
    assert verdict(f, [numbers(place, dtype)]) == "right"
    assert verdict(scaled(f, -1), [numbers(place, dtype)]) == "wrong"


@pytest.mark.parametrize("f", [lambda z: z * z, tf.abs, tf.math.conj, tf.math.exp])
def test_complex(f):
    assert check_gradient(f, [numbers([1 + 2j, 3 - 1j], "complex128")])


@pytest.mark.parametrize("f", [
    tf.nn.softmax, tf.nn.log_softmax, tf.nn.relu, tf.floor, lambda x: 3 * x,
    tf.square, lambda x: tf.matmul(x, x, transpose_b=True)])  # fmt: skip
@both_dtypes
def test_right_second_derivatives_pass(f, dtype):
    report = check_gradient(f, [numbers([[0.3, -2.0, 1.0, 0.0]], dtype)], order=2)
    assert report.verdict == "right" and "order 2" in str(report)
    assert f is tf.floor or "second derivative, largest error" in str(report)


def test_f_that_ends_away_from_x_and_must_not_go_far():
    def simulator(x):
        if np.any(np.abs(x - 1) > 0.45):
            raise FloatingPointError("diverged")
        return np.exp(x)

    def f(x, factor=1.0):
        return py_func(
            simulator, [x], x.dtype, grad=lambda op, dy: factor * dy * op.outputs[0]
        )

    x = numbers([1.0, 1.0])
    assert verdict(f, [x]) == "right"
    assert verdict(scaled(f, 1.001), [x]) == "wrong"
    assert "element (1,): analytic 0.0" in failure(scaled(f, [1, 0]), [x])
    with pytest.raises(ValueError, match="raises at the inputs.*diverged"):
        check_gradient(f, [numbers([2.0])])


# ............................................................ kinks and jumps


@pytest.mark.parametrize("at_zero", [0, 0.5, 1])
def test_kink_is_named(at_zero):
    f = op(tf.nn.relu, lambda dy, x: dy * numbers([0, at_zero, 1]))
    report = check_gradient(f, [numbers([-1, 0, 2])])
    (kink,) = report.kinks
    assert (kink.analytic, kink.low, kink.high) == pytest.approx((at_zero, 0, 1))
    assert str(report).endswith(
        f"input 0, element (1,): a kink, the gradient {float(at_zero)} lies between "
        "the slopes 0.0 and 1.0"
    )


@both_dtypes
def test_jump_is_named(dtype):
    x = numbers([0.3, 1.0], dtype)
    report = check_gradient(lambda x: tf.math.floormod(x, 1.0), [x])
    (jump,) = report.jumps
    assert jump.index == "(1,)" and not report.kinks
    assert report.lines[-1] == (
        "input 0, element (1,): a jump, the gradient 1.0 is that beside it, 1.0 to 1.0"
    )
    assert check_gradient(tf.sign, [numbers([0.0, 1.0], dtype)]).jumps
    wrong = op(tf.sign, lambda dy, x: dy)
    assert "f has a jump there" in failure(wrong, [numbers([0.0], dtype)])


# ........................................................... what rounding hides


@tf.custom_gradient
def half_too_much(x, y):
    return 1e7 * x + y, lambda dy: [1e7 * dy, 1.5 * dy]


def test_float64_tells_what_float32_hides():
    one = tf.constant([1.0])
    assert "analytic 1.5, numeric 1.0" in failure(half_too_much, [one, one])
    assert check_gradient(lambda x: 1e7 + x, [one]).undecided == 0
    report = check_gradient(in_float32(half_too_much), [one, one])
    assert report.verdict == "undecided" and report.undecided == 1
    report = check_gradient(in_float32(lambda x: 1e7 + x), [one])
    assert str(report).startswith("gradient undecided: 1 of 1 elements")
    assert not report and "another x, a smaller f or a wider dtype" in str(report)


def test_float64_hides_as_well():
    report = check_gradient(lambda x: 1e16 + x, [numbers([0.3, 1.0])])
    assert report.lines[0] == (
        "gradient undecided: 2 of 2 elements, order 1, eager and tf.function"
    )


@pytest.mark.parametrize("undecided, said", [(1, "right"), (2, "undecided")])
def test_a_tenth_of_the_elements_may_be_undecided(undecided, said):
    lost = np.arange(10) < undecided
    f = in_float32(lambda x: tf.reduce_sum(x * np.where(lost, 1, 1e5)))
    report = check_gradient(f, [tf.ones(10)])
    assert report.undecided == undecided and report.verdict == said
    assert f"{undecided} of 10 elements undecided" in str(report)


@pytest.mark.parametrize("gradient", [lambda dy, x: 0 * dy, lambda dy, x: None])
def test_a_slope_that_rounding_hides_is_not_taken_for_none(gradient):
    x = tf.constant([1.3])
    assert "numeric 1.0" in failure(op(lambda x: 1e7 + x, gradient), [x])
    assert verdict(op(in_float32(lambda x: 1e7 + x), gradient), [x]) != "right"
    for at_rest in (lambda x: 1e7 + 0 * x, lambda x: 1e7 + tf.nn.relu(-x)):
        assert verdict(at_rest, [x]) == "right"


@pytest.mark.parametrize("x", [1.0, 0.3])
def test_float32_inside_of_f(x):
    def double(x):
        return tf.cast(in_float32(lambda x: 2 * x)(x), x.dtype)

    assert verdict(double, [tf.constant([x])]) == "right"
    f = op(double, lambda dy, x: 0 * dy)
    assert "analytic 0.0, numeric 2.0" in failure(f, [tf.constant([x])])
    assert verdict(f, [numbers([x])]) == "undecided"


def test_f_that_does_without_float64():
    def square(x):
        if x.dtype != tf.float32:
            raise ValueError("single precision only")
        return tf.square(x)

    x = tf.constant([1.0, 3.0])
    assert "is 1.5 in all" in failure(scaled(square, 1.5), [x])
    assert check_gradient(lambda x: tf.nn.relu(square(x) - 1), [x])


def test_a_gradient_that_only_float32_makes_wrong():
    lost = op(tf.nn.softplus, lambda dy, x: dy * (1 - 1 / (1 + tf.exp(x))))
    text = failure(lost, [tf.constant([-20.0])])  # exp(-20) is lost beside 1
    assert "analytic 0.0, numeric 2.06" in text
    assert check_gradient(lost, [numbers([-20.0])], rtol=1e-4)


@pytest.mark.parametrize("gradient", [0.0, 0.5])
def test_a_narrow_bend_is_no_kink(gradient):
    """Long steps take it for one, where every slope in between would be right."""
    f = op(in_float32(lambda x: tf.sqrt(x * x + 1e-6)), lambda dy, x: gradient * dy)
    assert verdict(f, [tf.constant([0.0])]) == ("wrong" if gradient else "right")


# .......................................................... random directions


@pytest.mark.slow
def test_one_element_of_a_hundred_thousand():
    factor = np.where(np.arange(100_000) == 37_700, 1.5, 1)
    x = rng.normal(size=100_000)
    x[37_700] = 1.2
    assert check_gradient(lambda x: tf.sin(x) * tf.nn.relu(x), [numbers(x, "float32")])
    text = failure(scaled(tf.square, factor), [numbers(x, "float32")])
    assert ", and 999 others, all moved at once: analytic" in text
    assert "(at least 1 of 100000 elements wrong)" in text


def test_all_elements_wrong_by_little_each():
    x = numbers(np.random.default_rng(0).normal(size=3000), "float32")
    assert verdict(scaled(tf.reduce_logsumexp, 1.1), [x]) == "wrong"
    assert verdict(tf.reduce_logsumexp, [x], projections=20) == "right"


def test_missing_gradients_in_random_directions():
    x = numbers(np.linspace(1, 6, 50))
    lost = op(tf.multiply, lambda dy, x, y: (dy * y, None))
    assert "analytic None" in failure(lost, [x, x + 1], projections=5)
    idle = op(lambda x, y: x * 3, lambda dy, x, y: (dy * 3, None))
    report = check_gradient(idle, [x, x + 1], projections=5)
    assert "input 1: no gradient, and none is needed" in str(report)


# ............................................................ report, arguments


def test_report_draws_itself():
    report = check_gradient(tf.sin, [numbers([0.0, 1.0])], order=2)
    axes = report.draw().axes
    assert [ax.get_title() for ax in axes] == ["analytic", "numeric", "error"] * 2
    numeric = axes[1].lines[0].get_ydata()
    np.testing.assert_allclose(numeric, np.cos([0.0, 1.0]))
    with pytest.raises(AssertionError) as caught:
        check_gradient(scaled(tf.sin, [1, 2, 1]), [numbers([0.0, 1.0, 2.0])])
    assert caught.value.report.draw().axes[2].lines[1].get_xdata().tolist() == [1]


def test_few_calls_are_enough():
    calls = itertools.count()

    def f(x):
        next(calls)
        return tf.reduce_mean(x**2)

    assert check_gradient(f, [tf.constant(rng.normal(size=200), tf.float32)])
    assert next(calls) < 5 * 200


def test_a_small_network_in_float32():
    def loss(x, k, w):
        h = tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(x, k, 1, "SAME")), 2, 2, "SAME")
        y = tf.reshape(h, [2, -1]) @ w
        labels = tf.one_hot([1, 0], 3, dtype=x.dtype)
        return tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels, y))

    shapes = (2, 4, 4, 1), (2, 2, 1, 2), (8, 3)
    xs = [tf.constant(rng.normal(size=s), tf.float32) for s in shapes]
    assert verdict(loss, xs) == "right"
    wrong = [xs[0], xs[1], op(tf.identity, lambda dy, w: 1.01 * dy)]
    assert verdict(lambda x, k, w: loss(x, k, wrong[2](w)), xs) == "wrong"


def test_products_keep_all_bits_of_float32_on_a_gpu():
    def f(x):
        assert not tf.config.experimental.tensor_float_32_execution_enabled()
        return x * x

    assert check_gradient(f, [tf.constant([1.0, 2.0])])
    assert tf.config.experimental.tensor_float_32_execution_enabled()


def test_nothing_on_stderr(capfd):
    for _ in range(8):  # TensorFlow warns about many traces of one function
        check_gradient(lambda x: x if x[0] > 0 else -x, [numbers([1.0])])
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("f, inputs, options, error, text", [
    (tf.sin, numbers([1.0]), {}, TypeError, "inputs must be a list.*pass \\[x\\]"),
    (tf.sin, [1], {}, TypeError, "no input is of float.*got int32"),
    (tf.sin, [], {}, TypeError, "an empty list"),
    (tf.sin, [tf.ragged.constant([[1.0]])], {}, TypeError, "RaggedTensor"),
    (tf.sin, [[np.inf, 1.0]], {}, ValueError, "input 0 is not finite: 1 of 2"),
    (tf.math.log, [-1.0], {}, ValueError, "f is not finite"),
    (tf.argmax, [[1.0]], {}, TypeError, "no float or complex"),
    (None, [1.0], {}, TypeError, "'NoneType' object is not callable"),
    (tf.sin, [1.0], {"order": 3}, ValueError, "order must be 1 or 2, got 3"),
    (tf.sin, [1.0], {"projections": 0}, ValueError, "projections must be a positive"),
    (tf.sin, [1.0], {"projections": np.nan}, ValueError, "projections must be"),
    (tf.sin, [1.0], {"rtol": 0}, ValueError, "rtol must be a positive number"),
    (tf.sin, [1.0], {"rtol": "small"}, TypeError, "rtol must be a positive number"),
])  # fmt: skip
def test_arguments_that_are_refused(f, inputs, options, error, text):
    with pytest.raises(error, match=text):
        check_gradient(f, inputs, **options)


# ................................................................. other tools

OPS = [
    tf.sin, tf.exp, tf.square, tf.math.expm1, tf.nn.softmax, tf.math.cumsum,
    tf.reduce_logsumexp, tf.linalg.inv, tf.linalg.det, tf.math.lgamma,
]  # fmt: skip


@pytest.mark.parametrize("f", OPS, ids=lambda f: f.__name__)
def test_agrees_with_tensorflows_own_tool(f):
    x = numbers(rng.uniform(0.1, 0.9, (3, 3)))
    theoretical, _ = tf.test.compute_gradient(f, [x], delta=1e-5)
    expected = np.sum(theoretical[0], axis=0)
    elements = check_gradient(f, [x]).elements
    for found in (
        [one.analytic for one in elements],
        [one.numeric for one in elements],
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
