"""Which elements of a gradient are wrong: one by one, or by random projections.

NumPy alone: f and its inputs come as functions of arrays.
"""

from collections import deque
from dataclasses import dataclass, field

import numpy as np

from . import differences
from .gradient_verdict import agrees, decide

_ONE_BY_ONE = 1000  # above so many elements: by random projections
_PROJECTIONS = 100  # so many, unless told otherwise
_LOOKS = 300  # at most, to take apart the projections that disagree
_APART = 256  # outputs, at most, that are looked at each by itself
_SECOND_LOOKS = 40  # at most, with more and longer steps


@dataclass
class Settled:
    """What a search found.

    findings: for each element that was looked at closely. wrong: the numbers of the
    wrong ones. analytic, numeric (K, parts): derivatives along what was moved.
    missing: which numbers of x have no gradient. together: numbers whose gradients
    are wrong if they are moved together, and the finding. undecided: how many elements.
    example: one of them, as (number, finding, upstream). negligible: whether the
    undecided ones are too small to matter. largest_error: of those that are right.
    """

    missing: np.ndarray
    together: tuple | None = None
    findings: dict = field(default_factory=dict)
    wrong: list = field(default_factory=list)
    analytic: np.ndarray | None = None
    numeric: np.ndarray | None = None
    undecided: int = 0
    example: tuple | None = None
    negligible: bool = True
    largest_error: float = 0.0

    def stand_for_all(self):
        """No element is wrong for sure, but together they are: name the first."""
        where, found = self.together
        self.findings[int(where[0])] = found
        self.wrong = [int(where[0])]
        return self.wrong


