"""`check_gradient`, and the order of its steps: `_Check.run`."""

import math
import numbers

import numpy as np

from ..tensorflow_start import tf
from .differences import SURE, Line
from .report import Element, GradientReport, short
from .tape import Function, differentiable, flat, full_float32, like, vjps
from .verdict import Comparison

_ONE_BY_ONE = 1000  # above so many elements: by random directions
_DIRECTIONS = 100  # so many, unless told otherwise
_DOUBTS = 20  # so many elements that differ from float64 are measured in their dtype


def check_gradient(f, inputs, order=1, projections=None, rtol=None, seed=0):
    """Compare the gradient that TensorFlow computes with central differences.

    The gradient ("analytic") is computed by a tape in eager mode and inside a
    `tf.function`, for an upstream gradient dy of ones and for random ones, and has to
    be linear in dy, from 0 to 16. The difference ("numeric") is what
    (f(x + h) - f(x - h)) / 2h says for steps h of many sizes. At a kink or a jump of f
    the gradient has to lie between the slopes of both sides.

    Where f accepts float64 the formula is checked there, whatever the dtype of the
    inputs; then the gradient in their dtype has to be the same, but for rounding.
    Elsewhere it is measured as it is, with the tolerance that this leaves.

    The verdict is "right"; or "wrong", which raises; or "undecided": by its rounding
    or by waves f is too rough to tell. Undecided elements are only counted if they are
    at most a tenth, and their error is small beside the largest derivative.

    Where f is constant close to x its derivative is 0, however it moves further away:
    the straight-through gradient of `round` is wrong. Stairs lower than 1e-10 of f are
    taken for rounding; those up to 2e-6 are undecided, if not as low as x is rounded.

    Args:
        f: takes the inputs as arguments; returns a tensor or a list of tensors of any
            shape; those of float or complex dtype count. It may raise away from x.
        inputs: list of tensors, variables, arrays or numbers of any shape. Those of
            float or complex dtype are checked, the others held fixed.
        order: 1 checks the first derivative; 2 also the derivative of that by the
            inputs and by the upstream gradient ("dy 0").
        projections: how many random directions to move the inputs in, instead of each
            element by itself; by default 100 above 1,000 elements. Each moves a part
            of the elements, and one more all; its largest element names it.
        rtol: relative tolerance, added to the estimated error of the difference; by
            default 1e-6, 3e-5, 5e-3 or 3e-2, for the coarsest dtype in use. An error
            of 1e-5 (and 1e-12 dy) never passes in float64, nor one of 1e-3 in float32,
            1e-2 in float16, a tenth in bfloat16; smaller ones mostly neither.
        seed: of the random upstream gradients and directions.

    Returns:
        A `GradientReport`: true where the gradient is right, false if undecided.

    Raises:
        AssertionError: the gradient is wrong, missing, not finite, not linear in dy,
            changes, or cannot be computed. Its attribute `report` is the report.
        TypeError, ValueError: a wrong argument, nothing to differentiate, inputs
            that are not finite, or an `f` that raises or is not finite at them.

    Example:
        >>> x = tf.constant([1.0, 2.0], tf.float64)
        >>> check_gradient(lambda x: x**2, [x])
        gradient right: 2 elements, order 1, eager and tf.function
        largest error: below 1e-06 of the largest derivative

    Source: see `gradient_check.differences`. Lesson 05 builds a check by hand.
    """
    _require_options(order, projections, rtol)
    xs = _tensors(inputs)
    names, options = [f"input {i}" for i in range(len(xs))], (projections, rtol, seed)

    def first(*args):  # the first derivative is a function too, of inputs and dys
        [dxs] = vjps(f, args[:len(xs)], [args[len(xs):]])
        return [dx for dx in dxs if dx is not None]

    try:
        # inf and nan are dealt with one by one
        with np.errstate(all="ignore"), full_float32():
            check = _Check(f, xs, names, GradientReport(order), *options)
            report = check.run()
            for dys in check.dys_of_second() if order == 2 else []:
                all_names = [f"second derivative, {name}" for name in (
                    *names, *(f"dy {i}" for i in range(len(dys))))]
                second = _Check(first, [*xs, *dys], all_names, GradientReport(
                    order, "second derivative, "), *options).run()
                if report.second is None or not second:  # ones are easy to read
                    report.second = second
                if not second:
                    report.verdict = "undecided"
    except AssertionError as wrong:  # its way through these modules tells nothing
        raise wrong.with_traceback(None) from wrong.__cause__
    return report


