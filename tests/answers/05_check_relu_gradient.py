"""Answers to the exercises of lesson 05: wrong ones with a word of the hint, right ones
of another form."""

CELLS = 0, 1, 2, 3, 4, 5, 6, 8, 14  # the others draw, or only show

MIXED = "def mixed_sides(f, x, dy):\n"
ARRAYS = MIXED + "    left, right = np.zeros_like(x), np.zeros_like(x)\n"
LOOP = (
    ARRAYS + "    for j in range(len(x)):\n"
    "        step = np.zeros_like(x)\n"
    "        step[j] = h = rule(x[j])\n"
)
LEFT = "        left[j] = np.sum(dy * (f(x) - f(x - step))) / h\n"
RIGHT_SIDE = "        right[j] = np.sum(dy * (f(x + step) - f(x))) / h\n"
RETURN = "    return left, right\n"
INPUTS = "inputs = [-1.0, 5.5, 7.0]\n"
DY = "dy = [1.0, -4.0, 1.0]\n"
ZERO = "celu_x = 0.0\n"

WRONG = {
    1: [
        ("which outputs", MIXED + "    return sides(f, x, np.sum(dy))\n"),
        (  # the diagonal of the Jacobian only
            "which outputs",
            LOOP + "        left[j] = dy[j] * (f(x) - f(x - step))[j] / h\n"
            "        right[j] = dy[j] * (f(x + step) - f(x))[j] / h\n" + RETURN,
        ),
        (  # all elements at once, summed
            "which outputs",
            MIXED + "    left, right = sides(f, x, dy)\n"
            "    return np.full_like(x, left.sum()), np.full_like(x, right.sum())\n",
        ),
        (  # dy left out: right for ones
            "dy_i times",
            LOOP + "        left[j] = np.sum(f(x) - f(x - step)) / h\n"
            "        right[j] = np.sum(f(x + step) - f(x)) / h\n" + RETURN,
        ),
        (  # the upstream gradient of the input's index
            "dy_i times",
            LOOP + "        left[j] = dy[j] * np.sum(f(x) - f(x - step)) / h\n"
            "        right[j] = dy[j] * np.sum(f(x + step) - f(x)) / h\n" + RETURN,
        ),
        (  # one row of the Jacobian for each input, times dy: square Jacobians only
            "two outputs",
            MIXED + "    left, right = np.zeros((2, x.size, x.size))\n"
            "    for j in range(len(x)):\n"
            "        step = np.zeros_like(x)\n"
            "        step[j] = h = rule(x[j])\n"
            "        left[j] = (f(x) - f(x - step)) / h\n"
            "        right[j] = (f(x + step) - f(x)) / h\n"
            "    return left @ dy, right @ dy\n",
        ),
        (  # the central difference on both sides
            "left and right",
            LOOP
            + "        left[j] = np.sum(dy * (f(x + step) - f(x - step))) / (2 * h)\n"
            "    return left, left\n",
        ),
        (  # sorted: the lower one, the higher one
            "left and right",
            LOOP + LEFT + RIGHT_SIDE + "    return np.sort([left, right], axis=0)\n",
        ),
        ("left and right", LOOP + LEFT + RIGHT_SIDE + "    return right, left\n"),
        *[  # steps that do not suit each x_j; where f is straight they do
            (
                "how large a step",
                LOOP.replace("rule(x[j])", h) + LEFT + RIGHT_SIDE + RETURN,
            )
            for h in ("1.0", "0.5", "1e-3", "1e-9", "rule(x[0])", "rule(x.max())")
        ],
        (  # moves x and leaves it there
            "which outputs",
            ARRAYS + "    y = f(x)\n"
            "    for j in range(len(x)):\n"
            "        h = rule(x[j])\n"
            "        x[j] += h\n"
            "        right[j] = np.sum(dy * (f(x) - y)) / h\n"
            "        x[j] -= 2 * h\n"
            "        left[j] = np.sum(dy * (y - f(x))) / h\n"
            "        x[j] += 1.5 * h\n" + RETURN,
        ),
    ],
    2: [
        (
            "60 inputs",
            "inputs = dy = np.random.default_rng(0).normal(size=60)\n" + ZERO,
        ),
        ("5 inputs", "inputs = dy = [-1.0, 5.5, 5.6, 5.7, 7.0]\n" + ZERO),
        ("3 inputs and 1 dy", INPUTS + "dy = -4.0\n" + ZERO),
        ("ceiling at 5", "inputs = np.array([-1.0, 1.0, 7.0])\n" + DY + ZERO),
        ("ceiling at 5", "inputs = [-1.0, 6.0, 7.0]\n" + DY + ZERO),  # 6 is a kink
        ("no floor", "inputs = np.array([0.0, 5.5, 7.0])\n" + DY + ZERO),
        ("no floor", INPUTS + "dy = [0.0, -4.0, 1.0]\n" + ZERO),
        ("no ceiling", "inputs = [-1, 5.5, 5.7]\n" + DY + ZERO),
        ("|dy|", INPUTS + "dy = [-1.0, 4.0, -1.0]\n" + ZERO),  # stopped where negative
        ("±3", INPUTS + "dy = [9.0, -2.0, 9.0]\n" + ZERO),  # stopped where large
        ("0 inputs", "inputs = dy = np.zeros(0)\n" + ZERO),
        ("has to pass", "inputs = [np.nan, np.nan, np.nan]\n" + DY + ZERO),
        ("ValueError", 'inputs = ["one", "two", "three"]\n' + DY + ZERO),
        *[
            ("an edge", INPUTS + DY + f"celu_x = {x}\n")
            for x in ("1e-3", "-30.0", "1e9", "np.nan", "np.inf", "-np.inf")
        ],
        ("ValueError", INPUTS + DY + "celu_x = [0.0, 1.0]\n"),
    ],
}
RIGHT = {
    1: [
        MIXED + "    steps = np.diag(rule(x))\n"
        "    left = [np.sum(dy * (f(x) - f(x - step))) for step in steps] / rule(x)\n"
        "    right = [np.sum(dy * (f(x + step) - f(x))) for step in steps] / rule(x)\n"
        "    return left, right\n",
        LOOP + "        left[j] = dy @ (f(x) - f(x - step)) / h\n"
        "        right[j] = dy @ (f(x + step) - f(x)) / h\n" + RETURN,
        MIXED + "    def slope(j, h):\n"
        "        return (np.vdot(dy, f(x + h * np.eye(len(x))[j])) - np.vdot(dy, f(x))) / h\n"
        "    h = rule(x)\n"
        "    return [[slope(j, s * h[j]) for j in range(len(x))] for s in (-1, 1)]\n",
        "def mixed_sides(f, x, dy):\n"
        "    def loss(moved, j):\n"
        "        return np.sum(dy * f(np.where(np.arange(len(x)) == j, moved, x)))\n"
        "    pairs = [sides(lambda moved: loss(moved, j), x[j], 1.0)\n"
        "             for j in range(len(x))]\n"
        "    return np.transpose(pairs)\n",
    ],
    2: [
        "inputs = [-3, 5.5, 100]\ndy = [1, -10, 1]\ncelu_x = 0\n",
        "inputs = np.array([[-1.0, 5.5], [5.9, 6.1]])\n"
        "dy = np.array([[-2.0, 5.0], [-0.1, 3.0]])\ncelu_x = np.array([0.0])\n",
        "inputs = tf.constant([-1.0, 5.5, 6.5])\ndy = -4 * tf.ones(3)\ncelu_x = -0.0\n",
    ],
}
