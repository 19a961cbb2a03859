"""What goes into an op and comes out of it, held to what was promised, in words."""

import contextlib
import sys
import traceback
from collections import namedtuple
from weakref import getweakrefcount

import numpy as np

from .tensorflow_start import tf

Output = namedtuple("Output", "dtype shape numpy_dtype static_shape")  # one of Tout

_KINDS = {"f": "float", "c": "complex", "i": "integer", "u": "integer", "b": "bool"}
_FOREIGN = "__array__", "__array_interface__", "__array_struct__"


# What goes in

def differentiable(tensor):
    """Whether gradients flow through it: its dtype is float or complex."""
    return tensor.dtype.is_floating or tensor.dtype.is_complex


def is_tensor(x):
    """Whether it is a tensor or a variable, of TensorFlow or of Keras."""
    return tf.is_tensor(x) or hasattr(x, "__tf_tensor__")


def as_tensor(x, label, dtype_hint=None):
    """A tensor of what is passed for one, or a TypeError that says what to pass.

    An array of another library is copied, for TensorFlow would share its memory.
    """
    remedies = {tf.RaggedTensor: "pass x.values or x.to_tensor()",
                tf.SparseTensor: "pass tf.sparse.to_dense(x) or x.values",
                np.ma.MaskedArray: "a tensor has no mask: pass x.filled(value)",
                dict: "pass its values as inputs of their own"}
    remedy = next((remedies[kind] for kind in remedies if isinstance(x, kind)), "")
    reason = ""
    if not remedy and x is not None:
        foreign = not is_tensor(x) and any(hasattr(x, name) for name in _FOREIGN)
        try:
            tensor = tf.convert_to_tensor(np.array(x) if foreign else x,
                                          dtype_hint=dtype_hint)
            if tensor.dtype not in (tf.resource, tf.variant):
                return tensor
        except (TypeError, ValueError) as error:
            reason = f" ({error})"
    raise TypeError(f"{label} is of type {type(x).__name__}{reason}; "
                    f"{remedy or 'pass a tensor, a variable, an array or numbers'}")


# What `func` returns

def outputs_of(Tout):
    """`Tout` as a list with an `Output` for each output."""
    outputs = []
    for promise in Tout if isinstance(Tout, (list, tuple)) else [Tout]:
        try:
            spec = (promise if isinstance(promise, tf.TensorSpec)
                    else tf.TensorSpec(None, tf.as_dtype(promise)))
            numpy_dtype = np.dtype(spec.dtype.as_numpy_dtype)
        except (TypeError, KeyError) as error:  # KeyError: NumPy has no such dtype
            raise TypeError("py_func: Tout must be a dtype, a tf.TensorSpec or a list "
                            f"of these, got {promise!r}") from error
        static_shape = tuple(spec.shape) if spec.shape.is_fully_defined() else None
        outputs.append(Output(spec.dtype, spec.shape, numpy_dtype, static_shape))
    return outputs


def results_as_promised(results, outputs, label):
    """What `func` returned as a list of arrays, of the dtypes and shapes promised."""
    if not isinstance(results, (list, tuple)):
        results = [] if results is None else [results]
    if len(results) != len(outputs):
        raise ValueError(f"{label} returned {len(results)} results, but Tout promises "
                         f"{len(outputs)}")
    return [_as_promised(result, output, f"{label}: output {index}") for
            index, (result, output) in enumerate(zip(results, outputs, strict=True))]


def _as_promised(result, output, label):
    if isinstance(result, np.ma.MaskedArray):
        raise TypeError(f"{label} is a masked array, and a tensor has no mask: give "
                        "the masked elements a value first, with .filled(value)")
    text = isinstance(result, (bytes, str))  # np.asarray(b"a\0") would be b"a"
    array = np.asarray(result, object if text else None)
    if array.dtype != output.numpy_dtype or array.dtype.hasobject:
        array = _cast(array, type(result) in (int, float), output, label)
    if array.shape != output.static_shape and (
            not output.shape.is_compatible_with(array.shape)):
        raise ValueError(f"{label} has shape {array.shape}, but Tout promises "
                         f"{output.shape}")
    return array


