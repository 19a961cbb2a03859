"""The slope of a function along a line, and how well it is known: NumPy alone.

A derivative is measured by steps of many sizes. Through the values at some sizes
that follow each other goes a polynomial, the points outnumber its coefficients, and
so its misfit tells how large rounding and curvature are *there*: nothing about them
is assumed. The polynomial also has to meet the values at all smaller steps. Of the
many slopes, the one with the smallest error is believed, and no less of an error
than others of nearly the same quality contradict it by.

Sources: extrapolation from several steps, with an error from their disagreement:
Ridders, Advances in Engineering Software 4 (1982) 75-76. Noise that is measured in
the values of f instead of guessed from its rounding: More and Wild, Estimating
computational noise, SIAM Journal on Scientific Computing 33 (2011) 1292-1314.
"""

import contextlib
import math
from collections import namedtuple

import numpy as np

# A standard deviation is estimated from a few misfits, and the luckiest of many
# slopes is taken: only what is so many of them away is sure to differ.
SURE = 6
_COLUMNS = 128  # so many outputs at a time, which bounds the memory

Values = namedtuple("Values", "lengths changes moves")
Values.__doc__ = """What steps to both sides did; row 0 is the left side, 1 the right.

lengths (2, N): how far a step really went, the shortest first. changes (2, N, m): of
the outputs, nan where f has no value. moves (2, N, n): of each moved number of x.
"""

Slopes = namedtuple("Slopes", "kind left right error hidden flat")
Slopes.__doc__ = """What was found at x, arrays with one entry for each output.

kind: "smooth", "kink", "jump", "edge" (no value on one side), or "unknown".
left, right: the slopes beside x, the same ones where f is smooth.
error: by how much these may be off. hidden: the slope that an output which never
moves may have: rounding would hide it. flat: whether, in doubt, the slope is 0: f
is constant close to x, but so it might be by coarse rounding.
"""

# Arrays: a row for each group of points, a column for each output. misfit is the
# largest anywhere, own that of the points which the polynomial is put through.
_Fit = namedtuple("_Fit", "slope error value value_error reach misfit own nearest")


class Line:
    """f along the line from x in a direction.

    Args:
        f: from a vector of n numbers to one of m.
        x, direction: vectors of n numbers.
        rounded: turns a vector into the nearest one that f can really be given,
            because f computes in a shorter float; by default the vector itself.
        y: f(x), where it is known.
    """

    def __init__(self, f, x, direction, rounded=None, y=None):
        self.f, self.x, self.rounded = f, np.asarray(x, float), rounded
        self.where = np.flatnonzero(direction)
        self.direction = np.asarray(direction, float)[self.where]
        self.y = np.asarray(f(self.x) if y is None else y, float)
        # How many steps of t = 1 the distance from 0 is: rounding goes by that.
        self.along = self.direction / np.sum(self.direction**2)
        self.size = (np.linalg.norm(self.x[self.where])
                     / np.linalg.norm(self.direction))

    def at(self, t):
        """How far a step of t goes, the change of y, and the move of each number.

        Where f raises, is not finite, or returns another shape, f ends: nan.
        """
        point = self.x.copy()
        point[self.where] += t * self.direction
        if self.rounded is not None:
            point = self.rounded(point)
        move = point[self.where] - self.x[self.where]
        real = float((move * self.along).sum())
        if not math.isfinite(real):
            return t, np.full(self.y.shape, np.nan), move
        try:
            y = np.asarray(self.f(point), float)
        except Exception:
            y = None
        if y is None or y.shape != self.y.shape:
            return real, np.full(self.y.shape, np.nan), move
        return real, np.where(np.isfinite(y), y - self.y, np.nan), move


def glance(line, t):
    """A first look: two steps to each side. None where f has no value at one.

    Returns the slope of each output by all four, how far the slopes of the two
    sides and those of the two sizes are apart, and the move that belongs to the
    slope (of each moved number of x): the derivative times it is foretold.
    """
    points = [line.at(size) for size in (-2 * t, -t, t, 2 * t)]
    far, near, right, beyond = lengths = np.array([p[0] for p in points])
    changes = np.stack([p[1] for p in points])
    if not (np.isfinite(changes).all() and far < near < 0 < right < beyond):
        return None
    powers = lengths[:, None] ** np.arange(1, 5) / t ** np.arange(1, 5)
    slope = np.linalg.inv(powers)[0] / t

    def through(i, j):  # the slope at 0 of a parabola through 0 and two points
        a, b = lengths[i], lengths[j]
        row = np.zeros(4)
        row[i], row[j] = b / a / (b - a), -a / b / (b - a)
        return row

    sides, sizes = through(2, 3) - through(1, 0), through(2, 1) - through(3, 0)
    # einsum, for the threads of a matrix product wait for each other here
    rows = np.einsum("ij,jk->ik", np.stack([slope, sides, sizes]), changes)
    return *rows, slope @ np.stack([p[2] for p in points])


