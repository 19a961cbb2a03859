"""The package that `pip install .` gives, in a project of somebody's own.

Nothing is downloaded: TensorFlow and NumPy are those that run this test.
"""

import os
import re
import shutil
import subprocess
import sys
import textwrap
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest
import tensorflow as tf
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

# Runs the examples in the docstrings of all that custom_ops offers; no network.
EXAMPLES = """
import doctest, os, socket, sys, types

def refuse(*args, **kwargs):
    raise OSError("no network in this test")

socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
import custom_ops
import numpy as np

compiler = sys.argv[1] == "True"
offered = {name: getattr(custom_ops, name) for name in custom_ops.__all__}
for name, item in offered.items():
    if isinstance(item, types.ModuleType):
        continue
    names = {"np": np, "os": os, **offered}
    tests = doctest.DocTestFinder().find(item, name, globs=names)
    if isinstance(item, types.FunctionType) and not any(t.examples for t in tests):
        sys.exit(name + " has no example")
    if name in ("load_op", "compile_command") and not compiler:
        continue
    for test in tests:
        if doctest.DocTestRunner().run(test).failed:
            sys.exit(1)
print(len(offered))
"""


def run(*words, cwd, **options):
    done = subprocess.run(
        list(map(str, words)), cwd=cwd, capture_output=True, text=True, **options
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    pytest.importorskip("pip", reason="pip builds the wheel")
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--disable-pip-version-check"]
    offline = ["--no-build-isolation", "--no-deps", "--no-index"]
    run(*pip, *offline, "-w", folder, ROOT, cwd=folder)
    [wheel] = folder.iterdir()
    return wheel


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The Python of a fresh environment with the package, and an empty folder."""
    folder = tmp_path_factory.mktemp("project")
    venv.create(folder / "env", with_pip=False)
    scripts = "Scripts" if os.name == "nt" else "bin"
    python = folder / "env" / scripts / "python"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q"]
    offline = ["--no-deps", "--no-index", "--disable-pip-version-check"]
    run(*pip, *offline, wheel, cwd=folder)
    site = run(
        python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))",
        cwd=folder,
    ).strip()  # fmt: skip
    # As if pip had brought TensorFlow and NumPy along.
    others = Path(tf.__file__).resolve().parents[1]
    Path(site, "others.pth").write_text(
        f"import site; site.addsitedir({str(others)!r})"
    )
    own = folder / "own"
    own.mkdir()
    return python, own


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
    said = run(python, "-I", "-c", EXAMPLES, bool(shutil.which("g++")), cwd=own)
    assert int(said.splitlines()[-1]) > 10


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
