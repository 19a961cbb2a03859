"""`check_gradient`, and the order of its steps: `_Check.run`."""

import math
import numbers

import numpy as np

from ..tensorflow_start import tf
from .differences import SURE
from .report import Element, GradientReport, short
from .tape import Function, differentiable, flat, like, upstreams, vjps
from .verdict import PRECISIONS, Comparison, precision_of

_ONE_BY_ONE = 1000  # above so many elements: by random directions
_DIRECTIONS = 100  # so many, unless told otherwise
_DOUBTS = 20  # so many elements that differ from float64 are measured in their dtype


def check_gradient(f, inputs, order=1, projections=None, rtol=None, seed=0):
    """Compare the gradient that TensorFlow computes with central differences.

    The gradient ("analytic") is computed by a tape in eager mode and inside a
    `tf.function`, for an upstream gradient dy of ones and for random ones, and has to
    be linear in dy. The difference ("numeric") is (f(x + h) - f(x - h)) / 2h, and what
    steps h of many sizes say together. At a kink or a jump of f the gradient has to
    lie between the slopes of both sides.

    Where f accepts float64 the formula is checked there, whatever the dtype of the
    inputs; then the gradient in their dtype has to be the same, but for rounding.
    Elsewhere it is measured as it is, with the tolerance that this leaves.

    The verdict is "right"; or "wrong", which raises; or "undecided": f is so rough,
    by its rounding or by waves, that a wrong gradient could not be told from a right
    one. Undecided elements are only counted, and the gradient is right, if they are
    at most a tenth of all, and their error is small beside the largest derivative.

    Where f is constant close to x its derivative is 0, however it moves further away:
    the straight-through gradient of a staircase, such as `round`, is wrong. Stairs
    lower than 1e-10 of f are taken for its rounding; between that and 2e-6 they may
    be that of a shorter float in f, and are undecided; but inputs of float32 decide
    where they are as low as float32 rounds.

    Args:
        f: takes the inputs as arguments; returns a tensor or a list of tensors of
            any shape. Only outputs of float or complex dtype count. It may raise at
            a step away from x, or return another shape: there it ends.
        inputs: list of tensors, variables, arrays or numbers of any shape. Those
            of float or complex dtype are checked, the others held fixed. An error
            of 1e-5 never passes in float64, nor one of 1e-3 in float32, 1e-2 in
            float16, a tenth in bfloat16; smaller ones are mostly found as well.
        order: 1 checks the first derivative; 2 also the derivative of that by the
            inputs and by the upstream gradient ("dy 0").
        projections: how many random directions to move the inputs in, instead of
            each element by itself; by default 100 above 1,000 elements. Each moves
            a part of the elements, and one more all; the first that disagrees is
            halved until one is left. Missed is what is small beside its part.
        rtol: relative tolerance, added to the estimated error of the difference;
            by default 1e-6, 3e-5, 5e-3 or 3e-2, for the coarsest dtype in use.
        seed: of the random upstream gradients and directions.

    Returns:
        A `GradientReport`: true where the gradient is right, false if undecided.

    Raises:
        AssertionError: the gradient is wrong, missing, not finite, not linear in
            dy, or of another shape; cannot be computed; depends on the mode; changes
            from call to call. Its attribute `report` has the `GradientReport`.
        TypeError, ValueError: a wrong argument, nothing to differentiate, inputs
            that are not finite, or an `f` that raises or is not finite at them.

    Example:
        >>> x = tf.constant([1.0, 2.0], tf.float64)
        >>> check_gradient(lambda x: x**2, [x])
        gradient right: 2 elements, order 1, eager and tf.function
        largest error: below 1e-06 of the largest derivative

    Source: see `gradient_check.differences`. Lesson 05 builds a check by hand.
    """
    _require_arguments(f, order, projections, rtol, seed)
    xs = _tensors(inputs)
    names, options = [f"input {i}" for i in range(len(xs))], (projections, rtol, seed)

    def first(*args):  # the first derivative is a function too, of inputs and dys
        dxs = vjps(f, args[:len(xs)], [args[len(xs):]])[1][0]
        return [dx for dx in dxs if dx is not None]

    try:
        with np.errstate(all="ignore"):  # inf and nan are dealt with one by one
            check = _Check(f, xs, names, GradientReport(order), *options)
            report = check.run()
            for dys in check.dys_of_second() if order == 2 else []:
                all_names = names + [f"dy {i}" for i in range(len(dys))]
                second = _Check(first, [*xs, *dys], all_names, GradientReport(
                    order, "second derivative, "), *options).run()
                if not report.second or second.verdict == "undecided":
                    report.second = second  # that of ones is easier to read
    except AssertionError as wrong:  # its way through these modules tells nothing
        raise wrong.with_traceback(None) from wrong.__cause__
    if report.second and report.second.verdict == "undecided":
        report.verdict = "undecided"
    return report


