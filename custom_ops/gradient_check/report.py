"""`GradientReport`: what `check_gradient` found, as values, in words, as a picture."""

from collections import namedtuple

import numpy as np

Element = namedtuple("Element", "place kind analytic numeric error low high verdict")
Element.__doc__ = """One element of an input, or some that moved together.

place: such as "input 0, element (2,)". kind: whether f is "smooth" there, or has a
"kink", a "jump" or an "edge". analytic: what TensorFlow computes, None where there is
no gradient. numeric: the central difference; error: by how much it may be off; low,
high: the slopes of the two sides. verdict: "right", "wrong" or "undecided".
"""


class GradientReport:
    """What `check_gradient` found; true if the gradient is right.

    Attributes:
        verdict: "right", "wrong" or "undecided"; ok: whether it is "right".
        order, size: which derivative was checked, and of how many elements.
        elements: an `Element` for each that was moved, or for each random direction.
            The upstream gradient is one of ones; where only a random one shows an
            error, it is that one.
        worst: of the wrong elements that with the largest error, or None.
        kinks, jumps: those at which f bends or jumps.
        undecided: how many elements could be called neither right nor wrong, because
            rounding in f, or its waves and corners, hide their gradient.
        problem: what is wrong where it is no element, such as "f changes from call
            to call", or "".
        mode, upstream: where an error was found: in eager mode or in a tf.function,
            and for which upstream gradient.
        labels, analytic, numeric, wrong: lists with an entry for each input that was
            checked: "input 0", both derivatives, and where they disagree: arrays of
            its shape, with a last axis (real, imaginary) for complex ones. Random
            directions have one entry for all inputs.
        largest_error: of the right ones, beside the largest derivative.
        second: the report on the second derivative; None for order=1.
        lines: what `str(report)` shows, line by line.
    """

    def __init__(self, order, prefix, shapes):
        self.order, self.prefix, self.shapes = order, prefix, shapes
        self.size = int(sum(map(np.prod, shapes.values())))
        self.verdict, self.problem, self.hints = "undecided", "", []
        self.mode, self.upstream, self.elements, self.worst = "", "", [], None
        self.undecided, self.example, self.largest_error, self.shown = 0, None, 0.0, 0.0
        self.directions, self.unneeded, self.remedy, self.second = None, [], "", None
        self.labels, self.analytic, self.numeric, self.wrong = [], [], [], []

    def set_elements(self, elements):
        """The elements, and as arrays what `draw` shows of them."""
        self.elements, start = elements, 0
        rows = np.array([(one.analytic or 0.0, one.numeric, one.verdict == "wrong")
                         for one in elements]).reshape(-1, 3).T
        shapes = {"random directions": (len(elements),)} if self.directions else (
            self.shapes)
        for label, shape in shapes.items():
            stop = start + int(np.prod(shape))
            analytic, numeric, wrong = rows[:, start:stop].reshape(3, *shape)
            self.labels.append(label)
            self.analytic.append(analytic)
            self.numeric.append(numeric)
            self.wrong.append(wrong.astype(bool))
            start = stop

    @property
    def ok(self):
        return self.verdict == "right"

    def __bool__(self):
        return self.ok

    @property
    def kinks(self):
        return [one for one in self._places("kink") if short(one.low) != short(one.high)]

    @property
    def jumps(self):
        return self._places("jump", "edge")

    def _places(self, *kinds):
        return [one for one in self.elements if one.kind in kinds
                and one.verdict == "right" and one.analytic is not None]

    @property
    def lines(self):
        if self.problem:
            return (self.prefix + self.problem).split("\n")
        if self.worst:
            return self._lines_of_worst()
        second = self.second._lines() if self.second else []
        return [self._first_line(), *self._lines(), *second]

    def __str__(self):
        return "\n".join(self.lines)

    __repr__ = __str__

    def _first_line(self):
        second, tail = self.second, f", order {self.order}, eager and tf.function"
        if second and second.undecided:
            tail = (f", of the second derivative {second.undecided} of {second.size} "
                    f"undecided{tail}")
        if self.verdict == "undecided":
            return f"gradient undecided: {self.undecided} of {self.size} elements{tail}"
        if self.undecided:
            return (f"gradient right: {self.size - self.undecided} of {self.size} "
                    f"elements, {self.undecided} undecided{tail}")
        return f"gradient right: {self.size} elements{tail}"

    def _lines(self):
        power = np.ceil(np.log10(max(self.largest_error, self.shown)) - 1e-9)
        lines = [f"{self.prefix}largest error: below {10**power:.0e} of the largest "
                 "derivative"]
        if self.directions:
            count, largest = self.directions
            lines.append(f"{self.prefix}{count} random directions, each of at most "
                         f"{largest} elements")
        lines += [f"{name}: no gradient, and none is needed: near x no output moves "
                  "with it" for name in self.unneeded]
        for places in self.kinks, self.jumps:
            lines += map(_sentence, places[:5])
            if len(places) > 5:
                lines.append(f"and {len(places) - 5} more like this")
        if self.undecided:
            lines.append(f"{self.prefix}{self.undecided} of {self.size} elements "
                         "undecided: rounding, waves or corners of f hide the "
                         f"gradient; {self.remedy} would help")
        for one in filter(None, [self.example]):
            around = "" if not np.isfinite(one.error) else (
                f", numeric {short(one.numeric)} give or take {one.error:.0e}")
            lines.append(f"such as {one.place}: analytic {short(one.analytic)}{around}")
        return lines

    def _lines_of_worst(self):
        one, least = self.worst, "at least " if self.directions else ""
        count = sum(one.verdict == "wrong" for one in self.elements)
        analytic, numeric = _apart(one)
        lines = [f"{one.place}: analytic {analytic}, numeric {numeric} ({least}{count} "
                 f"of {self.size} elements wrong)",
                 f"found in {self.mode}, upstream gradient: {self.upstream}"]
        low, high = short(one.low), short(one.high)
        if one.kind == "jump" or one.kind == "kink" and low != high:
            lines.append(f"f has a {one.kind} there, with the slopes {low} and {high}: "
                         "the gradient lies outside")
        return lines + self.hints

    def draw(self):
        """Draw analytic, numeric and error side by side; returns the figure.

        A matrix is drawn as an image, all else as a line over its elements in
        order. Red crosses mark where the gradient is wrong.
        """
        import matplotlib.pyplot as plt

        rows = [row for r in (self, self.second) if r is not None
                for row in zip(r.labels, r.analytic, r.numeric, r.wrong, strict=True)]
        if not rows:
            raise ValueError("there is nothing to draw: " + self.lines[0])
        figure, grid = plt.subplots(len(rows), 3, figsize=(9, 2.6 * len(rows)),
                                    squeeze=False, layout="constrained")
        for axes, (label, analytic, numeric, wrong) in zip(grid, rows, strict=True):
            _draw_row(axes, analytic, numeric, wrong)
            axes[0].set_ylabel(f"{label}\n{axes[0].get_ylabel()}")
        return figure