def step_sizes(eps, nearest, largest):
    """Sizes of steps, the shortest first, for numbers near 1 that are eps apart.

    nearest, largest: where something may happen, beside at 1, such as the distance
    to 0. The sizes lie close together below each of these. They are not the powers of
    2, which lie on the grid of a shorter dtype that f may compute in, and hide it.
    """
    ratio = np.clip(eps ** (-1 / 22), np.sqrt(2), 4)
    tops = sorted({min(0.95, largest), largest, *([1.37 * nearest] if nearest else [])})
    count = int(np.log(1 / eps) / np.log(ratio)) + 2
    sizes = [top / ratio**n for top in tops
             for n in range(count if top == tops[0] else min(count, 15))]
    chosen = []
    for size in sorted(sizes):
        if not chosen or size > chosen[-1] * ratio**0.7:
            chosen.append(size)
    return chosen


def walk(line, sizes):
    """Step to both sides; sizes at which no further point is reached are left out."""
    kept, last = [], np.zeros(2)
    for size in sizes:
        left, right = line.at(-size), line.at(size)
        lengths = np.array([-left[0], right[0]])
        if (lengths > last * (1 + 1e-9)).all():
            kept.append((lengths, (left[1], right[1]), (left[2], right[2])))
            last = lengths
    m, n = line.y.size, line.where.size
    return Values(np.array([k[0] for k in kept]).reshape(-1, 2).T,
                  np.array([k[1] for k in kept]).reshape(-1, 2, m).swapaxes(0, 1),
                  np.array([k[2] for k in kept]).reshape(-1, 2, n).swapaxes(0, 1))


def slopes(y, size_of_x, values, eps, enough=1e-9):
    """Find `Slopes` at x from the `Values` of a walk along a `Line`.

    y: f(x). size_of_x: the size of x in steps, as the line knows it. eps: the
    distance from 1 to the next number in the coarsest float that f uses.
    enough: the relative error at which no closer look is needed.
    """
    y = np.abs(y)
    found = Slopes(np.full(y.shape, "smooth", "U7"), *np.zeros((4, y.size)),
                   np.zeros(y.size, bool))
    if not values.lengths.size:
        found.kind[:], found.error[:] = "unknown", np.inf
        return found
    moved = (values.changes != 0).any(axis=(0, 1))  # nan is not 0 either
    found.hidden[:] = np.where(moved, 0, eps * y / values.lengths.max())
    columns = np.flatnonzero(moved)
    scale = eps, size_of_x, enough
    for start in range(0, columns.size, _COLUMNS):
        part = columns[start:start + _COLUMNS]
        few = values._replace(changes=values.changes[..., part])
        for all_, some in zip(found, _slopes(y[part], few, scale), strict=True):
            all_[part] = some
    return found


def _slopes(y, values, scale):
    (left, right), (below, above) = values.lengths, values.changes
    count, m = below.shape
    t = np.concatenate([-left[::-1], [0.0], right])
    change = np.concatenate([below[::-1], np.zeros((1, m)), above])
    fits = []
    for width in (5, 9, 17):
        points = _Points(count, (-1, 0, 1), width)
        fits += _fits(t, change, points, 6, y, scale)
        slope, error, flat = _best(t, change, points, fits, y, scale)[:3]
        doubt = ~(error <= scale[2] * np.abs(slope)) | flat
        if not doubt.any():
            break
    found = Slopes(np.full(m, "smooth", "U7"), slope, slope.copy(), error,
                   np.zeros(m), flat)
    if doubt.any():
        some = _sides(t, change[:, doubt], count, y[doubt], scale, slope[doubt],
                      error[doubt], flat[doubt])
        for all_, part in zip(found, some, strict=True):
            all_[doubt] = part
    return found


