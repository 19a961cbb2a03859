"""A vector-Jacobian product is linear in the upstream gradient dy: is it, here?"""

import numpy as np

from .differences import SURE
from .gradient_in_float64 import right_in_float64
from .gradient_report import short
from .gradients_by_tape import vjps
from .tensorflow_start import tf


def require_linear(check, gradient):
    """Fail where a gradient is right for some dy, and clipped, dead or nan for others.

    Parts of dy that are 0, an eighth or eight times as large have to give together
    what dy gives. A dy of one or two numbers is scaled as a whole instead.

    check: a `_Check`. gradient: flat, a row for each upstream gradient.
    """
    dys, expected = check.upstreams.dys[1], gradient[1]
    ends = np.cumsum([dy.shape.num_elements() for dy in dys])
    factors = np.resize([0, 0.125, 8], max(ends[-1], 3))

    def product(factors):
        part = [dy * tf.cast(np.reshape(factor, dy.shape), dy.dtype) for dy, factor in
                zip(dys, np.split(factors, ends[:-1]), strict=True)]
        return check.flat_gradient(vjps(check.f, check.xs, [part])[1][0], "eager mode")

    if ends[-1] < 3:
        for factor in factors:
            _require_equal(check, product(np.full(ends[-1], factor)), factor * expected,
                           f"{factor:g} times dy gives")
    else:
        check.rng.shuffle(factors)
        _require_equal(check, product(factors) + product(1 - factors), expected,
                       "two parts of dy give together")


def _require_equal(check, found, expected, what):
    gap = np.abs(found - expected)
    wrong = ~(gap <= check.precision.blur * np.abs(expected).max(initial=0))
    wrong &= ~(np.isinf(found) & np.isfinite(expected))  # too large for a coarse dtype
    if wrong.any():  # or does f round so? the parts are up to 8 times as large
        wrong &= ~(gap <= 8 * SURE * check.rough()[1])
    if wrong.any() and not right_in_float64(check):
        k = int(wrong.argmax())
        check.fail(f"{check.inputs.place(k)}: the gradient is not linear in dy: {what} "
                   f"{short(found[k])} instead of {short(expected[k])}")
