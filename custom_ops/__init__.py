"""TensorFlow ops written in Python, with a gradient of their own, and its check.

Each name is loaded when it is first used: TensorFlow is slow to load.
"""

from importlib import import_module

_MODULES = {
    "python_op": ["py_func", "NoGradientError"],
    "gradient_check": ["check_gradient", "GradientReport"],
    "cpp_op": ["load_op", "compile_command"],
    "mnist": ["load_mnist"],
    "exercises": ["judge", "gives", "gradient_right", "holds"],
    "gradient_helpers": ["gradient", "sum_to", "like"],
    "tensorflow_start": ["tf", "stderr_held_back"],
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}

__all__ = sorted(_MODULE_OF)


def __getattr__(name):
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)


def __dir__():
    return sorted({*globals(), *__all__})
