"""Answers to the exercises of lesson 05: wrong ones with a word of the hint, right ones
of another form."""

CELLS = 0, 1, 2, 3, 4, 5, 6, 7, 12  # the others only show

VERDICT = "def verdict(f, x, claimed, h):\n"
BOTH = VERDICT + "    a, b = central(f, x, h), central(f, x, h / 10)\n"
FINITE = "    if not np.isfinite([a, b]).all(): return 'undecided'\n"
AGREE = "    if abs(a - b) > 1e-3 * abs(b): return 'undecided'\n"
SIDES = "    low, high = sorted(sides(f, x, h / 10))\n"
OFF = "    off = 1e-3 * max(abs(low), abs(high))\n"
JUDGE = "    return 'right' if low - off <= claimed <= high + off else 'wrong'\n"
RIGHT_BUT = BOTH + FINITE + AGREE + SIDES + OFF + JUDGE
INPUTS = "inputs = [-1.0, 3.0, 7.0]\n"
DY = "dy = [1.0, -4.0, 1.0]\n"
ZERO = "celu_x = 0.0\n"

WRONG = {
    1: [
        ("claimed -93940", VERDICT + SIDES + OFF + JUDGE),  # steps may disagree
        ("claimed 3.0,", VERDICT + "    return 'undecided'\n"),
        ("claimed 3.004", VERDICT + "    return 'right'\n"),
        ("log at", BOTH + AGREE + SIDES + OFF + JUDGE),  # no comparison with nan is true
        ("claimed 3.0,", RIGHT_BUT.replace("> 1e-3", "< 1e-3")),
        ("h = 0.1", RIGHT_BUT.replace("> 1e-3", "> 1e-2")),
        ("h = 0.02", RIGHT_BUT.replace("> 1e-3", "> 1e-5")),
        ("h = 0.02", RIGHT_BUT.replace("h / 10)\n    if", "10 * h)\n    if")),
        ("claimed 3.004", RIGHT_BUT.replace("off = 1e-3", "off = 1e-2")),
        ("claimed 3.002", RIGHT_BUT.replace("off = 1e-3", "off = 1e-5")),
        ("claimed 3.002", RIGHT_BUT.replace(OFF, "    off = 0\n")),
        ("claimed 3.03", RIGHT_BUT.replace("sides(f, x, h / 10)", "sides(f, x, h)")),
        ("claimed -0.0005", RIGHT_BUT.replace("max(abs(low), abs(high))", "abs(low)")),
        (  # without abs: a negative slope never agrees
            "reciprocal at 1e-06",
            RIGHT_BUT.replace("1e-3 * abs(b)", "1e-3 * b"),
        ),
        (  # one central difference instead of two sides
            "np_relu at 0.0, claimed 0.0",
            BOTH
            + FINITE
            + AGREE
            + "    return 'right' if abs(claimed - b) <= 1e-3 * abs(b) else 'wrong'\n",
        ),
        ("roof at", RIGHT_BUT.replace("sorted(sides(f, x, h / 10))", "sides(f, x, h)")),
        ("roof at", RIGHT_BUT.replace("abs(a - b) > 1e-3 * abs(b)", "abs(a - b) >= 1e-3 * abs(b)")),
        ("square at 1e-09", RIGHT_BUT.replace(OFF, OFF + "    off += 1e-8\n")),
        ("reciprocal at 0.5", RIGHT_BUT.replace("[a, b]", "[a]")),
        (  # its own step instead of h
            "h = 1e-09",
            RIGHT_BUT.replace("    a, b", "    h = rule(x)\n    a, b"),
        ),
        (  # the sign is lost
            "claimed -3.0",
            BOTH + FINITE + AGREE + SIDES + OFF + "    near = low - off <= claimed <= high + off\n"
            "    near |= low - off <= -claimed <= high + off\n"
            "    return 'right' if near else 'wrong'\n",
        ),
    ],
    2: [
        ("60 inputs", "inputs = dy = np.random.default_rng(0).normal(size=60)\n" + ZERO),
        ("5 inputs", "inputs = dy = [-1.0, 3.0, 3.1, 3.2, 7.0]\n" + ZERO),
        ("3 inputs and 1 dy", INPUTS + "dy = 4.0\n" + ZERO),
        ("x or dy", "inputs = np.array([-1.0, 1.0, 7.0])\n" + DY + ZERO),
        ("x or dy", "inputs = [-1.0, 3.01, 7.0]\n" + DY + ZERO),  # beside the edge
        ("x or dy", "inputs = np.array([0.0, 3.0, 7.0])\n" + DY + ZERO),
        ("x or dy", INPUTS + "dy = [0.0, -4.0, 1.0]\n" + ZERO),
        ("x or dy", "inputs = [-1, 3, 5.7]\n" + DY + ZERO),
        ("x or dy", INPUTS + "dy = [4.0, 4.0, 4.0]\n" + ZERO),
        ("x or dy", INPUTS + "dy = [-9.0, -2.0, -9.0]\n" + ZERO),
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
        + "    low, high = sorted(sides(f, x, h / 10))\n"
        + OFF
        + JUDGE,
        VERDICT + "    x = float(x)\n"
        "    a, b = [(f(x + s) - f(x - s)) / (2 * s) for s in (h, h / 10)]\n"
        "    if not (np.isfinite(a + b) and np.isclose(a, b, rtol=1e-3, atol=0)):\n"
        "        return np.str_('undecided')\n"
        "    slopes = np.array(sides(f, x, h / 10))\n"
        "    miss = max(slopes.min() - claimed, claimed - slopes.max())\n"
        "    return ['wrong', 'right'][int(miss <= 1e-3 * np.abs(slopes).max())]\n",
    ],
    2: [
        "inputs = [-3, 3, 100]\ndy = [1, -10, 1]\ncelu_x = 0\n",
        "inputs = np.array([[-1.0, 3.0], [0.1, 6.1]])\n"
        "dy = np.array([[-2.0, 5.0], [-3.1, 3.0]])\ncelu_x = np.array([0.0])\n",
        "inputs = tf.constant([-1.0, 3.0, 6.5])\ndy = -4 * tf.ones(3)\ncelu_x = -0.0\n",
    ],
}
