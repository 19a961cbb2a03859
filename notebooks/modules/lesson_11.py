"""The picture of lesson 11, and the epidemic of its second exercise."""

import numpy as np
from scipy.integrate import solve_ivp

from utils import like, py_func, tf


def draw_animals(ax, curves, pelts):
    """Curves over dots, hares and lynxes; both arrays of shape (21, 2)."""
    years = range(1900, 1921)
    looks = [("hares", "C0-", "C0o"), ("lynxes", "C1--", "C1s")]
    for k, (name, line, dot) in enumerate(looks):
        ax.plot(years, curves[:, k], line, label=name)
        ax.plot(years, pelts[:, k], dot, markersize=4)
    ax.set(xlabel="year", ylabel="pelts (thousands)", xticks=years[::5])
    ax.legend(loc="upper right")


def epidemic(backward):
    """An op of (start, b, c) that gives s and i at t = 4, as an array of shape (2,).

    `backward` is the student's: for the gradient it goes from t = 4 back to 0.
    """

    def solve(slopes, times, state, b, c):
        found = solve_ivp(slopes, times, state, args=(b, c), rtol=1e-9, atol=1e-9)
        return found.y[:, -1]

    def forward(t, state, b, c):
        s, i = state
        return [-b * s * i, b * s * i - c * i]

    def gradients(end, worth, b, c):
        state = solve(backward, (4, 0), [*end, *worth, 0, 0], b, c)
        return state[2:4], state[4], state[5]

    def grad(op, dy):
        start, b, c = op.inputs
        return py_func(gradients, [op.outputs[0], dy, b, c], [*map(like, op.inputs)])

    def op(start, b, c):
        inputs = [tf.convert_to_tensor(x, tf.float64) for x in (start, b, c)]
        return py_func(
            lambda start, b, c: np.array(solve(forward, (0, 4), start, b, c)),
            inputs,
            like(inputs[0]),
            grad=grad,
        )

    return op
