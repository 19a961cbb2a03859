"""The door to the helper that every lesson imports, and that you may copy.

* `py_func` turns a NumPy function into a TensorFlow op with its own gradient; without
  one it raises a `NoGradientError` when a gradient is asked for.
* `check_gradient` compares an op's gradient with central differences, and returns a
  `GradientReport`.
* `load_op` compiles an op written in C++ and loads it; `compile_command` is how.
* `load_mnist` loads handwritten digits, with no network.
* `judge` says whether an answer is right; it tries `gradient_right`, `gives`, `holds`.
* `gradient`, `sum_to` and `like` are what several lessons need.
* `tf` is TensorFlow, started quietly; `stderr_held_back` is for what C++ writes later.

They live in the package `custom_ops`; install or copy that for work of your own.
Import this before TensorFlow (`custom_ops/tensorflow_start.py` says why).
"""

from custom_ops.cpp_op import compile_command, load_op
from custom_ops.exercises import gives, gradient_right, holds, judge
from custom_ops.gradient_check import GradientReport, check_gradient
from custom_ops.gradient_helpers import gradient, like, sum_to
from custom_ops.mnist import load_mnist
from custom_ops.python_op import NoGradientError, py_func
from custom_ops.tensorflow_start import stderr_held_back, tf

__all__ = [
    "GradientReport", "NoGradientError", "check_gradient", "compile_command", "gives",
    "gradient", "gradient_right", "holds", "judge", "like", "load_mnist", "load_op",
    "py_func", "stderr_held_back", "sum_to", "tf",
]  # fmt: skip
