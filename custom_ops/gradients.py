"""What `grad` is given and what it gives back: the promises about gradients."""

from collections import namedtuple

from .quiet_start import tf
from .results import refuse_mask
from .tensors import apart, differentiable

Op = namedtuple("Op", "inputs outputs name")  # what `grad` gets in every mode


class NoGradientError(LookupError):
    """A gradient was asked for, and there is none."""

    __init__ = Exception.__init__  # AutoGraph then keeps the class of the error


def call_grad(grad, op, dys, label):
    """Call `grad`: from one dy for each output to one gradient an input, or None.

    The lists that it gets are its own: it may change them, and no later call sees it.
    """
    dys = [tf.zeros_like(y) if dy is None else tf.convert_to_tensor(dy)
           for y, dy in zip(op.outputs, dys, strict=True)]
    grads = grad(Op(list(op.inputs), list(op.outputs), op.name), *dys)
    if not isinstance(grads, (list, tuple)):
        grads = [grads]
    if len(grads) != len(op.inputs):
        counts = [f"{n} {word}{'s' * (n != 1)}" for n, word in (
            (len(grads), "gradient"), (len(op.inputs), "input"))]
        raise ValueError(f"{label}: grad returned {counts[0]}, but the op has "
                         f"{counts[1]}; return one for each, or None")
    return [None if dx is None or not differentiable(x)
            else _like_input(x, dx, f"{label}: the gradient of input {index}")
            for index, (x, dx) in enumerate(zip(op.inputs, grads, strict=True))]


def _like_input(x, dx, label):
    """A gradient of the dtype and shape of its input, or an error."""
    refuse_mask(dx, label)
    dx = tf.convert_to_tensor(apart(dx), dtype_hint=x.dtype)
    if (dx.dtype.is_floating, dx.dtype.is_complex) != (
            x.dtype.is_floating, x.dtype.is_complex):
        raise TypeError(f"{label} is {dx.dtype.name}, but the input is "
                        f"{x.dtype.name}")
    dx = tf.cast(dx, x.dtype)
    if not dx.shape.is_compatible_with(x.shape):
        raise ValueError(f"{label} has shape {dx.shape}, but the input has "
                         f"{x.shape}; it is never broadcast")
    if dx.shape.is_fully_defined() and x.shape.is_fully_defined():
        return dx
    found, expected = tf.shape(dx), tf.shape(x)  # known when it runs
    same = tf.raw_ops.Equal(x=found, y=expected, incompatible_shape_error=False)
    same = tf.reduce_all(same) & tf.equal(tf.size(found), tf.size(expected))
    check = tf.debugging.Assert(same, [f"{label} has shape", found, "but the "
                                       "input has", expected, "(no broadcast)"])
    with tf.control_dependencies([check]):
        dx = tf.identity(dx)
    dx.set_shape(x.shape)
    return dx
