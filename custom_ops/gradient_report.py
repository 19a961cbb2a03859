"""`GradientReport`: what `check_gradient` found, in words and as a picture."""

from functools import partial

import numpy as np


class GradientReport:
    """What `check_gradient` found; true if the gradient is right.

    Attributes:
        ok: whether the gradient is right: nothing is wrong, and what is undecided
            is too small beside the largest derivative to matter.
        lines: what `str(report)` shows, line by line.
        labels, analytic, numeric, wrong: lists with an entry for each input that
            was checked: "input 0", the gradient that TensorFlow computes, the
            central differences, and where these two disagree. Arrays of the
            input's shape, with a last axis (real, imaginary) for complex ones.
            Random projections have one entry for all inputs: the derivatives
            along the random directions. The upstream gradient is one of ones;
            where only a random one shows an error, it is that one.
        kinks, jumps: a text for each element at which f bends or jumps.
        undecided: how many elements could be called neither right nor wrong,
            because rounding in f, or its waves and corners, hide their gradient.
        second: the report on the second derivative; None for order=1.
    """

    def __init__(self):
        self.ok, self.lines, self.undecided, self.second = False, [], 0, None
        self.labels, self.analytic, self.numeric, self.wrong = [], [], [], []
        self.kinks, self.jumps = [], []

    def __bool__(self):
        return self.ok

    def __str__(self):
        return "\n".join(self.lines)

    __repr__ = __str__

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


def short(number, scale=0.0, digits=4, precise=4):
    """Few digits, with a point: 4.0 and not 4; rounding noise beside scale is 0.0."""
    if abs(number) < 10.0**-precise * abs(scale):
        number = 0.0
    return str(float(f"{number:.{digits}g}"))


def place_line(report, place, found, precise):
    """Note a kink, a jump or an edge of f at an element, where one is to be seen."""
    apart = found.high[0] - found.low[0]
    a, low, high = (short(v[0], apart, precise=precise)
                    for v in (found.analytic, found.low, found.high))
    if found.kind == "kink" and low != high and not found.blurred.any():
        report.kinks.append(f"{place}: a kink, the gradient {a} lies between the "
                            f"slopes {low} and {high}")
    elif found.kind == "jump":
        report.jumps.append(f"{place}: a jump, the gradient {a} is that beside it, "
                            f"{low} to {high}")
    elif found.kind == "edge":
        report.jumps.append(f"{place}: f is not finite on one side, the gradient {a} "
                            "is that of the other")


def place_lines(report):
    """The lines on kinks and jumps: not more than five of each."""
    lines = []
    for texts in (report.kinks, report.jumps):
        lines += texts[:5]
        if len(texts) > 5:
            lines.append(f"and {len(texts) - 5} more like this")
    return lines


def undecided_lines(prefix, count, size, example, finest):
    """What could not be told, one example, and what would help."""
    remedy = "another x or a smaller f" if finest else (
        "float64, another x or a smaller f")
    lines = [f"{prefix}{count} of {size} elements undecided: rounding, waves or "
             f"corners of f hide the gradient; {remedy} would help"]
    if example:
        place, found, u = example
        around = "" if not np.isfinite(found.error[u]) else (
            f", numeric {short(found.nearest[u])} give or take "
            f"{short(found.error[u], digits=1)}")
        lines.append(f"such as {place}: analytic {short(found.analytic[u])}{around}")
    return lines


def first_line(report, size, second_size, order):
    """The verdict in one line: right, or undecided, and how many elements."""
    second = report.second
    later = second.undecided if second is not None else 0
    tail = f", order {order}, eager and tf.function"
    of_second = (f", of the second derivative {later} of {second_size} undecided"
                 if later else "")
    if not report.ok or (second is not None and not second.ok):
        return (f"gradient undecided: {report.undecided} of {size} elements"
                f"{of_second}{tail}")
    if report.undecided:
        return (f"gradient right: {size - report.undecided} of {size} elements, "
                f"{report.undecided} undecided{of_second}{tail}")
    return f"gradient right: {size} elements{of_second}{tail}"


def error_lines(prefix, error, shown, directions, largest_part):
    """How large the errors are, and how it was looked for them."""
    power = np.ceil(np.log10(max(error, shown)) - 1e-9)
    lines = [f"{prefix}largest error: below {10**power:.0e} of the largest derivative"]
    if directions:
        lines.append(f"{prefix}{directions} random directions, each of at most "
                     f"{largest_part} elements")
    return lines


