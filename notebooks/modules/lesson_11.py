"""The pictures of lesson 11, its food webs, and the epidemic of its second exercise."""

import numpy as np
from scipy.integrate import solve_ivp

from utils import like, py_func, tf


def draw_animals(ax, dots, times, *curves):
    """Dots for the years, a thick and a thin curve: hares and lynxes in columns."""
    species = ("hares", "C0-", "C0o"), ("lynxes", "C1--", "C1s")
    for k, (name, line, dot) in enumerate(species):
        for y, lw, more in zip(curves, (2, 0.7), ("", ", first guess"), strict=False):
            ax.plot(1900 + times, y[:, k], line, lw=lw, label=name + more)
        ax.plot(1900 + np.arange(len(dots)), dots[:, k], dot, markersize=4)
    ax.set(xlabel="year", ylabel="pelts (thousands)", xticks=range(1900, 1921, 5))
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))


def draw_costs(ax, sizes, costs):
    """Lines over the number of parameters, one for each method."""
    for cost, line in zip(np.transpose(costs), ("-o", "--s", ":^"), strict=True):
        ax.loglog(sizes, cost, line, markersize=4)
    ax.set(xlabel="parameters", ylabel="cost in runs of the simulator")
    ax.set_xticks(sizes, sizes)
    ticks = [1, 2, 5, 10, 20, 50, 100, 200, 500]
    ax.set_yticks(ticks, ticks)
    ax.set_ylim(0.8, max(100, 1.2 * np.max(costs)))
    ax.minorticks_off()
    ax.legend(["differences", "sensitivities", "adjoint"], loc=2, bbox_to_anchor=(1, 1))


def web(n):
    """A food web of n species: the start, r and A."""
    rng = np.random.default_rng(0)
    K = rng.normal(size=(n, n)) / np.sqrt(n)
    A = K - K.T - 0.1 * np.eye(n)
    return rng.uniform(0.5, 1.5, n), -A.sum(axis=1), A


def epidemic(backward, jump=lambda state, dy: state):
    """An op of (start, b, c): s and i at t = 2 and 4. Its gradient runs `backward`."""

    def solve(slopes, times, state, *args):
        options = {"rtol": 1e-9, "atol": 1e-9, "dense_output": True}
        return solve_ivp(slopes, times, state, args=args, **options).sol

    def slopes(t, state, b, c):
        s, i = state
        return [-b * s * i, b * s * i - c * i]

    def simulate(start, b, c):
        return solve(slopes, (0, 4), start, b, c)([2, 4]).T

    def gradients(dy, start, b, c):
        saved = solve(slopes, (0, 4), start, b, c)
        at_2 = jump(solve(backward, (4, 2), [*dy[1], 0, 0], saved, b, c)(2), dy[0])
        if at_2 is None:
            raise ValueError("`jump` returned None")
        *worths, db, dc = solve(backward, (2, 0), at_2, saved, b, c)(0)
        return np.array(worths), db, dc

    def grad(op, dy):
        return py_func(gradients, [dy, *op.inputs], [*map(like, op.inputs)])

    y = tf.TensorSpec([2, 2], tf.float64)
    return lambda *inputs: py_func(simulate, inputs, y, grad=grad)
