"""Answers to the exercises of lesson 10: wrong ones with a word of the hint, right
ones of another form."""

CELLS = 0, 1

DESCEND = """@tf.function
def descend(slope, x, limit):
    steps, dx = 0, slope(x)
    while {}:
        x = x - 0.1 * dx
        dx = slope(x)
        steps = steps + 1
    return x, steps
"""
OF_TENSOR = """

def descend(slope, x, limit):
    return run(slope, x, tf.constant(limit, x.dtype))
"""
GOES_ON = "tf.reduce_max(tf.abs(dx)) >= limit"
ROWS = """def np_lengths(x):
    return {}


def lengths_grad(op, dy):
    x, y = op.inputs[0], op.outputs[0]
    return {}
"""
BY_HAND = """def descend(slope, x, limit):
    def go_on(x, dx, steps):
        return tf.norm(dx, np.inf) >= limit

    def one(x, dx, steps):
        x = x - 0.1 * dx
        return x, slope(x), steps + 1

"""
RUN = "@tf.function\ndef run(slope, x, dx, limit):\n    steps = 0\n"
RUN += DESCEND.format(GOES_ON).split("\n", 3)[3]
WHOLE = DESCEND.format(GOES_ON).replace("descend", "whole")
CALL_WHOLE = """

def descend(slope, x, limit):
    x, n = whole(slope, x, limit)
    return {}
"""


def named_run(condition):
    return DESCEND.format(condition).replace("descend", "run")


LENGTHS = "np.sqrt((x * x).sum(axis=1))"

