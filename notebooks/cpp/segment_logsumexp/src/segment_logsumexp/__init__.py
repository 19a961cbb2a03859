"""The log of a sum of exponentials for each segment: an op, and a Keras layer."""

from pathlib import Path

import keras
import tensorflow as tf

from .built_with import TENSORFLOW

if tf.__version__ != TENSORFLOW:
    raise ImportError(
        f"{__name__} was built with TensorFlow {TENSORFLOW} and may fail with another, "
        f"but {tf.__version__} is installed: install that one, or rebuild {__name__}"
    )

[library] = Path(__file__).parent.glob("ops.*.so")
ops = tf.load_op_library(str(library))


def segment_logsumexp(x, ids, segments, name=None):
    """For each segment s, the log of the sum of exp(x[i]) over all i with ids[i] == s.

    Args:
        x: a vector, float32 or float64.
        ids: an int32 vector of the same length, of numbers from 0 to segments - 1.
        segments: a Python integer, the length of the output.
        name: of the op in a graph.

    Returns:
        A vector of x's dtype; -inf for a segment without members. The gradient is nan
        where x[i] is infinite and equal to the result of its segment.
    """
    return ops.segment_logsumexp(x, ids, segments=segments, name=name)


@tf.RegisterGradient("SegmentLogsumexp")
def segment_logsumexp_grad(op, dy):
    x, ids = op.inputs
    y = op.outputs[0]
    return tf.gather(dy, ids) * tf.exp(x - tf.gather(y, ids)), None


@keras.saving.register_keras_serializable(package=__name__)
class SegmentLogsumexp(keras.layers.Layer):
    """`segment_logsumexp` as a layer: call it with x and ids, without a batch axis.

    Not for `predict` or `fit`: Keras would cut x and ids into batches.
    """

    def __init__(self, segments, **options):
        super().__init__(**options)
        self.segments = segments
        self.supports_jit = False  # XLA cannot compile the op

    def call(self, x, ids):
        return segment_logsumexp(x, ids, self.segments)

    def get_config(self):
        return {**super().get_config(), "segments": self.segments}
