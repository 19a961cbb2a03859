"""How a lesson judges an answer: `judge`, and what it can try, each with a hint."""

import contextlib
import inspect
import numbers
from collections import namedtuple

import numpy as np

from .gradient_check import check_gradient
from .student_code import SHOWN, Run, tidy
from .tensorflow_start import tf

Try = namedtuple("Try", "complaint hint")  # complaint() says what is wrong, or None
KINDS = {"f": "floats", "c": "complex numbers", "i": "integers", "u": "integers",
         "b": "booleans", "U": "text"}


def judge(*tries, seconds=20):
    """Run the tries in order and print `not yet: …` or `well done`; raises nothing.

    The first try that does not pass ends it: its hint is printed, and what is known.
    What the student's code printed comes before that, with `| ` at the head of each
    line. Call judge in a function whose arguments are the student's answers: of an
    error in their code the line is shown.

    Args:
        tries: what `gradient_right`, `gives` and `holds` return.
        seconds: for all tries together. Then a signal ends what Python runs; not
            outside of the main thread, on Windows, or a loop that catches all.

    Example:
        >>> judge(holds(lambda: 1 + 1 == 3, hint="count again"))
        not yet: count again
    """
    check = inspect.getargvalues(inspect.currentframe().f_back)
    run = Run(seconds, [check.locals.get(name) for name in check.args])
    verdict = "well done" if tries else "not yet: there is nothing to try"
    with run.begun():
        for one in tries:
            found, failed = run.result_of(lambda one=one: one.complaint())
            if failed or found is not None:
                known = filter(None, [failed, getattr(one, "hint", ""), found])
                verdict = "not yet: " + ("\n".join(known) or "this does not hold")
                break
    said = "\n".join([*run.shown(), verdict])
    print(said.encode("utf-8", "replace").decode("utf-8"))


def gradient_right(f, inputs, hint="", **options):
    """A try for `judge`: `check_gradient(f, inputs, **options)` finds nothing wrong.

    Args:
        f: takes the inputs, and calls the student's code.
        inputs: a list, as for `check_gradient`; what it cannot decide there passes.
        hint: what to look at. The whole report follows it.
        options: as for `check_gradient`: order, projections, rtol, seed.

    Example:
        >>> judge(gradient_right(tf.math.sin, [np.array([0.5, 1.0])]))
        well done
    """

    def complaint():
        try:
            check_gradient(f, inputs, **options)
        except AssertionError as error:
            if error.__cause__ is not None or not hasattr(error, "report"):
                raise  # f failed, or is no more than what it asserts
            return str(error.report)

    return Try(complaint, hint)


def gives(f, inputs, expected, hint="", rtol=1e-6, graph=True):
    """A try for `judge`: `f(*inputs)` is `expected` in value, shape, kind of dtype.

    Args:
        f: calls the student's code. For an answer that is a number, a list or a
            text: `gives(lambda: answer, [], expected, graph=False)`.
        inputs: a list. Arrays are handed over as copies, not to be written into.
        expected: tensor, array, number, text or a list of these, of one shape.
            float32 and float64 are of one kind, and so are all integers. A Python
            number may be given as an integer or a float.
        hint: what to look at; what was found follows it.
        rtol: relative tolerance of each element, at least 8 roundings in its dtype.
            What should be 0 may differ by 64 roundings of the largest element.
        graph: whether it has to hold inside a `tf.function` too.

    Example:
        >>> judge(gives(np.square, [np.arange(3.0)], [0.0, 1.0, 4.0], graph=False))
        well done
    """

    def complaint():
        given = [np.copy(x) if isinstance(x, np.ndarray) else x for x in inputs]
        found = difference(f(*given), expected, rtol, bool(inputs))
        for number, (x, now) in enumerate(zip(inputs, given, strict=True)):
            if isinstance(x, np.ndarray) and x.tobytes() != now.tobytes():
                found = found or f"it writes into its input {number}"
        if found or not graph:
            return found or None
        try:
            y = tf.function(f, autograph=False)(*inputs)
        except tf.errors.OperatorNotAllowedInGraphError:  # f has an `if` or a `for`
            y = tf.function(f)(*inputs)
        found = difference(y, expected, rtol, bool(inputs))
        return f"inside a tf.function: {found}" if found else None

    return Try(complaint, hint)


def holds(test, hint=""):
    """A try for `judge`: `test()` is true.

    Args:
        test: takes nothing; returns True, or False, or a text: the reason why not.
            Of an array or a tensor all elements have to be True, and there be one.
        hint: what to look at; the reason follows it.

    Example:
        >>> judge(holds(lambda: "4 are too many", hint="three will do"))
        not yet: three will do
        4 are too many
    """

    def complaint():
        if isinstance(answer := test(), str):
            return answer
        flags = np.asarray(answer)
        return None if flags.dtype == bool and flags.size and flags.all() else ""

    return Try(complaint, hint)


def difference(found, expected, rtol, show):
    """What is wrong with `found`, "" if nothing; `show`: the right number too."""
    mine, right = np.asarray(None), np.asarray(expected)
    text = f"a {type(found).__name__}"
    with contextlib.suppress(Exception):  # it may be anything
        text = tidy(repr(found)).split("\n")[0][:SHOWN]
        mine = np.asarray(found)
    kinds = [KINDS.get(array.dtype.kind) for array in (mine, right)]
    if kinds[0] is None or (kinds[0] == "text") != (kinds[1] == "text"):
        wanted = f"{kinds[1]} of shape {right.shape}" if right.ndim else (
            f"one {type(right.item()).__name__}")
        return f"{text} instead of {wanted}"
    if mine.shape != right.shape:
        return f"shape {mine.shape} instead of {right.shape}"
    plain = isinstance(expected, (numbers.Number, list, tuple))
    if kinds[0] != kinds[1] and not (plain and set(kinds) == {"floats", "integers"}):
        return f"{kinds[0]} ({mine.dtype.name}) instead of {kinds[1]}"
    wrong = np.asarray(mine != right)
    if {mine.dtype.kind, right.dtype.kind} & {"f", "c"}:
        eps = np.finfo(mine.dtype if mine.dtype.kind in "fc" else float).eps
        largest = np.abs(right[np.isfinite(right)]).max(initial=0)
        atol = 64 * eps * largest * (right == 0)
        wrong = ~np.isclose(mine, right, max(rtol, 8 * eps), atol, equal_nan=True)
    if not wrong.any():
        return ""
    place = np.argwhere(wrong)[0].tolist()
    pair = [array[tuple(place)].item() for array in (mine, right)]
    brief = [float(f"{x:.4g}") if isinstance(x, float) else x for x in pair]
    now, then = brief if brief[0] != brief[1] else pair
    said = f"{now!r} instead of {then!r}" if show else f"{now!r} is not right"
    return f"{place}: {said} ({wrong.sum()} of {wrong.size} wrong)" if place else said
