"""The pictures of lesson 11, its webs, and the epidemic of its second exercise."""

from functools import partial

import numpy as np
from scipy.integrate import solve_ivp

from utils import like, py_func

SPECIES = ("hares", "hare", "-", "o"), ("lynxes", "lynx", "--", "s")


def draw_animals(ax, pelts, times, guessed, fitted):
    """Thin and thick curves over dots: hares and lynxes in columns."""
    for k, (name, _, line, dot) in enumerate(SPECIES):
        for y, width, label in (guessed, 0.7, ", first guess"), (fitted, 2, ""):
            ax.plot(1900 + times, y[:, k], f"C{k}{line}", lw=width, label=name + label)
        ax.plot(range(1900, 1921), pelts[:, k], f"C{k}{dot}", markersize=4)
    label_years(ax, "pelts (thousands)")


def draw_worth(ax, times, worth, tried):
    """Curves of the adjoint over time, and dots of what was tried in each year."""
    for k, (_, name, line, dot) in enumerate(SPECIES):
        ax.plot(1900 + times, worth[:, k], f"C{k}{line}", label=f"one more {name}")
        ax.plot(1900 + np.arange(len(tried)), tried[:, k], f"C{k}{dot}", markersize=4)
    ax.axhline(0, color="grey", lw=0.7)
    label_years(ax, "worth in hares of 1920")


def draw_costs(ax, sizes, costs):
    """Lines over the number of parameters, one for each way to a gradient."""
    ways = "differences in one solve", "sensitivities", "adjoint"
    lines = "-o", "--s", ":^"
    for way, line, runs in zip(ways, lines, np.transpose(costs), strict=True):
        ax.loglog(sizes, runs, line, markersize=4, label=way)
    ax.set(xlabel="parameters", ylabel="cost in runs of the simulator")
    ax.set_xticks(sizes, sizes)
    ax.set_yticks([1, 2, 5, 10], [1, 2, 5, 10])
    ax.minorticks_off()
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))


def label_years(ax, ylabel):
    ax.set(xlabel="year", ylabel=ylabel, xticks=range(1900, 1921, 5))
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))


def web(n):
    """Start, r and A of n species: what one gains from another, the other loses."""
    rng = np.random.default_rng(0)
    K = rng.normal(size=(n, n)) / np.sqrt(n)
    A = K - K.T - 0.1 * np.eye(n)
    return rng.uniform(0.5, 1.5, n), -A.sum(axis=1), A


def epidemic(backward):
    """An op of (start, b, c) that gives s and i at t = 4, an array of shape (2,).

    `backward` is the student's: for the gradient it goes from t = 4 back to 0.
    """

    def solve(slopes, times, state, *args):
        return solve_ivp(slopes, times, state, args=args, rtol=1e-9, atol=1e-9).y[:, -1]

    def slopes(t, state, b, c):
        s, i = state
        return [-b * s * i, b * s * i - c * i]

    def gradients(end, worths, b, c):
        state = solve(backward, (4, 0), [*end, *worths, 0, 0], b, c)
        return state[2:4], state[4], state[5]

    def grad(op, dy):
        inputs = [op.outputs[0], dy, *op.inputs[1:]]
        return py_func(gradients, inputs, [*map(like, op.inputs)])

    simulate = partial(solve, slopes, (0, 4))
    return lambda start, b, c: py_func(simulate, [start, b, c], like(start), grad=grad)
