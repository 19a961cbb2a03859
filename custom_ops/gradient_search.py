"""Which elements of a gradient are wrong: one by one, or by random projections.

NumPy alone: f and its inputs come as functions of arrays.
"""

from collections import deque
from dataclasses import dataclass, field

import numpy as np

from .gradient_verdict import beside_truth, close

_ONE_BY_ONE = 1000  # above so many elements: by random projections
_PROJECTIONS = 100  # so many, unless told otherwise
_LOOKS = 300  # at most, to take apart the projections that disagree


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
    """Finds the wrong elements of a gradient by a `Probe`.

    Attributes:
        projected: whether the elements are moved together, in `parts`.
    """

    def __init__(self, probe, projections):
        self.probe, n = probe, probe.x.size
        self.projected = projections is not None or n > _ONE_BY_ONE
        count = min(n, int(projections or _PROJECTIONS)) if self.projected else n
        order = probe.rng.permutation(n) if self.projected else np.arange(n)
        self.parts = [np.sort(part) for part in np.array_split(order, count or 1)]

    def settle(self, gradient, missing, measure_roughness, in_float64):
        """A `Settled` for gradients, a row for each upstream gradient.

        measure_roughness: tells what rounding does to the gradients, where asked.
        in_float64: settles the same, or some numbers, where f is less rough.
        """
        self.probe.start(measure_roughness)
        settled = Settled(missing)
        doubts, rows = self.glance_at_each(
            self.parts if self.probe.x.size else [], missing, gradient)
        rows = np.array(rows).reshape(len(rows), 2, len(self.probe.weights))
        settled.analytic, settled.numeric = rows.transpose(1, 2, 0).copy()
        self.take_apart(settled, doubts, gradient)
        if self.projected and not settled.wrong and settled.together is None:
            self.look_at_all(settled, gradient)
        doubted = [k for k, found in settled.findings.items()
                   if found.kind != "smooth" or (found.bad | found.blurred).any()]
        if doubted:
            self.ask_again(settled, in_float64(None if settled.together else doubted))
        self.summarize(settled, gradient)
        return settled

    def settle_some(self, numbers, gradient, missing, measure_roughness):
        """The same for some numbers of x alone, each looked at by itself."""
        self.probe.start(measure_roughness)
        settled, parts = Settled(missing), [np.array([k]) for k in numbers]
        self.take_apart(settled, self.glance_at_each(parts, missing, gradient)[0],
                        gradient)
        return settled

    def glance_at_each(self, parts, missing, gradient):
        """What is in doubt after one look, and what was foretold and measured."""
        doubts, rows = [], []
        for part in parts:
            sizes = self.probe.direction(part)
            fine, foretold, measured, misfit = self.probe.glance(part, sizes, gradient)
            rows.append((foretold, measured))
            none = missing[part]
            if none.any():
                if not self.probe.rests(part[none], sizes[none]):
                    doubts.append((np.inf, part[none], sizes[none]))
                part, sizes = part[~none], sizes[~none]
            if not fine and part.size:
                doubts.append((misfit, part, sizes))
        return doubts, rows

    def ask_again(self, settled, opinion):
        """Correct what rounding, or a kink close by, let us believe in a coarse dtype.

        opinion: what was settled in float64, and the gradients there; or None.
        """
        if opinion is None:
            return
        wide, gradient = opinion
        for k, found in list(settled.findings.items()):
            finer = wide.findings.get(k)
            if finer is None or not (finer.bad | finer.blurred).any():
                settled.findings[k] = beside_truth(found, gradient[:, k],
                                                   self.probe.precision)
            elif finer.bad.any() and not found.bad.any() and close(
                    found.analytic, gradient[:, k], self.probe.precision).all():
                settled.findings[k] = finer
        settled.wrong = [k for k, found in settled.findings.items() if found.bad.any()]
        if settled.together and not (settled.wrong or wide.together or wide.wrong):
            settled.undecided += settled.together[0].size
            settled.together, settled.negligible = None, False

    def take_apart(self, settled, doubts, gradient):
        """Look at what was doubted; halve what is wrong until one number is left."""
        doubts = deque((pair, False) for _, *pair in sorted(doubts, key=lambda d: d[0]))
        looks = _LOOKS if self.projected else np.inf
        while doubts and looks > 0 and not (self.projected and len(settled.wrong) >= 3):
            (where, sizes), halve = doubts.pop()
            looks -= 1
            none = settled.missing[where].any()
            if not halve or where.size == 1:
                found = self.probe.look_closer(where, sizes, gradient)
                if none and not self.probe.rests(where, sizes, jumps=True):
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
                          np.array_split(self.probe.rng.permutation(where), 2)]
                for fine, misfit, *half in sorted(halves, key=lambda h: h[1]):
                    later = doubts.append if misfit > 0.01 or none else (
                        doubts.appendleft)
                    if not fine:
                        later((half, True))
            else:
                self.note_part(settled, where, found, gradient)
        if doubts and not settled.wrong and settled.together is None:
            settled.undecided += sum(pair[0].size for pair, _ in doubts)
            settled.negligible = False

    def glance_at(self, where, none, gradient):
        where = np.sort(where)
        sizes = self.probe.direction(where)
        if none:
            return self.probe.rests(where, sizes), 1.0, where, sizes
        fine, _, _, misfit = self.probe.glance(where, sizes, gradient)
        return fine, misfit, where, sizes

    def look_at_all(self, settled, gradient):
        """Move everything at once: what is wrong by little everywhere adds up."""
        where = np.flatnonzero(~settled.missing & np.isfinite(gradient).all(axis=0))
        if not where.size:
            return
        sizes = np.where(gradient[0, where] < 0, -1, 1) * self.probe.rng.uniform(
            0.5, 1, where.size)
        if where.size == 1 or self.probe.glance(where, sizes, gradient)[0]:
            return
        if self.probe.look_closer(where, sizes, gradient).bad.any():
            self.take_apart(settled, [(0, where, sizes)], gradient)

    def note_part(self, settled, where, found, gradient):
        """Many numbers together, which are not wrong. What is small beside the rest
        of them is missed anyhow, so the last upstream gradient tells nothing."""
        if found.blurred[:-1].any():
            self.count_undecided(settled, where, found, gradient)
        for i, part in enumerate(self.parts):
            if np.array_equal(part, where):
                settled.analytic[:, i] = np.where(found.blurred, 0, found.analytic)
                settled.numeric[:, i] = np.where(found.blurred, 0, found.nearest)

    def count_undecided(self, settled, where, found, gradient):
        settled.undecided += where.size
        largest = np.where(np.isfinite(gradient), np.abs(gradient), 0).max(axis=1)
        largest = largest * (1 if where.size == 1 else np.linalg.norm(
            self.probe.inputs.unit[where]))
        if not (found.error <= self.probe.precision.blur * largest)[:2].all():
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
