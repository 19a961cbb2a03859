"""Answers to the exercises of lesson 02: wrong ones with a word of the hint, right
ones of another form."""

CELLS = 0, 1, 2, 3, 4, 9, 10, 13  # the others draw and train

LOOP = """def np_softmax_grad(p, dp):
    dy = np.empty_like(p)
    for i in range(len(p)):
        dy[i] = p[i] * (dp[i] - p[i] @ dp[i])
    return dy
"""
LIST = """def np_softmax_grad(p, dp):
    return np.array([q * (dq - q @ dq) for q, dq in zip(p, dp)])
"""
JACOBIANS = """def np_softmax_grad(p, dp):
    return np.vectorize(lambda q, dq: q * (dq - q @ dq),
                        signature="(k),(k)->(k)")(p, dp)
"""
CLASSES = """def np_softmax_grad(p, dp):
    total = 0
    for k in range(p.shape[1]):
        total = total + p[:, k] * dp[:, k]
    return p * (dp - total[:, None])
"""
NO_MEAN = """def np_softmax_grad(p, dp):
    return p * (dp - np.sum(p * dp))
"""
COLUMNS = """def np_softmax_grad(p, dp):
    return p * (dp - np.sum(p * dp, axis=0))
"""
DIAGONAL = """def np_softmax_grad(p, dp):
    return p * (1 - p) * dp
"""

SOFTPLUS = """def np_softplus(x):
    return {}


def np_softplus_grad(x, dy):
    return {}
"""
STABLE = "np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))"
SIGMOID = "dy / (1 + np.exp(-x))"
COARSE = SOFTPLUS.format(
    "np.where(x > 20, x, np.where(x < -20, np.exp(x), np.log(1 + np.exp(x))))",
    SIGMOID,
)
WHERE = """def np_softplus(x):
    small = np.minimum(x, 20)
    return np.where(x > 20, x, np.log1p(np.exp(small)))


def np_softplus_grad(x, dy):
    e = np.exp(-np.abs(x))
    return dy * np.where(x >= 0, 1 / (1 + e), e / (1 + e))
"""

CLIPPED = """def np_softplus(x):
    return np.where(x > 30, x, np.log1p(np.exp(np.clip(x, -80, 80))))


def np_softplus_grad(x, dy):
    return dy / (1 + np.exp(-x))
"""
FLAT = """def np_softplus(x):
    return np.logaddexp(0, x)


def np_softplus_grad(x, dy):
    return dy * np.where(x < -40, 0, 1 / (1 + np.exp(-x)))
"""
TWO_SCORES = """def np_softplus(x):
    return np_log_sum_exp(np.stack([0 * x, x], axis=1))


def np_softplus_grad(x, dy):
    return dy / (1 + np.exp(-x))
"""

ABOVE = """def np_softplus(x):
    return np.where(x > 3, x, np.log1p(np.exp(np.minimum(x, 3))))


def np_softplus_grad(x, dy):
    e = np.exp(np.minimum(x, 3))
    return dy * np.where(x > 3, 1, e / (1 + e))
"""
BELOW = SOFTPLUS.format(
    f"np.where(x < -5, np.exp(np.minimum(x, 0)), {STABLE})",
    "dy * np.exp(x - np.logaddexp(0, x))",
)
THRESHOLDS = [
    ABOVE,
    ABOVE.replace("3", "10"),
    BELOW,
    SOFTPLUS.format(STABLE, "dy * np.where(x > 12, 1, 1 / (1 + np.exp(-x)))"),
    SOFTPLUS.format(STABLE, "np.where(x > 13, dy, dy / (1 + np.exp(-x)))"),
    SOFTPLUS.format(f"np.where(x > 11, x, {STABLE})", SIGMOID),
]
ROWS = """def np_softmax_grad(p, dp):
    def row(i):
        i = i % len(p)
        return p[i] * (dp[i] - p[i] @ dp[i])

    return np.stack([row(0), row(1), row(2), row(3)])[:len(p)]
"""
FIVE = """def np_softmax_grad(p, dp):
    s = p * dp
    s = s[:, 0] + s[:, 1] + s[:, 2] + s[:, 3] + s[:, 4]
    return p * (dp - s[:, None])
"""

