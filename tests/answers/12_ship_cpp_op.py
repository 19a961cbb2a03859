"""Answers to the exercises of lesson 12: wrong ones with a word of the hint, right ones
of another form."""

CELLS = 0, 1, 3, 4, 5, 6, 14

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


NEEDS = """needs = {
    "a": {"library", "class"},
    "b": {"library"},
    "c": {"library"},
    "d": {"library", "gradient", "class"},
    "e": {"library", "gradient"},
}
"""


def needs(old, new):
    assert NEEDS.count(old) == 1, old
    return NEEDS.replace(old, new)


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
        (
            "empty segment",
            portable(
                "return log_sums(10 * x, ids)", "return tf.maximum(log_sums(10 * x, ids), -1e9)"
            ),
        ),
        ("dtype of y", portable("(10 * x, ids)", "(tf.cast(10 * x, 'float64'), ids)")),
    ],
    2: [
        ("works without 'gradient'", needs('"a": {"library", ', '"a": {"gradient", "library", ')),
        ("Could not locate", needs('"a": {"library", "class"}', '"a": {"library"}')),
        ("No gradient", needs('"e": {"library", "gradient"}', '"e": {"library"}')),
        ("works without", needs('"c": {"library"}', '"c": {"library", "gradient"}')),
        ("works without", needs('"b": {"library"}', '"b": {"library", "gradient"}')),
        ("not registered", needs('"b": {"library"}', '"b": []')),
        ("no entry", needs('"library", "gradient", "class"', '"library", "class"')),
        ("no answer for e", needs('    "e": {"library", "gradient"},\n', "")),
        ("the parts are", needs('"b": {"library"}', '"b": {"C++"}')),
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
        NEEDS,
        """needs = {"a": "class library", "b": "library", "c": "library",
         "d": ["class", "gradient", "library"], "e": ("library", "gradient")}""",
    ],
}
