"""`check_gradient`: an op's gradient, compared with central differences."""

from collections import deque, namedtuple
from functools import partial

import numpy as np

from .quiet_start import tf
from .tensors import as_tensor, differentiable

# For each dtype: the distance from 1 to the next number, and the relative
# tolerance, which leaves room for what rounding does to a gradient.
_PRECISION = {"float64": (2**-52, 1e-6), "float32": (2**-23, 3e-4),
              "float16": (2**-10, 2e-2), "bfloat16": (2**-7, 1e-1)}
_ONE_BY_ONE = 1000  # above so many elements: by random projections
_PROJECTIONS = 100  # so many, unless told otherwise
_PROBES = 600  # at most, to take apart the projections that disagree


class GradientReport:
    """What `check_gradient` found; true if the gradient is right.

    Attributes:
        ok: whether the gradient is right.
        lines: what `str(report)` shows, line by line.
        labels, analytic, numeric, wrong: lists with an entry for each input that
            was checked: "input 0", the gradient that TensorFlow computes, the
            central differences, and where these two disagree. Arrays of the
            input's shape, with a last axis (real, imaginary) for complex ones.
            Random projections have one entry for all inputs: the derivatives
            along the random directions. The upstream gradient is one of ones;
            where only a random one shows an error, it is that one.
        kinks, jumps: a text for each element at which f bends or jumps.
        undecided: how many elements have a gradient so small beside f that
            rounding hides whether it is right.
        second: the report on the second derivative; None for order=1.
    """

    def __init__(self):
        self.ok, self.lines, self.undecided, self.second = True, [], 0, None
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
            panels = [("analytic", analytic, "C0-o"), ("numeric", numeric, "C1--s"),
                      ("error", np.abs(analytic - numeric), "C2:.")]
            limits = [min(analytic.min(), numeric.min()),
                      max(analytic.max(), numeric.max())]
            matrix = analytic.ndim == 2 and min(analytic.shape) > 2
            for ax, (title, values, look) in zip(axes, panels, strict=True):
                if matrix:
                    low, high = limits if title != "error" else (None, None)
                    image = ax.imshow(values, aspect="auto", vmin=low, vmax=high)
                    figure.colorbar(image, ax=ax)
                    ax.set(xlabel="column", ylabel="row")
                else:
                    ax.plot(values.ravel(), look, markersize=3)
                    ax.set(xlabel="element", ylabel="derivative")
                ax.set_title(title)
            axes[0].set_ylabel(f"{label}\n{axes[0].get_ylabel()}")
            if matrix:
                axes[2].plot(*np.nonzero(wrong)[::-1], "rx")
            else:
                axes[0].sharey(axes[1])
                at = np.flatnonzero(wrong)
                axes[2].plot(at, panels[2][1].ravel()[at], "rx")
        return figure