def telling_upstream(wrong):
    """The upstream gradient to speak of: ones, if they show the errors well."""
    errors = [found.bad * np.nan_to_num(
        np.abs(found.analytic - found.nearest)
        / np.maximum(np.abs(found.analytic), np.abs(found.nearest)), nan=1)
        for found in wrong]
    worst = np.max(errors, axis=0, initial=0) if wrong else np.zeros(1)
    return 0 if worst[0] > 0.1 * worst.max() else first_of_largest(worst)


def first_of_largest(values):
    """Where the first stands that is as large as any: rounding breaks no tie."""
    return int(np.argmax(values >= 0.99 * values.max()))


def failure_lines(settled, u, inputs, upstreams, mode, precision, at_least):
    """First the worst element, then how it was found."""
    findings = settled.findings
    shown = sorted([k for k in settled.wrong if findings[k].bad[u]] or settled.wrong)
    gap = [abs(findings[k].analytic[u] - findings[k].nearest[u]) for k in shown]
    k = shown[first_of_largest(np.nan_to_num(gap, nan=np.inf, posinf=np.inf))]
    found = findings[k]
    a, n = found.analytic[u], found.nearest[u]
    none = settled.missing[k]
    numeric = short(n, a if np.isfinite(a) else 0.0, precision.digits,
                    precision.digits)
    if abs(n) <= found.error[u]:
        numeric = "0.0"
    if not np.isfinite(found.error[u]):
        numeric = "unknown"
    count = f"{'at least ' if at_least else ''}{len(settled.wrong)}"
    others = settled.together[0].size - 1 if (
        settled.together and found is settled.together[1]) else 0
    place = f"{inputs.place(k)}" + (f", and {others} others, all moved at once"
                                    if others else "")
    lines = [f"{place}: analytic {'None' if none else short(a)}, "
             f"numeric {numeric} ({count} of {inputs.x.size} elements wrong)",
             f"found in {mode}, upstream gradient: {upstreams.names[u]}"]
    if not none and short(a) == short(n) != "0.0":
        lines.append(f"they differ by a part of {abs(a - n) / abs(n):.0e}")
    if found.kind in ("kink", "jump"):
        low, high = (short(v[u], found.high[u] - found.low[u], precise=precision.digits)
                     for v in (found.low, found.high))
        if low != high or found.kind == "jump":
            lines.append(f"f has a {found.kind} there, with the slopes {low} and "
                         f"{high}: the gradient lies outside")
    return lines


def ratio_line(settled, u, precision):
    """Whether all wrong elements are wrong by the same factor."""
    shown = [settled.findings[k] for k in settled.wrong if settled.findings[k].bad[u]]
    both = np.array([(one.analytic[u], one.nearest[u]) for one in shown]).T
    if len(shown) > 1 and both[1].all() and np.isfinite(both).all():
        ratios = both[0] / both[1]
        factor = ratios.mean()
        if np.ptp(ratios) < max(10 * precision.rtol, 1e-5) * abs(factor):
            return [f"analytic / numeric is {short(factor)} in all of them"]
    return []


def form_lines(report, inputs, prefix, precision):
    """Whether it is another form of the right one: conjugate, or transposed."""
    lines, rtol = [], max(10 * precision.rtol, 1e-5)
    for i, a, n in zip(inputs.moved, report.analytic, report.numeric, strict=False):
        name = inputs.names[i].removeprefix(prefix)
        close = partial(np.allclose, rtol=rtol, atol=0)
        if close(a, n):
            continue
        if inputs.xs[i].dtype.is_complex and close(a * [1, -1], n):
            lines.append(f"{name}: it is the complex conjugate of what "
                         "TensorFlow expects, dy * conj(f'(z))")
        elif a.ndim == 2 and a.shape == a.T.shape and close(a.T, n):
            lines.append(f"{name}: it is the transpose of the right one")
    return lines


def fill_report(report, inputs, search, analytic, numeric, wrong):
    """The arrays of a report, in the shapes of the inputs."""
    if search.projected:
        report.labels = ["random directions"]
        report.analytic, report.numeric = [analytic], [numeric]
        report.wrong = [np.array([np.isin(wrong, part).any()
                                  for part in search.parts])]
        return
    marks = np.isin(np.arange(inputs.x.size), wrong)
    for i, *rows in zip(inputs.moved, *map(inputs.split, (analytic, numeric, marks)),
                        strict=True):
        x = inputs.xs[i]
        shape = (*x.shape, 2)[:None if x.dtype.is_complex else -1]
        report.labels.append(inputs.names[i])
        for values, row in zip((report.analytic, report.numeric, report.wrong), rows,
                               strict=True):
            values.append(row.reshape(shape))
