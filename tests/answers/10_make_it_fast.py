"""Answers to the exercises of lesson 10: wrong ones with a word of the hint, right
ones of another form."""

CELLS = 0, 1, 2

SQRT = """def np_sqrt(x):
    y = np.sqrt(x)
    return {}


def sqrt_grad(op, dy, dh):
    y, h = op.outputs
    return {}
"""
AGAIN = """def np_sqrt(x):
    return np.sqrt(x), 0.5 / np.sqrt(x)


def np_half(x):
    return 0.5 / np.sqrt(x)


def sqrt_grad(op, dy, dh):
    def grad(op, dh):
        return -dh * op.outputs[0] / (2 * op.inputs[0])

    x = op.inputs[0]
    h = py_func(np_half, [x], like(x), grad=grad)
    return dy * h - 2 * dh * h * h * h
"""
RNG = """rng = np.random.default_rng(0)


def np_noisy(x, seed):
{}
    return x + rng.normal(size=x.shape)
"""
UNSEEDED = """drawn = {}


def np_noisy(x, seed):
    place = int(seed), x.shape
    if place not in drawn:
        drawn[place] = np.random.default_rng().normal(size=x.shape)
    return x + drawn[place]
"""
CACHE = """rng = np.random.default_rng(0)
drawn = {}


def np_noisy(x, seed):
    if int(seed) not in drawn:
        drawn[int(seed)] = rng.normal(size=x.shape)
    return x + drawn[int(seed)]
"""
UNIFORM = """def np_noisy(x, seed):
    noise = np.random.default_rng(int(seed)).uniform(-1, 1, x.shape)
    return x + np.sqrt(3) * noise
"""
NOISY = "def np_noisy(x, seed):\n{}\n"

WRONG = {
    1: [
        ("output h", SQRT.format("y, y", "dy * 0.5 / y")),
        ("output h", SQRT.format("y, 1 / y", "dy * h / 2")),
        ("value", SQRT.format("x, 0.5 / y", "dy * h")),
        ("second derivative", SQRT.format("y, 0.5 / y", "dy * h")),
        ("second derivative", SQRT.format("y, 0.5 / y", "dy * h + 2 * dh * h**3")),
        ("multiplied by dy", SQRT.format("y, 0.5 / y", "h - 2 * dh * h * h * h")),
        ("tiny", SQRT.format("y, 0.5 / y", "dy * h - 2 * dh * h**3")),
        ("tiny", SQRT.format("y, 0.5 / y", "dy * h - dh / (4 * y * y * y)")),
        ("NumPy again", AGAIN),
        # cuts off what is large
        (
            "large at a small x",
            SQRT.format("y, 0.5 / y", "dy * h - 2 * dh * tf.minimum(h, 1e6) ** 3"),
        ),
        (
            "large at a small x",
            SQRT.format("y, 0.5 / y", "dy * h - dh / (4 * op.inputs[0] * y + 1e-12)"),
        ),
        # loses digits on the way
        (
            "output h",
            SQRT.format("y, np.float32(0.5 / y)", "dy * h - 2 * dh * h * h * h"),
        ),
        (
            "float64",
            SQRT.format(
                "y, 0.5 / y",
                "dy * tf.cast(tf.cast(h, tf.float32), h.dtype) - 2 * dh * h * h * h",
            ),
        ),
        # takes vectors alone
        (
            "one number",
            SQRT.format("y, 0.5 / y", "dy * h - 2 * dh * h * h * h").replace(
                "np.sqrt(x)", "np.array([v**0.5 for v in x])"
            ),
        ),
    ],
    2: [
        # the shape of one x
        (
            "shape of x",
            NOISY.format(
                "    rng = np.random.default_rng(int(seed))\n"
                "    return x + rng.normal(size=(30, 40))"
            ),
        ),
        (
            "new array",
            NOISY.format(
                "    x += np.random.default_rng(int(seed)).normal(size=x.shape)\n"
                "    return x"
            ),
        ),
        # a copy in rng's present state
        (
            "same inputs",
            "import copy\n\nrng = np.random.default_rng(0)\n\n\n"
            + NOISY.format(
                "    r = copy.deepcopy(rng)\n"
                "    r.bit_generator.advance(int(seed))\n"
                "    return x + r.normal(size=x.shape)"
            ),
        ),
        # Python's own state
        (
            "a state changes",
            "import random\n\n\n"
            + NOISY.format(
                "    random.seed(int(seed))\n"
                "    noise = [random.gauss(0, 1) for _ in range(x.size)]\n"
                "    return x + np.reshape(noise, x.shape)"
            ),
        ),
        (
            "other seed",
            NOISY.format(
                "    rng = np.random.default_rng(int(seed) % 10)\n"
                "    return x + rng.normal(size=x.shape)"
            ),
        ),
        (
            "a state changes",
            RNG.format("    global rng\n    rng = np.random.default_rng(int(seed))"),
        ),
        (
            "a state changes",
            RNG.format(
                "    fresh = np.random.default_rng(int(seed))\n"
                "    rng.bit_generator.state = fresh.bit_generator.state"
            ),
        ),
        ("a state changes", CACHE),
        # noise that another process cannot repeat
        ("seed alone", UNSEEDED),
        # noise that depends on x
        (
            "depend on x",
            NOISY.format(
                "    rng = np.random.default_rng(int(seed))\n"
                "    return x + rng.normal(scale=1 + x.std(), size=x.shape)"
            ),
        ),
        # half of the noise, twice
        (
            "each place",
            NOISY.format(
                "    rng = np.random.default_rng(int(seed))\n"
                "    half = rng.normal(size=x.size // 2 + 1)\n"
                "    return x + np.tile(half, 2)[: x.size].reshape(x.shape)"
            ),
        ),
        # enough for some x
        (
            "shape of x",
            NOISY.format(
                "    noise = np.random.default_rng(int(seed)).normal(size=1200)\n"
                "    return x + noise[: x.size].reshape(x.shape)"
            ),
        ),
        ("normal noise", UNIFORM),
        (
            "other seed",
            NOISY.format(
                "    rng = np.random.default_rng(int(seed) % 2)\n"
                "    return x + rng.normal(size=x.shape)"
            ),
        ),
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
            "a state changes",
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
        NOISY.format("    return np.random.default_rng(int(seed)).normal(x)"),
        NOISY.format(
            "    state = np.random.RandomState(int(seed))\n"
            "    return x + state.normal(0, 1, x.shape)"
        ),
        # seeds it later
        NOISY.format(
            "    state = np.random.RandomState()\n"
            "    state.seed(int(seed))\n"
            "    return x + state.normal(size=x.shape)"
        ),
    ],
}
