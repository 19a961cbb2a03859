"""The helper's modules: which may import which, and how they start."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import custom_ops
import other_process
import utils

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "custom_ops"
MODULES = {
    path.relative_to(PACKAGE).with_suffix("").as_posix(): path
    for path in PACKAGE.rglob("*.py")
}
del MODULES["__init__"]


def imported(name):
    """The modules of the package that a module imports, at any place."""
    for node in ast.walk(ast.parse(MODULES[name].read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            folder = name.split("/")[: -node.level]
            target = [*folder, *(node.module or "").split(".")]
            names = [target, *([*target, alias.name] for alias in node.names)]
            for parts in names:
                module = "/".join(part for part in parts if part)
                yield from {module, f"{module}/__init__"} & MODULES.keys()


def test_imports_run_one_way():
    arrows = {name: set(imported(name)) for name in MODULES}
    assert arrows["python_op"] and not arrows["tensorflow_start"]
    while arrows:  # take away what imports nothing that is left
        bottom = {name for name in arrows if not arrows[name] & arrows.keys()}
        assert bottom, f"these import each other: {arrows}"
        arrows = {name: to for name, to in arrows.items() if name not in bottom}


def test_the_package_offers_what_utils_offers():
    assert set(utils.__all__) == set(custom_ops.__all__)
    for name in utils.__all__:
        assert f"`{name}`" in utils.__doc__
        assert getattr(custom_ops, name) is getattr(utils, name)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        custom_ops.nothing  # noqa: B018


@pytest.mark.skipif("not hasattr(__import__('os'), 'sched_getaffinity')")
def test_on_one_core_a_tf_function_in_func_comes_to_its_end():
    """TensorFlow's default is one thread for each core, and the py_func holds it."""
    code = """
    import os
    os.environ.pop("TF_NUM_INTEROP_THREADS", None)
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    from utils import py_func, tf
    inner = tf.function(lambda x: x + 1)
    run = tf.function(
        lambda x: py_func(lambda a: inner(tf.constant(a)).numpy(), [x], x.dtype))
    print(float(run(tf.constant(1.0))))
    """
    assert other_process.run(code) == "2.0\n"


def fresh(code, closed=""):
    """What a new Python, which has not loaded TensorFlow, writes."""
    command = f"'{sys.executable}' -c '{code}' {closed}"
    return subprocess.run(command, cwd=ROOT, shell=True, capture_output=True, text=True)


@pytest.mark.slow
def test_the_import_leaves_stderr_and_the_garbage_collector_as_they_were():
    done = fresh("""
import gc, os, utils
with utils.stderr_held_back():
    os.write(2, b"held back")
os.write(2, b"shown")
print(gc.isenabled())
""")
    assert done.stdout == "True\n"
    assert "shown" in done.stderr and "held back" not in done.stderr


@pytest.mark.slow
def test_the_import_does_without_stderr():
    for closed in "2>&-", "<&- 2>&-":
        assert fresh("import utils; print(utils.tf.add(1, 2))", closed).stdout
