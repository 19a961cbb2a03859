"""What an error in `func` says: whose fault it is, and all that led to it."""

import ast
import dis
import linecache
import re
import traceback
from pathlib import Path
from types import CodeType

import numpy as np

_PACKAGE = str(Path(__file__).parent)
_AUTOGRAPH = re.compile(r"tensorflow.python.autograph.")
_REFUSED = {  # how NumPy, and what works on buffers, refuse to change an array
    ValueError: re.compile(r"(?i)read.?only|writeable|does not own its data"),
    TypeError: re.compile(r"read-only memory|read-write|not writable"),
}


def printable(text):
    """A text without what ends a text in C++ (NUL) or can't be written (surrogates)."""
    text = text.encode("utf-8", "backslashreplace").decode()
    return text.replace("\0", "\\x00")


def code_of(func):
    """The code of a Python function, or None. A callable may answer anything."""
    code = _asked(func, "__code__")
    return code if isinstance(code, CodeType) else None


def names_of(func):
    """The name and the qualified name of any callable."""
    names = [_asked(func, name) for name in ("__name__", "__qualname__")]
    own, qualified = (name if isinstance(name, str) else None for name in names)
    own = own or type(func).__name__
    return printable(own), printable((qualified or own).split("<locals>.")[-1])


def _asked(func, name):
    try:
        return getattr(func, name, None)
    except Exception:
        return None


def with_remedy(error, arrays, label):
    """The error of `func` on `arrays`, or one that says what to change about it."""
    text = _text_of(error)
    if type(error) in _REFUSED and _REFUSED[type(error)].search(text):
        missing = "OWNDATA" if "own its data" in text else "WRITEABLE"
        if _written_to(error.__traceback__, arrays, missing):
            return ValueError(
                f"{label} writes into its input ({text}), which belongs to "
                "TensorFlow; copy it first: x = x.copy()")
    if type(error) is TypeError and "No matching definition for argument" in text:
        return TypeError(
            f"{label}: a signature written for numba does not fit ({text}); it gets "
            "read-only arrays, 0-d for a scalar: copy what it gets, or let numba find "
            "the signature itself (@numba.njit without types)")
    return error


def _written_to(trace, arrays, missing):
    """Whether it is one of the arrays that NumPy, not a `raise`, refused to write.

    Told by what the code that failed names: one of them, and nothing else that
    lacks the flag `missing` either. A func that has no Python code leaves no choice.
    """
    told = None
    while trace:  # the last one whose code can be read
        if linecache.getline(trace.tb_frame.f_code.co_filename, trace.tb_lineno):
            told = trace if _is_users(trace.tb_frame.f_code.co_filename) else told
        trace = trace.tb_next
    if told is None:
        return True
    frame, code = told.tb_frame, told.tb_frame.f_code
    if dis.opname[code.co_code[told.tb_lasti]] in ("RAISE_VARARGS", "RERAISE"):
        return False
    named = _things_named(frame, _source_of(code, told.tb_lasti))
    named += [_asked(thing, "__self__") for thing in named]  # that of a bound method
    locked = [_asked(a, "obj") if isinstance(a, memoryview) else a
              for a in named if _lacks(a, missing)]
    ours = [any(np.may_share_memory(a, x) for x in arrays) for a in locked]
    return bool(ours) and all(ours)


def _lacks(thing, flag):
    if isinstance(thing, np.ndarray):
        return not thing.flags[flag]
    return isinstance(thing, bytes) or (
        isinstance(thing, memoryview) and _asked(thing, "readonly"))


def _is_users(filename):
    return not filename.startswith(_PACKAGE) and not _AUTOGRAPH.search(filename)


def _source_of(code, instruction):
    """The expression that an instruction belongs to, as text."""
    first, last, start, end = list(code.co_positions())[instruction // 2]
    if None in (first, last, start, end):
        return ""
    lines = [linecache.getline(code.co_filename, n).encode()
             for n in range(first, last + 1)]
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][start:]
    return b"".join(lines).decode(errors="replace").strip()


def _things_named(frame, source):
    """All that an expression names, x and self.x too; without it, all in the frame."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except SyntaxError:
        nodes = []
    if not nodes[1:]:
        return list(frame.f_locals.values())

    def value(node):
        if isinstance(node, ast.Name):
            return frame.f_locals.get(node.id, frame.f_globals.get(node.id))
        if isinstance(node, ast.Attribute):
            return _asked(value(node.value), node.attr)

    return [value(node) for node in nodes]


def as_status(error, label):
    """The error to raise in a graph, where only its class and text go on.

    StopIteration may not: there it means that a dataset has come to its end.
    """
    classes = ValueError, TypeError, NotImplementedError, MemoryError
    kind = next((c for c in classes if isinstance(error, c)), RuntimeError)
    text = _text_of(error)
    if not text.startswith(label):  # else it is one of our own checks
        text = f"{label} failed with {type(error).__name__}: {text}"
    try:
        told = traceback.TracebackException.from_exception(error)
        chain = "".join(told.format()) if _of_user(told) else ""
    except Exception as failed:  # whatever a class of errors does when it is asked
        chain = f"(its traceback can't be shown: {type(failed).__name__})"
    return kind(f"{_cut(text)}\n{_cut(printable(chain))}".rstrip())


def _cut(text, length=8000):
    """The two ends of a long text: each graph around another one tells it again."""
    half = length // 2
    return text if len(text) <= length else f"{text[:half]} [...] {text[-half:]}"


def _of_user(told):
    """Leave the user's lines of a chain of errors; whether there are any."""
    left, seen, found = [told], set(), False
    while left:
        told = left.pop()
        if told is None or id(told) in seen:
            continue
        seen.add(id(told))
        users = [frame for frame in told.stack if _is_users(frame.filename)]
        told.stack = traceback.StackSummary.from_list(users)
        found = found or bool(users)
        left += [told.__cause__, told.__context__, *(told.exceptions or ())]
    return found


def _text_of(error):
    try:
        return printable("\n".join([str(error), *getattr(error, "__notes__", ())]))
    except Exception:
        return "(it can't be printed)"
