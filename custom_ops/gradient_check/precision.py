"""What a float dtype can tell."""

import math
from collections import namedtuple

Precision = namedtuple("Precision", "eps rtol blur step smooth shown tiny")
Precision.__doc__ = """What a float dtype can tell.

eps: the distance from 1 to the next number. rtol: the relative tolerance. blur: the
relative error that never passes: where the error of a difference leaves room for it,
nothing is decided. step, smooth: of a first look the size, and how far, relatively,
the slopes of the two sides may be apart. shown: the least error that a report names.
tiny: the least number in full precision, or how far those below it are apart.
"""

# Steps that are no round number lie on no grid, binary or decimal, that f rounds to.
PRECISIONS = {
    "float64": Precision(
        2**-52, 1e-6, 1e-5, 1.5e-4 * math.pi, 4e-6, 1e-6, 2.3e-308),
    "float32": Precision(2**-23, 3e-5, 1e-3, 0.01 * math.pi, 3e-4, 1e-3, 1.2e-38),
    "float16": Precision(2**-10, 5e-3, 1e-2, 0.08 * math.pi, 5e-2, 1e-1, 2**-24),
    "bfloat16": Precision(2**-7, 3e-2, 1e-1, 0.15 * math.pi, 3e-1, 1e-1, 1.2e-38),
}


def precision_of(dtypes, rtol=None):
    """The precision of the coarsest dtype; rtol replaces its tolerance."""
    coarse = max((PRECISIONS[name] for name in dtypes), key=lambda p: p.eps)
    if rtol is None:
        return coarse
    return coarse._replace(
        rtol=rtol, blur=max(rtol, coarse.blur * min(1, rtol / coarse.rtol)),
        smooth=max(coarse.smooth, 4 * rtol), shown=rtol)


def in_float64(precision):
    """The same tolerances, for what is measured in float64."""
    wide = PRECISIONS["float64"]
    return precision._replace(eps=wide.eps, step=wide.step, smooth=wide.smooth,
                              tiny=wide.tiny)