class Search:
    """Moves numbers of x, the elements of f's inputs, and compares.

    Args:
        f: from tensors to the flat y. inputs: an `Inputs`. y: f at x.
        precision: a `Precision`. rng: draws directions. projections: how many.

    Attributes:
        weights (K, m): the upstream gradients, to be set before a search.
        projected: whether the elements are moved together, in `parts`.
    """

    def __init__(self, f, inputs, y, precision, rng, projections):
        self.f, self.inputs, self.x, self.y = f, inputs, inputs.x, y
        self.precision, self.rng, self.weights = precision, rng, None
        n = self.x.size
        self.projected = projections is not None or n > _ONE_BY_ONE
        count = min(n, int(projections or _PROJECTIONS)) if self.projected else n
        order = rng.permutation(n) if self.projected else np.arange(n)
        self.parts = [np.sort(part) for part in np.array_split(order, count or 1)]

    # ................................................................ one direction

    def direction(self, where):
        """Random, so that errors do not cancel; for one element to the right."""
        size = self.rng.uniform(0.5, 1, where.size)
        return (size * self.rng.choice([-1, 1], where.size) if where.size > 1
                else np.ones(1))

    def line(self, where, sizes):
        """f along a direction, and how far a step of 1 goes.

        One number moves by itself; many move in proportion to their units.
        """
        direction = np.zeros(self.x.size)
        stride = self.inputs.unit[where[0]] if where.size == 1 else 1.0
        direction[where] = sizes if where.size == 1 else self.inputs.unit[where] * sizes
        line = differences.Line(lambda x: self.f(self.inputs.tensors(x)), self.x,
                                direction, self.inputs.rounded, self.y)
        return line, stride

    def movement(self):
        """How much each output moves, when all inputs do at random."""
        everything, most = np.arange(self.x.size), np.zeros(self.y.shape)
        for _ in range(2 if self.x.size else 0):
            line, stride = self.line(everything, self.direction(everything))
            most = np.fmax(most, np.abs(line.at(self.precision.step * stride)[1]))
        return most

    def rests(self, where, sizes, jumps=False):
        """Whether no output moves, but for rounding, at steps of several sizes.

        jumps: whether it may move from one constant to another.
        """
        line, stride = self.line(where, sizes)
        far = 2 * max(stride, 1.0) if where.size == 1 else 2.0
        moves = []
        for size in (far * 0.81, far / 13, self.precision.step * stride):
            for t in (-size, size):
                change = line.at(t)[1]
                if jumps:
                    change = line.at(t * (1 + 32 * self.precision.eps))[1] - change
                moves.append(np.nan_to_num(change))
        rounding = 8 * self.precision.eps * np.abs(self.y)
        return (np.abs(moves) > rounding).any(axis=1).sum() <= (1 if jumps else 0)

    def glance(self, where, sizes, gradient):
        """Whether one look is enough to see that the gradient is right; its foretold
        and its measured derivative, and their misfit."""
        line, stride = self.line(where, sizes)
        seen = differences.glance(line, self.precision.step * stride)
        if seen is None:
            foretold = gradient[:, where] @ line.direction
            return False, foretold, foretold, np.inf
        *seen, move = seen
        foretold, measured = gradient[:, where] @ move, self.weights @ seen[0]
        if not foretold.any() and not np.any(seen):  # lost in rounding, or at rest?
            return self.rests(where, sizes), foretold, measured, 0.0
        misfit = np.max(np.abs(foretold - measured) / np.maximum(
            np.abs(self.weights) @ np.abs(seen[0]), 1e-300))
        fine = agrees(seen, self.weights, foretold, self.precision, where.size == 1)
        return fine, foretold, measured, misfit

    def walk(self, line, stride, where, longer=False):
        """The values at steps of many sizes; longer: at more and larger ones."""
        nearest, far = None, 2.0
        if where.size == 1:
            nearest, far = abs(self.x[where[0]]) / stride, 2 * max(1, 1 / stride)
        steps = np.array(differences.step_sizes(self.precision.eps, nearest, far))
        if longer:
            between = np.sqrt(steps[1:] * steps[:-1])
            beyond = far * 2.0 ** np.arange(1, 14) if where.size == 1 else []
            steps = np.sort([*steps, *between, *beyond])
        return differences.walk(line, steps * stride)

    def look_closer(self, where, sizes, gradient):
        """A `Finding`, by steps of many sizes."""
        line, stride = self.line(where, sizes)
        largest = np.where(np.isfinite(gradient), np.abs(gradient), 0).max(axis=1)
        height = np.abs(self.weights * self.y).max(axis=1, initial=0)
        scale = np.maximum(largest * np.abs(line.direction).max(), height / stride)
        analytic = gradient[:, where] @ line.direction

        def decided(longer, noise=0.0):
            values, weights, y = self.walk(line, stride, where, longer), self.weights, (
                self.y)
            if (values.changes != 0).any(axis=(0, 1)).sum() > _APART:
                y = np.linalg.norm(weights * y, axis=1)
                values = values._replace(changes=values.changes @ weights.T)
                weights = np.eye(len(weights))
            slopes = differences.slopes(y, line.size, values, self.precision.eps,
                                        self.precision.rtol / 4)
            return decide(slopes, weights, analytic, self.precision, scale, noise)

        found, longer = decided(False), False
        whole = np.maximum(found.size, np.abs(analytic))
        hopeless = (found.error > 30 * self.precision.blur * whole) & (found.size > 0)
        again = found.bad | (found.blurred & ~hopeless)
        if where.size == 1 and again.any() and self.second_looks:
            self.second_looks -= 1
            found, longer = decided(True), True
        gap = np.abs(found.analytic - found.nearest)[found.bad]
        if gap.size and (gap <= 100 * self.precision.rtol * found.size[found.bad]).all():
            if self.rough is None:
                self.rough = self.measure_roughness()
            noise = np.linalg.norm(self.rough[:, where] * line.direction, axis=1)
            found = decided(longer, noise)
        return found

    # ............................................................... all of them

    def settle(self, gradient, missing, measure_roughness):
        """A `Settled` for gradients, a row for each upstream gradient.

        measure_roughness: tells what rounding does to the gradients, where asked.
        """
        self.rough, self.measure_roughness = None, measure_roughness
        self.second_looks = _SECOND_LOOKS
        settled, doubts, rows = Settled(missing), [], []
        for part in self.parts if self.x.size else []:
            sizes = self.direction(part)
            fine, foretold, measured, misfit = self.glance(part, sizes, gradient)
            rows.append((foretold, measured))
            none = missing[part]
            if none.any():
                if not self.rests(part[none], sizes[none]):
                    doubts.append((np.inf, part[none], sizes[none]))
                part, sizes = part[~none], sizes[~none]
            if not fine and part.size:
                doubts.append((misfit, part, sizes))
        rows = np.array(rows).reshape(len(rows), 2, len(self.weights))
        settled.analytic, settled.numeric = rows.transpose(1, 2, 0).copy()
        self.take_apart(settled, doubts, gradient)
        if self.projected and not settled.wrong and settled.together is None:
            self.look_at_all(settled, gradient)
        self.summarize(settled, gradient)
        return settled

    def take_apart(self, settled, doubts, gradient):
        """Look at what was doubted; halve what is wrong until one number is left."""
        doubts = deque((pair, False) for _, *pair in sorted(doubts, key=lambda d: d[0]))
        looks = _LOOKS if self.projected else np.inf
        while doubts and looks > 0 and not (self.projected and len(settled.wrong) >= 3):
            (where, sizes), halve = doubts.pop()
            looks -= 1
            none = settled.missing[where].any()
            if not halve or where.size == 1:
                found = self.look_closer(where, sizes, gradient)
                if none and not self.rests(where, sizes, jumps=True):
                    found = found._replace(bad=found.bad | True)
                halve = found.bad.any() or found.kind != "smooth"
            if where.size == 1:
                settled.findings[int(where[0])] = found
                if found.bad.any():
                    settled.wrong.append(int(where[0]))
            elif halve:
                if found.bad.any() and settled.together is None:
                    settled.together = where, found
                halves = [self.glance_at(half, none, gradient) for half in
                          np.array_split(self.rng.permutation(where), 2)]
                for fine, misfit, *half in sorted(halves, key=lambda h: h[1]):
                    later = doubts.append if misfit > 0.01 or none else (
                        doubts.appendleft)
                    if not fine:
                        later((half, True))
            elif found.blurred.any():
                self.count_undecided(settled, where, found, gradient)
        if doubts and not settled.wrong and settled.together is None:
            settled.undecided += sum(pair[0].size for pair, _ in doubts)
            settled.negligible = False

    def glance_at(self, where, none, gradient):
        where = np.sort(where)
        sizes = self.direction(where)
        if none:
            return self.rests(where, sizes), 1.0, where, sizes
        fine, _, _, misfit = self.glance(where, sizes, gradient)
        return fine, misfit, where, sizes

    def look_at_all(self, settled, gradient):
        """Move everything at once: what is wrong by little everywhere adds up."""
        where = np.flatnonzero(~settled.missing & np.isfinite(gradient).all(axis=0))
        if not where.size:
            return
        sizes = np.where(gradient[0, where] < 0, -1, 1) * self.rng.uniform(
            0.5, 1, where.size)
        if where.size == 1 or self.glance(where, sizes, gradient)[0]:
            return
        if self.look_closer(where, sizes, gradient).bad.any():
            self.take_apart(settled, [(0, where, sizes)], gradient)

    def count_undecided(self, settled, where, found, gradient):
        settled.undecided += where.size
        largest = np.where(np.isfinite(gradient), np.abs(gradient), 0).max(axis=1)
        largest = largest * (1 if where.size == 1 else np.linalg.norm(
            self.inputs.unit[where]))
        if not (found.error <= self.precision.blur * largest)[:2].all():
            settled.negligible = False
        if where.size == 1 and settled.example is None:
            settled.example = int(where[0]), found, int(found.blurred.argmax())

    def summarize(self, settled, gradient):
        """Count what is undecided, and fill in what was measured closely."""
        blurred = np.zeros(settled.numeric.shape, bool)
        for k, found in sorted(settled.findings.items()):
            if found.blurred.any() and not found.bad.any():
                self.count_undecided(settled, np.array([k]), found, gradient)
            if not self.projected:
                settled.numeric[:, k] = found.nearest
                settled.analytic[:, k] = found.analytic
                blurred[:, k] = found.blurred
        error = np.where(blurred, 0, np.abs(settled.analytic - settled.numeric))
        settled.largest_error = (np.nan_to_num(error).max(initial=0)
                                 / (np.abs(settled.analytic).max(initial=0) or 1))
