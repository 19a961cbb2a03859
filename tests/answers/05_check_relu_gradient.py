"""Answers to the exercises of lesson 05: wrong ones with a word of the hint, right ones
of another form."""

CELLS = 0, 1, 2, 3, 4, 5, 7, 11  # the others only show

CHECK = "def check(f, x, dy):\n    h = rule(x)\n"
BOTH = CHECK + "    a, b = np.array(central(f, x, h)), np.array(central(f, x, h / 10))\n"
AGREE = "    agree = np.abs(a - b) <= 1e-4 * np.minimum(np.abs(a), np.abs(b))\n"
WORDS = "    words = np.where(fair(f, x, dy), 'right', 'wrong')\n"
RETURN = "    return np.where(agree, words, 'undecided')\n"
RIGHT_BUT = BOTH + AGREE + WORDS + RETURN
INPUTS = "inputs = [-1.0, 3.0, 7.0]\n"
DY = "dy = [1.0, -4.0, 1.0]\n"
ZERO = "celu_x = 0.0\n"

WRONG = {
    1: [
        ("1/x at", CHECK + "    agree = True\n" + WORDS + RETURN),
        ("2 of 3 wrong", CHECK + "    return np.array(['right'] * len(x))\n"),
        ("instead of 'right'", CHECK + "    return np.array(['undecided'] * len(x))\n"),
        ("shape ()", CHECK + "    return 'right'\n"),
        ("reciprocal at", RIGHT_BUT.replace("np.minimum", "np.maximum")),  # inf <= inf
        (
            "log at",
            BOTH + "    agree = np.isclose(a, b, rtol=1e-4, equal_nan=True)\n" + WORDS + RETURN,
        ),
        ("wave at 1.24", RIGHT_BUT.replace("<= 1e-4", "<= 1e-3")),
        ("wave at 0.5", RIGHT_BUT.replace("<= 1e-4", "<= 1e-5")),
        ("fast_sine at", RIGHT_BUT.replace("np.abs(a - b)", "a - b")),
        ("1/x at", RIGHT_BUT.replace("np.abs(a - b)", "b - a")),
        ("wave at 1.24", RIGHT_BUT.replace("h / 10", "h / 5")),
        ("np_relu at 5e-11", RIGHT_BUT.replace("h / 10", "h / 20")),
        ("dy clipped", RIGHT_BUT.replace("rule(x)", "rule(x).max()")),
        ("dy clipped", RIGHT_BUT.replace("rule(x)", "rule(x).min()")),
        ("wrong", RIGHT_BUT.replace("fair(f, x, dy)", "fair(f, x, dy).all()")),
        ("dy clipped", RIGHT_BUT.replace("fair(f, x, dy)", "fair(f, x, np.abs(dy))")),
        ("instead of", RIGHT_BUT.replace("agree, words", "agree.all(), words")),
        (  # the central difference instead of the two sides
            "np_relu at",
            RIGHT_BUT.replace("fair(f, x, dy)", "np.isclose(vjp(f, x, dy), dy * b, rtol=1e-4)"),
        ),
        ("dy clipped", RIGHT_BUT.replace("fair(f, x, dy)", "fair(f, x, dy) | True")),
        ("instead of 'right'", RIGHT_BUT.replace("'right', 'wrong'", "'wrong', 'right'")),
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
        ("an edge", INPUTS + DY + "celu_x = [0.0, 1.0]\n"),
    ],
}
RIGHT = {
    1: [
        RIGHT_BUT.replace(RETURN, "    return np.where(agree, words, 'undecided').tolist()\n"),
        BOTH + "    undecided = ~np.isfinite(a + b) | ~np.isclose(b, a, rtol=1e-4)\n"
        "    return np.select([undecided, fair(f, x, dy)], ['undecided', 'right'], 'wrong')\n",
        # the array of objects that is given, written into
        BOTH + AGREE + WORDS + "    words = words.astype(object)\n"
        "    words[~agree] = 'undecided'\n    return words\n",
        # a loop over the numbers
        BOTH + "    words = []\n"
        "    for coarse, fine, accepted in zip(a, b, fair(f, x, dy)):\n"
        "        if not np.isclose(coarse, fine, rtol=1e-4):\n"
        "            words.append('undecided')\n"
        "        elif accepted:\n"
        "            words.append('right')\n"
        "        else:\n"
        "            words.append('wrong')\n"
        "    return words\n",
    ],
    2: [
        "inputs = [-3, 3, 100]\ndy = [1, -10, 1]\ncelu_x = 0\n",
        "inputs = np.array([[-1.0, 3.0], [0.1, 6.1]])\n"
        "dy = np.array([[-2.0, 5.0], [-3.1, 3.0]])\ncelu_x = np.array([0.0])\n",
        "inputs = tf.constant([-1.0, 3.0, 6.5])\ndy = -4 * tf.ones(3)\ncelu_x = -0.0\n",
    ],
}
