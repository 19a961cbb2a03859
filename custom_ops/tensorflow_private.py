"""All that is used of TensorFlow and that TensorFlow does not export, in one place.

tests/test_py_func.py says in words what to do when a release moves one of them.

* `record_operation` puts a Python gradient on every tape that watches: the public
  tf.custom_gradient does too, but keeps each closure alive for ever.
* `stop_recording` keeps the tapes from seeing what that gradient stands for.
* `py_funcs` is the table in which the op PyFunc finds its Python function, by token.
  It holds the function weakly: the graphs that use it keep it alive.
* `EagerFunc` is what the table hands arrays to and from as they are. Whatever else is
  in it has each result converted, which takes 10 microseconds.
"""

# isort: off
from .quiet_start import tf  # noqa: F401  (TensorFlow starts without noise)
from tensorflow.python.eager.record import record_operation, stop_recording
from tensorflow.python.ops.script_ops import EagerFunc, _py_funcs as py_funcs

__all__ = ["EagerFunc", "py_funcs", "record_operation", "stop_recording"]
