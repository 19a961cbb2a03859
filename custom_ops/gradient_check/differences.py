"""The slopes of a function at a point, by differences, and how well they are known.

NumPy alone. A derivative is measured by steps of many sizes. For each largest step, a
polynomial goes through all values up to it; the points outnumber its coefficients, so
its misfit tells how large rounding and curvature are *there*, and nothing about them
is assumed. Of the many slopes that this gives, the one with the smallest error is
believed; where others of nearly the same quality contradict it, its error grows.

Sources: extrapolation from several steps, with an error from their disagreement:
Ridders, Advances in Engineering Software 4 (1982) 75-76. Noise that is measured in
the values of f instead of guessed from its rounding: More and Wild, Estimating
computational noise, SIAM Journal on Scientific Computing 33 (2011) 1292-1314.
"""

from collections import namedtuple

import numpy as np

SURE = 6  # times its noise: the luckiest of many slopes is taken, so 2 or 3 is too few
# Stairs as high as this part of f: rounding in float64; in float32, 4 units in its last
# place, if f computes in it; or what may be rounding.
FINE, SINGLE, COARSE = 1e-10, 2**-21, 2e-6

Slopes = namedtuple("Slopes", "kind left right error")
Slopes.__doc__ = """What was found at x: arrays with one entry for each output.

kind: "smooth", "kink" or "jump"; or "stairs": constant close to x, but for stairs so
low that they may be rounding, so that its slope is the one found, or 0; "float32":
stairs as low as float32 rounds. left, right: the slopes beside x, the same ones where
f is smooth. error: by how much these may be off, or infinity.
"""

# t (2 N + 1,): where f was computed, x itself in the middle, number `count`; change
# (2 N + 1, m): by how much it differed there; y (m,): its size at x.
_Steps = namedtuple("_Steps", "t change y count eps")

# A polynomial: arrays with a row for each group of points, a column for each output.
_Fit = namedtuple("_Fit", "slope error value value_error reach misfit")


class Line:
    """A function f along a line through its x: where some numbers move, and how far.

    One number moves by itself; many move in proportion to their units, at random so
    that errors do not cancel. f has x, y = f(x) and unit, as `tape.Function`.
    where: the numbers that move. stride: the unit of t.
    """

    def __init__(self, f, where, rng):
        self.f, self.where = f, where
        self.direction, self.stride = np.zeros(f.x.size), 1.0
        if where.size == 1:
            self.direction[where], self.stride = 1.0, f.unit[where[0]]
        else:
            sizes = rng.uniform(0.5, 1, where.size) * rng.choice([-1, 1], where.size)
            self.direction[where] = f.unit[where] * sizes

    def at(self, t):
        """The change of y after a step of t; nan where f ends: where it raises, is not
        finite, or returns another shape."""
        try:
            change = self.f(self.f.x + t * self.direction) - self.f.y
        except Exception:
            change = np.nan
        if np.shape(change) != self.f.y.shape:
            change = np.full(self.f.y.shape, np.nan)
        return np.where(np.isfinite(change), change, np.nan)


def slopes_of_few(line, step, p):
    """`Slopes` by two steps to each side, where they are enough.

    The error is half of p.rtol where the slopes of both sides are p.smooth apart.
    """
    t = step * line.stride
    below, low, high, above = (line.at(size) for size in (-2 * t, -t, t, 2 * t))
    near, far = (high - low) / (2 * t), (above - below) / (4 * t)
    left, right = (below - 4 * low) / (2 * t), (4 * high - above) / (2 * t)
    rough = np.abs(right - left)
    if line.where.size == 1:  # of smooth f they differ by t**3, and these by t**2
        rough = np.maximum(rough, np.abs(near - far) / 50)
    slope, error = (4 * near - far) / 3, p.rtol / 2 / p.smooth * rough
    if not slope.any():  # or does rounding hide that f moves?
        error = error + 2 * p.eps * np.abs(line.f.y) / t
    return Slopes("smooth", slope, slope, error)


def slopes(line, longest, eps, weights, bent):
    """`Slopes` by steps of many sizes to both sides, up to the longest.

    longest: in units of the stride of the line. Of more than 256 outputs the `bent`
    (m,) ones are looked at, if they are at most 2,048, for the slopes of a sum say
    nothing of theirs; and of the others K sums, by weights (K, m). Returns `Slopes`,
    and the weights for them.
    """
    ratio = np.clip(eps ** (-1 / 22), np.sqrt(2), 4)  # about 22 sizes, down to eps
    powers = np.arange(np.ceil(np.log(eps / longest) / np.log(ratio)), 1)
    sizes = longest * line.stride * ratio**powers
    t = np.concatenate([-sizes[::-1], [0.0], sizes])
    y = np.abs(line.f.y)
    change = np.stack([line.at(size) if size else 0 * y for size in t])
    moved = (change != 0).any(axis=0)  # nan is not 0 either
    if moved.sum() > 256:
        bent = bent & (np.sum(bent) <= 2048)
        others, sums = np.where(bent, 0, weights), np.eye(len(weights))
        y = np.append(y[bent], np.linalg.norm(others * y, axis=1))
        change = np.hstack([change[:, bent], change @ others.T])
        moved, weights = np.ones(len(y), bool), np.hstack([weights[:, bent], sums])
    kind, found = np.full(y.size, "smooth", object), np.zeros((3, y.size))
    found[2] = 4 * eps * (y if moved.any() else np.maximum(y, 1)) / t[-1]
    if moved.any():
        steps = _Steps(t, change[:, moved], y[moved], sizes.size, eps)
        fit = _fits(steps, (-1, 0, 1), 6)
        stairs, height = _stairs(steps, fit)
        bend, *left_right_error = _sides(steps, fit, height)
        kind[moved] = np.where(stairs == "", bend, stairs)
        found[:, moved] = left_right_error
    return Slopes(kind, *found), weights