class _Check:
    """The check of one derivative.

    own, fine: f in the dtype of the inputs; and in float64, if it can, else the same.
    eager, reference: their gradients (K, n), a row for each upstream gradient.
    missing (n,): which numbers have none. found: a `Finding` for all that was moved.
    undecided (n,): of which numbers neither right nor wrong can be told.
    """

    def __init__(self, f, xs, names, report, projections, rtol, seed):
        self.f, self.xs, self.names, self.report = f, xs, names, report
        self.projections, self.rtol = projections, rtol
        self.rng = np.random.default_rng(seed)

    def run(self):
        """The order of steps; returns the report, or raises AssertionError."""
        self.evaluate()  # f as it is: own; and in float64: fine
        self.choose_directions()  # parts of the elements
        self.choose_upstream_gradients()  # rows of weights
        self.eager, self.missing = self.gradients("eager mode")
        self.reference = self.gradients_in_float64()
        self.compare_with_differences()  # a Finding for each part
        self.compare_with_float64("eager mode", self.eager, self.missing)
        self.compare_with_float64("tf.function", *self.gradients("tf.function"))
        return self.summarize()

    def evaluate(self):
        """f at the inputs, twice, and in float64."""
        where = f"check_gradient: {self.report.prefix}f"
        try:
            self.own = own = Function(self.f, self.xs, self.names, self.rtol)
        except Exception as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"{where} raises at the inputs themselves: "
                       f"{type(error).__name__}: {error}") from error
        if not own.ys:
            raise TypeError(f"{where} returns no float or complex output")
        if not np.isfinite(own.y).all():
            raise ValueError(f"{where} is not finite at the inputs: "
                             f"{np.sum(~np.isfinite(own.y))} of {own.y.size} output "
                             "elements are inf or nan")
        self.report.size, self.report.shown = own.x.size, own.precision.shown
        self.require_same("f", own.y, own(own.x))
        self.fine = own.in_float64() or own

    def choose_directions(self):
        """Which elements move together: each by itself, or random parts of them."""
        n = self.own.x.size
        self.parts, self.undecided = list(np.arange(n)[:, None]), np.zeros(n, bool)
        self.projected = n > 0 and (self.projections or n > _ONE_BY_ONE)
        if self.projected:
            count = min(n, int(self.projections or _DIRECTIONS))
            self.parts = np.array_split(self.rng.permutation(n), count)
            self.report.directions = count, self.parts[0].size

    def choose_upstream_gradients(self):
        """Ones are easy to read; random ones have either sign; some are the larger, the
        less an output moves, so that none is lost beside another; and multiples show
        whether the gradient is linear in dy, not clipped, nan at 0, lost if small."""
        own, n, movement = self.own, self.own.x.size, np.zeros(self.own.y.size)
        for _ in range(2 if n else 0):
            line = Line(self.fine, np.arange(n), self.rng)
            movement = np.fmax(movement, np.abs(line.at(2**-11 * line.stride)))
        size = self.rng.uniform(1.25, 2, (2, movement.size))  # never near 1
        sign = self.rng.choice([-1, 1], size.shape)[0]
        random, known = size[0] * sign, movement[movement > 0]
        middle = np.exp(np.log(known).mean()) if known.size else 1.0
        even = np.clip(middle / np.where(movement > 0, movement, middle), 1e-3, 1e3)
        even *= self.rng.permuted(size, axis=0)[0]
        rows = {"ones": flat(map(tf.ones_like, own.ys)), "random": random,
                "random, larger where an output moves less": -sign * even,
                **{f"random, times {times}": times * random for times in (0, 1 / 8, 8)}}
        own.weights = np.stack([flat(like(own.ys, row)) for row in rows.values()])
        self.upstreams = list(rows)

    def gradients(self, mode):
        """Gradients (K, n), and which numbers of x have none; by two calls."""
        own = self.own
        try:
            run = own.compiled() if mode == "tf.function" else None
            (gradient, missing), (again, _) = (
                own.gradients(compute=run) for _ in range(2))
        except Exception as error:
            text = f"{type(error).__name__}: {str(error).strip()}".split("\n")[0]
            self.fail(f"no gradient in {mode}: {text[:300]}", error)
        self.require_same(f"the gradient in {mode}", gradient, again)
        return gradient, missing

    def require_same(self, what, first, second):
        p, size = self.own.precision, np.abs(first[np.isfinite(first)]).max(initial=0)
        differ = ~np.isclose(first, second, rtol=0, equal_nan=True,
                             atol=min(1e3 * p.eps, p.blur) * size)
        if differ.any():
            a, b = (short(values[differ][0]) for values in (first, second))
            self.fail(f"{what} changes from call to call: {a}, then {b}")

    def gradients_in_float64(self):
        """The gradients by the same formula in float64; if there are none, eager."""
        self.fine.weights = self.own.weights
        try:
            gradient, missing = self.fine.gradients()
            if (missing == self.missing).all():
                return gradient
        except Exception:  # f may do without float64
            pass
        self.fine = self.own
        return self.eager

    def compare_with_differences(self):
        """Look at all parts: at elements without a gradient by themselves."""
        fine = Comparison(self.fine, self.reference, self.missing, self.rng)
        own = Comparison(self.own, self.eager, self.missing, self.rng)

        def look(where):
            found = fine.look(np.sort(where))
            # Where f computes in float32 whatever it gets, float64 tells no more.
            return own.look(found.where) if found.kind == "float32" else found

        parts = [part[self.missing[part] == none] for part in self.parts
                 for none in (False, True)]
        self.found = [look(part) for part in parts if part.size]
        self.fail_if_bad("eager mode")
        if self.projected and not self.missing.all():  # little errors add up
            self.found.append(look(np.flatnonzero(~self.missing)))

    def compare_with_float64(self, mode, gradient, missing):
        """What rounding does not explain is measured in the dtype of the inputs."""
        p, gap = self.own.precision, np.abs(gradient - self.reference)
        heavy = np.abs(self.own.weights).max(axis=1, initial=0)[:, None]
        size = np.abs(self.reference)
        largest = heavy * np.nan_to_num(size / heavy).max(initial=0)
        off = ~(gap <= p.blur * size + 16 * p.eps * largest + 8 * p.tiny)
        off &= ~(size > p.large)  # which the dtype of the inputs can't hold
        if off.any():
            off &= ~(gap <= SURE * self.own.roughness(p.eps))
        # By less than this dy itself may be rounded.
        self.undecided |= (off & ~(gap <= 16 * p.eps * heavy)).any(axis=0)
        comparison = Comparison(self.own, gradient, missing, self.rng)
        order = np.argsort(-np.nan_to_num(gap, nan=np.inf).max(axis=0, initial=0))
        for k in order[off.any(axis=0)[order]][:_DOUBTS]:
            found = comparison.look(np.array([k]))
            if self.projected:
                self.found.append(found)
            elif found.bad.any():
                self.found[k] = found
        self.missing = missing
        self.fail_if_bad(mode)

    def dys_of_second(self):
        """Ones, random ones; not where the first derivative is 0 but for rounding."""
        sizes = np.abs(self.reference[:2, ~self.missing]).max(axis=1, initial=-1)
        kept = sizes >= min(1e3 * self.own.precision.eps, 1 / 8) * sizes.max()
        return [like(self.own.ys, row) for row in self.own.weights[:2][kept]]

    def elements(self, u):
        """What was found, for one upstream gradient, as the report has it."""
        for one in self.found:
            k = one.where[np.abs(self.reference[u, one.where]).argmax()]
            yield Element(
                *self.own.place(k), one.where.size - 1, one.kind,
                None if self.missing[k] else float(one.analytic[u]),
                *(float(v[u]) for v in (one.numeric, one.error, one.low, one.high)),
                "wrong" if one.bad.any() else
                "undecided" if one.unsure.any() else "right")

    def summarize(self):
        """Nothing is wrong; what is undecided?"""
        report, noise, error, largest = self.report, 0, 0, 0
        for one in self.found:
            self.undecided[one.where] |= one.unsure.any()
            noise = max(noise, one.error[one.unsure].max(initial=0))
            error = max(error, one.gap[~one.unsure].max(initial=0))
            largest = max(largest, np.abs(one.analytic).max())
        report.elements = list(self.elements(0))
        report.largest_error = error / (largest or 1)
        report.undecided = int(self.undecided.sum())
        small = noise <= self.own.precision.blur * largest
        if not report.undecided or small and report.undecided <= report.size / 10:
            report.verdict = "right"
        return report

    def fail_if_bad(self, mode):
        """Tell the worst element, and the upstream gradient that shows it best."""
        wrong = [one for one in self.found if one.bad.any()]
        if not wrong:
            return
        report, hints = self.report, self.report.hints
        gap = np.array([np.where(one.bad, one.gap, 0) for one in wrong])
        size = np.array([np.fmax(abs(one.analytic), abs(one.numeric)) for one in wrong])
        relative = np.where(np.isinf(gap), 1, np.nan_to_num(gap / size)).max(axis=0)
        relative *= 10, 1, 1, 0.01, 0.01, 0.01  # ones are easy to read, multiples not
        # The first of those that are as large as any: rounding breaks no tie.
        u = np.argmax(relative >= 0.99 * relative.max())
        report.elements, report.mode = list(self.elements(u)), mode
        shown = [one for one in report.elements if one.verdict == "wrong"]
        worst = shown[np.argmax(gap[:, u] >= 0.99 * gap[:, u].max())]
        report.worst, report.upstream = worst, self.upstreams[u]
        if worst.analytic is None:
            hints.append("there is no gradient, but the outputs depend on this input")
        if np.nan_to_num([one.analytic[3] for one in wrong]).any():
            hints.append("the gradient is not 0 where dy is 0: some of it is not "
                         "multiplied by dy")
        elif u > 2:
            hints.append("it is not linear in dy: right for some, wrong for multiples")
        elif u and not any(one.bad[0] for one in wrong):
            hints.append("it is right for an upstream gradient of ones: look at how dy "
                         "enters")
        ratios = np.array([one.analytic[u] / one.numeric[u]
                           for one in wrong if one.bad[u]])
        same = max(10 * self.own.precision.rtol, 1e-5) * np.abs(ratios.mean())
        if len(ratios) > 1 and np.ptp(ratios) < same and short(ratios.mean()) != "1.0":
            hints.append(f"analytic / numeric is {short(ratios.mean())} in all of them")
        self.fail()

    def fail(self, problem="", cause=None):
        self.report.verdict, self.report.problem = "wrong", problem
        error = AssertionError(str(self.report))
        error.report = self.report
        raise error from cause


