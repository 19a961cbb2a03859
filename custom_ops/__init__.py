"""TensorFlow ops written in Python, with a gradient of their own, and its check.

Each name is loaded when it is first used, so that `custom_ops.differences`, which
is NumPy alone, does not wait for TensorFlow.
"""

from importlib import import_module

_HOME = {
    "py_func": "python_op",
    "NoGradientError": "python_op",
    "check_gradient": "gradient_check",
    "GradientReport": "gradient_report",
    "load_op": "cpp_op",
    "compile_command": "cpp_op",
    "load_mnist": "mnist",
    "judge": "exercises",
    "gives": "exercises",
    "gradient_right": "exercises",
    "holds": "exercises",
    "gradient": "gradient_helpers",
    "sum_to": "gradient_helpers",
    "like": "gradient_helpers",
    "tf": "tensorflow_start",
    "stderr_held_back": "tensorflow_start",
}

__all__ = sorted(_HOME)


def __getattr__(name):
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *_HOME})
