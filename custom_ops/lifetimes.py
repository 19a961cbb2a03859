"""How long the Python half of an op lives: as long as a graph can run it.

The graphs in which an op is made hold it, so that it goes when they go. Two kinds of
graph run without Python's object: what a dataset's C++ holds, with the functions that
it calls, and copies of a graph that was written down (frozen, imported again).
"""

import numpy as np

from .quiet_start import tf
from .tensorflow_private import (
    outlives_python,
    py_funcs,
    when_called,
    when_exported,
)

_for_ever = {}  # by token: what a graph that was written down may need again


class _Holder(np.ndarray):
    """Memory that has an attribute, `py_op`."""


def keep(py_op, token, graph):
    """Let all that may run the op hold it."""
    py_funcs._funcs[token] = py_op
    for owner in graphs_around(graph):  # each of them may outlive the others
        owner._py_ops = [*getattr(owner, "_py_ops", ()), py_op]
    _let_cpp_hold([py_op], graph)


def _let_cpp_hold(py_ops, graph):
    """Where C++ may run the graph later than Python has it, let it hold the ops."""
    around = list(graphs_around(graph))
    own = next((g for g in around if g.building_function
                and not g.is_control_flow_graph), None)
    if own is None or not around[-1].building_function or not outlives_python():
        return
    held = own._py_ops_held = getattr(own, "_py_ops_held", [])
    for py_op in py_ops:
        if not any(py_op is other for other in held):
            held.append(py_op)
            with own.as_default():
                own.capture(_tensor_that_holds(py_op))


def graphs_around(graph):
    """The graph and those that it is built inside of, but not that of eager mode."""
    while graph.building_function:
        yield graph
        graph = graph.outer_graph
    if not tf.compat.v1.executing_eagerly_outside_functions():
        yield graph


def _tensor_that_holds(py_op):
    """A tensor in the memory of an array that holds the op, and so C++ does, too."""
    memory = np.zeros(80, np.uint8)
    start = -memory.ctypes.data % 64  # TensorFlow takes memory over if it is aligned
    holder = memory[start:][:4].view(np.int32).view(_Holder)
    holder.py_op = py_op
    return tf.experimental.dlpack.from_dlpack(holder.__dlpack__())


def _ops_of(functions):
    """Those of ours that FunctionDefs or GraphDefs run, by token."""
    nodes = (node for function in functions for node in
             (function.node_def if hasattr(function, "node_def") else function.node))
    tokens = {node.attr["token"].s.decode() for node in nodes
              if node.op in ("PyFunc", "PyFuncStateless")}
    ops = {token: py_funcs.get(token) for token in sorted(tokens)}
    return {token: op for token, op in ops.items() if hasattr(op, "vjp")}


def _keep_for_ever(graph_def):
    _for_ever.update(_ops_of([graph_def, *graph_def.library.function]))


def _keep_what_is_called(graph, function):
    """A function that was traced before, and so holds its ops in Python only."""
    called = [function, *getattr(function, "children", ())]
    if outlives_python() and all(hasattr(f, "cached_definition") for f in called):
        _let_cpp_hold(_ops_of(f.cached_definition for f in called).values(), graph)


when_exported(_keep_for_ever)
when_called(_keep_what_is_called)
