"""TensorFlow ops written in Python, with a gradient of their own, and its check.

Each name is loaded when it is first used.
"""

from importlib import import_module

_HOME = {
    "py_func": "python_op",
    "NoGradientError": "python_op",
    "check_gradient": "gradient_check",
    "GradientReport": "gradient_check",
    "load_op": "cpp_op",
    "compile_command": "cpp_op",
    "load_mnist": "mnist",
    "judge": "exercises",
    "gives": "exercises",
    "gradient_right": "exercises",
    "holds": "exercises",
    "gradient": "building_blocks",
    "sum_to": "building_blocks",
    "like": "building_blocks",
    "tf": "quiet_start",
    "stderr_held_back": "quiet_start",
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
