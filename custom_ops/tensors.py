"""Whatever a user passes as an input, as a tensor."""

from .quiet_start import tf


def differentiable(tensor):
    """Whether gradients flow through it: its dtype is float or complex."""
    return tensor.dtype.is_floating or tensor.dtype.is_complex


def as_tensor(index, x, caller="py_func"):
    """Input `index` as a tensor, or a TypeError that says what to pass."""
    cure = {tf.RaggedTensor: "pass x.values or x.to_tensor()",
            tf.SparseTensor: "pass tf.sparse.to_dense(x) or x.values",
            dict: "pass its values as inputs of their own"}.get(type(x))
    reason = ""
    if cure is None and x is not None:
        try:
            tensor = tf.convert_to_tensor(x)
            if tensor.dtype not in (tf.resource, tf.variant):
                return tensor
        except (TypeError, ValueError) as error:
            reason = f" ({error})"
    raise TypeError(f"{caller}: input {index} is of type {type(x).__name__}{reason}; "
                    f"{cure or 'pass a tensor, a variable, an array or numbers'}")
