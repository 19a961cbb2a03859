"""The names that `py_func` uses of TensorFlow and that TensorFlow does not export.

They are read, never replaced. A release may move them, so requirements.txt names the
releases that are tested; tests/test_py_func.py says what to look for when one moves.

* `record_operation` writes on every tape that watches: these outputs came from these
  inputs, and this function computes the gradient. `tf.custom_gradient` does it too,
  but in a graph it keeps each function for the rest of the process.
* `stop_recording` keeps TensorFlow from writing a record of its own on those tapes.
* `py_funcs` is the table in which a node PyFunc finds its Python function by a token.
  The table refers to it weakly: it lives as long as something else does.
* `EagerFunc` is the class of those functions in the table whose results are handed on
  as they are. Of any other, each result is converted once more: 10 microseconds.
"""

from tensorflow.python.eager.record import record_operation, stop_recording
from tensorflow.python.ops.script_ops import EagerFunc
from tensorflow.python.ops.script_ops import _py_funcs as py_funcs

__all__ = ["EagerFunc", "py_funcs", "record_operation", "stop_recording"]
