"""What rounding hides in a coarse dtype, the same f may show in float64."""

import numpy as np

from .gradient_verdict import PRECISIONS
from .gradients_by_tape import flat, vjps
from .promises import differentiable
from .tensorflow_start import tf


def in_float64(check, numbers=None):
    """A second opinion on a coarse dtype: what the same check settles where f takes
    float64, and the gradients there for the same upstream gradients.

    numbers: of x, to look at these alone and in eager mode alone.

    None where f does not compute in float64, or the check could not settle anything.
    """
    if check.precision.eps <= PRECISIONS["float64"].eps:
        return None
    xs, *dys = ([tf.cast(x, tf.complex128 if x.dtype.is_complex else tf.float64)
                 if differentiable(x) else x for x in row]
                for row in (check.xs, *check.upstreams.dys))
    again = None
    try:
        again = check.again(xs, rtol=check.precision.rtol)
        if again.dtypes != {"float64"}:
            return None
        if numbers is None:
            again.run()
        else:
            _settle(again, numbers)
    except AssertionError:
        settled = again.settled
        if settled is None or not (settled.wrong or settled.together):
            return None
    except Exception:  # f may do without float64
        return None
    rows = vjps(check.f, xs, dys)[1]
    return again.settled, np.stack([
        flat(tf.zeros_like(xs[i]) if dx is None else dx
             for i, dx in zip(check.inputs.moved, row, strict=True)) for row in rows])


def _settle(check, numbers):
    with np.errstate(all="ignore"):
        gradient, missing = check.eager_gradients()
        check.settled = check.search.settle_some(numbers, gradient, missing,
                                                 check.rough)


def right_in_float64(check):
    opinion = in_float64(check)
    return opinion is not None and not (
        opinion[0].wrong or opinion[0].together or opinion[0].undecided)