def check_gradient(f, inputs, order=1, projections=None, rtol=None, seed=0):
    """Compare the gradient that TensorFlow computes with central differences.

    The gradient is computed by a tape in eager mode and inside a `tf.function`,
    for an upstream gradient of ones and for a random one of each output. An
    element whose two derivatives disagree at first is measured again with steps
    of many sizes, and the step of the smallest estimated error is believed. So a
    kink or a jump of f next to an element does not disturb; at the element itself
    the slopes on its two sides are found. The gradient has to lie between them,
    and the report names the place.

    Args:
        f: takes the inputs as arguments; returns a tensor or a list of tensors of
            any shape. Only outputs of float or complex dtype count.
        inputs: list of tensors, variables, arrays or numbers of any shape. Those
            of float or complex dtype are checked, the others held fixed. float64
            tells most: an error of a millionth is found there, in float32 one of
            a thousandth, in float16 of a twentieth, in bfloat16 of a fourth.
        order: 2 checks the first derivative, and then the derivative of that by
            the inputs and by the upstream gradient ("dy 0").
        projections: how many random directions to move the inputs in, instead of
            each element by itself; by default 100 above 1,000 elements. Each
            moves a part of the elements, no two the same; a part that disagrees
            is halved until a wrong element is found. Missed is what is small
            beside the rest of its part (1,000 for 10^5 elements): the tolerance
            holds for the norm of that part's gradient. A few wrong elements are
            found, not all of them counted. Kinks are named where they disturb.
        rtol: relative tolerance, added to the estimated error of the difference;
            by default 1e-6, 3e-4, 2e-2 or 1e-1, for the coarsest dtype in use.
        seed: of the random upstream gradients and directions.

    Returns:
        A `GradientReport`, which is true, prints well and draws itself.

    Raises:
        AssertionError: the gradient is wrong, missing, not finite, or of another
            shape; cannot be computed; depends on the mode; changes from call to
            call. The text names the worst element, the attribute `report` has
            the `GradientReport`, false.
        TypeError, ValueError: a wrong argument, nothing to differentiate, or an
            `f` that is not finite at the inputs.

    Example:
        >>> x = tf.constant([1.0, 2.0], tf.float64)
        >>> check_gradient(lambda x: x**2, [x])
        gradient right: 2 elements, order 1, eager and tf.function
        largest error: below 1e-06 of the largest derivative

    Source: the step eps**(1/3) |x| balances truncation and rounding (Nocedal and
    Wright, Numerical Optimization, 2nd edition, section 8.1). Steps of many sizes
    with an error estimated from neighbours: Ridders, Advances in Engineering
    Software 4 (1982) 75-76. Lesson 05 builds a check by hand.
    """
    if not callable(f):
        raise TypeError(f"check_gradient: f must be callable, got {f!r}")
    if not isinstance(inputs, (list, tuple)):
        raise TypeError("check_gradient: inputs must be a list, got "
                        f"{type(inputs).__name__}; pass [x] for a single x")
    if order not in (1, 2):
        raise ValueError(f"check_gradient: order must be 1 or 2, got {order!r}")
    if projections is not None and (projections != int(projections)
                                    or projections < 1):
        raise ValueError("check_gradient: projections must be a positive integer or "
                         f"None, got {projections!r}")
    xs = [as_tensor(*pair, "check_gradient") for pair in enumerate(inputs)]
    if not any(map(differentiable, xs)):
        raise TypeError("check_gradient: no input is of float or complex dtype; got "
                        + (", ".join(x.dtype.name for x in xs) or "an empty list"))
    names = [f"input {i}" for i in range(len(xs))]
    options = projections, rtol, seed
    check = _GradientCheck(f, xs, names, "", *options)
    report = check.run()

    def first(*args):  # the first derivative is a function too, of inputs and dys
        dxs = _vjps(f, args[:len(xs)], [args[len(xs):]])[1][0]
        return [dx for dx in dxs if dx is not None]

    for dys, size in zip(check.upstreams[:2], check.sizes, strict=False):
        if order == 1 or size <= 1e3 * check.eps * check.sizes.max():
            continue  # a first derivative that is 0 but for rounding
        second_names = names + [f"dy {i}" for i in range(len(dys))]
        second = _GradientCheck(first, [*xs, *dys], second_names,
                                "second derivative, ", *options).run()
        report.second = report.second or second  # that of ones is easier to read
    report.lines = [f"gradient right: {check.x.size} elements, order {order}, eager "
                    "and tf.function", *report.lines,
                    *(report.second.lines if report.second else [])]
    return report


def _real(tensor):
    """Its numbers as one flat float64 vector; a complex one as two in a row."""
    array = np.atleast_1d(np.asarray(tensor))
    if array.dtype.kind == "c":
        array = np.stack([array.real, array.imag], axis=-1)
    return array.astype(np.float64).ravel()


def _outputs(f, xs):
    ys = [tf.convert_to_tensor(y) for y in tf.nest.flatten(f(*xs))]
    return [y for y in ys if differentiable(y)]


def _vjps(f, xs, upstreams):
    """The outputs, and for each upstream gradient (one dy for each output) the
    gradients of the inputs: of those outputs and inputs that have one, by dtype."""
    watched = [x for x in xs if differentiable(x)]
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(watched)
        ys = _outputs(f, xs)
    dxs = [tape.gradient(ys, watched, list(dys)) for dys in upstreams]
    return ys, [[None if dx is None else tf.convert_to_tensor(dx) for dx in row]
                for row in dxs]


# What moving x did, and what was concluded. Arrays of K are one number for each
# upstream gradient.
_Probe = namedtuple("_Probe", "lengths changes along moved")
_Finding = namedtuple("_Finding", "kind analytic low high nearest bad hidden")


