"""Answers to the exercises of lesson 05: wrong ones with a word of the hint, right ones
of another form."""

CELLS = 0, 1, 2, 3, 5, 6, 7, 8, 13  # the others draw, or only show

VERDICT = "def verdict(f, x, claimed, h):\n"
BOTH = VERDICT + "    a, b = central(f, x, h), central(f, x, h / 10)\n"
FINITE = "    if not np.isfinite([a, b]).all(): return 'undecided'\n"
AGREE = "    if abs(a - b) > 1e-3 * abs(b): return 'undecided'\n"
JUDGE = "    return 'right' if abs(claimed - b) <= 1e-3 * abs(b) else 'wrong'\n"
INPUTS = "inputs = [-1.0, 5.5, 7.0]\n"
DY = "dy = [1.0, 4.0, 1.0]\n"
ZERO = "celu_x = 0.0\n"

WRONG = {
    1: [
        ("sin(1e5 x)", VERDICT + "    b = central(f, x, h)\n" + JUDGE),  # one step
        ("slope 3", VERDICT + "    return 'undecided'\n"),
        ("3.1", VERDICT + "    return 'right'\n"),
        ("log x", BOTH + AGREE + JUDGE),  # no comparison with nan is true
        (
            "slope 3",  # the signed size, the wrong way round
            BOTH + FINITE + AGREE.replace(">", "<") + JUDGE,
        ),
        (
            "small step",  # without abs: a negative slope never agrees
            BOTH + FINITE + AGREE.replace("abs(b)", "b") + JUDGE,
        ),
        (
            "small step",
            BOTH + FINITE + AGREE + JUDGE.replace("abs(b)", "b"),
        ),
        (
            "both slopes are 0",
            BOTH
            + FINITE
            + "    if not abs(a - b) / abs(b) <= 1e-3: return 'undecided'\n"
            + JUDGE,
        ),
        (
            "both slopes are 0",
            BOTH + FINITE + AGREE + JUDGE.replace("<=", "<"),
        ),
        (
            "1e-9 x",  # np.isclose adds 1e-8, however small the slope is
            BOTH
            + "    if not np.isclose(a, b, rtol=1e-3): return 'undecided'\n"
            + "    return 'right' if np.isclose(claimed, b, rtol=1e-3) else 'wrong'\n",
        ),
        (
            "small step",  # its own step instead of h
            BOTH.replace("    a, b", "    h = rule(x)\n    a, b")
            + FINITE
            + AGREE
            + JUDGE,
        ),
        (
            "where does a step",  # nan only: infinity is as large as it takes
            BOTH
            + "    if np.isnan([a, b]).any(): return 'undecided'\n"
            + AGREE.replace("abs(b)", "max(abs(a), abs(b))")
            + JUDGE,
        ),
    ],
    2: [
        (
            "60 inputs",
            "inputs = dy = np.random.default_rng(0).normal(size=60)\n" + ZERO,
        ),
        ("5 inputs", "inputs = dy = [-1.0, 5.5, 5.6, 5.7, 7.0]\n" + ZERO),
        ("3 inputs and 1 dy", INPUTS + "dy = 4.0\n" + ZERO),
        ("x or dy", "inputs = np.array([-1.0, 1.0, 7.0])\n" + DY + ZERO),
        ("x or dy", "inputs = [-1.0, 6.0, 7.0]\n" + DY + ZERO),  # 6 is a kink
        ("x or dy", "inputs = np.array([0.0, 5.5, 7.0])\n" + DY + ZERO),
        ("x or dy", INPUTS + "dy = [0.0, 4.0, 1.0]\n" + ZERO),
        ("x or dy", "inputs = [-1, 5.5, 5.7]\n" + DY + ZERO),
        ("x or dy", INPUTS + "dy = [4.0, -4.0, 4.0]\n" + ZERO),
        ("x or dy", INPUTS + "dy = [9.0, 2.0, 9.0]\n" + ZERO),
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
        BOTH
        + "    if not abs(a - b) <= 1e-3 * min(abs(a), abs(b)): return 'undecided'\n"
        "    return 'right' if abs(claimed - a) <= 1e-3 * abs(a) else 'wrong'\n",
        VERDICT + "    a, b = [(f(x + s) - f(x - s)) / (2 * s) for s in (h, h / 10)]\n"
        "    near = dict(rtol=1e-3, atol=0)\n"
        "    if not (np.isfinite(a + b) and np.isclose(a, b, **near)):\n"
        "        return np.str_('undecided')\n"
        "    return ['wrong', 'right'][int(np.isclose(claimed, b, **near))]\n",
        VERDICT + "    slopes = np.array([central(f, x, h / by) for by in (1, 10)])\n"
        "    if not np.isfinite(slopes).all() or (\n"
        "            np.ptp(slopes) > 1e-3 * np.abs(slopes).max()):\n"
        "        return 'undecided'\n"
        "    mean = slopes.mean()\n"
        "    return 'wrong' if abs(claimed - mean) > 1e-3 * abs(mean) else 'right'\n",
    ],
    2: [
        "inputs = [-3, 5.5, 100]\ndy = [1, 10, 1]\ncelu_x = 0\n",
        "inputs = np.array([[-1.0, 5.5], [0.1, 6.1]])\n"
        "dy = np.array([[-2.0, -5.0], [3.1, 3.0]])\ncelu_x = np.array([0.0])\n",
        "inputs = tf.constant([-1.0, 5.5, 6.5])\ndy = 4 * tf.ones(3)\ncelu_x = -0.0\n",
    ],
}