def _cast(array, is_number, output, label):
    """Cast within a kind (float64 to float32), never to another one."""
    found, wanted = _kind(array), _kind(np.empty(0, output.numpy_dtype))
    # A Python number has no dtype yet: 3 may become a float.
    number = is_number and wanted in ("float", "complex")
    if found != wanted and not number:
        raise TypeError(f"{label} is {array.dtype} ({found}), but Tout promises "
                        f"{output.dtype.name} ({wanted}); change what the function "
                        "returns, or Tout")
    if wanted == "string":
        return array.astype(object)  # which keeps a last zero byte
    fits = True
    try:
        with np.errstate(over="ignore"):  # too large is inf, as in tf.cast
            cast = array.astype(output.numpy_dtype)
        if wanted == "integer":  # int4 NumPy can't compare with others
            same = cast.astype(np.int64) if cast.dtype.kind == "V" else cast
            fits = not (same != array).any()
    except OverflowError:  # Python's integers know no bounds
        fits = False
    if not fits:
        raise ValueError(f"{label} has values that do not fit into {output.dtype.name}")
    return cast


def _kind(array):
    """The kind of an array's dtype: a cast within it keeps what the values mean."""
    if array.dtype.kind in "OSUT":  # objects, and the three kinds of text
        types = set(map(type, array.ravel().tolist()))
        if all(issubclass(t, (bytes, str)) for t in types):
            return "string"
        return "integer" if types == {int} else "object"
    name = array.dtype.name  # those of ml_dtypes: bfloat16, float8_e5m2, int4
    other = "float" if "float" in name else "integer" if "int" in name else name
    return _KINDS.get(array.dtype.kind, other)


def owned(arrays):
    """The list `arrays` itself, each array copied unless its memory is ours alone.

    A graph takes over the memory of the arrays that it gets, and reads it later. So
    nobody else may be able to write there: an array has to own its memory, and nothing
    but this list may refer to it, not even weakly.
    """
    for i in range(len(arrays)):
        # CPython counts 2 for an array that only the list and this very call refer to.
        held = sys.getrefcount(arrays[i]) > 2 or getweakrefcount(arrays[i])
        if held or not (arrays[i].flags.owndata and arrays[i].flags.c_contiguous):
            arrays[i] = np.array(arrays[i], order="C")
    return arrays


def gradients_as_promised(grads, inputs, label):
    """One gradient for each input, of its shape and float dtype, or None."""
    if not isinstance(grads, (list, tuple)):
        grads = [grads]
    if len(grads) != len(inputs):
        raise ValueError(f"{label}: grad returned {len(grads)} gradients for "
                         f"{len(inputs)} inputs; return one for each, or None")
    return [None if dx is None or not differentiable(x)
            else _like_input(x, dx, f"{label}: the gradient of input {index}")
            for index, (x, dx) in enumerate(zip(inputs, grads, strict=True))]


def _like_input(x, dx, label):
    dx = as_tensor(dx, label, dtype_hint=x.dtype)
    if not differentiable(dx) or dx.dtype.is_complex != x.dtype.is_complex:
        raise TypeError(f"{label} is {dx.dtype.name}, but the input is {x.dtype.name}")
    dx = tf.cast(dx, x.dtype)
    if not dx.shape.is_compatible_with(x.shape):
        raise ValueError(f"{label} has shape {dx.shape}, but the input has "
                         f"{x.shape}; py_func does not broadcast gradients")
    if dx.shape.is_fully_defined() and x.shape.is_fully_defined():
        return dx
    found, expected = tf.shape(dx), tf.shape(x)  # known when the graph runs
    same = tf.raw_ops.Equal(x=found, y=expected, incompatible_shape_error=False)
    # [3] and [3, 3] would be equal by broadcasting
    same = tf.reduce_all(same) & tf.equal(tf.size(found), tf.size(expected))
    with tf.control_dependencies([tf.debugging.Assert(
            same, [f"{label} has shape", found, "but the input has", expected])]):
        dx = tf.identity(dx)
    dx.set_shape(x.shape)
    return dx


def name_of(func):
    """The qualified name of any callable, or else that of its class."""
    for attribute in "__qualname__", "__name__":
        with contextlib.suppress(Exception):  # an object may answer anything
            name = getattr(func, attribute)
            if isinstance(name, str):
                return _printable(name.split("<locals>.")[-1])
    return type(func).__name__


def as_graph_error(error, label):
    """The error for a graph, from which only the text and a few classes come back
    (not StopIteration, which would mean that a dataset has come to its end)."""
    classes = ValueError, TypeError, NotImplementedError, MemoryError
    kind = next((c for c in classes if isinstance(error, c)), RuntimeError)
    text = str(error)
    if not text.startswith(label):  # else a promise was broken, and it says so itself
        chain = "".join(traceback.format_exception(error))
        text = f"{label} failed with {type(error).__name__}: {text}\n{chain}"
    return kind(_printable(text))


def _printable(text):
    """Without what ends a text in C++ (NUL) or has no UTF-8 (half a surrogate pair)."""
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")
