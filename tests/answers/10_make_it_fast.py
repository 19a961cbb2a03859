"""Answers to the exercises of lesson 10: wrong ones with a word of the hint, right
ones of another form."""

SQRT = """def np_sqrt(x):
    y = np.sqrt(x)
    return {}


def sqrt_grad(op, dy, dh):
    y, h = op.outputs
    return {}
"""
NOISY = "def np_noisy(x, seed):\n{}\n"

WRONG = {
    1: [
        ("h", SQRT.format("y, y", "dy * 0.5 / y")),
        ("h", SQRT.format("y, 1 / y", "dy * h / 2")),
        ("value", SQRT.format("x, 0.5 / y", "dy * h")),
        ("second derivative", SQRT.format("y, 0.5 / y", "dy * h")),
        ("second derivative", SQRT.format("y, 0.5 / y", "dy * h + 2 * dh * h**3")),
        ("multiplied by dy", SQRT.format("y, 0.5 / y", "h - 2 * dh * h * h * h")),
        ("tiny", SQRT.format("y, 0.5 / y", "dy * h - 2 * dh * h**3")),
        ("tiny", SQRT.format("y, 0.5 / y", "dy * h - dh / (4 * y * y * y)")),
    ],
    2: [
        (
            "same inputs",
            "rng = np.random.default_rng(0)\n\n\n"
            + NOISY.format("    return x + rng.normal(size=x.shape)"),
        ),
        (
            "other seed",
            NOISY.format(
                "    rng = np.random.default_rng(0)\n"
                "    return x + rng.normal(size=x.shape)"
            ),
        ),
        (
            "own state",
            NOISY.format(
                "    np.random.seed(int(seed))\n"
                "    return x + np.random.normal(size=x.shape)"
            ),
        ),
        (
            "standard deviation 1",
            NOISY.format(
                "    return x + np.random.default_rng(int(seed)).random(x.shape)"
            ),
        ),
        (
            "each place",
            NOISY.format("    return x + np.random.default_rng(int(seed)).normal()"),
        ),
        (
            "x + noise",
            NOISY.format(
                "    return np.random.default_rng(int(seed)).normal(size=x.shape)"
            ),
        ),
    ],
}

RIGHT = {
    1: [
        SQRT.format("y, 0.5 / y", "h * (dy - 2 * (dh * h) * h)"),
        "def np_sqrt(x):\n"
        "    return [x**0.5, 0.5 * x**-0.5]\n\n\n"
        "def sqrt_grad(op, dy, dh):\n"
        "    h = op.outputs[1]\n"
        "    return h * dy - dh * h / (2 * op.inputs[0])\n",
    ],
    2: [
        NOISY.format(
            "    noise = np.random.default_rng([int(seed), 7]).standard_normal(x.shape)"
            "\n    return x + noise"
        ),
        NOISY.format(
            "    state = np.random.RandomState(int(seed))\n"
            "    return x + state.normal(0, 1, x.shape)"
        ),
    ],
}
