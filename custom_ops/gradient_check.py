"""`check_gradient`: an op's gradient, compared with central differences."""

import math
from functools import partial

import numpy as np

from . import gradient_report
from .gradient_in_float64 import in_float64, right_in_float64
from .gradient_linear import require_linear
from .gradient_probe import Probe
from .gradient_report import (
    GradientReport,
    failure_lines,
    fill_report,
    form_lines,
    ratio_line,
    short,
    telling_upstream,
)
from .gradient_search import Search
from .gradient_verdict import PRECISIONS, precision_of
from .gradients_by_tape import Inputs, Upstreams, flat, outputs, vjps
from .promises import as_tensor, differentiable
from .tensorflow_start import tf

__all__ = ["GradientReport", "check_gradient"]


def check_gradient(f, inputs, order=1, projections=None, rtol=None, seed=0):
    """Compare the gradient that TensorFlow computes with central differences.

    The gradient ("analytic") is computed by a tape in eager mode and inside a
    `tf.function`, for an upstream gradient of ones and for random ones of each
    output. The difference ("numeric") is (f(x + h) - f(x - h)) / 2h, and what steps
    h of many sizes say together. At a kink or a jump of f the slopes on both sides
    are found: the gradient has to lie between them, and the report names the place.
    What dy gives has to be linear in dy: neither clipped, nor nan where dy is 0.

    There are four verdicts. Right: analytic and numeric agree to within rtol.
    Wrong: they differ by more than rounding and steps can explain; not finite: the
    gradient is inf or nan where f is finite; both raise. Undecided: f is so rough,
    by its own rounding or by waves, that a wrong gradient could not be told from a
    right one. The first line of the report says so, and how many elements. What
    float32, float16 or bfloat16 leave in doubt is looked at in float64, if f can.

    Args:
        f: takes the inputs as arguments; returns a tensor or a list of tensors of
            any shape. Only outputs of float or complex dtype count. Where it raises
            at a step away from x, or returns another shape, is an edge to it.
        inputs: list of tensors, variables, arrays or numbers of any shape. Those
            of float or complex dtype are checked, the others held fixed. float64
            tells most: an error of 1e-5 never passes there. In float32 that is
            1e-3, in float16 1e-2, in bfloat16 a tenth; smaller ones are mostly
            found as well.
        order: 1 checks the first derivative; 2 also the derivative of that by the
            inputs and by the upstream gradient ("dy 0").
        projections: how many random directions to move the inputs in, instead of
            each element by itself; by default 100 above 1,000 elements. Each
            moves a part of the elements, no two the same, and one more moves all;
            a part that disagrees is halved until a wrong element is found. Missed
            is what is small beside the rest of its part (1,000 for 10^5 elements):
            the tolerance holds for the norm of that part's gradient. A few wrong
            elements are found, not all of them counted.
        rtol: relative tolerance, added to the estimated error of the difference;
            by default 1e-6, 3e-5, 5e-3 or 3e-2, for the coarsest dtype in use.
        seed: of the random upstream gradients and directions.

    Returns:
        A `GradientReport`, which prints well and draws itself. It is true where the
        gradient is right, false where it is undecided; a few undecided elements
        that are small beside the largest derivative are only counted.

    Raises:
        AssertionError: the gradient is wrong, missing, not finite, not linear in
            dy, or of another shape; cannot be computed; depends on the mode; changes
            from call to call. The text names the worst element, the attribute
            `report` has the `GradientReport`, false.
        TypeError, ValueError: a wrong argument, nothing to differentiate, inputs
            that are not finite, or an `f` that raises or is not finite at them.

    Example:
        >>> x = tf.constant([1.0, 2.0], tf.float64)
        >>> check_gradient(lambda x: x**2, [x])
        gradient right: 2 elements, order 1, eager and tf.function
        largest error: below 1e-06 of the largest derivative

    Source: the steps and their errors are those of `custom_ops.differences`, which
    names where they come from. Lesson 05 builds a check by hand.
    """
    _require(f, order, projections, rtol, seed)
    try:
        return _report(f, _tensors(inputs), order, (projections, rtol, seed))
    except AssertionError as wrong:  # its way through these modules tells nothing
        raise wrong.with_traceback(None) from wrong.__cause__


