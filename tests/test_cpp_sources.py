"""The ops in notebooks/cpp, and lessons 07, 08 and 12 where there is no compiler."""

import ast
import re
import shutil
import subprocess
from pathlib import Path

import nbformat
import pytest

from utils import compile_command

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
SOURCES = sorted((NOTEBOOKS / "cpp").glob("**/*.cc"))


@pytest.mark.skipif(not shutil.which("g++"), reason="no g++")
@pytest.mark.slow
def test_sources_have_no_warnings(tmp_path):
    """All in one go, as TensorFlow's headers take ten seconds each time."""
    text = ""
    for path in SOURCES:
        macros = re.findall(r"#define (\w+)", path.read_text())
        text += "\n#undef ".join([f'#include "{path}"', *macros]) + "\n"
    (tmp_path / "all.cc").write_text(text)
    # TensorFlow too leaves out the last fields of a FunctionDefHelper::Node.
    strict = ["-Wall", "-Wextra", "-Werror", "-Wno-missing-field-initializers"]
    command = [*compile_command(tmp_path / "all.cc"), *strict, "-fsyntax-only"]
    subprocess.run(command, cwd=tmp_path, check=True)


def test_sources_have_googles_format():
    clang_format = pytest.importorskip("clang_format")
    tool = clang_format.get_executable("clang-format")
    subprocess.run(
        [tool, "--style=Google", "--dry-run", "-Werror", *SOURCES], check=True
    )


def test_what_lesson_07_quotes_is_in_the_source():
    [path] = NOTEBOOKS.glob("07_*.ipynb")
    text = "\n".join(cell.source for cell in nbformat.read(path, 4).cells)
    quoted = re.findall(r"```cpp\n(.+?)\n```", text, re.DOTALL)
    source = (NOTEBOOKS / "cpp" / "zero_out.cc").read_text("utf-8")
    assert len(quoted) == 2 and all(part in source for part in quoted)


def names(cells, context):
    for node in (node for cell in cells for node in ast.walk(ast.parse(cell))):
        if isinstance(node, ast.Name) and isinstance(node.ctx, context):
            yield node.id
        elif isinstance(node, (ast.FunctionDef, ast.alias)) and context is ast.Store:
            yield node.name
        elif isinstance(node, ast.arg) and context is ast.Store:
            yield node.arg


@pytest.mark.parametrize("lesson", ["07", "08", "12"])
def test_cells_that_always_run_need_nothing_of_those_that_are_skipped(lesson):
    [path] = NOTEBOOKS.glob(f"{lesson}_*.ipynb")
    cells = [c.source for c in nbformat.read(path, 4).cells if c.cell_type == "code"]
    skipped = [cell for cell in cells if cell.startswith("# C++\n")]
    others = [cell for cell in cells if cell not in skipped]
    lost = {*names(skipped, ast.Store)} - {*names(others, ast.Store)}
    assert lost and not lost & {*names(others, ast.Load)}
    assert not re.search(r"^\S.*\bops\.", "\n".join(others), re.MULTILINE)
