"""Compare what a student's function gives with what is expected, in words."""

import numbers

import numpy as np

from .student_code import SHOWN_LETTERS, tidy
from .tensorflow_start import tf

KINDS = {"f": "floats", "c": "complex numbers", "i": "integers", "u": "integers",
         "b": "booleans", "S": "text", "U": "text"}
PLAIN = (numbers.Number, np.number, np.bool_)


def difference(found, expected, rtol, show=True):
    """What is wrong with `found`, "" if nothing; `show`: the right numbers too."""
    if expected is None:
        return "" if found is None else f"{described(found)} instead of None"
    if isinstance(expected, (str, bytes)):
        return text_difference(found, expected)
    if isinstance(expected, dict):
        if not isinstance(found, dict):
            return f"{described(found)} instead of a dict"
        if set(found) != set(expected):
            return f"a dict with the keys {list(found)}" + (
                f" instead of {list(expected)}" if show else "")
        pairs = [(f"[{key!r}]", found[key], right) for key, right in expected.items()]
        return first_difference(pairs, rtol, show)
    if isinstance(expected, (list, tuple)) and not all(
            isinstance(one, PLAIN) for one in expected):
        if not isinstance(found, (list, tuple)) and np.ndim(found) == 0:
            return f"{described(found)} instead of {len(expected)} results"
        if len(found) != len(expected):
            return f"{len(found)} results instead of {len(expected)}"
        names = [f"[{number}]" for number in range(len(expected))]
        return first_difference(zip(names, found, expected, strict=True), rtol, show)
    return array_difference(found, expected, rtol, show)


def first_difference(pairs, rtol, show):
    for name, found, right in pairs:
        if wrong := difference(found, right, rtol, show):
            return f"{name}: {wrong}"
    return ""


def text_difference(found, expected):
    if tf.is_tensor(found):
        found = found.numpy()
    if isinstance(found, np.ndarray) and found.ndim == 0:
        found = found.item()
    if isinstance(found, bytes) and isinstance(expected, str):
        found = found.decode("utf-8", "replace")
    if not isinstance(found, type(expected)):
        return f"{described(found)} instead of a text"
    same = type(expected).__eq__(expected, found) is True
    return "" if same else f"{described(found)} is not right"


def array_difference(found, expected, rtol, show):
    right = np.asarray(expected)
    if callable(found) or isinstance(found, (str, bytes, dict, set)) or found is None:
        return f"{described(found)} instead of {wanted(right)}"
    if hasattr(found, "__next__"):
        return f"a {type(found).__name__} instead of {wanted(right)}: make a list of it"
    if isinstance(found, np.ma.MaskedArray) and np.ma.is_masked(found):
        return f"{np.ma.count_masked(found)} of {found.size} elements are masked"
    try:  # some scalars NumPy knows only when they are asked for it
        mine = np.asarray(found.numpy() if hasattr(found, "numpy") else found)
    except ValueError:
        return f"{described(found)} instead of {wanted(right)}"
    eps = 0.0
    if tf.is_tensor(found) and found.dtype.is_floating and mine.dtype.kind == "V":
        eps = 2.0**-7  # bfloat16: NumPy has no such kind
        mine = mine.astype(np.float64)
    kinds = [KINDS.get(a.dtype.kind, a.dtype.name) for a in (mine, right)]
    plain = isinstance(expected, PLAIN) or isinstance(expected, (list, tuple))
    alike = {"floats", "integers"} if plain else set()
    if kinds[0] not in KINDS.values():
        return f"{described(found)} instead of {wanted(right)}"
    if mine.shape != right.shape:
        return f"shape {mine.shape} instead of {right.shape}"
    if kinds[0] != kinds[1] and not set(kinds) <= alike:
        return f"{kinds[0]} ({mine.dtype.name}) instead of {kinds[1]}"
    wrong = ~equal(mine, right, rtol, eps)
    if not wrong.any():
        return ""
    place = tuple(int(k) for k in np.argwhere(wrong)[0])
    digits = 4
    while digits < 17 and (short(mine[place], digits) == short(right[place], digits)):
        digits += 1
    said = short(mine[place], digits) + (
        f" instead of {short(right[place], digits)}" if show else " is not right")
    if not mine.ndim:
        return said
    where = ", ".join(map(str, place))
    return f"[{where}]: {said} ({wrong.sum()} of {wrong.size} wrong)"


def equal(mine, right, rtol, eps=0.0):
    """Where the two arrays agree, nan with nan; eps: of the dtype of `mine`."""
    if mine.dtype.kind not in "fc":
        if right.dtype.kind not in "fc":
            return np.asarray(mine == right)
        mine = mine.astype(float)
    eps = eps or float(np.finfo(mine.dtype).eps)
    wide = np.complex128 if "c" in (mine.dtype.kind, right.dtype.kind) else np.float64
    mine, right = mine.astype(wide), right.astype(wide)
    finite = np.abs(right[np.isfinite(right)])
    atol = np.where(right == 0, 64 * eps * finite.max(initial=0), 0)
    return np.isclose(mine, right, rtol=max(rtol, 8 * eps), atol=atol, equal_nan=True)


def wanted(right):
    kind = KINDS.get(right.dtype.kind, right.dtype.name)
    return f"{kind} of shape {right.shape}" if right.ndim else (
        "a number" if right.dtype.kind in "fciu" else f"one of {kind}")


def described(thing):
    """A student's value in a few words, whatever it is."""
    if thing is None:
        return "None"
    try:
        text = tidy(repr(thing)).split("\n")[0][:SHOWN_LETTERS]
    except Exception:
        text = f"a {type(thing).__name__}"
    return text


def short(number, digits):
    if isinstance(number, np.floating):
        return repr(float(f"{number:.{digits}g}"))
    if isinstance(number, np.inexact):
        return f"{number:.{digits}g}"
    return repr(number.item())


def in_graph(f, inputs):
    """What f gives inside a `tf.function`."""
    given = [tf.convert_to_tensor(x) if isinstance(x, (np.ndarray, float)) else x
             for x in inputs]
    try:  # one trace for sure, and no warning about many
        traced = tf.function(f, autograph=False).get_concrete_function
        return run(traced(*given), given)
    except tf.errors.OperatorNotAllowedInGraphError:  # f has an `if` or a `for`
        return run(tf.function(f).get_concrete_function(*given), given)


def run(traced, given):
    return traced(*[x for x in given if tf.is_tensor(x) or isinstance(x, tf.Variable)])
