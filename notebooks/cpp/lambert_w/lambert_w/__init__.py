"""Lambert's W function for TensorFlow: the w that solves w exp(w) = x."""

from pathlib import Path

import tensorflow as tf

from .built_with import TENSORFLOW

if tf.__version__ != TENSORFLOW:
    raise ImportError(
        f"lambert_w was built with TensorFlow {TENSORFLOW} and fits no other, but "
        f"{tf.__version__} is installed: install that one, or build lambert_w anew"
    )

[library] = Path(__file__).parent.glob("ops.*.so")
ops = tf.load_op_library(str(library))


def lambert_w(x, steps=20, threads=0, name=None):
    """The w >= -1 that solves w exp(w) = x; nan where x is below -1/e.

    Args:
        x: a tensor or array of float32 or float64, of any shape.
        steps: of Newton's method. 20 are enough, but for x very close to -1/e.
        threads: at most; 0 for all that TensorFlow has.
        name: of the op in a graph.

    Returns:
        A tensor of the shape and dtype of x, with a gradient.
    """
    return ops.lambert_w(x, steps=steps, threads=threads, name=name)


@tf.RegisterGradient("LambertW")
def lambert_w_grad(op, dw):
    w = op.outputs[0]
    return dw * tf.exp(-w) / (1 + w)