def _report(f, xs, order, options):
    """What `check_gradient` returns or raises."""
    names = [f"input {i}" for i in range(len(xs))]
    check = _Check(f, xs, names, "", *options)
    report, second_size = check.run(), 0

    def first(*args):  # the first derivative is a function too, of inputs and dys
        dxs = vjps(f, args[:len(xs)], [args[len(xs):]])[1][0]
        return [dx for dx in dxs if dx is not None]

    for dys, size in zip(check.upstreams.dys[:2], check.sizes, strict=False):
        largest = check.sizes.max()  # beside it, size may be 0 but for rounding
        rounding = 0 < largest and size <= 1e3 * check.precision.eps * largest
        if order == 1 or check.missing.all() or rounding:
            continue
        second_names = names + [f"dy {i}" for i in range(len(dys))]
        again = _Check(first, [*xs, *dys], second_names, "second derivative, ",
                       *options)
        second, second_size = again.run(), again.x.size
        if report.second is None or second.undecided > report.second.undecided:
            report.second = second  # that of ones is easier to read
    head = gradient_report.first_line(report, check.x.size, second_size, order)
    report.lines = [head, *report.lines,
                    *(report.second.lines if report.second is not None else [])]
    report.ok = head.startswith("gradient right")
    return report


def _require(f, order, projections, rtol, seed):
    """Refuse wrong arguments in words."""
    if not callable(f):
        raise TypeError(f"check_gradient: f must be callable, got {f!r}")
    if order not in (1, 2):
        raise ValueError(f"check_gradient: order must be 1 or 2, got {order!r}")
    if projections is not None and not _whole(projections, least=1):
        raise ValueError("check_gradient: projections must be a positive integer or "
                         f"None, got {projections!r}")
    if not _whole(seed, least=0):
        raise ValueError("check_gradient: seed must be an integer from 0 on, got "
                         f"{seed!r}")
    if rtol is not None:
        try:
            number = float(rtol)
        except (TypeError, ValueError) as error:
            raise TypeError("check_gradient: rtol must be a positive number or None, "
                            f"got {rtol!r}") from error
        if not 0 < number < math.inf:
            raise ValueError("check_gradient: rtol must be a positive number or "
                             f"None, got {rtol!r}")


def _whole(number, least):
    try:
        return number == int(number) and number >= least
    except (TypeError, ValueError, OverflowError):
        return False


def _tensors(inputs):
    """The inputs as tensors of their own: f may use the same ones by another way."""
    if not isinstance(inputs, (list, tuple)):
        raise TypeError("check_gradient: inputs must be a list, got "
                        f"{type(inputs).__name__}; pass [x] for a single x")
    xs = [tf.identity(as_tensor(pair[1], f"check_gradient: input {pair[0]}"))
          for pair in enumerate(inputs)]
    if not any(map(differentiable, xs)):
        raise TypeError("check_gradient: no input is of float or complex dtype; got "
                        + (", ".join(x.dtype.name for x in xs) or "an empty list"))
    for i, x in enumerate(xs):
        infinite = ~np.isfinite(flat([x])) if differentiable(x) else np.zeros(1, bool)
        if infinite.any():
            raise ValueError(f"check_gradient: input {i} is not finite: "
                             f"{infinite.sum()} of {infinite.size} numbers are inf "
                             "or nan; there is no derivative")
    return xs


def _differ(first, second, rtol):
    """Where two results are further apart than rounding puts them."""
    size = np.maximum(np.abs(first), np.abs(second))
    bound = rtol * size[np.isfinite(size)].max(initial=0)
    return ~((np.abs(first - second) <= bound) | (first == second)
             | (np.isnan(first) & np.isnan(second)))