class _GradientCheck:
    """The check of one derivative. The inputs are one flat real vector x, the
    outputs another one y, and K upstream gradients weigh y: the rows of `weights`.

    A probe moves some elements of x, those in `where`, both ways along a direction.
    """

    def __init__(self, f, xs, names, prefix, projections, rtol, seed):
        self.f, self.xs, self.names, self.prefix = f, xs, names, prefix
        self.rng, self.report = np.random.default_rng(seed), GradientReport()
        self.probes = 0
        self.moved = [i for i, x in enumerate(xs) if differentiable(x)]
        parts = [_real(xs[i]) for i in self.moved]
        self.x, self.ends = np.concatenate(parts), np.cumsum([p.size for p in parts])
        self.unit = np.concatenate([self.scale(xs[i]) for i in self.moved])
        ys = _outputs(f, xs)
        if not ys:
            raise TypeError(f"check_gradient: {prefix}f returns no float or complex "
                            "output")
        self.y, self.y_shapes = self.flat(ys), [y.shape for y in ys]
        if not np.isfinite(self.y).all():
            raise ValueError(f"check_gradient: {prefix}f is not finite at the inputs: "
                             f"{np.sum(~np.isfinite(self.y))} of {self.y.size} output "
                             "elements are inf or nan")
        dtypes = {t.dtype.real_dtype.name for t in [xs[i] for i in self.moved] + ys}
        if not dtypes <= _PRECISION.keys():
            raise TypeError("check_gradient: dtypes must be among "
                            f"{', '.join(_PRECISION)}, got {', '.join(dtypes)}")
        self.eps, tolerances = map(max, zip(*map(_PRECISION.get, dtypes), strict=True))
        self.rtol = tolerances if rtol is None else rtol
        self.digits = int(np.clip(-np.log10(self.rtol), 1, 4))
        self.upstreams = self.choose_upstreams(ys)
        self.weights = np.stack([self.flat(dys) for dys in self.upstreams])
        n = self.x.size
        self.projected = projections is not None or n > _ONE_BY_ONE
        count = min(n, projections or _PROJECTIONS) if self.projected else n
        order = self.rng.permutation(n) if self.projected else np.arange(n)
        self.parts = [np.sort(part) for part in np.array_split(order, count or 1)]

    def choose_upstreams(self, ys):
        """Ones, random numbers, and of several outputs each by itself."""

        def random(y):
            size = self.rng.uniform(1.25, 2, (2, *y.shape))  # never near to ones
            size *= self.rng.choice([-1, 1], size.shape)
            size = size[0] + 1j * size[1] if y.dtype.is_complex else size[0]
            return tf.constant(size.astype(y.dtype.as_numpy_dtype))

        mixed, zeros = [random(y) for y in ys], [tf.zeros_like(y) for y in ys]
        single = [[*zeros[:i], mixed[i], *zeros[i + 1:]] for i in range(len(ys))]
        return [[tf.ones_like(y) for y in ys], mixed, *(single if single[1:] else [])]

    @staticmethod
    def scale(x):
        """For each number of x what a step is relative to: |x|, or where that is
        (nearly) 0 a hundredth of what it is elsewhere."""
        size = np.abs(np.asarray(x).astype(complex)).ravel()
        floor = np.median(size[size > 0]) / 100 if size.any() else 1.0
        return np.repeat(np.maximum(size, floor), 2 if x.dtype.is_complex else 1)

    @staticmethod
    def flat(tensors):
        return np.concatenate([np.zeros(0), *map(_real, tensors)])

    def tensors(self, x):
        """The inputs of `f`, with numbers of `x` in those that move."""
        xs = list(self.xs)
        for i, part in zip(self.moved, np.split(x, self.ends[:-1]), strict=True):
            if xs[i].dtype.is_complex:
                part = part[::2] + 1j * part[1::2]
            part = part.astype(xs[i].dtype.as_numpy_dtype)
            xs[i] = tf.constant(part, shape=xs[i].shape)
        return xs

    # ..................................................... what TensorFlow computes

    def run(self):
        """Return the report, or raise AssertionError."""
        with np.errstate(all="ignore"):  # inf and nan are dealt with one by one
            self.require_same("f", self.y, self.flat(_outputs(self.f, self.xs)))
            eager, missing = self.gradients("eager mode")
            self.sizes = np.abs(eager).max(axis=1, initial=0)
            self.compare("eager mode", eager, missing)
            in_graph, also_missing = self.gradients("tf.function")
            if (missing != also_missing).any() or self.differ(eager, in_graph).any():
                self.compare("tf.function", in_graph, also_missing)
            self.require_same("f", self.y, self.flat(_outputs(self.f, self.xs)))
        return self.report

    def gradients(self, mode):
        """Flat gradients, a row for each upstream, and which elements have none."""

        def compute(*xs):
            return _vjps(self.f, xs, self.upstreams)

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
        y = self.flat(ys)
        if y.shape != self.y.shape or self.differ(self.y, y, self.rtol).any():
            self.fail("f changes from call to call" if mode == "eager mode" else
                      "f does not give the same in a tf.function as in eager mode")
        gradient = np.stack([self.flat_gradient(row, mode) for row in rows])
        self.require_same(f"the gradient in {mode}", gradient,
                          np.stack([self.flat_gradient(row, mode) for row in again]))
        sizes = np.diff(self.ends, prepend=0)
        return gradient, np.repeat([dx is None for dx in rows[0]], sizes)

    def flat_gradient(self, dxs, mode):
        """One gradient for each input that moves, as one vector, zeros for None."""
        dense = []
        for i, dx in zip(self.moved, dxs, strict=True):
            x = self.xs[i]
            dx = tf.zeros_like(x) if dx is None else dx
            if dx.shape != x.shape:
                hint = ("; sum it over the axes that f broadcast"
                        if dx.shape.num_elements() > x.shape.num_elements() else "")
                self.fail(f"{self.names[i]}: the gradient has shape {dx.shape}, the "
                          f"input has {x.shape} ({mode}){hint}")
            if dx.dtype != x.dtype:
                self.fail(f"{self.names[i]}: the gradient is {dx.dtype.name}, the "
                          f"input is {x.dtype.name} ({mode})")
            dense.append(dx)
        return self.flat(dense)

    def differ(self, first, second, rtol=None):
        """Where two results are further apart than rounding puts them."""
        size = np.maximum(np.abs(first), np.abs(second))
        bound = (rtol or 1e3 * self.eps) * size[np.isfinite(size)].max(initial=0)
        return ~((np.abs(first - second) <= bound) | (first == second)
                 | (np.isnan(first) & np.isnan(second)))

    def require_same(self, what, first, second):
        if first.shape != second.shape:
            self.fail(f"{what} has outputs of another size from call to call")
        differ = self.differ(first, second)
        if differ.any():
            k = int(differ.argmax())
            a, b = (self.short(values.ravel()[k]) for values in (first, second))
            self.fail(f"{what} changes from call to call: {a}, then {b}")

    # ............................................................ central differences

    def probe(self, where, direction, t):
        """Go from x to x - step and to x + step, where step = t * unit * direction.

        Returns lengths (2,) and changes (2, K) of the weighed outputs, on the left
        and on the right; `along` (of `where`), the change of x for a length of 1;
        and which outputs move.
        """
        self.probes += 1
        steps, changes = [], []
        for side in (-1, 1):
            x = self.x.copy()
            x[where] += side * t * self.unit[where] * direction
            xs = self.tensors(x)
            moved = self.flat(xs[i] for i in self.moved)
            y = self.flat(_outputs(self.f, xs))
            if y.shape != self.y.shape:
                raise ValueError("check_gradient: the shape of an output depends on "
                                 "the values of the inputs")
            steps.append(side * (moved[where] - self.x[where]))
            changes.append(side * (y - self.y))
        lengths = np.linalg.norm(steps, axis=1)
        return _Probe(lengths, np.stack(changes) @ self.weights.T,
                      np.sum(steps, axis=0) / lengths.sum(),
                      np.any(np.not_equal(changes, 0), axis=0))

    def noise(self, moved):
        """What rounding may do to a change of the weighed outputs, (K,)."""
        return 4 * self.eps * np.linalg.norm((self.weights * self.y)[:, moved], axis=1)

    def agrees(self, where, direction, gradient):
        """Whether one probe is enough to see that the gradient is right.

        Returns that, its foretold and its measured derivative, and their misfit.
        """
        p = self.probe(where, direction, np.cbrt(self.eps))
        foretold = gradient[:, where] @ p.along
        measured = p.changes.sum(axis=0) / p.lengths.sum()
        if not p.moved.any() and not foretold.any():  # lost in rounding, or nothing?
            far = self.probe(where, direction, 0.4 / min(1, self.unit[where].max()))
            return not far.moved.any(), foretold, measured, 0.0
        size = np.maximum(np.abs(measured),
                          np.linalg.norm(gradient[:, where] * p.along, axis=1))
        noise = self.noise(p.moved) / p.lengths.sum()
        error = np.abs(foretold - measured)
        fine = error <= self.rtol / 2 * size + noise
        fine &= noise <= self.rtol * max(size)
        if where.size == 1:  # at a kink the two sides differ
            fine &= np.abs(np.diff(p.changes / p.lengths[:, None], axis=0)[0]) <= (
                0.05 * max(size))
        misfit = np.max(error / np.where(size > 0, size, 1))
        return bool(fine.all()), foretold, measured, misfit

    def ladder(self, where, direction):
        """Probes of many step sizes, the smallest first, without repetitions."""
        low, high = self.eps ** (2 / 3), 0.4
        if where.size == 1:  # from next to x to where f is no longer its rounding
            unit = self.unit[where[0]]
            near = abs(self.x[where[0]]) / unit or 1.0
            low, high = self.eps * np.clip(near, 1e-6, 1), 0.4 / min(1, unit)
        ratio = np.clip(self.eps ** (-1 / 16), 2, 8)
        count = int(np.log(high / low) / np.log(ratio)) + 1
        probes = [self.probe(where, direction, high / ratio**n)
                  for n in reversed(range(count))]
        distinct, last = [], np.zeros(2)
        for p in probes:
            if (p.lengths > last).all():
                distinct.append(p)
                last = p.lengths
        return distinct

    def look_closer(self, where, direction, gradient):
        """Find the derivative, or that of either side, by steps of many sizes."""
        probes = self.ladder(where, direction)
        lengths, changes = (np.stack([getattr(p, name) for p in probes])
                            for name in ("lengths", "changes"))
        finite = np.isfinite(changes).all(axis=2)
        moved = np.any([p.moved for p in probes], axis=0)
        noise = self.noise(moved)
        rough = self.roughness(lengths, changes, finite)
        # More than a hundredth of f would be a fast f, and no noise.
        noise = np.where(rough * self.eps < 0.0025 * noise, np.maximum(noise, rough),
                         noise)
        both = finite.all(axis=1)
        kind, end = "edge", 0
        if both.sum() > 1:
            kind, end = self.kind(lengths[both], changes[both], noise)
        if where.size > 1 and both.all():  # some of many always have a kink nearby
            _, derivative, error = self.central(lengths, changes, noise)
            if (error < 0.01 * np.abs(derivative).max()).all():
                kind, end = "smooth", len(lengths)
        along = [probes[0].along] * len(noise)
        if kind == "smooth":
            best, derivative, error = self.central(lengths[both][:end],
                                                   changes[both][:end], noise)
            along = [np.stack([p.along for p in probes])[both][m] for m in best]
            low = high = derivative
        else:
            sides = [self.one_sided(lengths[finite[:, s], s],
                                    changes[finite[:, s], s], noise)
                     for s in (0, 1) if finite[:, s].sum() > 1]
            unknown = np.full((1, len(noise)), np.nan)
            slopes, errors = zip(*sides, strict=True) if sides else (unknown, unknown)
            low, high, error = np.min(slopes, 0), np.max(slopes, 0), np.max(errors, 0)
        analytic = np.array([row[where] @ a for row, a in
                             zip(gradient, along, strict=True)])
        nearest = np.clip(analytic, low, high)
        size = np.maximum(np.abs(analytic), np.abs(nearest))
        slack = 2 * error + self.rtol * size
        # An output may depend on x so little that it never moves.
        largest = np.abs(self.weights * self.y).max(axis=1, initial=0)
        unseen = 4 * self.eps * largest / lengths[max(end, 1) - 1].sum()
        bad = ~(np.abs(analytic - nearest) <= slack + unseen) & ~np.isnan(low)
        bad |= ~np.isfinite(analytic)
        hidden = bool(((slack > size / 2) & (size > unseen)).any() and not bad.any()
                      and (slack > size / 2).all())
        return _Finding(kind, analytic, low, high, nearest, bad, hidden)

    @staticmethod
    def central(lengths, changes, noise):
        """Of the central differences those with the smallest estimated errors.

        The error is what rounding does, plus what the difference to the next longer
        step or to any shorter one shows beyond rounding.
        """
        length = lengths.sum(axis=1)[:, None]
        derivative, rounding = changes.sum(axis=1) / length, noise / length
        gap = np.abs(np.diff(changes / lengths[..., None], axis=1)[-1])
        longer = np.vstack([np.abs(np.diff(derivative, axis=0)) / 2, gap])
        differ = np.abs(derivative[:, None] - derivative) - rounding
        is_shorter = np.tri(len(length), k=-1)[..., None]
        shorter = np.where(is_shorter, differ, 0).max(axis=1)
        error = rounding + np.maximum(longer, np.maximum(shorter, 0))
        best = error.argmin(axis=0)
        row = best, np.arange(len(noise))
        return best, derivative[row], error[row]

    @staticmethod
    def one_sided(lengths, changes, noise):
        """The same for the slopes on one side, between one step and the next: at a
        jump x itself may belong to the other side."""
        run = np.diff(lengths)[:, None]
        slope = np.diff(changes, axis=0) / run
        step = np.abs(np.diff(slope, axis=0))
        error = noise / run + np.vstack([step, step[-1:] if len(step) else 0 * slope])
        row = error.argmin(axis=0), np.arange(len(noise))
        return slope[row], error[row]

    @staticmethod
    def roughness(lengths, changes, finite):
        """Noise as it shows: how far the change of a step is from the straight line
        between its neighbours, at steps too small for curvature. Of these the
        larger, but not the largest: they may show a jump close to x."""
        rough = []
        for s in (0, 1):
            x, y = lengths[finite[:, s], s][:, None], changes[finite[:, s], s]
            part = (x[1:-1] - x[:-2]) / (x[2:] - x[:-2])
            rough.append(np.abs(y[1:-1] - y[:-2] - part * (y[2:] - y[:-2])))
        rough = np.concatenate([side[:min(5, -(-len(side) // 3))] for side in rough])
        return 2 * np.quantile(rough, 0.7, axis=0) if len(rough) else 0.0

    @staticmethod
    def kind(lengths, changes, noise):
        """Smooth, kink or jump at x, and how many steps reach no further one.

        As steps shrink, the gap between the slopes on the left and on the right, or
        between a slope and that from there on, shrinks like the steps where f is
        smooth, stays at a kink, and grows at a jump.
        """
        slopes = changes / lengths[..., None]
        beyond = np.diff(changes, axis=0) / np.diff(lengths, axis=0)[..., None]
        gaps = np.abs(np.diff(slopes, axis=1)[:, 0])
        gaps[:-1] = np.maximum(gaps[:-1], np.abs(beyond - slopes[:-1]).max(axis=1))
        length = lengths.mean(axis=1)
        blurred = 2 * noise / length[:, None]
        kinds, end = {"smooth"}, len(gaps)
        for gap, blur in zip(gaps.T, blurred.T, strict=True):
            for m in range(len(gap) - 1):
                ratio = length[m + 1] / length[m]
                if min(gap[m] / ratio, gap[m + 1]) <= 4 * blur[m]:
                    continue  # it drowns in rounding
                power = np.log(gap[m + 1] / gap[m]) / np.log(ratio)
                if power < 0.5:
                    if m and gap[m - 1] < 0.75 * gap[m]:  # at a distance from x
                        end = min(end, m)
                    else:
                        kinds.add("jump" if power < -0.5 else "kink")
                    break
        return min(kinds, key=["jump", "kink", "smooth"].index), end

    # ................................................................. the verdict

    def compare(self, mode, gradient, missing):
        """Fill the report, or fail."""
        parts, doubts, findings, self.report = [], [], {}, GradientReport()
        for where in self.parts if self.x.size else []:
            direction = self.direction(where)
            fine, foretold, measured, misfit = self.agrees(where, direction, gradient)
            parts.append((foretold, measured))
            if not fine:
                doubts.append((misfit, where, direction))
        doubts = deque(pair for _, *pair in sorted(doubts, key=lambda d: d[0]))
        self.probes, wrong = 0, []
        enough = _PROBES if self.projected else np.inf
        while doubts and self.probes < enough and not (
                self.projected and len(wrong) >= 3):
            where, direction = doubts.pop()
            found = self.look_closer(where, direction, gradient)
            self.report.undecided += where.size * found.hidden
            if where.size == 1:
                findings[int(where[0])] = found
                wrong += [int(where[0])] if found.bad.any() else []
            elif found.kind != "smooth" or found.bad.any():  # halve it
                later = doubts.append if found.bad.any() else doubts.appendleft
                for half in np.array_split(self.rng.permutation(where), 2):
                    direction = self.direction(half)
                    if not self.agrees(half, direction, gradient)[0]:
                        later((half, direction))
        analytic, numeric = np.array(parts).reshape(
            len(parts), 2, len(self.weights)).transpose(1, 2, 0)
        if not self.projected:
            for k, found in findings.items():
                numeric[:, k] = found.nearest
        u = self.telling_upstream([findings[k] for k in wrong])
        self.fill_report(analytic[u], numeric[u], wrong)
        self.describe(findings, missing, np.abs(analytic - numeric).max(initial=0)
                      / (np.abs(analytic).max(initial=0) or 1))
        if wrong:
            self.fail_at(wrong, u, findings, gradient, missing, mode)
        unseen = sum(where.size for where, _ in doubts)
        if unseen:
            self.report.lines.append(
                f"{self.prefix}{unseen} elements were not told apart: f bends or jumps "
                "at many of them; check fewer elements, or other inputs")

    @staticmethod
    def telling_upstream(wrong):
        """The upstream gradient to speak of: ones, if they show the error well."""
        errors = [found.bad * np.nan_to_num(
            np.abs(found.analytic - found.nearest)
            / np.maximum(np.abs(found.analytic), np.abs(found.nearest)), nan=1)
            for found in wrong]
        worst = np.max(errors, axis=0, initial=0) if wrong else np.zeros(1)
        return 0 if worst[0] > 0.1 * worst.max() else int(worst.argmax())

    def direction(self, where):
        """Random, so that errors do not cancel; for one element to the right."""
        size = self.rng.uniform(0.5, 1, where.size)
        return (size * self.rng.choice([-1, 1], where.size) if where.size > 1
                else np.ones(1))

    def fill_report(self, analytic, numeric, wrong):
        r = self.report
        if self.projected:
            r.labels = ["random directions"]
            r.analytic, r.numeric = [analytic], [numeric]
            r.wrong = [np.array([np.isin(wrong, part).any() for part in self.parts])]
            return
        marks = np.isin(np.arange(self.x.size), wrong)
        for i, *rows in zip(self.moved, *(np.split(row, self.ends[:-1]) for row in
                                          (analytic, numeric, marks)), strict=True):
            shape = (*self.xs[i].shape, 2)[:None if self.xs[i].dtype.is_complex else -1]
            r.labels.append(self.prefix + self.names[i])
            for values, row in zip((r.analytic, r.numeric, r.wrong), rows, strict=True):
                values.append(row.reshape(shape))

    def describe(self, findings, missing, error):
        """Write the lines of a report on a right gradient."""
        r = self.report
        power = np.ceil(np.log10(max(error, self.rtol)))
        r.lines = [f"{self.prefix}largest error: below {10**power:.0e} of the largest "
                   "derivative"]
        if self.projected:
            r.lines.append(f"{self.prefix}{len(self.parts)} random directions, each of "
                           f"at most {self.parts[0].size} elements")
        for i, none in zip(self.moved, np.split(missing, self.ends[:-1]), strict=True):
            if none.any():
                r.lines.append(f"{self.prefix}{self.names[i]}: no gradient, and none "
                               "is needed: the outputs do not depend on it")
        for k, found in sorted(findings.items()):
            a, low, high = (self.short(v[0], found.high[0] - found.low[0]) for v in
                            (found.analytic, found.low, found.high))
            if found.kind == "kink":
                r.kinks.append(f"{self.place(k)}: a kink, the gradient {a} lies "
                               f"between the slopes {low} and {high}")
            elif found.kind == "jump":
                r.jumps.append(f"{self.place(k)}: a jump, the gradient {a} is that "
                               f"beside it, {low} to {high}")
            elif found.kind == "edge":
                r.jumps.append(f"{self.place(k)}: f is not finite on one side, the "
                               f"gradient {a} is that of the other")
        for texts in (r.kinks, r.jumps):
            r.lines += texts[:5]
            if len(texts) > 5:
                r.lines.append(f"and {len(texts) - 5} more like this")
        if r.undecided:
            r.lines.append(f"{self.prefix}{r.undecided} of {self.x.size} elements "
                           "undecided: rounding in f hides so small gradients")

    def short(self, number, scale=0.0, digits=4):
        """Few digits, with a point: 4.0 and not 4; rounding noise is 0.0."""
        if abs(number) < 10.0**-self.digits * abs(scale):
            number = 0.0
        return str(float(f"{number:.{digits}g}"))

    def place(self, k):
        """Name the input and the element of number `k` of the flat x."""
        part = int(np.searchsorted(self.ends, k, side="right"))
        x = self.xs[self.moved[part]]
        k -= self.ends[part - 1] if part else 0
        half = ""
        if x.dtype.is_complex:
            half, k = (" (imaginary part)" if k % 2 else " (real part)"), k // 2
        index = tuple(int(n) for n in np.unravel_index(k, x.shape))
        return f"{self.prefix}{self.names[self.moved[part]]}, element {index}{half}"

    def fail_at(self, wrong, u, findings, gradient, missing, mode):
        """Fail: first the worst element, then what else is known."""
        shown = [k for k in wrong if findings[k].bad[u]]
        error = [abs(findings[k].analytic[u] - findings[k].nearest[u]) for k in shown]
        k = shown[int(np.nan_to_num(error, nan=np.inf).argmax())]
        found = findings[k]
        a, n = found.analytic[u], found.nearest[u]
        none = missing[k]
        numeric = self.short(n, a, self.digits)
        count = f"{'at least ' if self.projected else ''}{len(wrong)}"
        lines = [f"{self.place(k)}: analytic {'None' if none else self.short(a)}, "
                 f"numeric {numeric} ({count} of {self.x.size} elements wrong)",
                 f"found in {mode}, upstream gradient: {'random' if u else 'ones'}"]
        if not none and self.short(a) == self.short(n):
            lines.append(f"they differ by a part of {abs(a - n) / abs(n):.0e}")
        if u > 1:
            lines[1] += f" for output {u - 2}, zeros for the others"
        lines += self.hints(found, u, none, gradient)
        both = np.array([(findings[k].analytic[u], findings[k].nearest[u])
                         for k in shown]).T
        if len(shown) > 1 and both[1].all() and np.isfinite(both).all():
            ratios = both[0] / both[1]
            if np.ptp(ratios) < 10 * self.rtol * abs(ratios[0]):
                lines.append(f"analytic / numeric is {self.short(ratios[0])} in all of "
                             "them")
        self.fail("\n".join(lines))

    def hints(self, found, u, none, gradient):
        lines = []
        if found.kind in ("kink", "jump"):
            low, high = (self.short(v[u], found.high[u] - found.low[u])
                         for v in (found.low, found.high))
            lines.append(f"f has a {found.kind} there, with the slopes {low} and "
                         f"{high}: the gradient lies outside")
        if none:
            lines.append("there is no gradient, but the outputs depend on this input")
        elif not np.isfinite(gradient).all():
            lines.append("the gradient is inf or nan where f is finite")
        zeros = [tf.zeros_like(dy) for dy in self.upstreams[0]]
        at_zero = [dx for dx in _vjps(self.f, self.xs, [zeros])[1][0] if dx is not None]
        if np.nan_to_num(self.flat(at_zero), posinf=0, neginf=0).any():
            lines.append("it is not 0 for an upstream gradient of 0: some of it is not "
                         "multiplied by dy")
        elif u:
            lines.append("it is right for an upstream gradient of ones: look at how dy "
                         "enters")
        r = self.report
        for i, a, n in zip(self.moved, r.analytic, r.numeric, strict=False):
            close = partial(np.allclose, rtol=10 * self.rtol, atol=0)
            if self.projected or close(a, n):
                continue
            if self.xs[i].dtype.is_complex and close(a * [1, -1], n):
                lines.append(f"{self.names[i]}: it is the complex conjugate of what "
                             "TensorFlow expects, dy * conj(f'(z))")
            elif a.ndim == 2 and a.shape == a.T.shape and close(a.T, n):
                lines.append(f"{self.names[i]}: it is the transpose of the right one")
        return lines

    def fail(self, text, cause=None):
        text = text if text.startswith(self.prefix) else self.prefix + text
        self.report.ok, self.report.lines = False, text.split("\n")
        error = AssertionError(text)
        error.report = self.report
        raise error from cause
