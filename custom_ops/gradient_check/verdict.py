"""From measured slopes to a verdict: right, wrong or undecided. NumPy alone."""

from collections import namedtuple

import numpy as np

from .differences import SURE, Line, four_steps, slopes

Finding = namedtuple(
    "Finding", "where kind analytic numeric error low high bad undecided")
Finding.__doc__ = """What was found of some elements that move together, mostly of one.

where: their numbers. kind: of the place, as in `differences.Slopes`. The others are
arrays with an entry for each upstream gradient. analytic: what TensorFlow computes.
low, high: the slopes of the sides. numeric: what lies between them next to analytic,
and error: by how much it may be off. bad: that analytic is wrong. undecided: that
neither right nor wrong can be told.
"""


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

    Args:
        f: a function of a vector x, with the attributes x (n,), y = f(x) of shape
            (m,), unit (n,), weights (K, m), the upstream gradients, rounded and
            roughness, as a `tape.Function` has them.
        precision: that of its dtype. rng: draws directions.
        gradient (K, n): what each upstream gradient gives.
        missing (n,): which numbers of x have no gradient.
    """

    def __init__(self, f, precision, rng, gradient, missing):
        self.f, self.precision, self.rng = f, precision, rng
        self.gradient, self.missing, self.weights = gradient, missing, f.weights
        finite = np.where(np.isfinite(gradient), np.abs(gradient), 0)
        self.largest = finite.max(axis=1, initial=0)
        self.height = np.abs(f.weights * f.y).max(axis=1, initial=0)

    def look(self, where):
        """A `Finding` of the elements of these numbers, all moved together."""
        line, stride = line_of(self.f, where, self.rng)
        analytic = self.gradient[:, where] @ line.direction
        if self.missing[where].any():
            # Right only where f is constant, at x and away from it.
            found = self._look_closer(where, line, stride, analytic)
            far = 2 * max(stride, 1.0) if where.size == 1 else 2.0
            steps = far * 0.81, far / 13, self.precision.step * stride
            bad = found.bad.any() or not self._constant(line, steps)
            return found._replace(bad=np.full(len(analytic), bad),
                                  undecided=found.undecided & ~bad)
        seen = four_steps(line, self.precision.step * stride)
        if seen is not None:
            *seen, move = seen
            foretold = self.gradient[:, where] @ move
            if self._agrees(seen, foretold, where.size == 1) and (
                    foretold.any() or np.any(seen)
                    or not self._far_slope(line, stride).any()):
                measured, no = self.weights @ seen[0], np.zeros(len(foretold), bool)
                return Finding(where, "smooth", foretold, measured, 0 * foretold,
                               measured, measured, no, no)
        return self._look_closer(where, line, stride, analytic)

    def _agrees(self, seen, analytic, alone):
        """Whether a first look is enough to see that the gradient is right."""
        slope, sides, sizes = seen
        heavy, p = np.abs(self.weights), self.precision
        size = heavy @ np.abs(slope)
        fine = np.abs(analytic - self.weights @ slope) <= p.rtol / 2 * size
        fine &= heavy @ np.abs(sides) <= p.smooth * size
        if alone:  # so that a kink would show
            fine &= heavy @ np.abs(sizes) <= 50 * p.smooth * size
        return bool(fine.all())

    def _constant(self, line, steps):
        """Whether no output moves, but for rounding, at the ends of these steps."""
        near = min(32 * self.precision.eps, 2**-7)
        ends = [(line.at(t * (1 + near))[1], line.at(t)[1])
                for step in steps for t in (-step, step)]
        moves = np.abs([np.nan_to_num(there - here) for there, here in ends])
        return (moves <= 8 * self.precision.eps * np.abs(line.y)).all()

    def _far_slope(self, line, stride):
        """The slope that shows at a step so long that rounding, as of 1e16 + x, hides
        none that matters; 0 where short steps tell: far away a simulator may run for
        ever."""
        rounding = 8 * self.precision.eps * np.abs(line.y)
        reach = rounding.max(initial=0) / self.precision.rtol
        if reach <= 0.4 * stride:
            return np.zeros(len(self.weights))
        moves = np.abs(np.nan_to_num([line.at(t)[1] for t in (-reach, reach)])).max(0)
        return np.abs(self.weights) @ np.where(moves > rounding, moves / reach, 0)

    def _look_closer(self, where, line, stride, analytic):
        """By steps of many sizes: near x, and further away only where need is."""
        p, far = self.precision, 2.0
        if where.size == 1:
            far *= max(1, min(1 / stride, 1e9))
        for longest in (0.4, far):
            found = slopes(line, stride, longest, p, self.weights)
            finding = self._decide(where, found, analytic, line, stride)
            size = np.maximum(np.abs(analytic), np.abs(finding.numeric))
            unclear = finding.undecided | finding.bad & (finding.error > p.blur * size)
            if finding.kind not in ("edge", "unknown") and not unclear.any():
                break
        gap = np.abs(analytic - finding.numeric)[finding.bad]
        if gap.size and (gap <= 100 * p.rtol * size[finding.bad]).all():
            noise = self.f.roughness(p.eps)[:, where] * line.direction
            finding = self._decide(where, found, analytic, line, stride,
                                   np.linalg.norm(noise, axis=1))
        return finding

    def _decide(self, where, found, analytic, line, stride, noise=0.0):
        """A `Finding` from slopes. noise (K,): how rough rounding makes analytic."""
        p, (found, weights) = self.precision, found
        heavy = np.abs(weights)
        sides = np.stack([weights * np.where(np.isfinite(side), side, 0)
                          for side in (found.left, found.right)])
        low, high = sides.min(axis=0).sum(axis=1), sides.max(axis=0).sum(axis=1)
        size = np.abs(sides).max(axis=0).sum(axis=1)
        errors = np.where(np.isnan(found.error), np.inf, found.error)
        errors = np.where(heavy > 0, heavy * errors, 0)  # seldom all of them add up
        error = np.minimum(errors.sum(axis=1), SURE * np.linalg.norm(errors, axis=1))
        numeric = np.clip(np.where(np.isnan(analytic), (low + high) / 2, analytic),
                          low, high)
        gap = np.abs(analytic - numeric)
        # Errors are estimated, not known; the gradient is rounded, too.
        slack = 2.5 * error + SURE * noise + 8 * p.tiny + p.rtol * np.maximum(
            size, np.abs(numeric))
        kinds = {kind: ((heavy > 0) & (found.kind == kind)).any(axis=1)
                 for kind in ("stairs", "float32", "edge", "jump", "kink", "unknown")}
        stairs = kinds["stairs"] | kinds["float32"]
        bad = ~(gap <= slack) & ~(stairs & (np.abs(analytic) <= p.rtol * size))
        unsure = gap + error > p.blur * np.maximum(size, np.abs(analytic))
        unsure[-1] = False  # what moves little is lost in rounding, however it counts
        # Beside other derivatives, or how high f is, a slope may be known well enough.
        reach = np.abs(line.direction).max()
        moves = [np.abs(change) for length, change, _ in line.known.values()
                 if abs(length) <= stride]
        moved = np.abs(self.weights) @ np.nan_to_num(moves).max(axis=0, initial=0)
        scale = np.max([self.largest * reach, self.height / stride, moved / stride],
                       axis=0)
        known = (analytic == 0) & (error <= p.blur * scale) & (gap <= slack)
        known |= gap + error <= 1e-10 * self.largest * reach
        far = self._far_slope(line, stride) if not analytic.all() else 0
        hidden = (analytic == 0) & (far > 0) & (far <= 2.5 * error)
        bad |= ~np.isfinite(analytic)
        return Finding(where, next((k for k, at in kinds.items() if at.any()), "smooth"),
                       analytic, numeric, error, low, high, bad,
                       (unsure & ~known | stairs | hidden) & ~bad)