class _Check:
    """The check of one derivative.

    own, fine: f in the dtype of the inputs; and in float64, if it can, else the same.
    eager, reference: their gradients (K, n), a row for each upstream gradient.
    missing (n,): which numbers have none. found: a `Finding` for all that was moved.
    doubtful (n,): which elements differ from float64, and may be wrong or not.
    """

    def __init__(self, f, xs, names, report, projections, rtol, seed):
        self.f, self.xs, self.names, self.report = f, xs, names, report
        self.projections, self.rtol = projections, rtol
        self.rng = np.random.default_rng(seed)

    def run(self):
        """The order of steps; returns the report, or raises AssertionError."""
        self.evaluate()
        self.choose_directions()
        self.choose_upstream_gradients()
        self.eager, self.missing = self.gradients("eager mode")
        if not np.isfinite(self.eager).all():  # or is only dy too large for the dtype?
            self.own.weights[1:] /= 4
            self.eager, self.missing = self.gradients("eager mode")
        self.reference = self.gradients_in_float64()
        self.compare_with_differences()
        self.compare_with_reference("eager mode", self.eager, self.missing)
        self.require_linear()
        in_graph = self.gradients("tf.function")
        self.compare_with_reference("tf.function", *in_graph)
        return self.summarize()

    def evaluate(self):
        """f at the inputs, twice, and in float64."""
        where = f"check_gradient: {self.report.prefix}f"
        names = [self.report.prefix + name for name in self.names]
        try:
            self.own = own = Function(self.f, self.xs, names)
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
        own.precision = precision_of(own.dtypes, self.rtol)
        self.report.size, self.report.shown = own.x.size, own.precision.shown
        self.require_same("f", own.y, own(own.x))
        self.fine = own.in_float64() or own  # with the tolerance of its own dtype
        if self.fine is not own:
            self.fine.precision = PRECISIONS["float64"]._replace(
                rtol=own.precision.rtol, blur=own.precision.blur)

    def choose_directions(self):
        """Which elements move together: each by itself, or random parts of them."""
        n = self.own.x.size
        self.parts = list(np.arange(n)[:, None])
        self.projected = n > 0 and (self.projections or n > _ONE_BY_ONE)
        if self.projected:
            count = min(n, int(self.projections or _DIRECTIONS))
            self.parts = np.array_split(self.rng.permutation(n), count)
            self.report.directions = count, self.parts[0].size

    def choose_upstream_gradients(self):
        own, short_dtype = self.own, self.own.dtypes & {"float16", "bfloat16"}
        rows = upstreams(self.fine, 1e2 if short_dtype else 1e8, self.rng)
        self.upstreams = list(rows)
        own.weights = np.stack([flat(like(own.ys, row)) for row in rows.values()])

    def gradients(self, mode):
        """Gradients (K, n), and which numbers of x have none; by two calls."""
        own, p = self.own, self.own.precision
        try:
            run = own.compiled() if mode == "tf.function" else None
            (y, gradient, missing), (_, again, _) = (
                own.gradients(compute=run) for _ in range(2))
        except Exception as error:
            text = f"{type(error).__name__}: {str(error).strip()}".split("\n")[0]
            self.fail(f"no gradient in {mode}: {text[:300]}", error)
        # A graph may compute log(1 + x) better than its ops one by one do.
        slack = p.shown * np.abs(own.y).max(initial=0) + 2 * np.abs(
            own.y - self.fine.y) + 8 * p.eps * np.abs(own.x).max(initial=1)
        if y.shape != own.y.shape or (np.abs(y - own.y) > slack).any():
            self.fail("f changes from call to call" if mode == "eager mode" else
                      "f does not give the same in a tf.function as in eager mode")
        self.require_same(f"the gradient in {mode}", gradient, again)
        return gradient, missing

    def require_same(self, what, first, second):
        bound = min(1e3 * self.own.precision.eps, self.own.precision.blur) * np.abs(
            first[np.isfinite(first)]).max(initial=0)
        if first.shape != second.shape:
            self.fail(f"{what} has outputs of another size from call to call")
        differ = ~np.isclose(first, second, rtol=0, atol=bound, equal_nan=True)
        if differ.any():
            a, b = (short(values[differ][0]) for values in (first, second))
            self.fail(f"{what} changes from call to call: {a}, then {b}")

    def gradients_in_float64(self):
        """The gradients by the same formula in float64; if there are none, eager."""
        self.fine.weights = self.own.weights
        try:
            _, gradient, missing = self.fine.gradients()
            if (missing == self.missing).all():
                return gradient
        except Exception:  # f may do without float64
            pass
        self.fine = self.own
        return self.eager

    def compare_with_differences(self):
        """Look at all parts; the first random one that is wrong is taken apart."""
        fine = Comparison(self.fine, self.reference, self.missing, self.rng)
        own = Comparison(self.own, self.eager, self.missing, self.rng)

        def look(where):
            found = fine.look(np.sort(where))
            # Where f computes in float32, whatever it gets, float64 tells no more.
            return own.look(found.where) if found.kind == "float32" and (
                self.fine is not self.own) else found

        groups = [part[self.missing[part] == none] for part in self.parts
                  for none in (False, True)]
        if self.projected:  # what is wrong by little everywhere adds up
            groups.append(np.flatnonzero(~self.missing))
        self.doubtful, self.small = np.zeros(self.own.x.size, bool), True
        self.found = []
        for where in groups:
            wrong = [look(where)] if where.size else []
            self.found += wrong
            while wrong and wrong[0].bad.any() and self.projected:
                self.found[-1], where = wrong[0], wrong[0].where
                halves = np.array_split(self.rng.permutation(where), 2)
                wrong = [one for one in map(look, halves if where.size > 1 else [])
                         if one.bad.any()]
                if not wrong:
                    return self.fail_if_bad("eager mode", self.reference)
        self.fail_if_bad("eager mode", self.reference)

    def compare_with_reference(self, mode, gradient, missing):
        """What rounding does not explain is measured in the dtype of the inputs."""
        reference, p = self.reference, self.own.precision
        gap, size = np.abs(gradient - reference), np.abs(reference)
        heavy = np.abs(self.own.weights).max(axis=1, initial=0)[:, None]
        largest = heavy * np.nan_to_num(size / heavy).max(initial=0)
        off = ~(gap <= p.blur * size + 16 * p.eps * largest + 8 * p.tiny)
        if off.any():
            off &= ~(gap <= SURE * self.own.roughness(p.eps))
        self.small &= bool((gap[off] <= p.blur * (largest + 0 * gap)[off]).all())
        off_by_more = off & ~(gap <= 16 * p.eps * heavy)  # than dy itself is rounded
        self.doubtful, self.missing = self.doubtful | off_by_more.any(axis=0), missing
        off = off.any(axis=0) | (missing != self.missing)
        comparison = Comparison(self.own, gradient, missing, self.rng)
        order = np.argsort(-np.nan_to_num(gap, nan=np.inf).max(axis=0, initial=0))
        for k in order[off[order]][:_DOUBTS]:
            found = comparison.look(np.array([k]))
            # What is further from the reference than the gradient is no evidence.
            closer = np.abs(found.numeric - reference[:, k]) <= gap[:, k]
            found = found._replace(
                bad=found.bad & (closer | ~np.isfinite(found.analytic) | missing[k]))
            if self.projected:
                self.found.append(found)
            elif found.bad.any():
                self.found[k] = found
        self.fail_if_bad(mode, gradient)

    def require_linear(self):
        """What dy gives has to be linear in dy: neither clipped, nor nan where dy is
        0, nor lost where it is small."""
        function, p = self.fine, self.own.precision
        for factor in (0, 0.125, 8):
            found = function.gradients(factor * function.weights[1:2])[1][0]
            right = factor * self.reference[1]
            gap = np.abs(found - right)
            wrong = ~(gap <= p.blur * np.abs(right).max(initial=0))
            wrong &= ~(np.isinf(found) & (factor > 1))  # too large for its dtype
            if wrong.any():
                wrong &= ~(gap <= 8 * SURE * function.roughness(p.eps)[1])
            for k in np.flatnonzero(wrong):
                name, index = self.own.place(k)
                self.fail(f"{name}, element {index}: the gradient is not linear in dy: "
                          f"{factor:g} times dy gives {short(found[k])} instead of "
                          f"{short(right[k])}")

    def dys_of_second(self):
        """The upstream gradients at which the second derivative is checked: ones and
        random ones, but not where the first is 0 but for rounding."""
        sizes = np.abs(self.reference).max(axis=1, initial=0)
        least = 1e3 * self.own.precision.eps * sizes.max(initial=0)
        return [like(self.own.ys, row) for row, size in
                zip(self.own.weights[:2], sizes, strict=False)
                if (size > least or not least) and not self.missing.all()]

    def elements(self, u):
        """What was found, for one upstream gradient, as the report has it."""
        for one in self.found:
            k = one.where[np.abs(self.reference[u, one.where]).argmax()]
            yield Element(
                *self.own.place(k), one.where.size - 1, one.kind,
                None if self.missing[k] else float(one.analytic[u]),
                *(float(v[u]) for v in (one.numeric, one.error, one.low, one.high)),
                "wrong" if one.bad.any() else
                "undecided" if one.undecided.any() else "right")

    def summarize(self):
        """Nothing is wrong; what is undecided?"""
        report, undecided, errors, sizes = self.report, self.doubtful, [0], [0]
        report.elements = list(self.elements(0))
        for one in self.found:
            undecided[one.where] |= one.undecided.any()
            self.small &= one.small
            gap = np.abs(one.analytic - one.numeric)
            errors.append(np.where(one.undecided, 0, gap).max())
            sizes.append(np.abs(one.analytic).max())
        report.largest_error = max(errors) / (max(sizes) or 1)
        report.undecided = int(undecided.sum())
        few = self.small and report.undecided <= report.size / 10
        report.verdict = "right" if few or not report.undecided else "undecided"
        wide = "" if self.own.dtypes == {"float64"} else "float64, "
        report.remedy = f"{wide}another x or a smaller f"
        return report

    def fail_if_bad(self, mode, gradient):
        """Tell the worst element, and how it was found. Ones are the upstream gradient
        to speak of, if they show it well."""
        wrong = [one for one in self.found if one.bad.any()]
        if not wrong:
            return
        analytic, numeric, bad = (np.array(rows) for rows in zip(
            *((one.analytic, one.numeric, one.bad) for one in wrong), strict=True))
        gap = np.where(bad, np.abs(analytic - numeric), 0)
        errors = gap / np.maximum(np.abs(analytic), np.abs(numeric))
        errors = np.nan_to_num(errors, nan=1).max(axis=0)
        u = 0 if errors[0] > 0.1 * errors.max() else _first_of_largest(errors)
        report, hints = self.report, self.report.hints
        report.elements, report.mode = list(self.elements(u)), mode
        shown = [one for one in report.elements if one.verdict == "wrong"]
        report.worst = shown[_first_of_largest(np.nan_to_num(gap[:, u], nan=np.inf))]
        report.upstream = self.upstreams[u]
        if report.worst.analytic is None:
            hints.append("there is no gradient, but the outputs depend on this input")
        elif not np.isfinite(gradient).all():
            hints.append("the gradient is inf or nan where f is finite")
        at_zero = self.own.gradients(0 * self.own.weights[:1])[1]
        if np.nan_to_num(at_zero, posinf=0, neginf=0).any():
            hints.append("the gradient is not 0 where dy is 0: some of it is not "
                         "multiplied by dy")
        elif u:
            hints.append("it is right for an upstream gradient of ones: look at how dy "
                         "enters")
        ratios = (analytic[:, u] / numeric[:, u])[bad[:, u]]
        same = max(10 * self.own.precision.rtol, 1e-5) * np.abs(ratios.mean())
        if len(ratios) > 1 and np.ptp(ratios) < same:
            hints.append(f"analytic / numeric is {short(ratios.mean())} in all of them")
        self.fail()

    def fail(self, problem="", cause=None):
        self.report.verdict = "wrong"
        self.report.problem = problem.removeprefix(self.report.prefix)
        error = AssertionError(str(self.report))
        error.report = self.report
        raise error from cause


