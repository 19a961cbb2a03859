"""Build a wheel, and install it where nothing else of the project is, with no network.

TensorFlow and NumPy are those that run the test, as if pip had brought them along.
"""

import os
import subprocess
import sys
import venv
from pathlib import Path

import tensorflow as tf

NOWHERE = "http://127.0.0.1:9"  # nobody listens there
OFFLINE = ["--no-deps", "--no-index", "--disable-pip-version-check", "-q"]


def run(*words, cwd):
    done = subprocess.run(
        list(map(str, words)),
        cwd=cwd,
        capture_output=True,
        text=True,
        env={**os.environ, "http_proxy": NOWHERE, "https_proxy": NOWHERE},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build(source, folder):
    pip = [sys.executable, "-m", "pip", "wheel", *OFFLINE, "--no-build-isolation"]
    run(*pip, "-w", folder, source, cwd=folder)
    [wheel] = folder.glob("*.whl")
    return wheel


def install(wheel, folder):
    """The Python of a fresh environment with the package, and an empty folder."""
    venv.create(folder / "env", with_pip=False)
    scripts = "Scripts" if os.name == "nt" else "bin"
    python = folder / "env" / scripts / "python"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", *OFFLINE]
    run(*pip, wheel, cwd=folder)
    where = "import sysconfig; print(sysconfig.get_path('purelib'), end='')"
    site, others = run(python, "-c", where, cwd=folder), Path(tf.__file__).parents[1]
    lend = f"import site; site.addsitedir({str(others.resolve())!r})"
    Path(site, "others.pth").write_text(lend)
    (folder / "own").mkdir()
    return python, folder / "own"
