"""For lesson 10: what exercise 1 tries with the student's `descend`."""

from contextlib import suppress
from functools import partial
from unittest import mock

from utils import like, py_func, tf

MOST = 3000  # calls of a slope, so that a loop without an end is ended


def counted(np_slope):
    """An op that calls np_slope, and two lists: its calls, and where it was built."""
    calls, built = [], []

    def np_counted(x):
        calls.append(x)
        assert len(calls) <= MOST, f"{MOST} calls, and no end"
        return np_slope(x)

    def slope(x):
        built.append("eagerly" if tf.executing_eagerly() else "in a graph")
        return py_func(np_counted, [x], like(x))

    return slope, calls, built


def end_and_counts(descend, np_slope, x, limit):
    """Where x ends, and the numbers of steps and of calls to np_slope."""
    slope, calls, _ = counted(np_slope)
    for other in (x + 1, 1000 * limit), (x + 1, limit):
        descend(slope, *other)  # what it keeps of this call must not matter
        calls.clear()
    x, steps = descend(slope, x, limit)
    return x, [int(steps), len(calls)]


def recorded_once(descend, np_slope, x, limit, other=None):
    """True, or in words what is left to Python or recorded again."""
    slope, _, built = counted(np_slope)
    run = partial(descend, slope, x, limit)
    recorder = tf.function(run, autograph=False)  # which would translate Python's loops
    try:
        graph = recorder.get_concrete_function().graph.as_graph_def()
    except Exception as error:
        if "started as non-Tensor" in str(error):  # while True, with a break
            return "a while loop's condition has to be a tensor from the start"
        with suppress(NotImplementedError, tf.errors.OperatorNotAllowedInGraphError):
            run()  # shows any other mistake
        return "Python asks for the value of a tensor"
    if any(node.op.endswith("While") for node in graph.node):
        return "the loop is outside of a tf.function"
    if not each_loop_calls(graph.library.function):
        return "the loop in the graph never calls slope"
    x, steps = run()
    if "eagerly" in built:
        return "slope was called outside of a tf.function"
    if not (tf.is_tensor(x) and tf.is_tensor(steps) and steps.dtype.is_integer):
        return "both results have to be tensors, the number of steps an integer"
    built.clear()
    traced = getattr(descend, "experimental_get_tracing_count", int)
    before = traced()
    with mock.patch.object(tf, "function", wraps=tf.function) as made:
        descend(slope, x, other or limit)
    again = built or traced() > before or made.called
    return "the second call records again" if again else True


def each_loop_calls(functions):
    """Whether there is a loop, and each body calls something: if not, it never ends."""
    bodies = [f.node_def for f in functions if "_body_" in f.signature.name]
    calls = "PyFunc", "Call", "If", "While"
    return bodies and all(any(n.op.endswith(calls) for n in body) for body in bodies)
