"""`GradientReport`: what `check_gradient` found, as values, in words, as a picture."""

from collections import namedtuple

import numpy as np

Element = namedtuple("Element", "place kind analytic numeric error low high")
Element.__doc__ = """One element of an input, and its derivatives as numbers.

place: such as "input 0, element (2,)". kind: whether f is "smooth" there, or has a
"kink", a "jump" or an "edge". analytic: what TensorFlow computes; None where there is
no gradient. numeric: the central difference, by how much it may be off (error), and
the slopes of the two sides (low, high).
"""


class GradientReport:
    """What `check_gradient` found; true if the gradient is right.

    Attributes:
        verdict: "right", "wrong" or "undecided".
        size, order: how many elements were checked, and which derivative.
        wrong_count, worst: how many elements are wrong, and the worst of them, an
            `Element` with place, kind, analytic, numeric, error, low, high, or None.
        undecided, example: how many elements could be called neither right nor wrong,
            because rounding in f, or its waves and corners, hide their gradient; and
            one of them.
        kinks, jumps: an `Element` for each at which f bends or jumps.
        largest_error: of those that are right, beside the largest derivative.
        mode, upstream: where the worst element was found.
        problem: what is wrong where it is not an element, such as "f changes from
            call to call", or "".
        labels, analytic, numeric, wrong: lists with an entry for each input that
            was checked: "input 0", the gradient that TensorFlow computes, the
            central differences, and where these two disagree. Arrays of the
            input's shape, with a last axis (real, imaginary) for complex ones.
            Random directions have one entry for all inputs: the derivatives along
            them. The upstream gradient is one of ones; where only a random one shows
            an error, it is that one.
        directions: how many random directions there were, and the elements of the
            largest; None where each element was moved by itself.
        second: the report on the second derivative; None for order=1.
    """

    def __init__(self, order=1, prefix=""):
        self.order, self.prefix, self.size = order, prefix, 0
        self.verdict, self.problem, self.hints = "undecided", "", []
        self.wrong_count, self.worst, self.mode, self.upstream = 0, None, "", ""
        self.undecided, self.example, self.largest_error, self.shown = 0, None, 0.0, 0.0
        self.kinks, self.jumps, self.unneeded, self.remedy = [], [], [], ""
        self.labels, self.analytic, self.numeric, self.wrong = [], [], [], []
        self.directions = self.second = None

    def fill(self, check):
        """From the findings of a check in which nothing is wrong."""
        own, p, found = check.own, check.precision, check.found
        self._fill_arrays(check, check.eager, 0)
        unsure = [one for one in found if one.undecided.any()]
        numbers = [one.where for one in unsure] + [np.flatnonzero(check.doubtful)]
        self.undecided = np.unique(np.concatenate(numbers)).size
        largest = p.blur * np.abs(check.reference).max(axis=1, initial=0)
        small = all((one.error <= largest * _unit(own, one.where)).all()
                    for one in unsure) and not check.doubtful.any()
        few = small and self.undecided <= self.size / 10
        self.verdict = "right" if few or not self.undecided else "undecided"
        self.shown = p.shown
        sizes = [np.abs(one.analytic).max() for one in found]
        errors = [np.where(one.undecided, 0, np.abs(one.analytic - one.numeric)).max()
                  for one in found]
        self.largest_error = max(errors, default=0) / (max(sizes, default=0) or 1)
        wide = "" if own.dtypes == {"float64"} else "float64, "
        self.remedy = f"{wide}another x or a smaller f"
        if unsure:
            one = max(unsure, key=lambda one: one.error.max())
            self.example = _element(check, one, int(one.undecided.argmax()))
        self.unneeded = [own.names[i] for i, none in zip(
            own.moved, own.split(check.missing), strict=True)
            if none.any() and not self.undecided]
        for one in found:
            if one.where.size == 1 and not (
                    one.undecided.any() or check.missing[one.where[0]]):
                place = _element(check, one, 0)
                if one.kind == "kink" and short(place.low) != short(place.high):
                    self.kinks.append(place)
                elif one.kind in ("jump", "edge"):
                    self.jumps.append(place)

    def fill_wrong(self, check, mode, gradient):
        """From the findings of a check in which some are bad: the worst, and how it
        was found. Ones are the upstream gradient to speak of, if they show it well."""
        wrong = [one for one in check.found if one.bad.any()]
        errors = np.max([one.bad * np.nan_to_num(
            np.abs(one.analytic - one.numeric)
            / np.maximum(np.abs(one.analytic), np.abs(one.numeric)), nan=1)
            for one in wrong], axis=0)
        u = 0 if errors[0] > 0.1 * errors.max() else _first_of_largest(errors)
        wrong = [one for one in wrong if one.bad[u]] or wrong
        gaps = np.array([abs(one.analytic[u] - one.numeric[u]) for one in wrong])
        worst = wrong[_first_of_largest(np.nan_to_num(gaps, nan=np.inf))]
        self.worst, self.mode = _element(check, worst, u), mode
        self.upstream = check.upstreams[u]
        self.wrong_count = sum(one.bad.any() for one in check.found)
        self._fill_arrays(check, gradient, u)
        own = check.own
        if check.missing[worst.where].any():
            self.hints.append("there is no gradient, but the outputs depend on this "
                              "input")
        elif not np.isfinite(gradient).all():
            self.hints.append("the gradient is inf or nan where f is finite")
        zeros = [[0 * dy for dy in own.dys[0]]]
        if np.nan_to_num(own.gradients(dys=zeros)[1], posinf=0, neginf=0).any():
            self.hints.append("the gradient is not 0 where dy is 0: some of it is not "
                              "multiplied by dy")
        elif u:
            self.hints.append("it is right for an upstream gradient of ones: look at how "
                              "dy enters")
        ratios = np.array([one.analytic[u] / one.numeric[u] for one in wrong])
        if len(wrong) > 1 and np.ptp(ratios) < abs(ratios.mean()) * max(
                10 * check.precision.rtol, 1e-5):
            self.hints.append(f"analytic / numeric is {short(ratios.mean())} in all of "
                              "them")

    def _fill_arrays(self, check, gradient, u):
        own, found = check.own, check.found
        self.size = own.x.size
        if check.projected:
            self.directions = len(check.parts), max(map(len, check.parts), default=0)
            self.labels = ["random directions"]
            rows = [(one.analytic[u], one.numeric[u], one.bad.any()) for one in found]
            self.analytic, self.numeric, self.wrong = ([np.array(v)] for v in zip(*rows))
            return
        numeric, wrong = np.zeros(self.size), np.zeros(self.size, bool)
        for one in found:
            numeric[one.where], wrong[one.where] = one.numeric[u], one.bad.any()
        for i, *rows in zip(own.moved, *map(own.split, (gradient[u], numeric, wrong)),
                            strict=True):
            x = own.xs[i]
            shape = (*x.shape, 2)[:None if x.dtype.is_complex else -1]
            self.labels.append(own.names[i])
            for values, row in zip((self.analytic, self.numeric, self.wrong), rows,
                                   strict=True):
                values.append(row.reshape(shape))

    @property
    def ok(self):
        """Whether the verdict is "right"."""
        return self.verdict == "right"

    def __bool__(self):
        return self.ok

    @property
    def lines(self):
        """What `str(report)` shows, line by line."""
        if self.problem:
            return (self.prefix + self.problem).split("\n")
        if self.worst:
            return self._wrong_lines()
        lines = self._lines() + (self.second._lines() if self.second else [])
        return [self._first_line(), *lines]

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
            lines += map(_place_line, places[:5])
            if len(places) > 5:
                lines.append(f"and {len(places) - 5} more like this")
        if self.undecided:
            lines.append(f"{self.prefix}{self.undecided} of {self.size} elements "
                         "undecided: rounding, waves or corners of f hide the gradient; "
                         f"{self.remedy} would help")
        if self.undecided and self.example:
            one = self.example
            around = "" if not np.isfinite(one.error) else (
                f", numeric {short(one.numeric)} give or take {one.error:.0e}")
            analytic = "None" if one.analytic is None else short(one.analytic)
            lines.append(f"such as {one.place}: analytic {analytic}{around}")
        return lines

    def _wrong_lines(self):
        one, least = self.worst, "at least " if self.directions else ""
        analytic, numeric = _apart(one)
        lines = [f"{one.place}: analytic {analytic}, numeric {numeric} ({least}"
                 f"{self.wrong_count} of {self.size} elements wrong)",
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


def _element(check, one, u):
    """An `Element` of the report, for upstream gradient u."""
    k = one.where[np.abs(check.reference[u, one.where]).argmax()]
    others = f", and {one.where.size - 1} others, all moved at once"
    return Element(
        check.own.place(k) + (others if one.where.size > 1 else ""), one.kind,
        None if check.missing[k] else float(one.analytic[u]),
        *(float(v[u]) for v in (one.numeric, one.error, one.low, one.high)))


def _unit(own, where):
    return 1.0 if where.size == 1 else np.linalg.norm(own.unit[where])


def _first_of_largest(values):
    """Where the first stands that is as large as any: rounding breaks no tie."""
    return int(np.argmax(values >= 0.99 * values.max()))


def short(number, digits=4):
    """Few digits, with a point: 4.0 and not 4."""
    return str(float(f"{number:.{digits}g}"))


def _apart(one):
    """The analytic and the numeric derivative, with as many digits as differ."""
    if not np.isfinite(one.error):
        numeric = "unknown"
    elif abs(one.numeric) <= one.error:
        numeric = "0.0"
    else:
        known = np.log10(abs(one.numeric) / max(one.error, 1e-300))
        numeric = short(one.numeric, int(np.clip(known, 1, 4)))
    if one.analytic is None:
        return "None", numeric
    digits = 4
    while short(one.analytic, digits) == numeric and digits < 17:
        digits += 1
        numeric = short(one.numeric, digits)
    return short(one.analytic, digits), numeric


def _place_line(one):
    apart = abs(one.high - one.low)
    a, low, high = (short(0.0 if abs(v) <= max(1e-4 * apart, one.error) else v)
                    for v in (one.analytic, one.low, one.high))
    if one.kind == "kink":
        return (f"{one.place}: a kink, the gradient {a} lies between the slopes {low} "
                f"and {high}")
    if one.kind == "jump":
        return (f"{one.place}: a jump, the gradient {a} is that beside it, {low} to "
                f"{high}")
    return (f"{one.place}: f is not finite on one side, the gradient {a} is that of the "
            "other")
