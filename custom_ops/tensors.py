"""Whatever a user passes as an input, as a tensor; and a tensor as an array."""

from itertools import chain, count

import numpy as np

from .quiet_start import tf

_FOREIGN = "__array__", "__array_interface__", "__array_struct__"


def differentiable(tensor):
    """Whether gradients flow through it: its dtype is float or complex."""
    return tensor.dtype.is_floating or tensor.dtype.is_complex


def as_tensor(index, x, caller="py_func"):
    """Input `index` as a tensor, or a TypeError that says what to pass."""
    cure = {tf.RaggedTensor: "pass x.values or x.to_tensor()",
            tf.SparseTensor: "pass tf.sparse.to_dense(x) or x.values",
            dict: "pass its values as inputs of their own"}.get(type(x))
    if has_mask(x):
        cure = "a tensor has no mask: of a masked array pass .filled(value)"
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
    if isinstance(x, np.ndarray) or is_tensor(x):
        return x
    return np.array(x) if any(hasattr(x, name) for name in _FOREIGN) else x


def is_tensor(x):
    """Whether it is a tensor or a variable, of TensorFlow or of Keras."""
    return tf.is_tensor(x) or hasattr(x, "__tf_tensor__")


def has_mask(x, depth=64):
    """Whether it is a masked array, or a list that holds one, not deeper than depth."""
    if not isinstance(x, (list, tuple)):
        return isinstance(x, np.ma.MaskedArray)
    things = [x]
    for level in count():
        kinds = set(map(type, things))  # few kinds of many things, so this is quick
        if any(issubclass(kind, np.ma.MaskedArray) for kind in kinds):
            return True
        lists = tuple(kind for kind in kinds if issubclass(kind, (list, tuple)))
        if level == depth or not lists:
            return False
        if len(lists) < len(kinds):
            things = [thing for thing in things if isinstance(thing, lists)]
        if level > 1:  # a list may hold itself, and more than once
            things = {id(thing): thing for thing in things}.values()
        things = list(chain.from_iterable(things))


def as_array(tensor):
    """An eager tensor as an array, without a copy where TensorFlow offers that."""
    if not len(tensor.shape):  # some scalars come as numbers that NumPy doesn't know
        tensor = tensor.numpy()
        return np.asarray(tensor, object if isinstance(tensor, bytes) else None)
    return np.asarray(tensor)
