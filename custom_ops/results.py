"""What `func` returned, made into the arrays that `Tout` promised."""

from collections import namedtuple

import numpy as np

from .quiet_start import tf
from .tensors import has_mask

Spec = namedtuple("Spec", "dtype shape numpy_dtype static_shape")  # one of Tout
_KINDS = {"f": "float", "c": "complex", "i": "integer", "u": "integer", "b": "bool",
          "S": "string", "U": "string", "T": "string"}  # fmt: skip


def specs_of(Tout):
    """`Tout` as a list of what is promised of each output."""
    specs = []
    for promise in Tout if isinstance(Tout, (list, tuple)) else [Tout]:
        try:
            spec = (promise if isinstance(promise, tf.TensorSpec)
                    else tf.TensorSpec(None, tf.as_dtype(promise)))
            numpy_dtype = np.dtype(spec.dtype.as_numpy_dtype)
            if spec.dtype != spec.dtype.base_dtype:
                raise TypeError("it refers to a variable of TensorFlow 1")
        except (TypeError, KeyError) as error:  # KeyError: NumPy has no such dtype
            raise TypeError("py_func: Tout must be a dtype, a tf.TensorSpec or a list "
                            f"of these, got {promise!r}") from error
        static_shape = tuple(spec.shape) if spec.shape.is_fully_defined() else None
        specs.append(Spec(spec.dtype, spec.shape, numpy_dtype, static_shape))
    return specs


def require_shapes(specs):
    """Keras plans a model by its shapes, before there is a tensor."""
    for spec in specs:
        if spec.shape.rank is None:
            dtype = f"tf.{spec.dtype.name}"
            raise ValueError(
                f"py_func: Keras needs the shape of each output; instead of {dtype} "
                f"give Tout a tf.TensorSpec, such as tf.TensorSpec(x.shape, {dtype})")


def as_promised(results, specs, label):
    """All results as a list of arrays, or an error that begins with the label."""
    if len(specs) == 1 and _is_as_promised(results, specs[0]):
        return [results]
    if not isinstance(results, (list, tuple)):
        results = [] if results is None else [results]
    if len(results) != len(specs):
        raise ValueError(f"{label} returned {len(results)} results, but Tout promises "
                         f"{len(specs)}")
    return [result if _is_as_promised(result, spec) else
            _one(result, spec, f"{label}: output {index}")
            for index, (result, spec) in enumerate(zip(results, specs, strict=True))]


def _is_as_promised(result, spec):
    """A quick look, for most results need nothing."""
    return (type(result) is np.ndarray and result.shape == spec.static_shape
            and result.dtype == spec.numpy_dtype and not result.dtype.hasobject)


def refuse_mask(result, label, depth=64):
    """A tensor has no mask: without this, what was masked would be a number again."""
    if has_mask(result, depth):
        verb = "is" if isinstance(result, np.ma.MaskedArray) else "holds"
        raise TypeError(f"{label} {verb} a masked array, and a tensor has no mask: "
                        "give the masked elements a value first, with .filled(value)")


def _one(result, spec, label):
    """One result, cast within its kind and laid out as TensorFlow needs it."""
    text = isinstance(result, (bytes, str))  # NumPy would cut a last zero byte
    array = np.asarray(result, object if text else None, order="C")
    if isinstance(result, (list, tuple, np.ma.MaskedArray)):
        # A masked number is nan here: without one, the numbers need not be looked at.
        nan = array.dtype.kind in "fc" and np.isnan(array).any()
        refuse_mask(result, label, array.ndim - 1 + nan)
    if array.dtype != spec.numpy_dtype or spec.numpy_dtype.hasobject:
        array = _cast(array, type(result) in (int, float), spec, label)
    if not spec.shape.is_compatible_with(array.shape):
        raise ValueError(f"{label} has shape {array.shape}, but Tout promises "
                         f"{spec.shape}")
    return array


def _cast(array, is_number, spec, label):
    """An array of another dtype than promised, or of strings, as promised."""
    found, wanted = _kind(array), _kind(np.empty(0, spec.numpy_dtype))
    number = is_number and wanted in ("float", "complex")  # it has no dtype yet
    if found != wanted and not number:
        raise TypeError(f"{label} is {array.dtype} ({found}), but Tout promises "
                        f"{spec.dtype.name} ({wanted}); change what the function "
                        "returns, or Tout")
    if wanted == "string":
        return _texts(array, label)
    try:
        with np.errstate(over="ignore"):  # too large is inf, as in tf.cast
            cast = array.astype(spec.numpy_dtype)
        fits = wanted != "integer" or _same(cast, array)
    except OverflowError:  # Python's integers know no bounds
        fits = False
    if not fits:
        raise ValueError(f"{label} has values that do not fit into {spec.dtype.name}")
    return cast


def _kind(array):
    """The family of an array's dtype, within which a cast keeps the meaning."""
    if array.dtype.kind == "O":
        types = set(map(type, array.ravel().tolist()))
        if types and all(issubclass(t, int) and t is not bool for t in types):
            return "integer"
        text = all(issubclass(t, (bytes, str)) for t in types)
        return "string" if text else "object"
    name = array.dtype.name
    other = next((k for k in ("float", "int") if k in name), name)  # of ml_dtypes
    return _KINDS.get(array.dtype.kind, {"int": "integer"}.get(other, other))


def _same(cast, array):
    """No integer became another one. What NumPy can't compare, int64 can hold."""
    if cast.dtype.kind not in "iu":
        cast = cast.astype(np.int64)
    return not (cast != array).any()


def _texts(array, label):
    """Texts as objects, which keep a last zero byte; TensorFlow encodes str itself."""
    texts = array.astype(object)
    plain = texts.ravel().tolist()
    kinds = set(map(type, plain))
    try:
        if kinds == {str}:
            "".join(plain).encode()  # whether it can be done, sooner than one by one
        if kinds in ({bytes}, {str}):
            return texts
        plain = [tf.compat.as_bytes(text) for text in plain]
    except UnicodeEncodeError as error:
        raise ValueError(f"{label} has a text that UTF-8 can't encode: it holds "
                         f"{error.object[error.start]!a}") from error
    return np.array([*plain, None], object)[:-1].reshape(texts.shape)
