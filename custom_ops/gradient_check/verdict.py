"""From measured slopes to a verdict: right, wrong or undecided. NumPy alone."""

import math
from collections import namedtuple

import numpy as np

from .differences import Line, slopes

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
    "float64": Precision(2**-52, 1e-6, 1e-5, 1.5e-4 * math.pi, 4e-6, 1e-6, 2.3e-308),
    "float32": Precision(2**-23, 3e-5, 1e-3, 0.01 * math.pi, 3e-4, 1e-3, 1.2e-38),
    "float16": Precision(2**-10, 5e-3, 1e-2, 0.08 * math.pi, 5e-2, 1e-1, 2**-24),
    "bfloat16": Precision(2**-7, 3e-2, 1e-1, 0.15 * math.pi, 3e-1, 1e-1, 1.2e-38),
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

    f: a `tape.Function`, or what has its x, y, unit, weights, precision and rounded.
    gradient (K, n): what each upstream gradient gives. missing (n,): which numbers of
    x have none. rng: draws directions.
    """

    def __init__(self, f, gradient, missing, rng):
        self.f, self.precision, self.rng = f, f.precision, rng
        self.gradient, self.missing, self.weights = gradient, missing, f.weights
        finite = np.where(np.isfinite(gradient), np.abs(gradient), 0)
        self.largest = finite.max(axis=1, initial=0)
        self.wrong = 0

    def look(self, where):
        """A `Finding` of the elements of these numbers, all moved together."""
        line, step = Line(self.f, where, self.rng), self.precision.step
        analytic = self.gradient[:, where] @ line.direction[where]
        found = (self._look_first(line, analytic, step)
                 or self._look_first(line, analytic, step / 64)
                 or self._look_closer(line, analytic))
        if self.missing[where].any() and not self._constant(line):
            found = found._replace(bad=np.ones(len(analytic), bool))
        self.wrong += bool(found.bad.any())
        return found

    def _look_first(self, line, analytic, step):
        """By two steps to each side, where they are enough to see that the gradient is
        right; or wrong, where so many were wrong that this one only adds to them."""
        p, heavy, t = self.precision, np.abs(self.weights), step * line.stride
        below, low, high, above = (line.at(size)[1] for size in (-2 * t, -t, t, 2 * t))
        near, far = (high - low) / (2 * t), (above - below) / (4 * t)
        left, right = (below - 4 * low) / (2 * t), (4 * high - above) / (2 * t)
        slope = (4 * near - far) / 3
        # einsum, for the threads of a matrix product wait for each other here
        size, sides, sizes = np.einsum(
            "im,km->ik", np.abs([slope, right - left, near - far]), heavy)
        numeric = np.einsum("m,km->k", slope, self.weights)
        smooth = sides <= p.smooth * size
        if line.where.size == 1:  # so that a kink would show
            smooth &= sizes <= 50 * p.smooth * size
        if not size.any():  # or does rounding hide that f moves?
            smooth &= 2 * p.eps * (heavy @ np.abs(self.f.y)) / t <= p.blur
        gap = np.abs(analytic - numeric)
        bad = (gap > 100 * p.rtol * size) & (self.wrong >= _MANY)
        if not smooth.all() or not (bad.any() or (gap <= p.rtol / 2 * size).all()):
            return None
        return Finding(line.where, "smooth", analytic, numeric, p.rtol * size, numeric,
                       numeric, bad, np.zeros(len(bad), bool))

    def _constant(self, line):
        """Whether no output moves, but for rounding, at x and away from it: only there
        no gradient is needed."""
        eps, far = self.precision.eps, 2.0
        if line.where.size == 1:
            far *= max(line.stride, 1.0)
        near = 1 + min(32 * eps, 2**-7)
        ends = [(line.at(t * near)[1], line.at(t)[1])
                for step in (far * 0.81, far / 13, self.precision.step * line.stride)
                for t in (-step, step)]
        moves = np.abs([np.nan_to_num(there - here) for there, here in ends])
        return (moves <= 8 * eps * np.abs(self.f.y)).all()

    def _look_closer(self, line, analytic):
        """By steps of many sizes; in float64 no long ones, for far away from x a
        simulator may run for ever."""
        p, where = self.precision, line.where
        longest = 0.12 * math.pi
        if p.eps > PRECISIONS["float64"].eps:
            longest = 0.5 * math.pi
        found, weights = slopes(line, longest, p, self.weights)
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
        near = gap <= 2.5 * error + 8 * p.tiny + p.rtol * size
        near &= np.isfinite(analytic)
        bad = ~(near | stairs & (np.abs(analytic) <= p.rtol * size))
        # Beside other derivatives a slope may be known well enough.
        largest = self.largest * np.abs(line.direction).max()
        known = near & (analytic == 0) & (error <= p.blur * np.maximum(1, largest))
        known |= gap + error <= np.maximum(
            p.blur * np.maximum(size, np.abs(analytic)),
            1e-10 * largest + 1e-12 * heavy.max(axis=1, initial=0))
        known[2] = True  # what moves little is lost in rounding, however it counts
        unsure = ~bad & (~known | stairs)
        return Finding(where, kind, analytic, numeric, error, low, high, bad, unsure)
