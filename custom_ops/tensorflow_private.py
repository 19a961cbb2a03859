"""All that is used of TensorFlow and that TensorFlow does not export, in one place.

tests/test_py_func.py says in words what to do when a release moves one of them.

* `record_operation` puts a Python gradient on every tape that watches: the public
  tf.custom_gradient does too, but keeps each closure alive for ever.
* `stop_recording` keeps the tapes from seeing what that gradient stands for.
* `py_funcs` is the table in which the op PyFunc finds its Python function, by token.
  It holds the function weakly: the graphs that use it keep it alive.
* `EagerFunc` is what the table hands arrays to and from as they are. Whatever else is
  in it has each result converted, which takes 10 microseconds.
* `FunctionCallOptions` is what a thread's calls of a `tf.function` look at first, and
  `eager_context()` keeps them; `new_executor` makes a thread wait for its own ops.
* `around_calls` has each call of a `tf.function` go through a function of ours, which
  tracebacks leave out as they do TensorFlow's own.
* `TENSORS_MEMORY` is the base of an array that shows TensorFlow's memory to a PyFunc.
* `when_called` hears of each function that a graph gets to call, with `children`.
* `outlives_python` tells of a graph that TensorFlow's C++ may run when Python's object
  is gone: that of a dataset, and what `wrap_function` makes, which can be pruned.
"""

import functools
import sys

# isort: off
from .quiet_start import tf
from tensorflow.python.eager.record import record_operation, stop_recording
from tensorflow.python.ops.script_ops import EagerFunc, _py_funcs as py_funcs, context
from tensorflow.python.util import traceback_utils

__all__ = ["EagerFunc", "FunctionCallOptions", "TENSORS_MEMORY", "around_calls",
           "eager_context", "new_executor", "outlives_python", "py_funcs",
           "record_operation", "stop_recording", "when_called",
           "when_exported"]  # fmt: skip

FunctionCallOptions = context.FunctionCallOptions
eager_context = context.context
new_executor = context.executor.new_executor
TENSORS_MEMORY = "tensorflow_wrapper"
_BUILDERS = "data/ops/structured_function.py", "eager/wrap_function.py"


def outlives_python():
    """Whether the graph that is being built is a dataset's or a wrapped function's."""
    frame = sys._getframe()
    while frame:
        if frame.f_code.co_filename.replace("\\", "/").endswith(_BUILDERS):
            return True
        frame = frame.f_back
    return False


def when_exported(told):
    """Call `told` with each graph that is written down: it can be read in again."""
    plain = tf.Graph.as_graph_def

    @functools.wraps(plain)
    def as_graph_def(self, *args, **kwargs):
        graph_def = plain(self, *args, **kwargs)
        if not kwargs.get("use_pybind11_proto"):  # TensorFlow looks at its own graph
            told(graph_def)
        return graph_def

    tf.Graph.as_graph_def = as_graph_def


def when_called(told):
    """Call `told(graph, function)` with each function that a graph gets to call."""
    plain = tf.Graph._add_function_recursive

    @functools.wraps(plain)
    def _add_function_recursive(self, function, *args, **kwargs):
        plain(self, function, *args, **kwargs)
        told(self, function)

    tf.Graph._add_function_recursive = _add_function_recursive


def around_calls(call):
    """Run `call(plain, function, *args, **kwargs)` for each call of a tf.function."""
    function_class = type(tf.function(lambda: None))
    plain = function_class._call

    def _call(self, *args, **kwargs):
        return call(plain, self, *args, **kwargs)

    function_class._call = _call
    traceback_utils._EXCLUDED_PATHS += (__file__, call.__code__.co_filename)
