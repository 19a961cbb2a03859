"""Answers to the exercises of lesson 12: wrong ones with a word of the hint, right ones
of another form."""

CELLS = 0, 1, 3, 4  # not what the friend tries

PORTABLE = """def soft_maximum(x, ids, segments):
    @tf.custom_gradient
    def log_sums(x, ids):
        y = ops.segment_logsumexp(x, ids, segments=segments)
        return y, lambda dy: (tf.gather(dy, ids) * tf.exp(x - tf.gather(y, ids)), None)

    return log_sums(10 * x, ids) / 10
"""
WHOLE = """def soft_maximum(x, ids, segments):
    @tf.custom_gradient
    def of(x):
        y = segment_logsumexp(10 * x, ids, segments) / 10
        return y, lambda dy: tf.gather(dy, ids) * tf.exp(10 * (x - tf.gather(y, ids)))

    return of(x)
"""
FROM_TENSORFLOW = """def soft_maximum(x, ids, segments):
    most = tf.stop_gradient(tf.math.unsorted_segment_max(10 * x, ids, segments))
    safe = tf.where(tf.math.is_finite(most) & (most > -1e9), most, 0)
    sums = tf.math.unsorted_segment_sum(tf.exp(10 * x - tf.gather(safe, ids)), ids, segments)
    return (tf.math.log(sums) + safe) / 10
"""
AS_INPUT = """@tf.custom_gradient
def log_sums(x, ids, segments):
    y = ops.segment_logsumexp(x, ids, segments=segments)
    return y, lambda dy: (tf.gather(dy, ids) * tf.exp(x - tf.gather(y, ids)), None, None)


def soft_maximum(x, ids, segments):
    return log_sums(10 * x, ids, segments) / 10
"""
TAPE = """def soft_maximum(x, ids, segments):
    with tf.GradientTape() as tape:
        tape.watch(x := tf.convert_to_tensor(x))
        y = segment_logsumexp(10 * x, ids, segments) / 10
    tape.gradient(y, x)
    return y
"""


def portable(old, new):
    assert PORTABLE.count(old) == 1, old
    return PORTABLE.replace(old, new)


GIVEN = """def segment_norm(x, ids, segments, p=2.0):
    return tf.math.unsorted_segment_sum(tf.abs(x) ** p, ids, segments) ** (1 / p)


"""
LAYER = """@keras.saving.register_keras_serializable("segment_norm")
class SegmentNorm(keras.layers.Layer):
    def __init__(self, segments, p=2.0, **options):
        super().__init__(**options)
        self.segments, self.p = segments, p

    def call(self, x, ids):
        return segment_norm(x, ids, self.segments, self.p)

    def get_config(self):
        return {**super().get_config(), "segments": self.segments, "p": self.p}
"""


LISTED = "name=None, trainable=True, dtype=None, activity_regularizer=None"
KEPT = "(name=name, trainable=trainable, dtype=dtype, activity_regularizer=activity_regularizer)"


def layer(old="", new=""):
    assert not old or LAYER.count(old) == 1, old
    return GIVEN + (LAYER.replace(old, new) if old else LAYER)


WRONG = {
    1: [
        ("No gradient defined", TAPE),
        ("float32", portable("gather(dy, ids) *", "gather(tf.cast(dy, 'float64'), ids) *")),
        ("with only", portable("tf.gather(dy, ids) * ", "")),
        ("from our op", FROM_TENSORFLOW),
        ("Expected int", AS_INPUT),
        ("with only", portable("ids) / 10", "ids)")),
        ("with only", portable("segments=segments", "segments=3")),
        ("with only", WHOLE.replace("tf.exp(10", "10 * tf.exp(10")),
        ("with only", portable("(x - tf.gather(y, ids))", "(x) / tf.exp(tf.gather(y, ids))")),
        ("with only", portable("(10 * x, ids)", "(tf.cast(10 * x, 'float32'), ids)")),
    ],
    2: [
        ("by which name", layer('@keras.saving.register_keras_serializable("segment_norm")', "")),
        ("by which name", layer('("segment_norm")', "()")),
        ("saved and", layer(', "p": self.p', "")),
        ("not saved yet", layer("self.segments, self.p =", "self.segments, type(self).p =")),
        ("saved and", layer('"p": self.p', '"p": round(self.p, 2)')),
        ("not saved yet", layer("self.segments, self.p)", "self.segments)")),
        ("not saved yet", layer("p=2.0", "p=1.0")),
        ("saved and", layer('"segments": self.segments, ', "")),
        ("not saved yet", layer("self.segments, self.p)", "4, self.p)")),
        ("is lost", layer("= segments, p\n", "= segments, p\n        self.trainable = False\n")),
        ("is lost", layer("segment_norm(x,", "segment_norm(tf.cast(x, 'float32'),")),
        # options kept back, not taken, not returned
        ("is lost", layer("(**options)", "(**{**options, 'activity_regularizer': None})")),
        (
            "is lost",
            layer("p=2.0, **options", f"p=2.0, {LISTED}, **o").replace("(**options)", KEPT),
        ),
        ("is lost", layer("p=2.0, **options", "p=2.0, dtype=None, **options")),
        ("is lost", layer("**super().get_config(), ", "'name': self.name, ")),
        (
            "is lost",  # a name that Keras chose
            layer("**super().get_config()", "**self.options").replace(
                "(**options)", "(**options)\n        self.options = options"
            ),
        ),
    ],
}
RIGHT = {
    1: [WHOLE, portable("@tf", "@tf.function\n    @tf")],
    2: [
        layer(),
        layer(
            '{**super().get_config(), "segments": self.segments, "p": self.p}',
            "dict(super().get_config(), p=self.p, segments=self.segments)",
        ),
        layer("__init__(self, segments, p=2.0,", "__init__(self, *, p=2, segments,"),
    ],
}
