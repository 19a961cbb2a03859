"""Answers to the exercises of lesson 02: wrong ones with a word of the hint, right
ones of another form."""

CELLS = 0, 1, 2, 11  # the others draw and train

TEST = """def first_wrong_score(loss):
    for z in range(121):
        y, t = np.float32([[0, z]]), np.float32([[1, 0]])
        found, right = loss(y, t).numpy()[0], {}
        if {}:
            return z
    return None
"""
ON_PAPER = "np.log1p(np.exp(z))"
ALL_AT_ONCE = """def first_wrong_score(loss):
    z = np.arange(121)
    y, t = np.float32([0 * z, z]).T, np.float32([[1, 0]] * 121)
    good = np.isclose(loss(y, t), np.logaddexp(0, z), rtol=0.01, atol=0)
    {}
"""

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
        ("nan at", TEST.format(ON_PAPER, "abs(found - right) > 0.01 * right")),
        ("1.2 % too large", TEST.format(ON_PAPER, "not right - found <= 0.01 * right")),
        ("1.2 % too small", TEST.format(ON_PAPER, "not 0.95 <= found / right <= 1.01")),
        ("infinite", TEST.format(ON_PAPER, "np.isnan(found) or abs(found - right) / found > 0.01")),
        ("from z = 0 on", TEST.format(ON_PAPER, "not abs(found - right) <= 0.2")),
        (
            "from z = 0 on",
            TEST.replace("range(", "range(1, ").format(
                ON_PAPER, "not abs(found - right) <= 0.01 * right"
            ),
        ),
        # inf on paper, in float32; a tolerance of its own
        (
            "from z = 100 on",
            TEST.format(
                "np.log1p(np.exp(np.float32(z)))", "not abs(found - right) <= 0.01 * right"
            ),
        ),
        ("1.2 %", TEST.format(ON_PAPER, "not abs(found - right) <= 0.018 * right")),
        (
            "from z = 0 on",
            TEST.format(ON_PAPER, "not np.isclose(found, right, rtol=0.01, atol=0.01)"),
        ),
        ("stays at 15", TEST.format("z", "not abs(found - right) <= 0.01 * right")),
        ("stays at 15", TEST.format(ON_PAPER, "not np.isfinite(found)")),
        ("cross_entropy is", ALL_AT_ONCE.format("return int(np.argmin(good))")),
    ],
    2: [
        # a patch or a bound is not enough
        ("10000", LOSS.format("np.log(1 + np.exp(np.minimum(z, 69)))", GRADIENT)),
        ("10000", LOSS.format("-np.log(1 / (1 + np.exp(z)) + 1e-30)", GRADIENT)),
        ("10000", LOSS.format("np.log1p(np.exp(np.clip(z, -88, 88)))", GRADIENT)),
        # what is lost in a sum with 1
        *(
            ("lost in a sum", LOSS.format(value, GRADIENT))
            for value in (
                "np.maximum(z, 0) + np.log(1 + np.exp(-np.abs(z)))",
                "np_cross_entropy(np.stack([0 * z, z], 1), np.float32([[1, 0]]))",
                "np.where(z > 30, z, np.log(1 + np.exp(z)))",
            )
        ),
        ("10000", LOSS.format("np.where(z > 10, z, np.logaddexp(0, z))", GRADIENT)),
        ("10000", LOSS.format("np.where(z >= 100, z, np.log1p(np.exp(z)))", GRADIENT)),
        ("at z = -5", LOSS.format("z + np.log1p(np.exp(-z))", GRADIENT)),
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
        TEST.format("np.logaddexp(0, z)", "not 0.99 * right <= found <= 1.01 * right"),
        TEST.format(ON_PAPER, "not np.isclose(found, right, rtol=0.01)"),
        ALL_AT_ONCE.format("return None if good.all() else int(np.argmin(good))"),
    ],
    2: [
        LOSS.format(VALUE, "[dl / (1 + tf.exp(-z))]"),
        LOSS.format(
            "np.where(z > 20, z, np.log1p(np.exp(np.minimum(z, 20))))",
            "dl * py_func(lambda z: -np.expm1(-np.logaddexp(0, z)), [z], like(z))",
        ),
    ],
}
