"""From measured slopes to a verdict: right, wrong or undecided. NumPy alone."""

import math
from collections import namedtuple

import numpy as np

from .differences import Line, slopes, slopes_of_few

Precision = namedtuple("Precision", "eps rtol blur step smooth shown tiny large")
Precision.__doc__ = """What a float dtype can tell.

eps: the distance from 1 to the next number. rtol: the relative tolerance. blur: the
relative error that never passes. step, smooth: of a first look the size, and how far,
relatively, the slopes of the two sides may be apart. shown: the least error that a
report names. tiny: the least number in full precision, or the gap below it. large:
the largest number.
"""

# Steps that are no round number lie on no grid, binary or decimal, that f rounds to.
PRECISIONS = {
    "float64": Precision(2**-52, 1e-6, 1e-5, 1.5e-4 * math.pi, 4e-6, 1e-6, 2.3e-308,
                         1.7e308),
    "float32": Precision(2**-23, 3e-5, 1e-3, 0.01 * math.pi, 3e-4, 1e-3, 1.2e-38,
                         3.4e38),
    "float16": Precision(2**-10, 5e-3, 1e-2, 0.08 * math.pi, 5e-2, 1e-1, 2**-24, 65504),
    "bfloat16": Precision(2**-7, 3e-2, 1e-1, 0.15 * math.pi, 3e-1, 1e-1, 1.2e-38,
                          3.3e38),
}

_MANY = 5  # wrong elements: of all others a first look is enough


class Finding(namedtuple(
        "Finding", "where kind analytic numeric error low high bad unsure")):
    """What was found of some elements that move together, mostly of one.

    where: their numbers. kind: as in `differences.Slopes`. The others are arrays with
    an entry for each upstream gradient, as in `report.Element`: numeric lies between
    low and high, next to analytic. bad: wrong; unsure: neither wrong nor right.
    """

    @property
    def gap(self):
        gap = np.abs(self.analytic - self.numeric)
        return np.where(np.isnan(gap), np.inf, gap)


class Comparison:
    """Compares gradients of f with differences, along one direction after another.

    f: a `tape.Function`, or what has its x, y, unit, weights and precision.
    gradient (K, n): what each upstream gradient gives. missing (n,): which numbers of
    x have none. rng: draws directions.
    """

    def __init__(self, f, gradient, missing, rng):
        self.f, self.precision, self.weights = f, f.precision, f.weights
        self.gradient, self.missing, self.rng, self.wrong = gradient, missing, rng, 0
        self.largest = np.abs(np.nan_to_num(gradient, posinf=0, neginf=0)).max(
            axis=1, initial=0)

    def look(self, where):
        """A `Finding` of the elements of these numbers, all moved together."""
        line, p = Line(self.f, where, self.rng), self.precision
        for step in (p.step, p.step / 64):  # enough for most elements
            few = slopes_of_few(line, step, p)
            found = self._compare(line, few, self.weights)
            exact = found.error <= p.rtol * np.abs(found.numeric)
            fine = ~found.bad | exact & (self.wrong >= _MANY)
            if fine.all() and not found.unsure.any():
                break
        else:  # in float64 no long steps: far away a simulator may run for ever
            longest = 0.12 if p.eps <= 2**-52 else 0.5
            bent = few.error > p.rtol * np.abs(few.left)
            measured = slopes(line, longest * math.pi, p.eps, self.weights, bent)
            found = self._compare(line, *measured, closer=True)
        if self.missing[where].any() and not self._constant(line):
            found = found._replace(bad=np.ones_like(found.bad))
        self.wrong += bool(found.bad.any())
        return found

    def _constant(self, line):
        """Whether no output moves, but for rounding, at x and away from it: only there
        no gradient is needed."""
        eps, far = self.precision.eps, 1.62
        if line.where.size == 1:
            far *= max(line.stride, 1.0)
        moves = [line.at(t * (1 + min(32 * eps, 2**-7))) - line.at(t)
                 for step in (far, far / 13, self.precision.step * line.stride)
                 for t in (-step, step)]
        return not (np.abs(moves) > 8 * eps * np.abs(self.f.y)).any()  # nan: no more f

    def _compare(self, line, found, weights, closer=False):
        """Of the slopes of each output to those of their sums, and to a verdict."""
        p, where = self.precision, line.where
        analytic = self.gradient[:, where] @ line.direction[where]
        heavy = np.abs(weights)
        sides = np.stack([weights * found.left, weights * found.right])
        low, high = sides.min(axis=0).sum(axis=1), sides.max(axis=0).sum(axis=1)
        size = np.abs(sides).max(axis=0).sum(axis=1)
        error = np.where(heavy > 0, heavy * found.error, 0).sum(axis=1)
        numeric = np.clip(np.where(np.isnan(analytic), (low + high) / 2, analytic),
                          low, high)
        gap = np.abs(analytic - numeric)
        kinds = {kind: ((heavy > 0) & (found.kind == kind)).any(axis=1)
                 for kind in ("stairs", "float32", "jump", "kink")}
        kind = next((kind for kind, at in kinds.items() if at.any()), "smooth")
        stairs = kinds["stairs"] | kinds["float32"]
        # Errors are estimated, not known; the gradient is rounded, too.
        near = np.isfinite(analytic) & (gap <= 2.5 * error + 8 * p.tiny + p.rtol * size)
        bad = ~(near | stairs & (np.abs(analytic) <= p.rtol * size))
        largest = self.largest * np.abs(line.direction).max()
        enough = (p.blur if closer else p.rtol / 2) * np.maximum(size, np.abs(analytic))
        if closer:  # beside other derivatives a slope may be known well enough
            enough = np.maximum(enough, 1e-10 * largest + 1e-12 * heavy.max(
                axis=1, initial=0))
            enough[2] = np.inf  # what moves little is lost in rounding
        known = near & (analytic == 0) & (error <= p.blur * np.maximum(1, largest))
        known |= gap + error <= enough
        unsure = ~bad & (~known | stairs)
        return Finding(where, kind, analytic, numeric, error, low, high, bad, unsure)