WRONG = {
    1: [
        ("any number", ROWS),
        ("any number", FIVE),
        (
            "NumPy",
            "def np_softmax_grad(p, dp):\n"
            "    return p * (dp - tf.reduce_sum(p * dp, 1, keepdims=True))\n",
        ),
        ("loop", LOOP),
        ("loop", LIST),
        ("loop", JACOBIANS),
        ("loop", CLASSES),
        ("each row", NO_MEAN),
        ("sum over j", COLUMNS),
        ("sum over j", DIAGONAL),
        ("dy", "def np_softmax_grad(p, dp):\n    return p * (1 - p)\n"),
    ],
    2: [
        ("value", SOFTPLUS.format("np.log(1 + np.exp(x))", "dy / (1 + np.exp(-x))")),
        ("value", SOFTPLUS.format("np.log1p(np.exp(x))", "dy / (1 + np.exp(-x))")),
        ("value", SOFTPLUS.format("np.maximum(x, 0)", "dy * (x > 0)")),
        ("gradient", SOFTPLUS.format(STABLE, "dy * np.exp(x) / (1 + np.exp(x))")),
        ("gradient", SOFTPLUS.format(STABLE, "dy * (x > 0)")),
        ("gradient", SOFTPLUS.format(STABLE, "dy * (1 + np.tanh(x / 2)) / 2")),
        ("value at x = [-705.0]", CLIPPED),
        ("dy = 3, at x = [-705.0]", FLAT),
        ("value at x = [-30.0]", TWO_SCORES),
        # dy forgotten where x is large, or small
        (
            "dy = 3",
            SOFTPLUS.format(
                STABLE, "np.nan_to_num(dy * np.exp(x) / (1 + np.exp(x)), nan=1)"
            ),
        ),
        ("dy = 3", SOFTPLUS.format(STABLE, f"np.where(x > 20, 1, {SIGMOID})")),
        ("dy = 3", SOFTPLUS.format(STABLE, f"np.where(x < -20, np.exp(x), {SIGMOID})")),
        # clipped too early
        (
            "dy = 3, at x = [-705.0]",
            SOFTPLUS.format(STABLE, "dy / (1 + np.exp(-np.clip(x, -700, 700)))"),
        ),
        (
            "value at x = [-705.0]",
            SOFTPLUS.format(f"np.where(x < -700, 0, {STABLE})", SIGMOID),
        ),
        (
            "dy = 3, at x = [-85.0], in float32",
            SOFTPLUS.format(
                STABLE,
                "dy / (1 + np.exp(-np.clip(x, *((-80, 80) if x.dtype == 'f' else"
                " (-710, 710)))))",
            ),
        ),
        # thresholds that are right only at the ends
        *[("[-13.0, -7.0", code) for code in THRESHOLDS],
        # right in float64, too coarse in float32
        ("value at x = [-17.0], in float32", COARSE),
        (
            "dy = 3, at x = [-17.0], in float32",
            SOFTPLUS.format(
                STABLE, "dy * np.where(x < -20, np.exp(x), 1 - 1 / (1 + np.exp(x)))"
            ),
        ),
        # tiny results cut off, or hidden by what is added
        ("value at x = [-705.0]", SOFTPLUS.format(f"{STABLE} + 1e-140", SIGMOID)),
        # TensorFlow does the work, and hands over an array
        (
            "in NumPy alone",
            SOFTPLUS.format("tf.math.softplus(x).numpy()", SIGMOID),
        ),
        ("NumPy", SOFTPLUS.format("tf.math.softplus(x)", "dy * tf.math.sigmoid(x)")),
        ("NumPy", SOFTPLUS.format(STABLE, "dy * tf.math.sigmoid(x)")),
        ("where dy = 3", SOFTPLUS.format(STABLE, "1 / (1 + np.exp(-x))")),
    ],
}

RIGHT = {
    1: [
        "def np_softmax_grad(p, dp):\n"
        "    s = dp * p\n"
        "    if p.shape[0] > 1:\n"
        "        s = s + 0\n"
        "    return p * (dp - s.sum(axis=1)[:, None])\n",
        "def np_softmax_grad(p, dp):\n"
        "    return p * dp - p * np.einsum('ij,ij->i', p, dp)[:, None]\n",
        "def np_softmax_grad(p, dp):\n"
        "    jacobians = p[:, :, None] * (np.eye(p.shape[1]) - p[:, None])\n"
        "    return (jacobians @ dp[:, :, None])[:, :, 0]\n",
    ],
    2: [
        SOFTPLUS.format("np.logaddexp(0, x)", "dy / (1 + np.exp(-x))"),
        SOFTPLUS.format("np.logaddexp(0, x)", "dy * np.exp(x - np.logaddexp(0, x))"),
        WHERE,
    ],
}
