"""The package of lesson 12: built, installed, imported elsewhere, with no network."""

import os
import shutil
import subprocess
import sys
import textwrap
import venv
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest
import tensorflow as tf

from notebook_plugin import COMPILERS

ROOT = Path(__file__).resolve().parents[1]
NOWHERE = "http://127.0.0.1:9"  # nobody listens there

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not any(map(shutil.which, COMPILERS)),
        reason="a wheel with C++ needs a compiler",
    ),
]


def run(*words, cwd, **environ):
    environ = {"http_proxy": NOWHERE, "https_proxy": NOWHERE, **environ}
    done = subprocess.run(
        list(map(str, words)),
        cwd=cwd,
        capture_output=True,
        text=True,
        env={**os.environ, **environ},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    pytest.importorskip("pip", reason="pip builds the wheel")
    folder = tmp_path_factory.mktemp("wheel")
    shutil.copytree(ROOT / "notebooks" / "cpp" / "lambert_w", folder / "source")
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--disable-pip-version-check"]
    offline = ["--no-build-isolation", "--no-deps", "--no-index"]
    run(*pip, *offline, "-w", folder, folder / "source", cwd=folder)
    [wheel] = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The Python of a fresh environment with the package, and an empty folder."""
    folder = tmp_path_factory.mktemp("elsewhere")
    venv.create(folder / "env", with_pip=False)
    python = folder / "env" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q"]
    offline = ["--no-deps", "--no-index", "--disable-pip-version-check"]
    run(*pip, *offline, wheel, cwd=folder)
    [site] = (folder / "env").glob("lib/python*/site-packages")
    others = Path(tf.__file__).resolve().parents[1]
    (site / "others.pth").write_text(f"import site; site.addsitedir({str(others)!r})")
    (folder / "own").mkdir()
    return python, folder / "own"


def test_the_wheel_holds_the_library_and_names_its_tensorflow(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if ".dist-info/" not in name]
        [about] = [name for name in archive.namelist() if name.endswith("/METADATA")]
        needed = archive.read(about).decode()
    assert "py3-none-any" not in wheel.name
    [library] = [name for name in names if name.endswith(".so")]
    python = ["lambert_w/__init__.py", "lambert_w/built_with.py"]
    assert sorted(names) == sorted([*python, library])
    lines = [line for line in needed.splitlines() if line.startswith("Requires-Dist")]
    assert [line.replace(" ", "") for line in lines] == [
        f"Requires-Dist:tensorflow=={version('tensorflow')}"
    ]


def test_op_gradient_and_threads_are_found_where_it_is_installed(installed):
    """With two threads each does about half: the clock of a busy machine can't tell."""
    python, own = installed
    code = """
        import glob, sys
        import lambert_w, numpy as np, tensorflow as tf

        assert lambert_w.__file__.startswith(sys.prefix)
        for dtype, digits in ((np.float32, 6), (np.float64, 12)):
            x = tf.constant(np.linspace(-0.36, 50, 30).reshape(5, 6), dtype)
            with tf.GradientTape() as tape:
                tape.watch(x)
                w = tf.function(lambert_w.lambert_w)(x)
            dx = tape.gradient(w, x)
            assert w.dtype == x.dtype and w.shape == x.shape
            np.testing.assert_allclose(w * np.exp(w), x, 10.0**-digits)
            np.testing.assert_allclose(dx * np.exp(w) * (1 + w), 1, 10.0**-digits)
        ends = lambert_w.lambert_w(np.array([-np.inf, -0.4, np.nan, np.inf, 1e300]))
        assert np.isnan(ends[:3]).all() and ends[3] == np.inf and ends[4] > 684
        assert lambert_w.lambert_w(np.zeros((0, 3))).shape == (0, 3)

        def seconds():
            for name in glob.glob("/proc/self/task/*/stat"):
                with open(name) as file:
                    fields = file.read().rpartition(")")[2].split()
                yield name, int(fields[11]) + int(fields[12])

        if sys.platform == "linux":
            before = dict(seconds())
            lambert_w.lambert_w(np.linspace(0, 9, 100_000), steps=300)
            spent = sorted(t - before.get(name, 0) for name, t in seconds())
            assert spent[-2] > 0.5 * spent[-1], spent
    """
    run(python, "-I", "-c", textwrap.dedent(code), cwd=own, TF_NUM_INTRAOP_THREADS="2")


def test_another_tensorflow_is_refused_in_words(installed):
    python, own = installed
    code = """
        import sys, types
        sys.modules["tensorflow"] = types.SimpleNamespace(__version__="2.0.1")
        try:
            import lambert_w
        except ImportError as error:
            print(error)
    """
    said = run(python, "-I", "-c", textwrap.dedent(code), cwd=own)
    assert f"built with TensorFlow {version('tensorflow')} " in said
    assert "2.0.1 is installed" in said and "build lambert_w anew" in said
