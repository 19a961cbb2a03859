"""Answers to the exercises of lesson 02: wrong ones with a word of the hint, right
ones of another form."""

CELLS = 0, 1, 2, 3, 4, 9, 13  # the others draw and train

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

LOSS = """def np_cross_entropy(y, t):
    return {}


def cross_entropy_grad(op, dl):
    y, t = op.inputs
    return {}
"""
VALUE = "np_log_sum_exp(y) - np.sum(t * y, axis=1)"
GRADIENT = "dl[:, None] * (tf.nn.softmax(y) - t), None"

WRONG = {
    1: [
        ("4 classes", TEN),
        ("one row", FOUR_ROWS),
        ("each row", SOFTMAX + "    return p * (dp - np.sum(p * dp))\n"),
        ("each row", SOFTMAX + "    return p * (dp - np.sum(p * dp, axis=0))\n"),
        ("sum over j", SOFTMAX + "    return p * (1 - p) * dp\n"),
        ("dy", SOFTMAX + "    return p * (1 - p)\n"),
        ("each row", SOFTMAX + "    return dp * (p - np.sum(p * dp, 1)[:, None])\n"),
    ],
    2: [
        # a patch is not enough
        (
            "scores (0, 10000)",
            LOSS.format("-np.sum(t * np.log(np_softmax(y) + 1e-30), axis=1)", GRADIENT),
        ),
        ("scores (0, 10000)", LOSS.format("np_log_sum_exp(y)", GRADIENT)),
        # other ways not to be right for any scores
        *(
            ("scores (0, 10000)", LOSS.format(value, GRADIENT))
            for value in (
                "np.log(np.exp(y - y.max()).sum(1)) + y.max() - np.sum(t * y, axis=1)",
                "np.log(np.exp(y - np.abs(y).max(1)[:, None]).sum(1)) + np.abs(y).max(1) - np.sum(t * y, axis=1)",
                "-np.log(np.sum(t * np_softmax(y.astype(float)), 1) + 1e-300).astype(y.dtype)",
                "(np.log(np.exp(y.astype(float)).sum(1)) - np.sum(t * y, axis=1)).astype(y.dtype)",
                "-np.sum(t * np.maximum(y - np_log_sum_exp(y)[:, None], -300), axis=1)",
            )
        ),
        # the mean of all rows
        ("scores (0, 10000)", LOSS.format(f"np.mean({VALUE})", GRADIENT)),
        ("multiplied by dy", LOSS.format(VALUE, "tf.nn.softmax(y) - t, None")),
        ("random scores", LOSS.format(VALUE, "dl[:, None] * tf.nn.softmax(y), None")),
        (
            "random scores",
            LOSS.format(VALUE, "dl[:, None] * (t - tf.nn.softmax(y)), None"),
        ),
        ("random scores", LOSS.format(VALUE, "dl * (tf.nn.softmax(y) - t), None")),
        ("1 gradient", LOSS.format(VALUE, "dl[:, None] * (tf.nn.softmax(y) - t)")),
        # right at random scores, nan far out
        (
            "dl = 3",
            LOSS.format(
                VALUE,
                "dl[:, None] * (tf.exp(y) / tf.reduce_sum(tf.exp(y), 1, True) - t), None",
            ),
        ),
    ],
}

RIGHT = {
    1: [
        LOOP,
        JACOBIANS,
        SOFTMAX + "    s = (p * dp).sum(1)[:, np.newaxis]\n    return p * dp - p * s\n",
    ],
    2: [
        LOSS.format("np_log_sum_exp(y - np.sum(t * y, axis=1)[:, None])", GRADIENT),
        LOSS.format(
            VALUE,
            "[py_func(lambda y, t, dl: (np_softmax(y) - t) * dl[:, None], [y, t, dl], like(y)), None]",
        ),
        # with a gradient for t, for which nobody asks
        LOSS.format(VALUE, "dl[:, None] * (tf.nn.softmax(y) - t), -dl[:, None] * y"),
    ],
}
