"""How f moves along one direction, and what that says of its gradient.

NumPy alone: f and its inputs come as functions of arrays.
"""

import numpy as np

from . import differences
from .gradient_verdict import agrees, clear, decide

_APART = 256  # outputs, at most, that are looked at each by itself
_SECOND_LOOKS = 20  # at most, with more and longer steps
_NEAR = 0.4  # of the size of a number: so far it moves in a first closer look


class Probe:
    """Moves numbers of x, the elements of f's inputs, and compares.

    Args:
        f: from tensors to the flat y. inputs: an `Inputs`. y: f at x.
        precision: a `Precision`. rng: draws directions.

    Attributes:
        weights (K, m): the upstream gradients, to be set before a look.
        measure_roughness: tells what rounding does to the gradients, where asked.
    """

    def __init__(self, f, inputs, y, precision, rng):
        self.f, self.inputs, self.x, self.y = f, inputs, inputs.x, y
        self.precision, self.rng, self.weights = precision, rng, None
        self.second_looks, self.rough, self.measure_roughness = 0, None, None

    def start(self, measure_roughness):
        """Forget what was measured for other gradients."""
        self.rough, self.measure_roughness = None, measure_roughness
        self.second_looks = _SECOND_LOOKS

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
        rounding = self.rounding()
        moves = []
        for size in (max(far * 0.81, self.reach()), far / 13,
                     self.precision.step * stride):
            for t in (-size, size):
                change = line.at(t)[1]
                if jumps:
                    near = min(32 * self.precision.eps, 2**-7)
                    change = line.at(t * (1 + near))[1] - change
                moves.append(np.nan_to_num(change))
        return not (np.abs(moves) > rounding).any()

    def rounding(self):
        """What an output may change by though it is at rest."""
        return 8 * self.precision.eps * np.abs(self.y)

    def reach(self):
        """A step that shows what rounding hides at short ones, as of 1e7 + x."""
        return self.rounding().max(initial=0) / self.precision.rtol

    def far_slope(self, where, sizes):
        """The slope of f as a long step shows it, for each upstream gradient; 0 where
        short steps tell: far away a simulator may run for ever."""
        line, stride = self.line(where, sizes)
        step = self.reach()
        if step <= self.precision.step * stride:
            return np.zeros(len(self.weights))
        moves = np.abs(np.nan_to_num([line.at(t)[1] for t in (-step, step)])).max(0)
        return np.abs(self.weights) @ np.where(moves > self.rounding(), moves / step, 0)

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

    def walk(self, line, stride, where, how="all"):
        """The values at steps of many sizes: "near" x or at a "few" of these, at "all",
        or at "more" of them.

        Far from x a simulator may take for ever: nobody goes there without need.
        """
        nearest, far = None, 2.0
        if where.size == 1:
            nearest, far = abs(self.x[where[0]]) / stride, 2 * max(1, 1 / stride)
        steps = np.array(differences.step_sizes(self.precision.eps, nearest, far))
        if how in ("few", "near"):
            steps = steps[steps <= _NEAR]
        if how == "few":
            steps = steps[::-5][::-1]
        elif how == "more":
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
        far = 0.0 if analytic.all() else self.far_slope(where, sizes)

        def decided(how, noise=0.0):
            values = self.walk(line, stride, where, how)
            weights, y = self.weights, self.y
            if (values.changes != 0).any(axis=(0, 1)).sum() > _APART:
                y = np.linalg.norm(weights * y, axis=1)
                values = values._replace(changes=values.changes @ weights.T)
                weights = np.eye(len(weights))
            slopes = differences.slopes(y, line.size, values, self.precision.eps,
                                        self.precision.rtol / 4)
            # A slope of 0 is known well enough beside how f moves in a whole stride.
            moves = np.abs(np.nan_to_num(values.changes[values.lengths <= stride]))
            moved = np.abs(weights) @ moves.max(axis=0, initial=0)
            return decide(slopes, weights, analytic, self.precision,
                          np.maximum(scale, moved / stride), far, noise)

        found, how = None, "near"
        if where.size == 1 and not analytic.any():  # it rests, perhaps
            found = decided("few")
        if found is None or found.size.any() or not clear(found, self.precision):
            found = decided("near")
        if not clear(found, self.precision):
            found, how = decided("all"), "all"
        whole = np.maximum(found.size, np.abs(analytic))
        hopeless = (found.error > 30 * self.precision.blur * whole) & (found.size > 0)
        measured = found.bad & (found.error < self.precision.blur * found.size)
        again = (found.bad & ~measured.any()) | (found.blurred & ~hopeless)
        if how == "all" and where.size == 1 and again.any() and self.second_looks:
            self.second_looks -= 1
            found, how = decided("more"), "more"
        gap = np.abs(found.analytic - found.nearest)[found.bad]
        little = 100 * self.precision.rtol * found.size[found.bad]
        if gap.size and (gap <= little).all():
            if self.rough is None:
                self.rough = self.measure_roughness()
            noise = np.linalg.norm(self.rough[:, where] * line.direction, axis=1)
            found = decided(how, noise)
        return found
