"""`GradientReport`: what `check_gradient` found, as values, in words, as a picture."""

from collections import namedtuple

import numpy as np


class Element(namedtuple(
        "Element", "input index others kind analytic numeric error low high verdict")):
    """One element of an input, or some that moved together.

    input, index: such as "input 0" and "(2,)"; others: how many moved with it. kind:
    whether f is "smooth" there, or has a "kink" or a "jump". analytic: what TensorFlow
    computes, None where there is no gradient. numeric: the central difference; error:
    by how much it may be off; low, high: the slopes of the two sides. verdict:
    "right", "wrong" or "undecided".
    """

    @property
    def place(self):
        others = f", and {self.others} others, all moved at once" if self.others else ""
        return f"{self.input}, element {self.index}{others}"

    def shown(self, number):
        """With as many digits as the error leaves."""
        error = max(self.error, 1e-5 * abs(self.high - self.low), 1e-300)
        if not np.isfinite(error):
            return "unknown"
        known = np.log10(abs(number) / error) if abs(number) > error else -1
        return "0.0" if known < 0 else short(number, int(np.clip(known, 1, 4)))


class GradientReport:
    """What `check_gradient` found; true if the gradient is right.

    Attributes:
        verdict: "right", "wrong" or "undecided"; ok: whether it is "right".
        order, size: which derivative was checked, and of how many elements.
        elements: an `Element` for each that was moved, in order, or for each random
            direction; for the upstream gradient of ones, if that shows the error.
        worst: the wrong `Element` with the largest error, or None; mode, upstream: in
            which it was found, and for which upstream gradient.
        problem: what is wrong where it is no element, or "".
        kinks, jumps: the right ones at which f bends or jumps.
        undecided: how many elements could be called neither right nor wrong.
        largest_error: of the right ones, beside the largest derivative.
        second: the report on the second derivative; None for order=1.
    """

    def __init__(self, order, prefix=""):
        self.order, self.prefix, self.size, self.elements = order, prefix, 0, []
        self.verdict, self.problem, self.worst, self.hints = "undecided", "", None, []
        self.mode, self.upstream, self.directions, self.second = "", "", None, None
        self.undecided, self.largest_error, self.shown = 0, 0.0, 0.0

    def __bool__(self):
        return self.verdict == "right"

    ok = property(__bool__)
    kinks = property(lambda self: self._right("kink"))
    jumps = property(lambda self: self._right("jump"))

    def _right(self, kind):
        return [one for one in self.elements if one.kind == kind
                and one.verdict == "right" and one.analytic is not None
                and (kind == "jump" or one.shown(one.low) != one.shown(one.high))]

    @property
    def lines(self):
        if self.problem:
            return (self.prefix + self.problem).split("\n")
        if self.worst:
            return self._lines_of_worst()
        elements = f"{self.size} elements"
        if self.undecided:
            elements = f"{self.undecided} of {elements}"
            if self.ok:
                elements = f"{self.size} elements, {self.undecided} undecided"
        head = (f"gradient {self.verdict}: {elements}, order {self.order}, eager and "
                "tf.function")
        return [head, *self._lines(), *(self.second._lines() if self.second else [])]

    def __str__(self):
        return "\n".join(self.lines)

    __repr__ = __str__

    def _lines(self):
        power = np.ceil(np.log10(max(self.largest_error, self.shown)) - 1e-9)
        lines = [f"{self.prefix}largest error: below {10**power:.0e} of the largest "
                 "derivative"]
        if self.directions:
            count, largest = self.directions
            lines.append(f"{self.prefix}{count} random directions, each of at most "
                         f"{largest} elements")
        without = [one.input for one in self.elements if one.analytic is None]
        lines += [f"{name}: no gradient, and none is needed: near x no output moves "
                  "with it" for name in dict.fromkeys(without) if not self.undecided]
        for places, lies in ((self.kinks, "lies between the slopes {} and {}"),
                             (self.jumps, "is that beside it, {} to {}")):
            lines += [f"{one.place}: a {one.kind}, the gradient "
                      f"{one.shown(one.analytic)} "
                      + lies.format(one.shown(one.low), one.shown(one.high))
                      for one in places[:5]]
            if len(places) > 5:
                lines.append(f"and {len(places) - 5} more like this")
        if self.undecided:
            lines.append(f"{self.prefix}{self.undecided} of {self.size} elements "
                         "undecided: rounding, waves or corners of f hide the "
                         "gradient; another x, a smaller f or a wider dtype would help")
        for one in [one for one in self.elements if one.verdict == "undecided"][:1]:
            lines.append(f"such as {one.place}: analytic {short(one.analytic)}, "
                         f"numeric {short(one.numeric)} give or take {one.error:.0e}")
        return lines

    def _lines_of_worst(self):
        one, least = self.worst, "at least " if self.directions else ""
        count = sum(one.verdict == "wrong" for one in self.elements)
        numeric, digits = one.shown(one.numeric), 4
        while short(one.analytic, digits) == numeric and digits < 17:
            digits += 1  # as many as differ
            numeric = short(one.numeric, digits)
        analytic = short(one.analytic, digits)
        lines = [f"{one.place}: analytic {analytic}, numeric {numeric} ({least}{count} "
                 f"of {self.size} elements wrong)",
                 f"found in {self.mode}, upstream gradient: {self.upstream}"]
        low, high = one.shown(one.low), one.shown(one.high)
        if one.kind == "jump" or one.kind == "kink" and low != high:
            lines.append(f"f has a {one.kind} there, with the slopes {low} and {high}: "
                         "the gradient lies outside")
        return lines + self.hints

    def draw(self):
        """Draw analytic, numeric and error side by side, over the elements (or the
        random directions) in order, with red crosses where the gradient is wrong;
        the second derivative has a row of its own. Returns the figure."""
        import matplotlib.pyplot as plt

        reports = [report for report in (self, self.second) if report is not None]
        if not self.elements:
            raise ValueError("there is nothing to draw: " + self.lines[0])
        figure, grid = plt.subplots(len(reports), 3, figsize=(9, 2.6 * len(reports)),
                                    squeeze=False, layout="constrained")
        for report, axes in zip(reports, grid, strict=True):
            analytic, numeric, wrong = np.array([
                (one.analytic or 0.0, one.numeric, one.verdict == "wrong")
                for one in report.elements]).T
            error = np.abs(analytic - numeric)
            axes[0].plot(analytic, "C0-o", markersize=3)
            axes[1].plot(numeric, "C1--s", markersize=3)
            axes[2].plot(error, "C2:.", np.flatnonzero(wrong), error[wrong > 0], "rx")
            for ax, title in zip(axes, ("analytic", "numeric", "error"), strict=True):
                ax.set(title=title, ylabel="derivative",
                       xlabel="direction" if report.directions else "element")
            axes[0].sharey(axes[1])
        return figure


def short(number, digits=4):
    """Few digits, with a point: 4.0 and not 4."""
    return "None" if number is None else str(float(f"{number:.{digits}g}"))
