"""The pictures of lesson 11, its food webs, and the epidemic of its second exercise."""

import numpy as np
from scipy.integrate import solve_ivp

from utils import like, py_func, tf


def draw_animals(ax, dots, times, *curves, ylabel="pelts (thousands)"):
    """Dots for the years, a thick and a thin curve: hares and lynxes in columns."""
    species = ("hares", "C0-", "C0o"), ("lynxes", "C1--", "C1s")
    for k, (name, line, dot) in enumerate(species):
        for y, lw, more in zip(curves, (2, 0.7), ("", ", first guess"), strict=False):
            ax.plot(1900 + times, y[:, k], line, lw=lw, label=name + more)
        ax.plot(1900 + np.arange(len(dots)), dots[:, k], dot, markersize=4)
    ax.set(xlabel="year", ylabel=ylabel, xticks=range(1900, 1921, 5))
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))


def draw_worth(ax, worth, tried):
    """The adjoint, year by year, and dots of what was tried in each year."""
    times = np.arange(20)[:, None] + np.linspace(0, 1, worth.shape[1])
    ylabel = "worth of a thousand more"
    draw_animals(ax, tried, times.ravel(), worth.reshape(-1, 2), ylabel=ylabel)
    ax.axhline(0, color="grey", lw=0.7)


def draw_costs(ax, sizes, costs):
    """Lines over the number of parameters, one for each method."""
    names = "differences", "sensitivities", "adjoint in one go", "adjoint restarted"
    for k, line in enumerate(("-o", "--s", "-^", ":v")):
        ax.loglog(sizes, np.array(costs)[:, k], line, markersize=4, label=names[k])
    ax.set(xlabel="parameters", ylabel="cost in runs of the simulator")
    ax.set_xticks(sizes, sizes)
    ax.set_yticks([1, 2, 5, 10], [1, 2, 5, 10])
    ax.minorticks_off()
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))


def web(n, damping=0.1):
    """A food web of n species: the start, r and A."""
    rng = np.random.default_rng(0)
    K = rng.normal(size=(n, n)) / np.sqrt(n)
    A = K - K.T - damping * np.eye(n)
    return rng.uniform(0.5, 1.5, n), -A.sum(axis=1), A


def epidemic(backward, jump=lambda state, dy: state):
    """An op of (start, b, c): s and i at t = 2 and 4. Its gradient runs `backward`."""
    tol = {"rtol": 1e-9, "atol": 1e-9}

    def slopes(t, state, b, c):
        s, i = state
        return [-b * s * i, b * s * i - c * i]

    def simulate(start, b, c):
        return solve_ivp(slopes, (0, 4), start, t_eval=[2, 4], args=(b, c), **tol).y.T

    def gradients(y, dy, b, c):
        at_4 = [*y[1], *dy[1], 0, 0]
        at_2 = solve_ivp(backward, (4, 2), at_4, args=(b, c), **tol).y[:, -1]
        at_2 = jump(at_2, dy[0])
        if at_2 is None:
            raise ValueError("`jump` returned None")
        at_0 = solve_ivp(backward, (2, 0), at_2, args=(b, c), **tol).y[:, -1]
        return at_0[2:4], at_0[4], at_0[5]

    def grad(op, dy):
        specs = [*map(like, op.inputs)]
        return py_func(gradients, [*op.outputs, dy, *op.inputs[1:]], specs)

    y = tf.TensorSpec([2, 2], tf.float64)
    return lambda start, b, c: py_func(simulate, [start, b, c], y, grad=grad)
