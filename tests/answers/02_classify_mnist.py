"""Answers to the exercises of lesson 02: wrong ones with a word of the hint, right
ones of another form."""

CELLS = 0, 1, 2, 3, 11  # the others draw and train

SOFTMAX = "def np_softmax_grad(p, dp):\n"
LOOP = (
    SOFTMAX
    + """    dy = np.empty_like(p)
    for i in range(len(p)):
        dy[i] = p[i] * (dp[i] - p[i] @ dp[i])
    return dy
"""
)
JACOBIANS = (
    SOFTMAX
    + """    J = np.einsum("ij,jk->ijk", p, np.eye(p.shape[1], dtype=p.dtype))
    J = J - p[:, :, None] * p[:, None, :]
    return np.einsum("ij,ijk->ik", dp, J)
"""
)
FOUR_ROWS = (
    SOFTMAX
    + """    rows = [p[i] * (dp[i] - p[i] @ dp[i]) for i in range(4)]
    return np.stack(rows)
"""
)
TEN = (
    SOFTMAX
    + """    s = p * dp
    s = sum(s[:, k] for k in range(10))
    return p * (dp - s[:, None])
"""
)

LOSS = """def np_two_class_loss(z):
    return {}


def two_class_grad(op, dl):
    z = op.inputs[0]
    return {}
"""
VALUE = "np.logaddexp(0, z)"
GRADIENT = "dl * tf.sigmoid(z)"

WRONG = {
    1: [
        ("10 classes", TEN),
        ("one row", FOUR_ROWS),
        ("each row", SOFTMAX + "    return p * (dp - np.sum(p * dp))\n"),
        ("each row", SOFTMAX + "    return p * (dp - np.sum(p * dp, axis=0))\n"),
        ("every dp_j", SOFTMAX + "    return p * (1 - p) * dp\n"),
        ("dy", SOFTMAX + "    return p * (1 - p)\n"),
        ("each row", SOFTMAX + "    return dp * (p - np.sum(p * dp, 1)[:, None])\n"),
    ],
    2: [
        # a patch or a bound is not enough
        ("10000", LOSS.format("np.log(1 + np.exp(np.minimum(z, 69)))", GRADIENT)),
        ("10000", LOSS.format("-np.log(1 / (1 + np.exp(z)) + 1e-30)", GRADIENT)),
        ("10000", LOSS.format("np.log1p(np.exp(np.clip(z, -88, 88)))", GRADIENT)),
        # what is lost in a sum with 1
        *(
            ("-40", LOSS.format(value, GRADIENT))
            for value in (
                "np.maximum(z, 0) + np.log(1 + np.exp(-np.abs(z)))",
                "np_cross_entropy(np.stack([0 * z, z], 1), np.float32([[1, 0]]))",
                "np.where(z > 30, z, np.log(1 + np.exp(z)))",
            )
        ),
        ("from -3 to 3", LOSS.format("np.maximum(z, 0)", GRADIENT)),
        ("from -3 to 3", LOSS.format("np.log1p(np.exp(-z))", GRADIENT)),
        ("the gradient for z", LOSS.format(VALUE, "tf.sigmoid(z)")),
        ("the gradient for z", LOSS.format(VALUE, "-dl * tf.sigmoid(-z)")),
        ("dl = 3", LOSS.format(VALUE, "dl * tf.exp(z) / (1 + tf.exp(z))")),
        ("dl = 3", LOSS.format(VALUE, "dl * (1 - tf.sigmoid(-z))")),
        ("dl = 3", LOSS.format(VALUE, "dl * tf.sigmoid(tf.clip_by_value(z, -16, 16))")),
    ],
}

RIGHT = {
    1: [
        LOOP,
        JACOBIANS,
        SOFTMAX + "    s = (p * dp).sum(1)[:, np.newaxis]\n    return p * dp - p * s\n",
    ],
    2: [
        LOSS.format(VALUE, "[dl / (1 + tf.exp(-z))]"),
        LOSS.format(
            "np.where(z > 20, z, np.log1p(np.exp(np.minimum(z, 20))))",
            "dl * py_func(lambda z: -np.expm1(-np.logaddexp(0, z)), [z], like(z))",
        ),
    ],
}