def _stairs(steps, fit):
    """Both sides are constant close to x, and then move: is that rounding?

    Rounding makes low stairs, and a polynomial over hundreds of them goes through
    them as near as a few stairs. Returns for each output what kind of stairs it has, or
    "", and the height of a stair that is rounding, or 0.
    """
    sides = np.nan_to_num(np.stack([steps.change[:steps.count][::-1],
                                    steps.change[steps.count + 1:]]))
    moves = sides != sides[:, :1]
    first = np.where(moves.any(axis=1), moves.argmax(axis=1), steps.count).min(axis=0)
    heights = np.abs([sides, sides - sides[:, :1]])
    height = np.where(heights > 0, heights, np.inf).min(axis=(0, 1, 2))
    size = np.maximum(steps.y, np.abs(sides).max(axis=(0, 1)))
    far = steps.t[steps.count + first]
    # Some ops round so, of numbers as large as y, or as 1.
    usual = height <= 16 * steps.eps * np.maximum(size, 1)
    through = ((fit.misfit <= 4 * height) & (fit.reach > 500 * far)).any(axis=0)
    rounded = usual | (height <= max(COARSE, 512 * steps.eps) * size) & through
    kind = np.select([rounded & (usual | (height <= FINE * size)),
                      rounded & (height > SINGLE * size), rounded],
                     ["", "stairs", "float32"], "")
    return kind, np.where(rounded, height, 0)


def _sides(steps, fit, height):
    """Look at both sides on their own; smooth is what they don't show better."""
    slope, error, *_ = _best(steps, fit, height)
    low, high = (_best(steps, _fits(steps, [side], 3), height) for side in (-1, 1))
    both = np.maximum(low[1], high[1])
    # Long steps take a slope for a jump: short ones know better.
    jump = (both < error / 4) & (np.abs(low[2] - high[2]) > low[3] + high[3])
    kink = ~jump & (both < error / 2) & (np.abs(low[0] - high[0]) > low[1] + high[1])
    left, right = (np.where(jump | kink, side[0], slope) for side in (low, high))
    return (np.select([jump, kink], ["jump", "kink"], "smooth"), left, right,
            np.where(jump | kink, both, error))


def _best(steps, fit, height):
    """The best polynomial of each output: its slope and the error of that, its value
    at 0 and the error of that. height: of the stairs that rounding makes."""
    reach, column = fit.reach, np.arange(steps.y.size)
    error = np.maximum(fit.error, height / reach)
    best = error.argmin(axis=0)
    slope, least = fit.slope[best, column], error[best, column]
    rivals = error <= 300 * least  # whose own errors may be luck by as much
    apart = np.where(rivals, np.abs(fit.slope - slope) - error, 0).max(axis=0)
    value = fit.value_error.argmin(axis=0)
    return (slope, np.maximum(least, apart), fit.value[value, column],
            np.maximum(fit.value_error[value, column], height))


def _fits(steps, sides, highest):
    """Polynomials of some degrees through f at the steps up to a largest one.

    There is one for each largest step. sides: -1 and 1, and 0 for x itself.
    """
    count, place = steps.count, np.arange(2 * steps.count + 1) - steps.count
    largest = np.arange(min(6, count), count + 1)[:, None]  # 6: more points than needed
    used = (np.abs(place) <= largest) & np.isin(np.sign(place), sides)
    reach = np.abs(steps.t * used).max(axis=1)[:, None]
    values = np.where(used[..., None], steps.change, 0)
    highest = min(highest, used.sum(axis=1).min() - 2)
    powers = (used * steps.t / reach)[..., None] ** np.arange(highest + 3)
    powers *= used[..., None]  # 0**0 is 1
    rounding = steps.eps * (steps.y + np.abs(values).max(axis=1))
    fits = []
    for degree in range(highest, 0, -2 if highest > 3 else -1):
        lower, higher = powers[..., :degree + 1], powers[..., degree + 1:degree + 3]
        solve = np.linalg.pinv(lower, rcond=1e-13)
        coefficients = solve @ values
        misfit = np.abs(values - lower @ coefficients).max(axis=1)
        # Noise goes into a coefficient by the norm of its row, at least a quarter of a
        # rounding; the two powers that the polynomial has not, by what of them hides
        # in the coefficient beside what shows as misfit, twice to be sure.
        gain = np.linalg.norm(solve[:, :2], axis=2)
        shown = np.abs(higher - lower @ (solve @ higher)).max(axis=1)
        leak = (np.abs(solve[:, :2] @ higher) / np.maximum(shown, 1e-9)[:, None]).max(
            axis=2)
        error = np.maximum(SURE * gain[..., None] * np.maximum(misfit, rounding / 4)[
            :, None], 2 * leak[..., None] * misfit[:, None])
        error = np.nan_to_num(error, nan=np.inf, posinf=np.inf)
        value, slope = np.nan_to_num(coefficients, posinf=0, neginf=0)[:, :2].swapaxes(
            0, 1)
        fits.append(_Fit(slope / reach, error[:, 1] / reach, value, error[:, 0], reach,
                         misfit))
    return _Fit(*map(np.concatenate, zip(*fits, strict=True)))
