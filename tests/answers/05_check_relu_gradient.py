"""Answers to the exercises of lesson 05: wrong ones with a word of the hint, right ones
of another form."""

CELLS = 0, 1, 2, 3, 4, 5, 6, 7, 11  # the others only show

CHECK = "def check(f, x, dy):\n    h = rule(x)\n"
CLAIMED = CHECK + "    claimed = gradient(lambda x: dy * f(x), x)\n"
BOTH = CLAIMED + "    a, b = np.array(central(f, x, h)), np.array(central(f, x, h / 10))\n"
LARGER = "    larger = np.maximum(np.abs(a), np.abs(b))\n"
AGREE = "    agree = np.isfinite(larger) & (np.abs(a - b) <= 1e-4 * larger)\n"
SIDES = "    left, right = sides(f, x, h / 10)\n"
SORTED = "    low, high = np.sort([dy * left, dy * right], axis=0)\n"
OFF = "    off = 1e-4 * np.maximum(np.abs(low), np.abs(high))\n"
NEAR = "    near = (low - off <= claimed) & (claimed <= high + off)\n"
WORDS = "    return np.where(agree, np.where(near, 'right', 'wrong'), 'undecided')\n"
RIGHT_BUT = BOTH + LARGER + AGREE + SIDES + SORTED + OFF + NEAR + WORDS
INPUTS = "inputs = [-1.0, 3.0, 7.0]\n"
DY = "dy = [1.0, -4.0, 1.0]\n"
ZERO = "celu_x = 0.0\n"

WRONG = {
    1: [
        (  # fair with words: steps may disagree
            "1/x at",
            CLAIMED + SIDES + SORTED + OFF + NEAR + "    agree = True\n" + WORDS,
        ),
        ("2 of 3 wrong", CHECK + "    return np.array(['right'] * len(x))\n"),
        ("instead of 'right'", CHECK + "    return np.array(['undecided'] * len(x))\n"),
        ("shape ()", CHECK + "    return 'right'\n"),
        (
            "reciprocal at",
            RIGHT_BUT.replace(
                "agree = np.isfinite(larger) & (np.abs(a - b) <=", "agree = ~(np.abs(a - b) >"
            ),
        ),
        ("reciprocal at", RIGHT_BUT.replace("np.isfinite(larger)", "np.isfinite(a)")),
        ("wave at 2,", RIGHT_BUT.replace("<= 1e-4 * larger", "<= 1e-3 * larger")),
        ("fast_sine at", RIGHT_BUT.replace("np.abs(a - b) <=", "a - b <=")),
        ("1/x at", RIGHT_BUT.replace("np.abs(a - b) <=", "b - a <=")),
        ("wave at", RIGHT_BUT.replace("<= 1e-4 * larger", "<= 1e-5 * larger")),
        ("instead of", RIGHT_BUT.replace("<= 1e-4 * larger", "<= 1e-8")),
        ("np_relu at", RIGHT_BUT.replace("<= 1e-4 * larger", "< 1e-4 * larger")),
        ("wave at", RIGHT_BUT.replace("sides(f, x, h / 10)", "sides(f, x, h)")),
        ("cube at", RIGHT_BUT.replace("off = 1e-4", "off = 1e-3")),
        ("cube at", RIGHT_BUT.replace("off = 1e-4", "off = 1e-5")),
        ("cube at", RIGHT_BUT.replace(OFF, "    off = 0\n")),
        ("cube at", RIGHT_BUT.replace(OFF, "    off = 1e-4\n")),
        ("np_relu at", RIGHT_BUT.replace("np.maximum(np.abs(low), np.abs(high))", "np.abs(low)")),
        ("log at", RIGHT_BUT.replace("np.maximum(np.abs(low), np.abs(high))", "high")),
        ("np_relu at", RIGHT_BUT.replace(SORTED, "    low, high = dy * left, dy * right\n")),
        (  # the slopes are sorted, and not the products
            "np_relu at",
            RIGHT_BUT.replace(SORTED, "    low, high = dy * np.sort([left, right], axis=0)\n"),
        ),
        (
            "instead of 'right'",
            RIGHT_BUT.replace(SORTED, "    low, high = np.sort([left, right], axis=0)\n"),
        ),
        (  # one central difference instead of two sides
            "np_relu at",
            RIGHT_BUT.replace(SORTED, "    low = high = dy * b\n"),
        ),
        (  # the sign is lost
            "cube at",
            RIGHT_BUT.replace(
                NEAR, NEAR + NEAR.replace("claimed", "-claimed").replace("near =", "near |=")
            ),
        ),
        (  # one word for all
            "instead of 'right'",
            RIGHT_BUT.replace("agree, np.where", "np.full(len(x), agree.all()), np.where"),
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
        RIGHT_BUT.replace(
            AGREE,
            "    agree = np.abs(a - b) <= 1e-4 * np.minimum(np.abs(a), np.abs(b))\n"
            "    agree &= np.isfinite(a) & np.isfinite(b)\n",
        ),
        # a loop over the numbers, and the slopes instead of the products
        CLAIMED + "    words = []\n"
        "    for x, h, slope in zip(x, h, claimed / dy):\n"
        "        x = np.array([x])\n"
        "        a, b = [float(central(f, x, step)[0]) for step in (h, h / 10)]\n"
        "        slopes = [float(slope[0]) for slope in sides(f, x, h / 10)]\n"
        "        off = 1e-4 * max(map(abs, slopes))\n"
        "        if not (np.isfinite(a + b) and np.isclose(a, b, rtol=1e-4, atol=0)):\n"
        "            words.append('undecided')\n"
        "        elif min(slopes) - off <= slope <= max(slopes) + off:\n"
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
