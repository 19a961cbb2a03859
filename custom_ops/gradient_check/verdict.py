"""From measured slopes to a verdict: right, wrong or undecided. NumPy alone."""

import math
from collections import namedtuple

import numpy as np

from .differences import SURE, Line, four_steps, slopes

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

_MANY = 20  # wrong elements: of all others a first look is enough

Finding = namedtuple(
    "Finding", "where kind analytic numeric error low high bad undecided small")
Finding.__doc__ = """What was found of some elements that move together, mostly of one.

where: their numbers. kind: of the place, as in `differences.Slopes`. The others are
arrays with an entry for each upstream gradient. analytic: what TensorFlow computes.
low, high: the slopes of the sides. numeric: what lies between them next to analytic,
and error: by how much it may be off. bad: that analytic is wrong. undecided: that
neither right nor wrong can be told. small: whether, where undecided, the error is small
beside the largest derivative; a single value.
"""


def precision_of(dtypes, rtol=None):
    """The precision of the coarsest dtype; rtol replaces its tolerance."""
    coarse = max((PRECISIONS[name] for name in dtypes), key=lambda p: p.eps)
    if rtol is None:
        return coarse
    return coarse._replace(
        rtol=rtol, blur=max(rtol, coarse.blur * min(1, rtol / coarse.rtol)),
        smooth=max(coarse.smooth, 4 * rtol), shown=rtol)


def line_of(f, where, rng):
    """f along a direction, and how far a step of 1 goes.

    One number moves by itself; many move in proportion to their units, at random so
    that errors do not cancel.
    """
    direction = np.zeros(f.x.size)
    if where.size == 1:
        direction[where], stride = 1.0, f.unit[where[0]]
    else:
        sizes = rng.uniform(0.5, 1, where.size) * rng.choice([-1, 1], where.size)
        direction[where], stride = f.unit[where] * sizes, 1.0
    return Line(f, f.x, direction, f.y, f.rounded), stride


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
        self.heavy, self.wrong = np.abs(self.weights), 0
        self.height = self.heavy @ np.abs(f.y)

    def look(self, where):
        """A `Finding` of the elements of these numbers, all moved together."""
        line, stride = line_of(self.f, where, self.rng)
        analytic = self.gradient[:, where] @ line.direction[where]
        if self.missing[where].any():
            # Right only where f is constant, at x and away from it.
            found = self._look_closer(where, line, stride, analytic)
            far = 2 * max(stride, 1.0) if where.size == 1 else 2.0
            steps = far * 0.81, far / 13, self.precision.step * stride
            bad = found.bad.any() or not self._constant(line, steps)
            return found._replace(bad=np.full(len(analytic), bad),
                                  undecided=found.undecided & ~bad)
        step = self.precision.step
        found = (self._look_first(where, line, stride, analytic, step)
                 or self._look_first(where, line, stride, analytic, step / 64)
                 or self._look_closer(where, line, stride, analytic))
        self.wrong += bool(found.bad.any())
        return found

    def _look_first(self, where, line, stride, analytic, step):
        """By four steps, where they are enough to see that the gradient is right; or
        that it is wrong, where so many were wrong that this one only adds to them."""
        p, seen = self.precision, four_steps(line, step * stride)
        # einsum, for the threads of a matrix product wait for each other here
        size, sides, sizes = np.einsum("im,km->ik", np.abs(seen), self.heavy)
        numeric = np.einsum("m,km->k", seen[0], self.weights)
        smooth = sides <= p.smooth * size
        if where.size == 1:  # so that a kink would show
            smooth &= sizes <= 50 * p.smooth * size
        if not np.any(seen):  # or does rounding hide that f moves?
            smooth &= 2 * p.eps * self.height / (step * stride) <= p.blur
        gap = np.abs(analytic - numeric)
        bad = (gap > 100 * p.rtol * size) & (self.wrong >= _MANY)
        if not smooth.all() or not (bad.any() or (gap <= p.rtol / 2 * size).all()):
            return None
        return Finding(where, "smooth", analytic, numeric, np.zeros(len(bad)), numeric,
                       numeric, bad, np.zeros(len(bad), bool), True)

    def _constant(self, line, steps):
        """Whether no output moves, but for rounding, at the ends of these steps."""
        near = min(32 * self.precision.eps, 2**-7)
        ends = [(line.at(t * (1 + near))[1], line.at(t)[1])
                for step in steps for t in (-step, step)]
        moves = np.abs([np.nan_to_num(there - here) for there, here in ends])
        return (moves <= 8 * self.precision.eps * np.abs(line.y)).all()

    def _look_closer(self, where, line, stride, analytic):
        """By steps of many sizes; in float64 no long ones, for far away from x a
        simulator may run for ever."""
        p, longest = self.precision, 0.4
        if p.eps > PRECISIONS["float64"].eps:
            longest = 2 * max(1, min(1 / stride, 1e9)) if where.size == 1 else 2.0
        found, weights = slopes(line, stride, longest, p, self.weights)
        heavy = np.abs(weights)
        sides = np.stack([weights * found.left, weights * found.right])
        low, high = sides.min(axis=0).sum(axis=1), sides.max(axis=0).sum(axis=1)
        size = np.abs(sides).max(axis=0).sum(axis=1)
        errors = np.where(heavy > 0, heavy * found.error, 0)
        hidden = np.where(found.kind == "constant", errors, 0).sum(axis=1)
        errors = np.where(found.kind == "constant", 0, errors)  # seldom all add up
        error = np.minimum(errors.sum(axis=1), SURE * np.linalg.norm(errors, axis=1))
        numeric = np.clip(np.where(np.isnan(analytic), (low + high) / 2, analytic),
                          low, high)
        gap = np.abs(analytic - numeric)
        # Errors are estimated, not known; the gradient is rounded, too.
        slack = 2.5 * error + hidden + 8 * p.tiny + p.rtol * size
        kinds = {kind: ((heavy > 0) & (found.kind == kind)).any(axis=1)
                 for kind in ("stairs", "float32", "jump", "kink")}
        stairs = kinds["stairs"] | kinds["float32"]
        bad = ~(gap <= slack) & ~(stairs & (np.abs(analytic) <= p.rtol * size))
        error = np.where(size > 0, error, error + hidden)
        unsure = gap + error > p.blur * np.maximum(size, np.abs(analytic))
        unsure[-1] = False  # what moves little is lost in rounding, however it counts
        # Beside other derivatives a slope may be known well enough.
        reach = np.abs(line.direction).max()
        moves = [np.abs(change) for length, change in line.known.values()
                 if abs(length) <= stride]
        moved = np.abs(self.weights) @ np.nan_to_num(moves).max(axis=0, initial=0)
        scale = np.maximum(1, np.maximum(self.largest * reach, moved / stride))
        known = (analytic == 0) & (error <= p.blur * scale) & (gap <= slack)
        known |= gap + error <= 1e-10 * self.largest * reach
        bad |= ~np.isfinite(analytic)
        kind = next((kind for kind, at in kinds.items() if at.any()), "smooth")
        unsure = (unsure & ~known | stairs) & ~bad
        unit = 1 if where.size == 1 else np.linalg.norm(self.f.unit[where])
        small = ~unsure | (error <= p.blur * self.largest * unit)
        return Finding(where, kind, analytic, numeric, error, low, high, bad, unsure,
                       bool(small.all()))
