"""The order of steps of `check_gradient`: `_Check.run`."""

import math
import numbers

import numpy as np

from ..quiet_start import tf
from .differences import SURE
from .precision import PRECISIONS, in_float64, precision_of
from .report import Element, GradientReport, short
from .tape import (
    Function,
    WrongForm,
    differentiable,
    flat,
    outputs,
    upstream_gradients,
    vjps,
)
from .tape import in_float64 as tensors_in_float64
from .verdict import Comparison

_ONE_BY_ONE = 1000  # above so many elements: by random directions
_DIRECTIONS = 100  # so many, unless told otherwise
_DOUBTS = 20  # so many elements that differ from float64 are measured in their dtype


def check_gradient(f, inputs, order=1, projections=None, rtol=None, seed=0):
    """Compare the gradient that TensorFlow computes with central differences.

    The gradient ("analytic") is computed by a tape in eager mode and inside a
    `tf.function`, for an upstream gradient of ones and for random ones of each
    output. The difference ("numeric") is (f(x + h) - f(x - h)) / 2h, and what steps
    h of many sizes say together. At a kink or a jump of f the slopes on both sides
    are found: the gradient has to lie between them, and the report names the place.
    What dy gives has to be linear in dy: neither clipped, nor nan where dy is 0.

    A gradient is a formula. Where f accepts float64 it is checked there, whatever the
    dtype of the inputs; then the gradient in their dtype has to be the same, but for
    rounding. Where f computes in float32, float16 or bfloat16 only, it is measured
    there, with the tolerance that this leaves.

    The verdict is "right": analytic and numeric agree to within rtol. "Wrong": they
    differ by more than rounding and steps can explain, or the gradient is inf or nan
    where f is finite; this raises. Or "undecided": f is so rough, by its own rounding
    or by waves, that a wrong gradient could not be told from a right one. Where up to
    a tenth of the elements are undecided, and small beside the largest derivative,
    they are only counted, and the gradient is right.

    Where f is constant close to x, its derivative is 0, however it moves further away:
    a straight-through gradient of a staircase, such as `round`, is wrong. Stairs of
    less than 1e-10 of f are taken for rounding; of less than 2e-6, which may be that
    of a float32 inside of f, for undecided.

    Args:
        f: takes the inputs as arguments; returns a tensor or a list of tensors of
            any shape. Only outputs of float or complex dtype count. Where it raises
            at a step away from x, or returns another shape, is an edge to it.
        inputs: list of tensors, variables, arrays or numbers of any shape. Those
            of float or complex dtype are checked, the others held fixed. An error
            of 1e-5 never passes in float64, nor one of 1e-3 in float32, 1e-2 in
            float16, a tenth in bfloat16; smaller ones are mostly found as well.
        order: 1 checks the first derivative; 2 also the derivative of that by the
            inputs and by the upstream gradient ("dy 0").
        projections: how many random directions to move the inputs in, instead of
            each element by itself; by default 100 above 1,000 elements. Each
            moves a part of the elements, no two the same, and one more moves all;
            the first that disagrees is halved until one element is left. Missed
            is what is small beside the rest of its part: the tolerance holds for the
            norm of that part's gradient.
        rtol: relative tolerance, added to the estimated error of the difference;
            by default 1e-6, 3e-5, 5e-3 or 3e-2, for the coarsest dtype in use.
        seed: of the random upstream gradients and directions.

    Returns:
        A `GradientReport`, which prints well and draws itself. It is true where the
        gradient is right, false where it is undecided.

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

    Source: the steps and their errors are those of `gradient_check.differences`, which
    names where they come from. Lesson 05 builds a check by hand.
    """
    _require_arguments(f, order, projections=projections, rtol=rtol, seed=seed)
    xs = _tensors(inputs)
    names = [f"input {i}" for i in range(len(xs))]
    options = order, projections, rtol, seed

    def first(*args):  # the first derivative is a function too, of inputs and dys
        dxs = vjps(f, args[:len(xs)], [args[len(xs):]])[1][0]
        return [dx for dx in dxs if dx is not None]

    try:
        with np.errstate(all="ignore"):  # inf and nan are dealt with one by one
            check = _Check(f, xs, names, "", *options)
            report = check.run()
            for dys in check.dys_of_second() if order == 2 else []:
                all_names = names + [f"dy {i}" for i in range(len(dys))]
                second = _Check(first, [*xs, *dys], all_names, "second derivative, ",
                                *options).run()
                if not report.second or second.verdict == "undecided":
                    report.second = second  # that of ones is easier to read
    except AssertionError as wrong:  # its way through these modules tells nothing
        raise wrong.with_traceback(None) from wrong.__cause__
    if report.second and report.second.verdict == "undecided":
        report.verdict = "undecided"
    return report