def _sides(t, change, count, y, scale, slope, error, flat):
    """Look at both sides on their own; smooth is what they don't show better."""
    sides = []
    for side in (-1, 1):
        by_itself, with_x = (_Points(count, those, 6) for those in ((side,), (side, 0)))
        fits = [list(_fits(t, change, points, 3, y, scale))
                for points in (by_itself, with_x)]
        alone = _best(t, change, by_itself, fits[0], y, scale)
        sides.append((alone, _best(t, change, with_x, fits[1], y, scale, alone[5])))
    (low_alone, low), (high_alone, high) = sides
    value_error = low_alone[4] + high_alone[4]
    leap = np.abs(low_alone[3] - high_alone[3]) > value_error
    beside = np.maximum(low_alone[1], high_alone[1])
    # Long steps take a bend for a kink, a slope for a jump: short ones know better.
    jump = leap & (beside < error / 4) & (error > np.abs(slope) / 50)
    low, high = ([np.where(jump, a, b) for a, b in
                  zip(alone[:3], with_zero[:3], strict=True)]
                 for alone, with_zero in sides)
    both = np.maximum(low[1], high[1])
    better = both < error / 2
    gap = np.abs(low[0] - high[0])
    bend = better & ~jump & (gap > low[1] + high[1])
    kink = bend & (error > gap / 50)
    # f ends where it has no value at the shortest steps of one side.
    ends = [np.isnan(change[count - 1]), np.isnan(change[count + 1])]
    edge = ends[0] != ends[1]
    kind = np.select([ends[0] & ends[1], edge, jump, kink],
                     ["unknown", "edge", "jump", "kink"], "smooth")
    calm = better & ~bend & (kind == "smooth")  # each side by itself is known better
    slope = np.where(calm, (low[0] + high[0]) / 2, slope)
    error = np.where(calm, both + gap / 2, error)
    flat = flat | low_alone[2] | high_alone[2]
    open_side = np.where(ends[0], high[0], low[0])
    apart = (kind == "jump") | (kind == "kink")
    left, right = (np.select([kind == "edge", apart], [open_side, side[0]], slope)
                   for side in (low, high))
    error = np.select([kind == "unknown", edge, apart], [
        np.full(len(error), np.inf), np.where(ends[0], high[1], low[1]), both], error)
    return Slopes(kind, left, right, error, np.zeros(len(error)), flat)


class _Points:
    """Which points belong together: of the sides (-1, 0 for x itself, 1) so many
    sizes in a row, for each largest size. All smaller ones have to be met as well.
    """

    def __init__(self, count, sides, width):
        width = min(width, count)
        size = np.arange(width, count + 1)[:, None] - np.arange(width)
        self.signs, self.count = [s for s in sides if s], count
        parts = [count + s * size for s in self.signs]
        if 0 in sides:
            parts.append(np.full((len(size), 1), count))
        self.index = np.concatenate(parts, axis=1)
        place = np.arange(2 * count + 1) - count
        self.inner = (np.isin(np.sign(place), sides)
                      & (np.abs(place) < size.min(axis=1)[:, None]))


def _best(t, change, points, fits, y, scale, stairs=None):
    """The best polynomial of each output: its slope, the error of that, whether in
    doubt f is flat, its value at 0, the error of that; and what `_staircase` says."""
    m = change.shape[1]
    if not fits:
        unknown = np.full(m, np.inf)
        return np.zeros(m), unknown, np.zeros(m, bool), np.zeros(m), unknown, None
    fit = _Fit(*map(np.concatenate, zip(*fits, strict=True)))
    if stairs is None:
        stairs = _staircase(t, change, points, fit, y, scale)
    height, coarse = stairs
    reach, column = fit.reach[:, None], np.arange(m)
    error = fit.error
    error = np.maximum(error, height / reach)

    def least_of(error, rivals_up_to):
        best = error.argmin(axis=0)
        slope, least = fit.slope[best, column], error[best, column]
        rivals = error <= rivals_up_to * least
        apart = np.where(rivals, np.abs(fit.slope - slope) - error, 0)
        return slope, np.maximum(least, apart.max(axis=0, initial=0)), least

    slope, raised, least = least_of(error, 300)
    # Steps of a few roundings of x, all of them in step: f may round x as well.
    eps, size_of_x = scale[:2]
    rounded = error + SURE * eps / 4 * size_of_x / reach * np.abs(fit.slope)
    other = least_of(rounded, 8)
    contradicted = raised > 2 * least
    slope, least = np.where(contradicted, other[:2], (slope, raised))
    value = fit.value_error.argmin(axis=0)
    return (slope, least, coarse, fit.value[value, column],
            np.maximum(fit.value_error[value, column], height), stairs)


def _inverses(matrices):
    """Of each its inverse; of a singular one, for which NumPy refuses all, infinity."""
    try:
        return np.linalg.inv(matrices)
    except np.linalg.LinAlgError:
        found = np.full_like(matrices, np.inf)
        for matrix, inverse in zip(matrices, found, strict=True):
            with contextlib.suppress(np.linalg.LinAlgError):
                inverse[:] = np.linalg.inv(matrix)
        return found


