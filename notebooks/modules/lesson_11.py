"""The picture of lesson 11, and the epidemic of its second exercise."""

from scipy.integrate import solve_ivp

from utils import like, py_func


def draw_animals(ax, pelts, guessed, fitted):
    """Thin and thick curves over dots; each curve is a pair of times and animals."""
    for k, (name, line, dot) in enumerate([("hares", "-", "o"), ("lynxes", "--", "s")]):
        for (times, animals), width in (guessed, 0.7), (fitted, 2):
            label = name if width == 2 else f"{name}, first guess"
            ax.plot(1900 + times, animals[:, k], f"C{k}{line}", lw=width, label=label)
        ax.plot(range(1900, 1921), pelts[:, k], f"C{k}{dot}", markersize=4)
    ax.set(xlabel="year", ylabel="pelts (thousands)", xticks=range(1900, 1921, 5))
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))


def solve(slopes, times, state, b, c):
    return solve_ivp(slopes, times, state, args=(b, c), rtol=1e-9, atol=1e-9).y[:, -1]


def epidemic(backward):
    """An op of (start, b, c) that gives s and i at t = 4, an array of shape (2,).

    `backward` is the student's: for the gradient it goes from t = 4 back to 0.
    """

    def slopes(t, state, b, c):
        s, i = state
        return [-b * s * i, b * s * i - c * i]

    def simulate(start, b, c):
        return solve(slopes, (0, 4), start, b, c)

    def gradients(end, worths, b, c):
        state = solve(backward, (4, 0), [*end, *worths, 0, 0], b, c)
        return state[2:4], state[4], state[5]

    def grad(op, dy):
        inputs = [op.outputs[0], dy, *op.inputs[1:]]
        return py_func(gradients, inputs, [*map(like, op.inputs)])

    return lambda start, b, c: py_func(simulate, [start, b, c], like(start), grad=grad)
