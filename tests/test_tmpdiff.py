"""The numerics of differences, on functions whose slopes are known: no TensorFlow."""

import subprocess
import sys

import numpy as np
import pytest

from custom_ops.gradient_check import differences

EPS = {np.float64: 2**-52, np.float32: 2**-23, np.float16: 2**-10}


def measure(f, x, dtype=np.float64):
    def vector(point):
        return np.atleast_1d(np.asarray(f(point.astype(dtype)[0]), float))
    x, unit = float(dtype(x)), abs(float(dtype(x))) or 1.0
    from custom_ops.gradient_check import verdict
    p = verdict.PRECISIONS[np.dtype(dtype).name]
    with np.errstate(all="ignore"):
        line = differences.Line(vector, np.array([x]), np.ones(1), vector(np.array([x])), lambda q: q.astype(dtype).astype(float))
        found, _ = differences.slopes(line, unit, 2 * max(1, 1 / unit), p, np.ones((1, line.y.size)))
    return found


def numbers(found, k=0):
    return found.kind[k], found.left[k], found.right[k], found.error[k]


SMOOTH = {
    "sin": (np.sin, np.cos, 1.0),
    "fast": (lambda x: np.sin(10 * x), lambda x: 10 * np.cos(10 * x), 1.0),
    "exp": (np.exp, np.exp, 1.0),
    "cancellation": (lambda x: np.log(1 + x), lambda x: 1 / (1 + x), 1e-3),
    "double": (lambda x: x + x, lambda x: 2.0, 3.0),
    "near a pole": (np.log, lambda x: 1 / x, 1e-3),
    "1 - cos": (lambda x: 1 - np.cos(x), np.sin, 0.1),
}


@pytest.mark.parametrize("dtype", EPS)
@pytest.mark.parametrize("name", SMOOTH)
def test_smooth(name, dtype):
    f, derivative, x = SMOOTH[name]
    kind, left, right, error = numbers(measure(f, x, dtype))
    expected = derivative(float(dtype(x)))
    assert kind == "smooth" and left == right
    assert abs(left - expected) <= error + 1e-14 * abs(expected)
    if name != "1 - cos":
        bound = {np.float64: 1e-9, np.float32: 1e-4, np.float16: 5e-2}[dtype]
        assert error <= bound * abs(expected)


@pytest.mark.parametrize("scale", [1e-30, 1e-12, 1.0, 1e12, 1e30])
@pytest.mark.parametrize("height", [1e-30, 1.0, 1e30])
def test_scales(scale, height):
    kind, left, _, error = numbers(measure(lambda x: height * np.sin(x / scale), scale))
    expected = height / scale * np.cos(1)
    assert kind == "smooth"
    assert abs(left - expected) <= error + 1e-13 * abs(expected)
    assert error <= 1e-8 * abs(expected)




@pytest.mark.parametrize("dtype", EPS)
def test_rounding_that_hides_the_slope_is_an_error_bar(dtype):
    big = {np.float64: 1e15, np.float32: 1e6, np.float16: 1e3}[dtype]
    found = measure(lambda x: dtype(big) + x, 1.0, dtype)
    assert abs(found.left[0] - 1) <= found.error[0]
    assert found.error[0] > 1e-4


def test_steps_that_move_nothing_are_not_believed():
    for dtype, x in ((np.float32, 1e-3), (np.float64, 1e-6)):
        kind, left, _, error = numbers(measure(lambda x: 1 - np.cos(x), x, dtype))
        assert kind == "smooth" and error < 1e-2 * x
        assert abs(left - np.sin(float(dtype(x)))) <= error


@pytest.mark.parametrize("dtype", EPS)
def test_kink_at_x(dtype):
    kind, left, right, error = numbers(measure(abs, 0.0, dtype))
    assert kind == "kink" and error < 1e-2
    assert abs(left + 1) <= error and abs(right - 1) <= error


@pytest.mark.parametrize("x, slope", [(1e-6, 1), (-1e-3, 0), (1e-3, 1), (-1.0, 0)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_kink_near_x(dtype, x, slope):
    kind, left, right, error = numbers(measure(lambda x: max(x, dtype(0)), x, dtype))
    assert kind == "smooth" and left == right
    assert abs(left - slope) <= error + 1e-12 and error < 1e-3


def test_a_bend_of_the_second_derivative_is_no_kink():
    found = measure(lambda x: x if x > 0 else np.expm1(x), 0.0)
    assert found.kind[0] == "smooth" and abs(found.left[0] - 1) < 1e-9


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_jumps(dtype):
    kind, left, right, error = numbers(measure(lambda x: x % dtype(1), 1.0, dtype))
    assert kind == "jump" and abs(left - 1) <= error + 1e-6 and abs(right - 1) < 1e-5
    assert measure(np.sign, 0.0, dtype).kind[0] == "jump"
    kind, left, _, error = numbers(measure(lambda x: x % dtype(1), 0.999, dtype))
    assert kind == "smooth" and abs(left - 1) <= error < 1e-3






@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_an_infinite_slope_is_no_jump(dtype):
    for f in np.cbrt, lambda x: x + np.sign(x) * np.sqrt(np.abs(x)):
        assert measure(lambda x, f=f: f(x - 1), 1.0, dtype).kind[0] != "jump"




def test_edges_of_the_domain():
    found = measure(lambda x: x**1.5, 0.0)
    assert found.kind[0] == "edge"
    for side in (-1, 1):
        found = measure(lambda x, s=side: 3 * x if s * x >= s else np.nan, 1.0)
        assert found.kind[0] == "edge" and found.error[0] < 1e-6
        assert abs(found.left[0] - 3) < 1e-9 and abs(found.right[0] - 3) < 1e-9
    found = measure(np.arccos, 0.999)  # ends at 1, but not here
    assert found.kind[0] == "smooth"
    assert abs(found.left[0] * np.sqrt(1 - 0.999**2) + 1) < 1e-8

    def simulator(x):
        if x > 1.3:
            raise FloatingPointError("diverged")
        return np.ones(3) if x < 0.7 else np.exp(x)

    kind, left, _, error = numbers(measure(simulator, 1.0))
    assert kind == "smooth" and abs(left - np.e) <= error + 1e-13 and error < 1e-8


def test_outputs_do_not_inherit_each_others_errors():
    found = measure(lambda x: np.array([np.float32(1e7) + x, x]), 1.0, np.float32)
    assert found.error[0] > 1e-4
    assert abs(found.left[1] - 1) <= found.error[1] < 1e-5


def test_waves_shorter_than_the_steps_decide_nothing():
    found = measure(lambda x: np.sin(np.float16(1000) * x), 3.0, np.float16)
    assert not found.error[0] < 100