def _first_of_largest(values):
    """Where the first stands that is as large as any: rounding breaks no tie."""
    return int(np.argmax(values >= 0.99 * values.max()))


def _require_arguments(f, order, projections, rtol, seed):
    """Refuse wrong arguments in words."""
    if not callable(f):
        raise TypeError(f"check_gradient: f must be callable, got {f!r}")
    for name, value, wanted, fits in (
            ("order", order, "1 or 2", lambda v: v in (1, 2)),
            ("projections", 1 if projections is None else projections,
             "a positive integer or None", lambda v: v >= 1 and v % 1 == 0),
            ("rtol", 1 if rtol is None else rtol, "a positive number or None",
             lambda v: 0 < v < math.inf),
            ("seed", seed, "an integer from 0 on", lambda v: v >= 0 and v % 1 == 0)):
        number = isinstance(value, numbers.Real)
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
            if isinstance(x, (tf.RaggedTensor, tf.SparseTensor, np.ma.MaskedArray)):
                raise TypeError("it is not dense")
            xs.append(tf.identity(tf.convert_to_tensor(x)))
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"check_gradient: input {i} is of type {type(x).__name__} ({error}); "
                "pass a tensor, a variable, an array or numbers") from error
        numbers_of_x = flat(xs[i:]) if differentiable(xs[i]) else np.zeros(1)
        infinite = np.sum(~np.isfinite(numbers_of_x))
        if infinite:
            raise ValueError(f"check_gradient: input {i} is not finite: {infinite} of "
                             f"{numbers_of_x.size} numbers are inf or nan")
    if not any(map(differentiable, xs)):
        raise TypeError("check_gradient: no input is of float or complex dtype; got "
                        + (", ".join(x.dtype.name for x in xs) or "an empty list"))
    return xs