class _Check:
    """The check of one derivative, of outputs y by numbers x: see `Inputs`."""

    def __init__(self, f, xs, names, prefix, projections, rtol, seed):
        self.f, self.prefix, self.report = f, prefix, GradientReport()
        self.settled, self.again = None, partial(_Check, f, names=names, prefix=prefix,
                                                 projections=projections, seed=seed)
        self.inputs = Inputs(xs, [prefix + name for name in names])
        self.xs, self.x = xs, self.inputs.x
        self.rng = np.random.default_rng(seed)
        try:
            ys = outputs(f, xs)
        except Exception as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"check_gradient: {prefix}f raises at the inputs themselves: "
                       f"{type(error).__name__}: {error}") from error
        if not ys:
            raise TypeError(f"check_gradient: {prefix}f returns no float or complex "
                            "output")
        self.y = flat(ys)
        if not np.isfinite(self.y).all():
            raise ValueError(f"check_gradient: {prefix}f is not finite at the inputs: "
                             f"{np.sum(~np.isfinite(self.y))} of {self.y.size} output "
                             "elements are inf or nan")
        dtypes = {t.dtype.real_dtype.name
                  for t in [xs[i] for i in self.inputs.moved] + ys}
        if not dtypes <= PRECISIONS.keys():
            raise TypeError("check_gradient: dtypes must be among "
                            f"{', '.join(PRECISIONS)}, got {', '.join(dtypes)}")
        self.precision, self.dtypes = precision_of(dtypes, rtol), dtypes
        self.probe = Probe(lambda tensors: flat(outputs(f, tensors)), self.inputs,
                           self.y, self.precision, self.rng)
        self.search = Search(self.probe, projections)
        self.ys = ys

    def run(self):
        """Return the report, or raise AssertionError."""
        with np.errstate(all="ignore"):  # inf and nan are dealt with one by one
            eager, missing = self.eager_gradients()
            self.sizes, self.missing = np.abs(eager).max(axis=1, initial=0), missing
            self.compare("eager mode", eager, missing)
            require_linear(self, eager)
            in_graph, also_missing = self.gradients("tf.function")
            if (missing != also_missing).any() or not np.allclose(
                    eager, in_graph, self.precision.rtol, 0, equal_nan=True):
                first = self.report
                self.compare("tf.function", in_graph, also_missing)
                self.report = max(first, self.report, key=lambda r: r.undecided)
            self.require_same("f", self.y, flat(outputs(self.f, self.xs)))
        return self.report

    def eager_gradients(self):
        """Choose upstream gradients; see `gradients`."""
        self.require_same("f", self.y, flat(outputs(self.f, self.xs)))
        self.upstreams = Upstreams(self.ys, self.probe.movement(), self.rng)
        self.probe.weights = self.upstreams.weights
        eager, missing = self.gradients("eager mode")
        if np.isfinite(eager).all():
            return eager, missing
        self.upstreams.shrink()  # or is only dy too large for the dtype?
        return self.gradients("eager mode")

    def gradients(self, mode):
        """Flat gradients, a row for each upstream, and which elements have none."""

        def compute(*xs):
            return vjps(self.f, xs, self.upstreams.dys)

        def trace(autograph):  # one trace for sure, and no warning about many
            traced = tf.function(compute, autograph=autograph)
            return traced.get_concrete_function(*self.xs)

        try:
            try:
                run = compute if mode == "eager mode" else trace(autograph=False)
            except tf.errors.OperatorNotAllowedInGraphError:  # f has an `if` or a `for`
                run = trace(autograph=True)
            (ys, rows), (_, again) = run(*self.xs), run(*self.xs)
        except Exception as error:
            text = str(error).strip().split("\n")[0][:300]
            self.fail(f"no gradient in {mode}: {type(error).__name__}: {text}",
                      cause=error)
        y = flat(ys)
        # A graph may compute log(1 + x) better than its ops one by one do.
        size = max(1.0, np.abs(self.x).max(initial=0))
        if y.shape != self.y.shape or (
                _differ(self.y, y, self.precision.shown)
                & (np.abs(self.y - y) > 8 * self.precision.eps * size)).any() and not (
                mode == "tf.function" and right_in_float64(self)):
            self.fail("f changes from call to call" if mode == "eager mode" else
                      "f does not give the same in a tf.function as in eager mode")
        gradient = np.stack([self.flat_gradient(row, mode) for row in rows])
        self.require_same(f"the gradient in {mode}", gradient,
                          np.stack([self.flat_gradient(row, mode) for row in again]))
        self.rough = partial(self.roughness, run, gradient, mode)
        sizes = np.diff(self.inputs.ends, prepend=0)
        return gradient, np.repeat([dx is None for dx in rows[0]], sizes)

    def roughness(self, run, gradient, mode):
        """What rounding does to the gradient: how it changes when x changes by it."""
        changes = np.zeros(gradient.shape)
        for _ in range(6):
            steps = self.rng.integers(-2, 3, self.x.size) * self.precision.eps
            xs = self.inputs.tensors(self.x * (1 + steps))
            rows = run(*xs)[1]
            beside = np.stack([self.flat_gradient(row, mode) for row in rows])
            changes = np.fmax(changes, np.abs(beside - gradient))
        return changes

    def flat_gradient(self, dxs, mode):
        """One gradient for each input that moves, as one vector, zeros for None."""
        dense = []
        for i, dx in zip(self.inputs.moved, dxs, strict=True):
            x, name = self.xs[i], self.inputs.names[i]
            dx = tf.zeros_like(x) if dx is None else dx
            if dx.shape != x.shape:
                hint = ("; sum it over the axes that f broadcast"
                        if dx.shape.num_elements() > x.shape.num_elements() else "")
                self.fail(f"{name}: the gradient has shape {dx.shape}, the "
                          f"input has {x.shape} ({mode}){hint}")
            if dx.dtype != x.dtype:
                self.fail(f"{name}: the gradient is {dx.dtype.name}, the "
                          f"input is {x.dtype.name} ({mode})")
            dense.append(dx)
        return flat(dense)

    def require_same(self, what, first, second):
        if first.shape != second.shape:
            self.fail(f"{what} has outputs of another size from call to call")
        bound = min(1e3 * self.precision.eps, self.precision.blur)
        differ = _differ(first, second, bound)
        if differ.any():
            k = int(differ.argmax())
            a, b = (short(values.ravel()[k]) for values in (first, second))
            self.fail(f"{what} changes from call to call: {a}, then {b}")

    def compare(self, mode, gradient, missing):
        """Fill the report, or fail."""
        self.report = r = GradientReport()
        found = self.settled = self.search.settle(gradient, missing, self.rough,
                                                  partial(in_float64, self))
        findings, wrong = found.findings, found.wrong
        analytic, numeric = found.analytic, found.numeric
        u = telling_upstream([findings[k] for k in wrong])
        fill_report(r, self.inputs, self.search, analytic[u], numeric[u], wrong)
        if found.together and not wrong:
            wrong = found.stand_for_all()
            u = telling_upstream([findings[k] for k in wrong])
        if wrong:
            lines = failure_lines(found, u, self.inputs, self.upstreams, mode,
                                  self.precision, at_least=self.search.projected)
            lines += self.hints(found, u, gradient, missing)
            self.fail("\n".join(lines))
        r.undecided = found.undecided
        r.ok = found.negligible
        r.lines = gradient_report.error_lines(
            self.prefix, found.largest_error, self.precision.shown,
            len(self.search.parts) if self.search.projected else 0,
            self.search.parts[0].size if self.search.parts else 0)
        for i, none in zip(self.inputs.moved, self.inputs.split(missing), strict=True):
            if none.any() and not r.undecided:
                r.lines.append(f"{self.inputs.names[i]}: no gradient, and none "
                               "is needed: near x no output moves with it")
        for k, one in sorted(findings.items()):
            gradient_report.place_line(r, self.inputs.place(k), one,
                                       self.precision.digits)
        r.lines += gradient_report.place_lines(r)
        if r.undecided:
            example = found.example and (self.inputs.place(found.example[0]),
                                         *found.example[1:])
            r.lines += gradient_report.undecided_lines(
                self.prefix, r.undecided, self.x.size, example,
                self.dtypes == {"float64"})

    def hints(self, found, u, gradient, missing):
        """What else is known of a wrong gradient."""
        lines = []
        if missing[found.wrong].any():
            lines.append("there is no gradient, but the outputs depend on this input")
        elif not np.isfinite(gradient).all():
            lines.append("the gradient is inf or nan where f is finite")
        zeros = [tf.zeros_like(dy) for dy in self.upstreams.dys[0]]
        at_zero = [dx for dx in vjps(self.f, self.xs, [zeros])[1][0] if dx is not None]
        if np.nan_to_num(flat(at_zero), posinf=0, neginf=0).any():
            lines.append("the gradient is not 0 where dy is 0: some of it is not "
                         "multiplied by dy")
        elif u:
            lines.append("it is right for an upstream gradient of ones: look at how dy "
                         "enters")
        if not self.search.projected:
            lines += form_lines(self.report, self.inputs, self.prefix, self.precision)
        return lines + ratio_line(found, u, self.precision)

    def fail(self, text, cause=None):
        text = text if text.startswith(self.prefix) else self.prefix + text
        self.report.ok, self.report.lines = False, text.split("\n")
        error = AssertionError(text)
        error.report = self.report
        raise error from cause
