"""The pictures of lesson 11, and the epidemic of its second exercise."""

import numpy as np
from scipy.integrate import solve_ivp

from utils import like, py_func

SPECIES = ("hares", "C0-", "C0o"), ("lynxes", "C1--", "C1s")


def draw_animals(ax, dots, times, *curves, ylabel="pelts (thousands)"):
    """Dots for the years, a thick and a thin curve: hares and lynxes in columns."""
    for k, (name, line, dot) in enumerate(SPECIES):
        for y, lw, more in zip(curves, (2, 0.7), ("", ", first guess"), strict=False):
            ax.plot(1900 + times, y[:, k], line, lw=lw, label=name + more)
        ax.plot(1900 + np.arange(len(dots)), dots[:, k], dot, markersize=4)
    ax.set(xlabel="year", ylabel=ylabel, xticks=range(1900, 1921, 5))
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))


def draw_worth(ax, worth, tried):
    """The adjoint, the last year first, and dots of what was tried in each year."""
    times = np.arange(20, 0, -1)[:, None] - np.linspace(0, 1, worth.shape[1])
    ylabel = "worth of a thousand more"
    draw_animals(ax, tried, times.ravel(), worth.reshape(-1, 2), ylabel=ylabel)
    ax.axhline(0, color="grey", lw=0.7)


def draw_costs(ax, sizes, costs):
    """Lines over the number of parameters, one for each way to a gradient."""
    ways = "differences in one solve", "sensitivities", "adjoint"
    for k, line in enumerate(("-o", "--s", ":^")):
        ax.loglog(sizes, np.array(costs)[:, k], line, markersize=4, label=ways[k])
    ax.set(xlabel="parameters", ylabel="cost in runs of the simulator")
    ax.set_xticks(sizes, sizes)
    ax.set_yticks([1, 2, 5, 10], [1, 2, 5, 10])
    ax.minorticks_off()
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))


def epidemic(backward):
    """An op of (start, b, c): s and i at t = 4. For its gradient it runs `backward`."""
    sharp = {"rtol": 1e-9, "atol": 1e-9}

    def slopes(t, state, b, c):
        s, i = state
        return [-b * s * i, b * s * i - c * i]

    def simulate(start, b, c):
        return solve_ivp(slopes, (0, 4), start, args=(b, c), **sharp).y[:, -1]

    def gradients(end, worths, b, c):
        at_4 = [*end, *worths, 0, 0]
        at_0 = solve_ivp(backward, (4, 0), at_4, args=(b, c), **sharp).y[:, -1]
        return at_0[2:4], at_0[4], at_0[5]

    def grad(op, dy):
        inputs = [op.outputs[0], dy, *op.inputs[1:]]
        return py_func(gradients, inputs, [*map(like, op.inputs)])

    return lambda start, b, c: py_func(simulate, [start, b, c], like(start), grad=grad)
