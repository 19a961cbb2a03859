"""For lesson 10: what exercise 1 tries with the student's `descend`."""

from unittest import mock

import tensorflow as tf

from utils import like, py_func

MOST = 1000  # calls of a slope, so that a loop without an end is ended


def counted(np_slope):
    """An op that calls np_slope, and two lists: its calls, and where it was built."""
    calls, built = [], []

    def np_counted(x):
        calls.append(x)
        if len(calls) > MOST:
            raise RuntimeError(f"{MOST} calls, and no end")
        return np_slope(x)

    def slope(x):
        built.append("eagerly" if tf.executing_eagerly() else "in a graph")
        return py_func(np_counted, [x], like(x))

    return slope, calls, built


def end_and_counts(descend, np_slope, x, limit):
    """Where x ends, and the numbers of steps and of calls to np_slope."""
    slope, calls, _ = counted(np_slope)
    x, steps = descend(slope, x, limit)
    return x, [int(steps), len(calls)]


def all_is_recorded(descend, np_slope, x, limit):
    """True, or in words what descend leaves to Python."""
    slope, _, built = counted(np_slope)
    errors = []  # of Python's own decisions

    def record():
        try:
            descend(slope, x, limit)
        except Exception as error:  # what Python can't do while it records
            errors.append(error)

    # Without AutoGraph, which would translate a loop of Python, too.
    recorded = tf.function(record, autograph=False).get_concrete_function().graph
    if any(not calls for calls in loops_calling_numpy(recorded.as_graph_def())):
        return "the loop in the graph never calls slope"

    def asked_by_python(condition):
        errors.append("Python looked at a tensor's value")
        return bool(condition.numpy())

    with mock.patch.object(type(x), "__bool__", asked_by_python):
        results = descend(slope, x, limit)
    if "eagerly" in built:
        return "slope was called outside of a tf.function"
    if not all(map(tf.is_tensor, results)):
        return "x and the number of steps have to be tensors"
    return "Python decides whether to go on" if errors else True


def loops_calling_numpy(graph):
    """For each loop in the graph, whether it calls NumPy: if not, it may never end."""
    inner = {f.signature.name: f.node_def for f in graph.library.function}

    def calls_numpy(node):
        parts = [inner.get(value.func.name, []) for value in node.attr.values()]
        return "PyFunc" in node.op or any(
            calls_numpy(n) for part in parts for n in part
        )

    nodes = [*graph.node, *(node for part in inner.values() for node in part)]
    return [calls_numpy(node) for node in nodes if node.op.endswith("While")]


def second_call_records_nothing(descend, np_slope, x, limit):
    """Whether a second call with the same arguments only runs the graph."""
    slope, _, built = counted(np_slope)
    descend(slope, x, limit)
    built.clear()
    descend(slope, x, limit)
    return not built