def _require_options(order, projections, rtol):
    for name, value, wanted, fits in (
            ("order", order, "1 or 2", lambda v: v in (1, 2)),
            ("projections", projections, "a positive integer or None",
             lambda v: v is None or v >= 1 and v % 1 == 0),
            ("rtol", rtol, "a positive number or None",
             lambda v: v is None or 0 < v < math.inf)):
        number = isinstance(value, (numbers.Real, type(None)))
        if not number or not fits(value):
            kind = ValueError if number else TypeError
            raise kind(f"check_gradient: {name} must be {wanted}, got {value!r}")


def _tensors(inputs):
    """The inputs as tensors of their own: f may use the same ones by another way."""
    if not isinstance(inputs, (list, tuple)):
        raise TypeError("check_gradient: inputs must be a list, got "
                        f"{type(inputs).__name__}; pass [x] for a single x")
    xs = []
    for i, x in enumerate(inputs):
        try:
            xs.append(tf.identity(tf.convert_to_tensor(x)))
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"check_gradient: input {i} is of type {type(x).__name__} ({error}); "
                "pass a tensor, a variable, an array or numbers") from error
        infinite = ~np.isfinite(flat(filter(differentiable, xs[i:])))
        if infinite.any():
            raise ValueError(f"check_gradient: input {i} is not finite: "
                             f"{infinite.sum()} of {infinite.size} are inf or nan")
    if not any(map(differentiable, xs)):
        raise TypeError("check_gradient: no input is of float or complex dtype; got "
                        + (", ".join(x.dtype.name for x in xs) or "an empty list"))
    return xs