WRONG = {
    1: [
        # a loop of TensorFlow, and no tf.function
        (
            "tf.function",
            BY_HAND + "    x, _, steps = tf.while_loop(go_on, one, (x, slope(x), 0))\n"
            "    return x, steps\n",
        ),
        # the slope is recorded, and that loop is Python's
        (
            "loop is outside",
            BY_HAND.replace("    def go_on", "    slope = tf.function(slope)\n\n    def go_on", 1)
            + "    x, _, steps = tf.while_loop(go_on, one, (x, slope(x), 0))\n"
            "    return x, steps\n",
        ),
        # the first slope is Python's
        (
            "outside",
            RUN + "\n\ndef descend(slope, x, limit):\n    return run(slope, x, slope(x), limit)\n",
        ),
        # the slope stays what it was: a loop without an end, and without NumPy
        ("never calls slope", DESCEND.format(GOES_ON).replace("        dx = slope(x)\n", "")),
        ("no end", DESCEND.format(GOES_ON).replace("        x = x - 0.1 * dx\n", "")),
        ("2600 steps", DESCEND.format("tf.abs(tf.reduce_min(dx)) >= limit")),
        ("2600 steps", DESCEND.format(GOES_ON + " and steps < 2400")),  # gives up
        ("asks for the value", DESCEND.format("tf.norm(dx := slope(x), np.inf) >= limit")),
        # right for the slope 2 * x only
        ("another slope", DESCEND.format(GOES_ON).replace("0.1 * dx", "0.2 * x")),
        # the x of the first call stays
        (
            "where x ends",
            "kept = {}\n\n\n"
            + RUN.replace("@tf.function\n", "")
            + """

def descend(slope, x, limit):
    key = slope, tuple(x.shape)
    if key not in kept:
        kept[key] = tf.function(lambda limit: run(slope, x, slope(x), limit))
    return kept[key](tf.constant(limit, x.dtype))
""",
        ),
        # the limit of the first call stays
        (
            "where x ends",
            DESCEND.format(GOES_ON).split("\n", 1)[1].replace("descend", "run")
            + "\n\nkept = {}\n\n\ndef descend(slope, x, limit):\n    if slope not in kept:\n"
            "        kept[slope] = tf.function(lambda x: run(slope, x, limit))\n"
            "    return kept[slope](x)\n",
        ),
        # the first x with this limit stays
        (
            "where x ends",
            WHOLE + "\n\nkept = {}\n\n\ndef descend(slope, x, limit):\n"
            "    if (slope, limit) not in kept:\n"
            "        kept[slope, limit] = tf.function(lambda: whole(slope, x, limit))\n"
            "    return kept[slope, limit]()\n",
        ),
        # a graph at each call
        (
            "records again",
            DESCEND.format(GOES_ON).split("\n", 1)[1].replace("descend", "run")
            + "\n\ndef descend(*args):\n    return tf.function(run)(*args)\n",
        ),
        # another graph around it at each call
        (
            "records again",
            named_run(GOES_ON) + "\n\ndef descend(slope, x, limit):\n"
            "    return tf.function(run)(slope, x, tf.constant(limit, x.dtype))\n",
        ),
        ("an integer", named_run(GOES_ON) + OF_TENSOR.replace("limit, x.dtype", "limit")),
        # NumPy once a step, but the loop is Python's
        ("tf.function", DESCEND.format(GOES_ON).split("\n", 1)[1]),
        (
            "from the start",
            DESCEND.format("True").replace("  x = x", "  if not go_on(dx): break\n        x = x")
            + "\n\ndef go_on(dx):\n    return tf.reduce_max(tf.abs(dx)) >= 0.1\n",
        ),
        # in a graph, and two calls of NumPy a step
        (
            "known already",
            "@tf.function\n"
            "def descend(slope, x, limit):\n"
            "    steps = 0\n"
            "    while tf.reduce_max(tf.abs(slope(x))) >= limit:\n"
            "        x = x - 0.1 * slope(x)\n"
            "        steps = steps + 1\n"
            "    return x, steps\n",
        ),
        ("a different limit", DESCEND.format(GOES_ON)),  # a Python number
        (
            "a different limit",
            named_run(GOES_ON) + OF_TENSOR.replace("def d", "@tf.function\ndef d"),
        ),
        ("results tensors", WHOLE + CALL_WHOLE.format("x, int(n)")),
        ("an integer", WHOLE + CALL_WHOLE.format("x, tf.cast(n, x.dtype)")),
        ("where x ends", DESCEND.format("tf.reduce_max(dx) >= limit")),
        ("so is the limit", DESCEND.format("tf.reduce_max(tf.abs(dx)) > limit")),
        (
            "slope is -0.5",
            DESCEND.format("(tf.reduce_max(dx) >= limit) | (tf.reduce_min(dx) < -limit)"),
        ),
        # a step before it asks
        (
            "no step",
            "@tf.function\n"
            "def descend(slope, x, limit):\n"
            "    dx = slope(x)\n"
            "    x, steps = x - 0.1 * dx, 1\n"
            "    dx = slope(x)\n" + DESCEND.format(GOES_ON).split("\n", 3)[3],
        ),
    ],
    2: [
        ("0.4 and 0.5", ROWS.format("np.linalg.norm(np.float32(x), axis=1)", "x")),
        ("0.4 and 0.5", ROWS.format("np.abs(x).sum(axis=1)", "x")),
        ("0.4 and 0.5", ROWS.format("np.linalg.norm(x[:, :3], axis=1)", "x")),
        ("0.4 and 0.5", ROWS.format(LENGTHS.replace("=1", "=1, keepdims=True"), "dy * x / y")),
        ("dy is (2,)", ROWS.format(LENGTHS, "dy * x / y")),
        ("dy is (2,)", ROWS.format(LENGTHS, "dy[:, None] * x")),
        ("dy is (2,)", ROWS.format(LENGTHS, "dy[:, None] / y[:, None]")),
        ("dy is (2,)", ROWS.format(LENGTHS, "tf.reduce_sum(dy) * x / y[:, None]")),
        # the right gradient for short rows only
        ("own dy", ROWS.format(LENGTHS, "(dy / tf.minimum(y, 1))[:, None] * x")),
        # the right shape for a square only
        (
            "own dy",
            ROWS.format(
                LENGTHS, "dy * x / y if x.shape[0] == x.shape[1] else (dy / y)[:, None] * x"
            ),
        ),
    ],
}

RIGHT = {
    1: [
        named_run("not tf.reduce_all(tf.abs(dx) < limit)") + OF_TENSOR,
        named_run("tf.reduce_any(tf.abs(dx) >= limit)")
        + OF_TENSOR.replace("constant(limit, ", "convert_to_tensor(limit, "),
        named_run(GOES_ON) + OF_TENSOR.replace("constant(", "cast("),
        named_run(GOES_ON) + OF_TENSOR.replace("tf.constant(limit, x.dtype)", "np.float32(limit)"),
    ],
    2: [
        ROWS.format("np.linalg.norm(x, axis=1)", "tf.expand_dims(dy / y, 1) * x"),
        ROWS.format(
            "np.sqrt(np.einsum('ij,ij->i', x, x))", "tf.transpose(dy * tf.transpose(x) / y)"
        ),
        ROWS.format(
            "np.array([np.hypot.reduce(row) for row in x])",
            "py_func(lambda x, y, dy: x * (dy / y)[:, None], [x, y, dy], like(x))",
        ),
    ],
}