def _draw_row(axes, analytic, numeric, wrong):
    panels = [("analytic", analytic, "C0-o"), ("numeric", numeric, "C1--s"),
              ("error", np.abs(analytic - numeric), "C2:.")]
    limits = [min(analytic.min(), numeric.min()), max(analytic.max(), numeric.max())]
    matrix = analytic.ndim == 2 and min(analytic.shape) > 2
    for ax, (title, values, look) in zip(axes, panels, strict=True):
        if matrix:
            low, high = limits if title != "error" else (None, None)
            image = ax.imshow(values, aspect="auto", vmin=low, vmax=high)
            ax.figure.colorbar(image, ax=ax)
            ax.set(xlabel="column", ylabel="row")
        else:
            ax.plot(values.ravel(), look, markersize=3)
            ax.set(xlabel="element", ylabel="derivative")
        ax.set_title(title)
    if matrix:
        axes[2].plot(*np.nonzero(wrong)[::-1], "rx")
    else:
        axes[0].sharey(axes[1])
        at = np.flatnonzero(wrong)
        axes[2].plot(at, panels[2][1].ravel()[at], "rx")


def short(number, digits=4):
    """Few digits, with a point: 4.0 and not 4."""
    return "None" if number is None else str(float(f"{number:.{digits}g}"))


def _apart(one):
    """The analytic and the numeric derivative, with as many digits as differ."""
    if not np.isfinite(one.error):
        return short(one.analytic), "unknown"
    if abs(one.numeric) <= one.error:
        return short(one.analytic), "0.0"
    known = np.log10(abs(one.numeric) / max(one.error, 1e-300))
    numeric, digits = short(one.numeric, int(np.clip(known, 1, 4))), 4
    while short(one.analytic, digits) == numeric and digits < 17:
        digits += 1
        numeric = short(one.numeric, digits)
    return short(one.analytic, digits), numeric


def _sentence(one):
    none = max(1e-4 * abs(one.high - one.low), one.error)
    a, low, high = (short(0.0 if abs(v) <= none else v)
                    for v in (one.analytic, one.low, one.high))
    return one.place + {
        "kink": f": a kink, the gradient {a} lies between the slopes {low} and {high}",
        "jump": f": a jump, the gradient {a} is that beside it, {low} to {high}",
        "edge": f": f is not finite on one side, the gradient {a} is that of the other",
    }[one.kind]
