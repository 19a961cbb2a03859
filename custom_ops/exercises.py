"""How a lesson judges an answer: `judge` and its tries.

A check in a lesson says what to try, and what to hint where that fails:

    def check_1(grad):
        def f(x):
            return py_func(np.sin, [x], like(x), grad=grad)

        judge(
            gradient_right(f, [x], hint="what is the slope of the sine?"),
            holds(lambda: calls == 1, hint="you compute it twice"),
        )

Whatever the answer does, the student reads `not yet: …` or `well done`, never a
traceback.
"""

from collections import namedtuple

import numpy as np

from .comparing import difference, in_graph
from .gradient_check import check_gradient
from .student_code import Run
from .tensorflow_start import tf

Try = namedtuple("Try", "complaint hint")  # complaint() says what is wrong, or None


def judge(*tries, seconds=20):
    """Run the tries in order and print the verdict; raises nothing.

    At the first try that does not pass it prints `not yet: …`, with the try's hint
    and all that is known, and stops. It prints `well done` only when all pass.

    What the student's code prints meanwhile is held back, and shown before the
    verdict with `| ` at the head of each line: the verdict alone has the last word.

    Args:
        tries: what `gradient_right`, `gives` and `holds` return.
        seconds: how long all tries together may take. An endless loop is ended
            then. What runs outside of Python (one call of a library that never
            comes back) cannot be; nor, outside of the main thread, on Windows and
            where the code handles SIGALRM itself, a sleep or a loop that catches
            every exception.

    Example:
        >>> judge(holds(lambda: 1 + 1 == 3, hint="count again"))
        not yet: count again

    Every lesson from 00 on judges its exercises with it.
    """
    run = Run(seconds)
    verdict = "well done" if tries else "not yet: there is nothing to try"
    for one in tries:
        found, failed = run.result_of(lambda one=one: one.complaint())
        hint = getattr(one, "hint", "")
        if failed or found is not None:
            parts = [failed, hint] if failed else [hint, found]
            said = "\n".join(part for part in parts if part)
            verdict = f"not yet: {said or 'this does not hold'}"
            break
    run.say(verdict)


def gradient_right(f, inputs, hint="", **options):
    """A try: `check_gradient(f, inputs, **options)` passes.

    Args:
        f: takes the inputs; it calls the student's code, and is called in eager
            mode and inside a `tf.function`.
        inputs: a list, as for `check_gradient`. In float64 it sees most.
        hint: what to look at. The whole report follows it.
        options: as for `check_gradient`: order, projections, rtol, seed.

    Returns:
        A try for `judge`.

    Example:
        >>> judge(gradient_right(tf.math.sin, [np.array([0.5, 1.0])]))
        well done

    Lesson 05 builds such a check by hand.
    """

    def complaint():
        try:
            check_gradient(f, inputs, **options)
        except AssertionError as error:
            if error.__cause__ is not None or not hasattr(error, "report"):
                raise  # f failed, or is no more than what it asserts
            return str(error)

    return Try(complaint, hint)


def gives(f, inputs, expected, hint="", rtol=1e-6, graph=True):
    """A try: `f(*inputs)` is `expected` in value, shape and kind of dtype.

    Args:
        f: calls the student's code. For an answer that is a number, a list or a
            text: `gives(lambda: answer, [], expected, graph=False)`.
        inputs: a list. Arrays are handed over as copies; that f writes into one
            of them is a reason to say `not yet`.
        expected: tensor, array, number, text, None, or a list, tuple or dict of
            these. float32 and float64 are of one kind, and so are all integers. A
            Python number may be given as an integer or a float.
        hint: what to look at; what was found follows it.
        rtol: relative tolerance of each element, but never less than 8 roundings
            in the dtype that was given. An element that should be 0 may differ by 64
            roundings of the largest one.
        graph: whether it has to hold inside a `tf.function` too.

    Returns:
        A try for `judge`.

    Example:
        >>> judge(gives(np.square, [np.arange(3.0)], [0.0, 1.0, 4.0], graph=False))
        well done
    """

    def complaint():
        given = [np.copy(x) if isinstance(x, np.ndarray) else x for x in inputs]
        found = difference(f(*given), expected, rtol, bool(inputs))
        for number, (x, now) in enumerate(zip(inputs, given, strict=True)):
            if isinstance(x, np.ndarray) and not found:
                if not np.array_equal(x, now, equal_nan=x.dtype.kind in "fc"):
                    found = f"it writes into its input {number}"
        if found or not graph:
            return found or None
        found = difference(in_graph(f, inputs), expected, rtol, bool(inputs))
        return f"inside a tf.function: {found}" if found else None

    return Try(complaint, hint)


def holds(test, hint=""):
    """A try: `test()` is true.

    Args:
        test: takes nothing; returns True or False (a boolean array or tensor, where
            all its elements have to be true, and an empty one says nothing), or a
            text: the reason why not. Anything else is not true.
        hint: what to look at; the reason follows it.

    Returns:
        A try for `judge`.

    Example:
        >>> judge(holds(lambda: "4 are too many", hint="three will do"))
        not yet: three will do
        4 are too many
    """

    def complaint():
        answer = test()
        if isinstance(answer, str):
            return str.__str__(answer)  # without methods of its own
        if tf.is_tensor(answer):
            answer = answer.numpy()
        if isinstance(answer, (bool, np.bool_, np.ndarray)):
            answer = np.asarray(answer)
            if answer.dtype == bool and answer.size and answer.all():
                return None
        return ""

    return Try(complaint, hint)
