"""The helper's rooms: which module may import which, and how large each may be."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import custom_ops
import utils

ROOT = Path(__file__).resolve().parents[1]
MODULES = sorted((ROOT / "custom_ops").glob("*.py"))
ALL_MODULES = sorted((ROOT / "custom_ops").rglob("*.py"))
LINES = {"module": 400, "class": 200, "function": 60}


def imported(path):
    """The names of the project's modules that a file imports, at any place."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            yield node.module or ""
        elif isinstance(node, ast.ImportFrom):
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def lines_of_code(node, source):
    """Lines from the first to the last statement, less docstring, comments, blanks."""
    taken = set(range(node.lineno, node.end_lineno + 1))
    for inner in ast.walk(node):
        first = getattr(inner, "body", [None])
        first = first[0] if isinstance(first, list) and first else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            taken -= set(range(first.lineno, first.end_lineno + 1))
    bare = source.splitlines()
    return sum(
        bool(line) and not line.startswith("#")
        for line in (bare[number - 1].strip() for number in taken)
    )


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_no_module_class_or_function_is_too_long(path):
    source = path.read_text("utf-8")
    assert len(source.splitlines()) <= LINES["module"]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef):
            length = node.end_lineno - node.lineno + 1
            assert length <= LINES["class"], (node.name, length)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            length = lines_of_code(node, source)
            assert length <= LINES["function"], (node.name, length)


def test_the_door_is_small_and_lists_every_name_with_a_line():
    source = (ROOT / "utils.py").read_text("utf-8")
    assert len(source.splitlines()) <= 60
    for name in utils.__all__:
        assert f"`{name}`" in utils.__doc__, (
            f"utils.py's docstring has no line on {name}"
        )
        assert hasattr(utils, name)
    nodes = ast.parse(source).body[1:]  # after the docstring
    assert all(isinstance(node, (ast.ImportFrom, ast.Assign)) for node in nodes)


def test_imports_run_one_way():
    names = {path.stem for path in ALL_MODULES} - {"__init__"}
    arrows = {p.stem: set(imported(p)) & names for p in ALL_MODULES if p.stem in names}
    assert not arrows["quiet_start"]
    for path in ALL_MODULES:
        assert "utils" not in set(imported(path)), f"{path.name} imports the door"
    while arrows:  # take away what imports nothing that is left
        bottom = {name for name in arrows if not arrows[name] & arrows.keys()}
        assert bottom, f"these import each other: {arrows}"
        arrows = {name: to for name, to in arrows.items() if name not in bottom}


def test_no_module_uses_a_private_name_of_another():
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level:
                private = [a.name for a in node.names if a.name.startswith("_")]
                assert not private, f"{path.name} imports {private} of {node.module}"


def test_the_package_offers_what_the_door_offers():
    assert set(utils.__all__) <= set(custom_ops.__all__)
    for name in utils.__all__:
        assert getattr(custom_ops, name) is getattr(utils, name)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        custom_ops.nothing  # noqa: B018


SIGNATURES = {
    "check_gradient": "(f, inputs, order=1, projections=None, rtol=None, seed=0)",
    "compile_command": "(source)",
    "gives": "(f, inputs, expected, hint='', rtol=1e-06, graph=True)",
    "gradient": "(f, x)",
    "gradient_right": "(f, inputs, hint='', **options)",
    "holds": "(test, hint='')",
    "judge": "(*tries, seconds=20)",
    "like": "(x)",
    "load_mnist": "(source='sample')",
    "load_op": "(source)",
    "py_func": "(func, inp, Tout, stateful=True, name=None, grad=None)",
    "stderr_held_back": "(shown_on_failure=True)",
    "sum_to": "(dy, shape_of)",
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_what_lessons_and_readers_call_stays_as_it_is(name):
    assert str(inspect.signature(getattr(utils, name))) == SIGNATURES[name]


@pytest.mark.slow
def test_the_import_leaves_stderr_and_the_garbage_collector_as_they_were(tmp_path):
    code = f"""
import gc, os
other = open({str(tmp_path / "other")!r}, "w")
os.dup2(other.fileno(), 3)
import utils
with utils.stderr_held_back():
    os.write(2, b"held back")
os.write(2, b"shown")
print(gc.isenabled(), os.path.getsize(other.name))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True
    )
    assert done.stdout == "True 0\n"
    assert "shown" in done.stderr and "held back" not in done.stderr
