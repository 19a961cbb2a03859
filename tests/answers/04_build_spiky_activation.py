"""Answers to the exercises of lesson 04: wrong ones with a word of the hint, right ones
of another form."""

CELLS = 0, 1, 2, 3, 7, 8, 9, 11, 14, 17

ONE = """
def bent_of_one(x):
    if x > 1:
        return 1
    return x if x > 0 else 0.1 * x

"""
BENT = "np.where(x > 1, 1, np.where(x > 0, x, 0.1 * x))"


def bent(line):
    return f"def bent(x):\n    {line}\n"


def zigzag(lines):
    return f"""
def np_zigzag(x, p=1):
    r = np.mod(x, p)
    return np.minimum(r, p - r)

def zigzag_slope(x, p=1):
    r = tf.math.floormod(x, p)
    return {lines}
"""


def step(line):
    return f"def step_slope(x, p=1):\n    return {line}\n"


WRONG = {
    1: [
        ("dtype", ONE + "bent = np.vectorize(bent_of_one, otypes=[np.float64])\n"),
        ("loop", ONE + bent("return np.vectorize(bent_of_one, otypes=[x.dtype])(x)")),
        (
            "loop",
            ONE
            + bent(
                "y = [bent_of_one(v) for v in x.ravel()]; return np.array(y, x.dtype).reshape(x.shape)"
            ),
        ),
        (
            "loop",
            ONE + "def bent(x):\n"
            "    y = np.empty_like(x)\n"
            "    for i in range(x.size):\n"
            "        y.flat[i] = bent_of_one(x.flat[i])\n"
            "    return y\n",
        ),
        ("dtype", bent(f"return np.float32({BENT})")),
        ("dtype", bent(f"return ({BENT}).astype(np.float64)")),
        ("writes into", bent("x[x < 0] *= 0.1; x[x > 1] = 1; return x")),
        ("values", bent("return np.where(x > 1, 1, np.where(x > 0, x, 0.1))")),
        ("values", bent("return np.clip(x, -0.3, 1)")),
        ("not yet", "bent = None\n"),
        (
            "IndexError",
            "def bent(x):\n"
            "    y = np.where(x > 0, x, x.dtype.type(0.1) * x)\n"
            "    y[np.flatnonzero(x > 1)] = 1\n"
            "    return y\n",
        ),
        (
            "values",
            "def bent(x):\n"
            "    y = np.zeros(len(x), x.dtype)\n"
            "    y[x > 1] = 1\n"
            "    return y\n",
        ),
        ("shape", bent(f"return ({BENT}).reshape(-1)")),
        (
            "loop",
            ONE
            + "def bent_of_column(x):\n    return np.array([bent_of_one(v) for v in x])\n"
            "def bent(x):\n"
            "    return np.apply_along_axis(bent_of_column, 0, x).astype(x.dtype)\n",
        ),
    ],
    2: [
        ("up, then down", zigzag("tf.sign(0.6 * p - r)")),
        ("up, then down", zigzag("tf.sign(0.4 * p - r)")),
        (
            "half of p",
            zigzag("tf.sign(0.5 - r)"),
        ),
        ("up, then down", zigzag("pointwise(x, p)")),
        ("up, then down", zigzag("tf.ones_like(x)")),
        ("half of p", zigzag("tf.sign((0.5 if p == 1 else 1.0) - r)")),
        ("dtype", zigzag("tf.where(r < p / 2, 1.0, -1.0)")),
        ("float32", zigzag("tf.sign(p / 2 - r) * tf.ones(r.shape, tf.float64)")),
    ],
    3: [
        ("|x|", step("tf.cast(tf.abs(x) > 1, x.dtype)")),
        ("|x|", step("tf.cast(x > 0, x.dtype)")),
        ("both sides", step("tf.cast((x > 0) & (x < 1), x.dtype)")),
        ("both sides", step("tf.cast(x < 1, x.dtype)")),
        ("0 for large", step("tf.cast(tf.abs(x) < 10, x.dtype)")),
        ("another range", step("tf.cast(tf.abs(x) < 6, x.dtype)")),
        ("not float32", step("tf.abs(x) < 1")),
        ("not float64", step("tf.where(tf.abs(x) < 1, 1.0, 0.0)")),
        ("0 for large", step("100 * tf.cast(tf.abs(x) < 1, x.dtype)")),
        ("1 for small", step("0.15 * tf.cast(tf.abs(x) < 0.5, x.dtype)")),
        (
            "0 for large",
            step("tf.cast((tf.abs(x) < 0.5) | (tf.abs(tf.abs(x) - 12) < 7), x.dtype)"),
        ),
        ("1 for small", step("0.001 * tf.cast(tf.abs(x) < 1, x.dtype)")),
        ("|x|", step("surrogate(x, 1)")),
        ("0 for large", step("tf.maximum(tf.cast(tf.abs(x) < 1, x.dtype), 0.5)")),
        ("both sides", step("tf.sin(x) / x")),
        ("|x|", step("tf.zeros_like(x)")),
        ("not yet", step("None")),
    ],
}
RIGHT = {
    1: [
        bent("return np.minimum(np.where(x > 0, x, 0.1 * x), 1)"),
        bent("return np.clip(x, 0, 1) + 0.1 * np.minimum(x, 0)"),
        "def bent(x):\n"
        "    y = x.copy()\n"
        "    y[x <= 0] *= 0.1\n"
        "    y[x > 1] = 1\n"
        "    return y\n",
    ],
    2: [
        zigzag("tf.where(r <= p / 2, tf.ones_like(x), -tf.ones_like(x))"),
        zigzag("tf.sign(p / 2 - r)"),
    ],
    3: [
        step("1 - tf.tanh(x) ** 2"),
        step("tf.nn.relu(1 - tf.abs(x))"),
        step("tf.exp(-(x**2))"),
        step("tf.where(tf.abs(x) < 1, tf.ones_like(x), 0)"),
    ],
}
