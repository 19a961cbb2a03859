"""Answers to the exercises of lesson 05: wrong ones with a word of the hint, right ones
of another form."""

CELLS = 0, 1, 2, 3, 4, 6, 8, 9  # the others draw, or only show

STEP = "def best_step(eps):\n    return "
ACCEPTS = "def accepts(f, x, dx):\n"
SIDES = (
    ACCEPTS + "    (low, a), (high, b) = measure(f, x, right=0), measure(f, x, left=0)\n"
)
INPUTS = "inputs = [-1.0, 5.5, 7.0]\n"
ZERO = "celu_x = 0.0\n"

WRONG = {
    1: [
        ("power of eps", STEP + "eps ** (1 / 3)\n"),
        ("power of eps", STEP + "np.sqrt(eps)\n"),
        ("power of eps", STEP + "1e-4\n"),
        ("factor", STEP + "(eps / 4) ** (1 / 4)\n"),
        ("factor", STEP + "(2 * eps) ** (1 / 4)\n"),  # h² for the truncation
        ("factor", STEP + "(eps / 2) ** 0.25\n"),  # the middle value counted once less
        ("one positive", STEP + "-(eps**0.25)\n"),
        ("one positive", STEP + "np.array([eps]) ** 0.25\n"),
    ],
    2: [
        (
            "two sides",  # the mean of both sides
            SIDES + "    return abs(dx - (low + high) / 2) <= a + b\n",
        ),
        (
            "two sides",  # one side only
            ACCEPTS + "    slope, off = measure(f, x, left=0)\n"
            "    return abs(dx - slope) <= off\n",
        ),
        (
            "two sides",  # either side, but nothing between them
            SIDES + "    return abs(dx - low) <= a or abs(dx - high) <= b\n",
        ),
        ("dx = -0.1", ACCEPTS + "    return True\n"),
        (
            "larger one",
            SIDES + "    return low - a <= dx <= high + b\n",
        ),
        (
            "how far off",
            SIDES + "    return min(low, high) <= dx <= max(low, high)\n",
        ),
        (
            "how far off",
            SIDES + "    return min(low, high) - 1e-6 <= dx <= max(low, high) + 1e-6\n",
        ),
        (
            "dx = -0.1",  # the size of the slope, without its sign
            SIDES + "    low, high = sorted([abs(low), abs(high)])\n"
            "    return low - a <= abs(dx) <= high + b\n",
        ),
    ],
    3: [
        ("60 numbers", "inputs = np.random.default_rng(0).normal(size=60)\n" + ZERO),
        ("0 to 5", "inputs = np.array([-1.0, 1.0, 7.0])\n" + ZERO),
        ("0 to 5", "inputs = [-1.0, 6.0, 7.0]\n" + ZERO),  # 6 is a kink
        ("-inf to 6", "inputs = np.array([0.0, 5.5, 7.0])\n" + ZERO),
        ("0 to inf", "inputs = [-1, 0, 2, 5.5]\n" + ZERO),
        ("0 numbers", "inputs = np.zeros(0)\n" + ZERO),
        ("ValueError", 'inputs = ["one", "two"]\n' + ZERO),
        ("have to choose", INPUTS + "celu_x = 1e-3\n"),
        ("have to choose", INPUTS + "celu_x = -1.0\n"),
        ("2 numbers", INPUTS + "celu_x = [0.0, 1.0]\n"),
    ],
}
RIGHT = {
    1: [
        STEP + "np.sqrt(np.sqrt(eps))\n",
        STEP + "tf.sqrt(tf.sqrt(tf.constant(eps, tf.float64)))\n",
        STEP + "10 ** (np.log10(eps) / 4)\n",
        "def best_step(eps):\n"
        "    grid = np.logspace(-5, 0, 2001)\n"
        "    return min(grid, key=lambda h: 2 * h**2 + 2 * eps / h**2)\n",
    ],
    2: [
        SIDES + "    return (low - a <= dx <= high + b) or (high - b <= dx <= low + a)\n",
        SIDES + "    return abs(dx - low) + abs(dx - high) <= abs(low - high) + 2 * (a + b)\n",
        SIDES + "    slopes = np.sort([low, high]) + np.array([-1, 1]) * max(a, b)\n"
        "    return np.clip(dx, *slopes) == dx\n",
    ],
    3: [
        "inputs = [-3, 5.5, 100]\ncelu_x = 0\n",
        "inputs = np.array([[-1.0, 5.0], [5.9, 6.1]])\ncelu_x = np.array([0.0])\n",
        "inputs = tf.constant([-1.0, 5.5, 6.5])\ncelu_x = -0.0\n",
    ],
}
