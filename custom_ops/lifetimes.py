"""How long the Python half of an op lives: as long as a graph can run it.

The graphs in which an op is made hold it, so that it goes when they go. Two kinds of
graph run without Python's object: what a dataset's C++ holds, and copies of a graph
that was written down (frozen, imported again).
"""

import numpy as np

from .quiet_start import tf
from .tensorflow_private import outlives_python, py_funcs, when_exported

_for_ever = {}  # by token: what a graph that was written down may need again


class _Holder(np.ndarray):
    """Memory that has an attribute, `py_op`."""


def keep(py_op, token, graph):
    """Let all that may run the op hold it."""
    py_funcs._funcs[token] = py_op
    around = list(graphs_around(graph))
    for owner in around:  # each of them may outlive the others
        owner._py_ops = [*getattr(owner, "_py_ops", ()), py_op]
    own = next((g for g in around if g.building_function
                and not g.is_control_flow_graph), None)
    if own is not None and around[-1].building_function and outlives_python():
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


def _keep_for_ever(graph_def):
    functions = [f.node_def for f in graph_def.library.function]
    for nodes in [graph_def.node, *functions]:
        for node in nodes:
            if node.op in ("PyFunc", "PyFuncStateless"):
                token = node.attr["token"].s.decode()
                py_op = py_funcs.get(token)
                if hasattr(py_op, "vjp"):  # it is one of ours
                    _for_ever[token] = py_op


when_exported(_keep_for_ever)