def _fits(t, change, points, highest, y, scale):
    """Polynomials of some degrees through each of the groups of points."""
    eps = scale[0]
    reach = np.abs(t[points.index]).max(axis=1, initial=0)
    highest = min(highest, points.index.shape[1] - 2)
    if highest < 1 or not len(reach):
        return
    nearest = np.where(points.index == points.count, np.inf, np.abs(t[points.index]))
    nearest = nearest.min(axis=1)
    near, far = t[points.index] / reach[:, None], t / reach[:, None]
    powers = near[..., None] ** np.arange(highest + 3)
    q, r = np.linalg.qr(powers[..., :highest + 1])
    values = change[points.index]
    largest = np.abs(values).max(axis=1)
    spread = np.ptp(values, axis=1)
    for degree in range(highest, 0, -2 if highest > 3 else -1):
        some = slice(degree + 1)
        solve = _inverses(r[:, some, some]) @ q[..., some].swapaxes(1, 2)
        coefficients = solve @ values
        misfit = values - powers[..., some] @ coefficients
        norm = np.linalg.norm(misfit, axis=1)
        # The next higher powers, which the polynomial has not: how much of them
        # shows as misfit, and how much hides in the slope?
        higher = powers[..., degree + 1:degree + 3]
        shown = np.linalg.norm(higher - powers[..., some] @ (solve @ higher), axis=1)
        leak = np.abs(solve[:, :2] @ higher) / np.maximum(shown, 1e-9)[:, None]
        inner = far[..., None] ** np.arange(degree + 1) @ coefficients - change
        inner = np.where(points.inner[..., None], np.abs(inner), 0).max(axis=1)
        slope = coefficients[:, 1]
        sure = eps / 4 * (y + largest)  # the results are rounded
        noise = norm / np.sqrt(points.index.shape[1] - degree - 1)
        # The misfit of a few points may be small by luck: no less than of neighbours.
        before = np.nan_to_num(np.concatenate([noise[:1]] * 4 + [noise]))
        many = len(noise)
        usual = np.mean([before[i:i + many] ** 2 for i in range(4)], axis=0) ** 0.5
        noise = np.maximum(np.maximum(noise, usual), np.maximum(inner / 2, sure))
        gain = np.linalg.norm(solve[:, :2], axis=2)
        error = np.maximum(SURE * gain[..., None] * noise[:, None],
                           leak.max(axis=-1)[..., None] * norm[:, None])
        # Waves that are shorter than the steps look like noise: all of it is misfit.
        worst = np.maximum(np.abs(misfit).max(axis=1), inner)
        waves = (worst > spread / 4) & (worst > 16 * eps * (y + largest))
        error = np.where((waves[:, None] & [[False], [True]]) | ~np.isfinite(error),
                         np.inf, error)
        yield _Fit(np.nan_to_num(slope, posinf=0, neginf=0) / reach[:, None],
                   error[:, 1] / reach[:, None],
                   np.nan_to_num(coefficients[:, 0], posinf=0, neginf=0), error[:, 0],
                   reach, worst, np.abs(misfit).max(axis=1), nearest)


def _staircase(t, change, points, fit, y, scale):
    """Nothing moves at the shortest steps: is f constant there, or is that rounding?

    Rounding makes stairs, all of about one height, along a smooth curve: then a
    polynomial over a much longer stretch goes through them as near as one stair.
    Returns the height of a stair (0 if f does not round so), and where that is more
    than rounding usually makes.
    """
    (eps, size_of_x), steps = scale[:2], np.arange(1, points.count + 1)
    rows = np.nan_to_num(np.stack([change[points.count + s * steps]
                                   for s in points.signs]))
    length = np.max([np.abs(t[points.count + s * steps]) for s in points.signs], axis=0)
    moved = (rows != 0).any(axis=0)
    first = moved.argmax(axis=0)
    rests_below = np.where(moved.any(axis=0), length[first], np.inf)
    height = np.abs(rows).max(axis=0)[first, np.arange(rows.shape[2])]
    through = ((fit.nearest[:, None] >= rests_below) & (fit.misfit <= 2 * height)
               & (fit.own >= height / 50) & np.isfinite(fit.error))
    stairs = through.any(axis=0) & (first > 0)
    for k in np.flatnonzero(stairs):  # a jump or two are no stairs
        end = fit.reach[through[:, k]].max() * (1 + 1e-9)
        stairs[k] = len(np.unique(rows[:, length <= end, k])) >= 5
    usual = eps * (y + np.abs(rows).max(axis=(0, 1)))
    between = eps * np.maximum(1.0, size_of_x)  # so may what f computes on its way
    fine = (first > 0) & (height <= 4 * np.maximum(usual, between))
    stairs &= height <= 1e10 * usual
    coarse = stairs & (height > 4 * usual)
    stairs |= fine
    return height * stairs, coarse
