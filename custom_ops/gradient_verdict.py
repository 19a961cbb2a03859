"""From what was measured to a verdict: right, wrong, or undecided. NumPy alone."""

from collections import namedtuple

import numpy as np

from .differences import SURE

Precision = namedtuple("Precision", "eps rtol blur step digits shown tiny")
Precision.__doc__ = """What a float dtype can tell.

eps: the distance from 1 to the next number. rtol: the relative tolerance. blur: the
relative error that never passes: where rounding leaves room for it, nothing is decided.
step: of the first look. digits, shown: how much of a number, and the least error, a
report names. tiny: the least number in full precision, or how far those below it are
apart.
"""

PRECISIONS = {
    "float64": Precision(2**-52, 1e-6, 1e-5, 2**-11, 4, 1e-6, 2.3e-308),
    "float32": Precision(2**-23, 3e-5, 1e-3, 2**-5, 3, 1e-3, 1.2e-38),
    "float16": Precision(2**-10, 5e-3, 1e-2, 2**-2, 2, 1e-1, 2**-24),
    "bfloat16": Precision(2**-7, 3e-2, 1e-1, 2**-1, 1, 1e-1, 1.2e-38),
}

Finding = namedtuple(
    "Finding", "kind analytic low high nearest error size bad blurred")
Finding.__doc__ = """What was concluded of one direction, for each upstream gradient.

kind: of the place, as in `differences.Slopes`. analytic: what TensorFlow computes.
low, high: the slopes of the sides. nearest: what lies between them next to
analytic, by how much it may be off (error), and how large its parts are (size).
bad: that analytic is wrong. blurred: that neither right nor wrong can be told.
"""


def precision_of(dtypes, rtol=None):
    """The precision of the coarsest dtype; rtol replaces its tolerance."""
    coarse = max((PRECISIONS[name] for name in dtypes), key=lambda p: p.eps)
    if rtol is None:
        return coarse
    blur = max(rtol, coarse.blur * min(1, rtol / coarse.rtol))
    return coarse._replace(rtol=rtol, blur=blur, shown=rtol)


def agrees(seen, weights, analytic, precision, alone):
    """Whether a first look is enough to see that the gradient is right.

    seen: from `differences.glance`. weights (K, m): upstream gradients. analytic:
    (K,). alone: whether one number moved, so that a kink would show.
    """
    slope, sides, sizes = seen
    size = np.abs(weights) @ np.abs(slope)
    error = np.abs(analytic - weights @ slope)
    fine = error <= precision.rtol / 2 * size
    # Rounding and a kink near x set the sides apart.
    near = 10 if precision.eps > 2**-40 else 4
    fine &= np.abs(weights) @ np.abs(sides) <= near * precision.rtol * size
    if alone:
        fine &= np.abs(weights) @ np.abs(sizes) <= 300 * precision.rtol * size
    return bool(fine.all())


def decide(slopes, weights, analytic, precision, scale, far, noise=0.0):
    """A `Finding` from `differences.Slopes`.

    scale (K,): a derivative beside which a gradient of 0 is known well enough.
    far (K,): the slope that a long step shows; 0 where f is at rest there, too.
    noise (K,): by how much rounding makes `analytic` itself rough.
    """
    heavy = np.abs(weights)
    left, right = (weights * np.where(np.isfinite(side), side, 0)
                   for side in (slopes.left, slopes.right))
    low, high = np.minimum(left, right).sum(1), np.maximum(left, right).sum(1)
    size = np.maximum(np.abs(left), np.abs(right)).sum(1)
    errors = np.where(np.isnan(slopes.error), np.inf, slopes.error)
    error = together(np.where(heavy > 0, heavy * errors, 0))
    hidden = together(heavy * slopes.hidden)
    nearest = np.clip(np.where(np.isnan(analytic), (low + high) / 2, analytic),
                      low, high)
    gap = np.abs(analytic - nearest)
    slack = error + precision.rtol * np.maximum(size, np.abs(nearest))
    bad = ~(gap <= slack)
    # What is not sure to be wrong yet: errors are estimated, not known; f rounds;
    # the gradient is rounded, too, and below the least number to nothing.
    doubt = error * 1.5 + hidden + SURE * noise + 8 * precision.tiny
    needed = np.where(bad, doubt, 0)
    bad &= ~(gap <= slack + needed)
    flat = ((heavy > 0) & slopes.flat).any(axis=1)
    perhaps = bad & flat & (np.abs(analytic) <= precision.rtol * size)
    bad &= ~perhaps
    whole = np.maximum(size, np.abs(analytic))
    unsure = error + needed
    blurred = ~bad & ((gap + unsure > precision.blur * whole) | perhaps)
    blurred &= ~((analytic == 0) & (error <= precision.blur * scale) & ~perhaps
                 & (needed == 0))
    # Does f move so little that, close to x, rounding would hide it?
    blurred |= ~bad & (analytic == 0) & (far > 0) & (far <= error + hidden)
    bad |= ~np.isfinite(analytic)
    kinds = [k for k in ("edge", "jump", "kink", "unknown") if
             ((slopes.kind == k) & (heavy > 0).any(axis=0)).any()]
    return Finding(kinds[0] if kinds else "smooth", analytic, low, high, nearest,
                   unsure, size, bad, blurred & ~bad)


def beside_truth(found, truth, precision):
    """The `Finding` again, where the right gradient (K,) is known from elsewhere.

    A difference that is further from it than the gradient is no evidence.
    """
    good = close(found.analytic, truth, precision)
    misled = np.abs(found.analytic - truth) < np.abs(found.nearest - truth)
    bad, doubted = found.bad & ~good & ~misled, found.bad | found.blurred
    return found._replace(bad=bad, blurred=doubted & ~bad & ~good,
                          nearest=np.where(doubted & good, truth, found.nearest))


def close(analytic, truth, precision):
    """Whether two gradients are the same, but for the rounding of a coarse dtype."""
    return np.abs(analytic - truth) <= precision.blur * np.abs(truth)


def clear(found, precision):
    """Whether nothing that is further away could change the verdict."""
    gap = np.abs(found.analytic - found.nearest)
    slack = found.error + precision.rtol * np.maximum(found.size, np.abs(found.nearest))
    # At rest close to x: rounding may do that, and what is further away tells.
    moves = found.error < precision.blur * found.size
    sure = ~found.blurred & (~found.bad | ((gap > 10 * slack) & moves))
    return found.kind in ("smooth", "kink", "jump") and bool(sure.all())


def together(errors):
    """The error of a sum of terms: errors of many of them seldom all add up."""
    return np.minimum(errors.sum(axis=1), SURE * np.linalg.norm(errors, axis=1))
