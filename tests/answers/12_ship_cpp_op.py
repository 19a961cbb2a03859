"""Answers to the exercises of lesson 12: wrong ones with a word of the hint, right ones
of another form."""

CELLS = 0, 1, 3, 4  # not what the friend tries

PORTABLE = """def choosy(x, ids, segments):
    @tf.function
    @tf.custom_gradient
    def log_sums(x, ids):
        y = ops.segment_logsumexp(x, ids, segments=segments)
        return y, lambda dy: (tf.gather(dy, ids) * tf.exp(x - tf.gather(y, ids)), None)

    return log_sums(10 * x, ids)
"""
WHOLE = """def choosy(x, ids, segments):
    @tf.function
    @tf.custom_gradient
    def of(x):
        y = segment_logsumexp(10 * x, ids, segments)
        return y, lambda dy: tf.gather(10 * dy, ids) * tf.exp(10 * x - tf.gather(y, ids))

    return of(x)
"""
FROM_TENSORFLOW = """def choosy(x, ids, segments):
    most = tf.stop_gradient(tf.math.unsorted_segment_max(10 * x, ids, segments))
    safe = tf.where(tf.math.is_finite(most) & (most > -1e9), most, 0)
    sums = tf.math.unsorted_segment_sum(tf.exp(10 * x - tf.gather(safe, ids)), ids, segments)
    return tf.math.log(sums) + safe
"""
AS_INPUT = """@tf.function
@tf.custom_gradient
def log_sums(x, ids, segments):
    y = ops.segment_logsumexp(x, ids, segments=segments)
    return y, lambda dy: (tf.gather(dy, ids) * tf.exp(x - tf.gather(y, ids)), None, None)


def choosy(x, ids, segments):
    return log_sums(10 * x, ids, segments)
"""
TAPE = """def choosy(x, ids, segments):
    with tf.GradientTape() as tape:
        tape.watch(x := tf.convert_to_tensor(x))
        y = segment_logsumexp(10 * x, ids, segments)
    tape.gradient(y, x)
    return y
"""


def portable(old, new):
    assert PORTABLE.count(old) == 1, old
    return PORTABLE.replace(old, new)


PADDED = (
    """condition = "{condition}"
lists = """
    + "'''{lists}'''"
    + """


def padded_dx(x, ids, y, dy):
    some = tf.maximum(ids, 0)
    dx = tf.gather(dy, some) * tf.exp(x - tf.gather(y, some))
    return {dx}
"""
)
WHERE = "tf.where(ids < 0, tf.zeros_like(x), dx)"
LOOP = """
    for (int64_t i = 0; i < count; ++i) {{
      {}
    }}
"""
SKIPS = LOOP.format("if (ids(i) >= 0) members[ids(i)].push_back(i);")
CHECK = "ids(i) >= -1 && ids(i) < segments_"


def padded(condition=CHECK, lists=SKIPS, dx=WHERE):
    return PADDED.format(condition=condition, lists=lists, dx=dx)


WRONG = {
    1: [
        ("No gradient defined", TAPE),
        ("with only", WHOLE.replace("    @tf.function\n", "")),  # a gather follows
        ("float32", portable("gather(dy, ids) *", "gather(tf.cast(dy, 'float64'), ids) *")),
        ("with only", portable("tf.gather(dy, ids) * ", "")),
        ("from our op", FROM_TENSORFLOW),
        ("Expected int", AS_INPUT),
        ("got IndexedSlices", portable("    @tf.function\n", "")),
        ("with only", portable("(10 * x, ids)", "(10 * x, ids) / 10")),
        ("with only", portable("segments=segments", "segments=3")),
        ("with only", WHOLE.replace("gather(10 * dy", "gather(dy")),
        ("with only", portable("(x - tf.gather(y, ids))", "(x) / tf.exp(tf.gather(y, ids))")),
        ("with only", portable("(10 * x, ids)", "(tf.cast(10 * x, 'float32'), ids)")),
    ],
    2: [
        ("exit code -6", padded(lists=LOOP.format("members[ids(i)].push_back(i);"))),
        ("does not compile", padded(lists=LOOP.format("if (ids(i) >= 0) members[ids(i)].push"))),
        ("[-3]: not refused", padded("ids(i) != -2 && ids(i) < segments_", SKIPS)),
        ("one segment", padded().replace("tf.maximum(ids, 0)", "tf.abs(ids)")),
        ("segments_", padded("ids(i) >= -1 && ids(i) < 4")),
        (
            "dx for ids",
            padded().replace(
                "tf.exp(x - tf.gather(y, some))", "tf.exp(x) / tf.exp(tf.gather(y, some))"
            ),
        ),
        ("nan", padded(dx="dx * tf.cast(ids >= 0, x.dtype)")),
        ("float32", padded(dx="tf.where(ids < 0, tf.zeros_like(x, 'float64'), dx)")),
        ("dx for ids", padded(dx="dx")),
        ("dx for ids", padded(dx=WHERE.replace("ids <", "ids <="))),
        ("dx for ids", padded(dx=WHERE.replace("tf.zeros_like(x)", "x"))),
        ("dx for ids", padded().replace("tf.gather(dy, some) * ", "")),
        ("-1", padded().replace("tf.maximum(ids, 0)", "ids")),
    ],
}
RIGHT = {
    1: [
        WHOLE,
        PORTABLE,
        portable("    @tf.function\n", "").replace("log_sums(10 ", "tf.function(log_sums)(10 "),
        portable("    @tf.function\n", "").replace("10 * x, ids)", "10 * x, ids) * 1.0"),
    ],
    2: [
        padded(
            lists=SKIPS.replace("(i)", "(k)")
            .replace(" i = ", " k = ")
            .replace("i < count; ++i", "k < count; ++k")
            .replace("push_back(i)", "push_back(k)")
        ),
        padded(dx="tf.math.multiply_no_nan(dx, tf.cast(ids + 1 > 0, x.dtype))"),
        """condition = "ids(i) == -1 || (ids(i) >= 0 && ids(i) < segments_)"
lists = "for (int i = 0; i < count; ++i) if (ids(i) + 1) members[ids(i)].push_back(i);"


def padded_dx(x, ids, y, dy):
    places = tf.where(ids >= 0)
    some, member = tf.gather_nd(x, places), tf.gather_nd(ids, places)
    dx = tf.gather(dy, member) * tf.exp(some - tf.gather(y, member))
    return tf.scatter_nd(places, dx, tf.shape(x, "int64"))
""",
    ],
}