class _Check:
    """The check of one derivative.

    own, fine: f in the dtype of the inputs, and in float64, if it can (else the same).
    eager, reference: their gradients (K, n), a row for each upstream gradient.
    missing (n,): which numbers have none. found: a `Finding` for each part that was
    moved. doubtful (n,): which elements differ from float64, and may be wrong or not.
    """

    def __init__(self, f, xs, names, prefix, order, projections, rtol, seed):
        self.f, self.xs, self.names, self.prefix = f, xs, names, prefix
        self.projections, self.rtol = projections, rtol
        self.rng = np.random.default_rng(seed)
        self.order, self.report = order, GradientReport(order, prefix, {})

    def run(self):
        """The order of steps; returns the report, or raises AssertionError."""
        self.evaluate()
        self.choose_directions()
        self.choose_upstream_gradients()
        self.eager, self.missing = self.gradients("eager mode")
        if not np.isfinite(self.eager).all():  # or is only dy too large for the dtype?
            self.own.dys[1:] = [[dy / 4 for dy in row] for row in self.own.dys[1:]]
            self.eager, self.missing = self.gradients("eager mode")
        self.reference = self.gradients_in_float64()
        self.compare_with_differences()
        self.compare_with_reference("eager mode", self.eager, self.missing)
        self.require_linear()
        in_graph = self.gradients("tf.function")
        self.compare_with_reference("tf.function", *in_graph)
        self.require_same("f", self.own.y, flat(outputs(self.f, self.xs)))
        return self.fill_report()

    def evaluate(self):
        """f at the inputs, twice, and in float64."""
        where, names = f"check_gradient: {self.prefix}f", self.names
        try:
            own = Function(self.f, self.xs, [self.prefix + name for name in names])
        except Exception as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"{where} raises at the inputs themselves: "
                       f"{type(error).__name__}: {error}") from error
        if not own.ys:
            raise TypeError(f"{where} returns no float or complex output")
        infinite = np.sum(~np.isfinite(own.y))
        if infinite:
            raise ValueError(f"{where} is not finite at the inputs: {infinite} of "
                             f"{own.y.size} output elements are inf or nan")
        if not own.dtypes <= PRECISIONS.keys():
            raise TypeError(f"{where} has the dtypes {', '.join(own.dtypes)}; they must "
                            f"be among {', '.join(PRECISIONS)}")
        self.own, self.precision = own, precision_of(own.dtypes, self.rtol)
        self.report = GradientReport(self.order, self.prefix, own.shapes())
        self.require_same("f", own.y, flat(outputs(self.f, self.xs)))
        self.fine = own.in_float64() or own

    def choose_directions(self):
        """Which elements move together: one by one, or random parts of them."""
        n = self.own.x.size
        self.projected = self.projections is not None or n > _ONE_BY_ONE
        count = min(n, int(self.projections or _DIRECTIONS)) if self.projected else n
        order = self.rng.permutation(n) if self.projected else np.arange(n)
        self.parts = [np.sort(p) for p in np.array_split(order, count)] if n else []

    def choose_upstream_gradients(self):
        own = self.own
        self.upstreams, dys = upstream_gradients(self.fine, self.rng)
        own.dys = [[tf.cast(dy, y.dtype) for dy, y in zip(row, own.ys, strict=True)]
                   for row in dys]

    def gradients(self, mode):
        """Gradients (K, n), and which numbers of x have none; by two calls."""
        own, p = self.own, self.precision
        try:
            run = None if mode == "eager mode" else own.compiled()
            (y, gradient, missing), (_, again, _) = (own.gradients(run), own.gradients(
                run))
        except WrongForm as wrong:
            self.fail(f"{wrong} ({mode})")
        except Exception as error:
            text = str(error).strip().split("\n")[0][:300]
            self.fail(f"no gradient in {mode}: {type(error).__name__}: {text}", error)
        # A graph may compute log(1 + x) better than its ops one by one do.
        slack = (p.shown * np.abs(own.y).max(initial=0) + 2 * np.abs(own.y - self.fine.y)
                 + 8 * p.eps * max(1.0, np.abs(own.x).max(initial=0)))
        if y.shape != own.y.shape or (np.abs(y - own.y) > slack).any():
            self.fail("f changes from call to call" if mode == "eager mode" else
                      "f does not give the same in a tf.function as in eager mode")
        self.require_same(f"the gradient in {mode}", gradient, again)
        return gradient, missing

    def gradients_in_float64(self):
        """The gradients by the same formula in float64; if there are none, eager."""
        if self.fine is not self.own:
            self.fine.dys = list(map(tensors_in_float64, self.own.dys))
            try:
                _, gradient, missing = self.fine.gradients()
                if (missing == self.missing).all():
                    return gradient
            except Exception:  # f may do without float64
                pass
            self.fine = self.own
        return self.eager

    def comparison(self, function, gradient, missing):
        """What compares gradients of f, here or in float64, with differences."""
        precision = self.precision if function is self.own else in_float64(
            self.precision)
        return Comparison(function, precision, self.rng, gradient, missing)

    def compare_with_differences(self):
        """The first that is wrong of random directions is taken apart."""
        fine, own = (self.comparison(function, gradient, self.missing) for
                     function, gradient in ((self.fine, self.reference),
                                            (self.own, self.eager)))

        def look(where):
            found = fine.look(np.sort(where))
            inside = found.kind == "float32"  # f may compute in float32, whatever it gets
            return own.look(where) if inside and self.fine is not self.own else found

        self.found, self.doubtful, self.small = [], np.zeros(self.own.x.size, bool), True
        groups = [part[self.missing[part] == none] for part in self.parts
                  for none in (False, True)]
        if self.projected:  # what is wrong by little everywhere adds up
            groups.append(np.flatnonzero(~self.missing))
        for where in groups:
            if where.size:
                self.found.append(look(where))
            if self.projected and where.size and self.found[-1].bad.any():
                while where.size > 1:
                    halves = np.array_split(self.rng.permutation(where), 2)
                    wrong = [one for one in map(look, halves) if one.bad.any()]
                    if not wrong:
                        break
                    self.found[-1], where = wrong[0], wrong[0].where
                break
        self.fail_if_bad("eager mode", self.reference)

    def compare_with_reference(self, mode, gradient, missing):
        """What rounding does not explain is measured in the dtype of the inputs."""
        reference, p, wrong = self.reference, self.precision, []
        gap, size = np.abs(gradient - reference), np.abs(reference)
        heavy = np.abs(self.own.weights).max(axis=1, initial=0)[:, None]
        largest = heavy * np.nan_to_num(size / heavy).max(initial=0)
        off = ~(gap <= p.blur * size + 16 * p.eps * largest + 8 * p.tiny)
        if off.any():
            off &= ~(gap <= SURE * self.own.roughness(p.eps))
        off = off.any(axis=0) | (missing != self.missing)
        comparison = self.comparison(self.own, gradient, missing)
        order = np.argsort(-np.nan_to_num(gap, nan=np.inf).max(axis=0, initial=0))
        for k in order[off[order]][:_DOUBTS]:
            found = comparison.look(np.array([k]))
            # What is further from it than the gradient is no evidence.
            closer = np.abs(found.numeric - reference[:, k]) <= gap[:, k]
            wrong.append(found._replace(
                bad=found.bad & (closer | ~np.isfinite(found.analytic) | missing[k])))
        self.doubtful |= off
        self.small &= bool((gap[:, off] <= p.blur * largest).all())
        if any(one.bad.any() for one in wrong):
            for one in wrong:
                k = one.where[0]
                if self.projected:
                    self.found.append(one)
                else:
                    self.found[k] = one
            self.missing = missing
            self.fail_if_bad(mode, gradient)

    def require_linear(self):
        """What dy gives has to be linear in dy: neither clipped, nor nan where dy is
        0, nor lost where it is small."""
        function, expected = self.fine, self.reference[1]
        for factor in (0, 0.125, 8):
            dys = [dy * tf.cast(factor, dy.dtype) for dy in function.dys[1]]
            found, right = function.gradients(dys=[dys])[1][0], factor * expected
            gap = np.abs(found - right)
            wrong = ~(gap <= self.precision.blur * np.abs(right).max(initial=0))
            wrong &= ~(np.isinf(found) & np.isfinite(right))  # too large for its dtype
            if wrong.any():
                rough = function.roughness(self.precision.eps)[1]
                wrong &= ~(gap <= 8 * SURE * rough)
            if wrong.any():
                k = int(wrong.argmax())
                place = self.own.place(k).removeprefix(self.prefix)
                self.fail(f"{place}: the gradient is not linear in dy: {factor:g} times "
                          f"dy gives {short(found[k])} instead of {short(right[k])}")

    def require_same(self, what, first, second):
        if first.shape != second.shape:
            self.fail(f"{what} has outputs of another size from call to call")
        size = np.maximum(np.abs(first), np.abs(second))
        bound = min(1e3 * self.precision.eps, self.precision.blur) * size[
            np.isfinite(size)].max(initial=0)
        differ = ~((np.abs(first - second) <= bound) | (first == second)
                   | (np.isnan(first) & np.isnan(second)))
        if differ.any():
            k = int(differ.argmax())
            a, b = (short(values.ravel()[k]) for values in (first, second))
            self.fail(f"{what} changes from call to call: {a}, then {b}")

    def dys_of_second(self):
        """The upstream gradients at which the second derivative is checked: ones and
        random ones, but not where the first is 0 but for rounding."""
        sizes = np.abs(self.reference).max(axis=1, initial=0)
        least = 1e3 * self.precision.eps * sizes.max(initial=0)
        return [dys for dys, size in zip(self.own.dys[:2], sizes, strict=False)
                if (size > least or not least) and not self.missing.all()]

    def elements(self, u):
        """What was found, for one upstream gradient, as the report has it."""
        for one in self.found:
            k, bad = one.where[0], one.bad.any()
            place, others = self.own.place(k), one.where.size - 1
            if others:
                k = one.where[np.abs(self.reference[u, one.where]).argmax()]
                place = f"{self.own.place(k)}, and {others} others, all moved at once"
            yield Element(
                place, one.kind, None if self.missing[k] else float(one.analytic[u]),
                *(float(v[u]) for v in (one.numeric, one.error, one.low, one.high)),
                "wrong" if bad else "undecided" if one.undecided.any() else "right")

    def fill_report(self):
        """Nothing is wrong; what is undecided?"""
        report, p, found = self.report, self.precision, self.found
        if self.projected:
            report.directions = len(self.parts), len(self.parts[0])
        report.set_elements(list(self.elements(0)))
        unsure = [i for i, one in enumerate(found) if one.undecided.any()]
        numbers = [found[i].where for i in unsure] + [np.flatnonzero(self.doubtful)]
        report.undecided = np.unique(np.concatenate(numbers)).size
        largest = p.blur * np.abs(self.reference).max(axis=1, initial=0)
        for i in unsure:
            unit = self.own.unit[found[i].where]
            unit = np.linalg.norm(unit) if unit.size > 1 else 1.0
            self.small &= bool((found[i].error <= largest * unit)[:-1].all())
            report.example = report.example or report.elements[i]
        few = self.small and report.undecided <= report.size / 10
        report.verdict = "right" if few or not report.undecided else "undecided"
        wide = "" if self.own.dtypes == {"float64"} else "float64, "
        report.remedy = f"{wide}another x or a smaller f"
        errors = [np.where(one.undecided, 0, np.abs(one.analytic - one.numeric)).max()
                  for one in found]
        sizes = [np.abs(one.analytic).max() for one in found]
        report.largest_error = max(errors, default=0) / (max(sizes, default=0) or 1)
        report.shown = p.shown
        report.unneeded = [
            self.own.names[i] for i, none in
            zip(self.own.moved, self.own.split(self.missing), strict=True)
            if none.any() and not report.undecided]
        return report

    def fail_if_bad(self, mode, gradient):
        """Tell the worst element, and how it was found. Ones are the upstream gradient
        to speak of, if they show it well."""
        wrong = [one for one in self.found if one.bad.any()]
        if not wrong:
            return
        sizes = [np.maximum(np.abs(one.analytic), np.abs(one.numeric)) for one in wrong]
        gaps = np.array([np.abs(one.analytic - one.numeric) for one in wrong])
        bad = np.array([one.bad for one in wrong])
        errors = (bad * np.nan_to_num(gaps / sizes, nan=1)).max(axis=0)
        u = 0 if errors[0] > 0.1 * errors.max() else _first_of_largest(errors)
        report = self.report
        if self.projected:
            report.directions = len(self.parts), len(self.parts[0])
        report.set_elements(list(self.elements(u)))
        shown = [one for one in report.elements if one.verdict == "wrong"]
        gap = np.where(bad[:, u], np.nan_to_num(gaps[:, u], nan=np.inf), 0)
        report.worst = shown[_first_of_largest(gap)]
        report.mode, report.upstream = mode, self.upstreams[u]
        if report.worst.analytic is None:
            report.hints.append("there is no gradient, but the outputs depend on this "
                                "input")
        elif not np.isfinite(gradient).all():
            report.hints.append("the gradient is inf or nan where f is finite")
        zeros = [[0 * dy for dy in self.own.dys[0]]]
        if np.nan_to_num(self.own.gradients(dys=zeros)[1], posinf=0, neginf=0).any():
            report.hints.append("the gradient is not 0 where dy is 0: some of it is not "
                                "multiplied by dy")
        elif u:
            report.hints.append("it is right for an upstream gradient of ones: look at "
                                "how dy enters")
        ratios = np.array([one.analytic[u] / one.numeric[u] for one in wrong])[bad[:, u]]
        if len(ratios) > 1 and np.ptp(ratios) < abs(ratios.mean()) * max(
                10 * self.precision.rtol, 1e-5):
            report.hints.append(f"analytic / numeric is {short(ratios.mean())} in all of "
                                "them")
        self.fail()

    def fail(self, problem="", cause=None):
        self.report.verdict = "wrong"
        self.report.problem = problem.removeprefix(self.prefix)
        error = AssertionError(str(self.report))
        error.report = self.report
        raise error from cause


def _first_of_largest(values):
    """Where the first stands that is as large as any: rounding breaks no tie."""
    return int(np.argmax(values >= 0.99 * values.max()))


def _require_arguments(f, order, **others):
    """Refuse wrong arguments in words."""
    if not callable(f):
        raise TypeError(f"check_gradient: f must be callable, got {f!r}")
    for name, value, wanted, fits in (
            ("order", order, "1 or 2", lambda v: v in (1, 2)),
            ("projections", others["projections"], "a positive integer or None",
             lambda v: v >= 1 and v % 1 == 0),
            ("rtol", others["rtol"], "a positive number or None",
             lambda v: 0 < v < math.inf),
            ("seed", others["seed"], "an integer from 0 on",
             lambda v: v >= 0 and v % 1 == 0)):
        number = isinstance(value, numbers.Real)
        if not (number and fits(value) or value is None and "None" in wanted):
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
            raise TypeError(f"check_gradient: input {i} is of type {type(x).__name__} "
                            f"({error}); pass a tensor, a variable, an array or numbers"
                            ) from error
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
