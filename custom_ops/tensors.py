"""Whatever a user passes as an input, as a tensor; and a tensor as an array."""

import numpy as np

from .quiet_start import tf


def differentiable(tensor):
    """Whether gradients flow through it: its dtype is float or complex."""
    return tensor.dtype.is_floating or tensor.dtype.is_complex


def as_tensor(index, x, caller="py_func"):
    """Input `index` as a tensor, or a TypeError that says what to pass."""
    cure = {tf.RaggedTensor: "pass x.values or x.to_tensor()",
            tf.SparseTensor: "pass tf.sparse.to_dense(x) or x.values",
            dict: "pass its values as inputs of their own"}.get(type(x))
    if isinstance(x, np.ma.MaskedArray):
        cure = "a tensor has no mask: pass x.filled(value)"
    reason = ""
    if cure is None and x is not None:
        try:
            tensor = tf.convert_to_tensor(apart(x))
            if tensor.dtype not in (tf.resource, tf.variant):
                return tensor
        except (TypeError, ValueError) as error:
            reason = f" ({error})"
    raise TypeError(f"{caller}: input {index} is of type {type(x).__name__}{reason}; "
                    f"{cure or 'pass a tensor, a variable, an array or numbers'}")


def apart(x):
    """A foreign object that is an array of its own: TensorFlow would share its memory.

    NumPy's arrays it copies, and its own tensors and variables nobody can write.
    """
    theirs = tf.is_tensor(x) or hasattr(x, "__tf_tensor__")
    foreign = hasattr(type(x), "__array__") and not isinstance(x, np.ndarray)
    return np.array(x) if foreign and not theirs else x


def as_array(tensor):
    """An eager tensor as an array, without a copy where TensorFlow offers that."""
    if not len(tensor.shape):  # some scalars come as numbers that NumPy doesn't know
        tensor = tensor.numpy()
        return np.asarray(tensor, object if isinstance(tensor, bytes) else None)
    return np.asarray(tensor)
