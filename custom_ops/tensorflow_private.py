"""The names that `py_func` uses of TensorFlow and that TensorFlow does not export.

None is replaced. But a release may move them, and so `py_func` works only with the
releases that requirements.txt names; tests/test_py_func.py says what to look for.

* `record_operation(name, outputs, inputs, backward)` writes on each tape that watches:
  these outputs came from these inputs, and backward(*dys) gives their gradients.
* `stop_recording` keeps TensorFlow from writing a record of its own of the same ops.
* `functions_by_token` is the table in which a node PyFunc finds its Python function.
  It refers to it weakly: a function lives as long as something else keeps it.
* `EagerFunc` is a base class that spares time. TensorFlow calls a function of it with
  (device, token, arrays) and takes the results as they are; those of other functions
  it converts once more.
"""

from tensorflow.python.eager.record import record_operation, stop_recording
from tensorflow.python.ops.script_ops import EagerFunc, _py_funcs

functions_by_token = _py_funcs._funcs

__all__ = ["EagerFunc", "functions_by_token", "record_operation", "stop_recording"]
