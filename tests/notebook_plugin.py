"""A pytest plugin: see what nbval overlooks when it runs a notebook.

nbval runs each notebook in a kernel and compares the outputs that it prints with
those stored in the file. It would pass, or wait for very long, where

- the kernel dies (it waits for the cell's time-out): here the cell fails within
  seconds, and those after it at once;
- a cell was never executed, so that there is no output to compare;
- a %magic is unknown or a !command fails;
- a picture is different (see pictures.py for the tolerance);
- the user's own settings of IPython, Matplotlib, Keras … change what is printed:
  here kernels start without them.

A notebook with a cell tagged `needs-compiler` is skipped where there is no C++
compiler. Kernels and tests compute with one thread each, unless the environment
says otherwise. The plugin builds on the inner workings of one release of nbval;
pyproject.toml loads it with -p, since it serves notebooks/ and tests/ alike.
"""

import os
import re
import shutil
import signal
import sys
import tempfile
import time
from importlib import metadata
from pathlib import Path
from queue import Empty
from unittest import mock

import pytest

from pictures import difference, save_pair, stored_in

# For the format "iri", which no notebook has, jsonschema would build 39 grammars: two
# seconds for each process of a test run.
with_grammars = sys.modules.setdefault("rfc3987_syntax", None)
import nbval.plugin  # noqa: E402
from nbval.kernel import RunningKernel  # noqa: E402
from nbval.plugin import IPyNbCell, IPyNbFile  # noqa: E402

if not with_grammars:
    del sys.modules["rfc3987_syntax"]

NBVAL = "0.11.0"
COMPILERS = ("c++", "g++", "clang++")
# Settings of the user's that change what a kernel prints or draws.
UNWANTED = (
    "COLUMNS",
    "KERAS_BACKEND",
    "LINES",
    "MPLBACKEND",
    "PYTHONSTARTUP",
    "PYTHONWARNINGS",
)
OWN_FOLDERS = ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "KERAS_HOME")
PIXELS = re.compile(r"(?<=data:image/png;base64,)[\w+/=]+")
# Takes the code out again, so that each cell answers for its own commands only.
EXIT_CODE = "get_ipython().user_ns.pop('_exit_code', 0)"


class KernelDied(Exception):
    """The kernel's process ended while a cell was running."""


class WatchedKernel(RunningKernel):
    """A kernel with a clean environment whose death is noticed within a second."""

    reply = None  # the content of the last message on the shell channel

    def __init__(self, *args, **kwargs):
        # Where Matplotlib has no font cache yet it makes one, now: later, on a
        # slow machine, it would tell the first notebook's output about it.
        import matplotlib.font_manager

        self.folder = tempfile.TemporaryDirectory(
            prefix="kernel-", ignore_cleanup_errors=True
        )
        with mock.patch.dict(os.environ):
            for name in UNWANTED:
                os.environ.pop(name, None)
            for name in OWN_FOLDERS:
                os.environ[name] = str(Path(self.folder.name, name.lower()))
            os.environ["MATPLOTLIBRC"] = os.path.join(
                matplotlib.get_data_path(), "matplotlibrc"
            )
            # The stored outputs were computed on a CPU.
            os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
            super().__init__(*args, **kwargs)

    def execute_cell_input(self, cell_input, allow_stdin=None):
        return self.kc.execute(
            cell_input,
            store_history=False,
            allow_stdin=allow_stdin,
            stop_on_error=False,
            user_expressions={"exit_code": EXIT_CODE},
        )

    def get_message(self, stream, timeout=None):
        """Wait for a message in short steps, for as long as the kernel lives."""
        end = time.monotonic() + (float("inf") if timeout is None else timeout)
        while True:
            left = max(end - time.monotonic(), 0)
            try:
                message = super().get_message(stream, timeout=min(left, 1))
            except Empty:
                if not self.is_alive():
                    raise KernelDied(self.last_words()) from None
                if time.monotonic() >= end:
                    raise
            else:
                if stream == "shell":
                    self.reply = message["content"]
                return message

    def last_words(self):
        process = getattr(self.km.provisioner, "process", None)
        code = getattr(process, "returncode", None)
        if code is None:
            return "The kernel died"
        if code < 0:
            return f"The kernel died of {signal.Signals(-code).name}"
        return f"The kernel died with exit code {code}"

    def complaint(self, outputs):
        """What the last reply says that the cell's outputs don't; "" if nothing."""
        if self.reply["status"] == "error":
            if any(output.output_type == "error" for output in outputs):
                return ""
            return f"{self.reply['ename']}: {self.reply['evalue']}"
        code = self.reply["user_expressions"]["exit_code"]["data"]["text/plain"]
        return "" if code == "0" else f"A !command failed with exit code {code}"

    def stop(self):
        if hasattr(self, "km"):  # else it was stopped before
            super().stop()
            self.folder.cleanup()


class Notebook(IPyNbFile):
    """A notebook; `broken` says why no more of its cells can be run."""

    broken = ""

    def collect(self):
        for cell in super().collect():
            yield Cell.from_parent(
                self,
                name=cell.name,
                cell_num=cell.cell_num,
                cell=cell.cell,
                options=cell.options,
            )

    def setup(self):
        tags = {tag for cell in self.nb.cells for tag in cell.metadata.get("tags", ())}
        if "needs-compiler" in tags and not any(map(shutil.which, COMPILERS)):
            pytest.skip(
                f"{self.path.name} needs a C++ compiler, and none of "
                f"{', '.join(COMPILERS)} is on the PATH"
            )
        with mock.patch.object(nbval.plugin, "RunningKernel", WatchedKernel):
            super().setup()

    def break_off(self, reason):
        self.broken = reason
        self.kernel.stop()


class Cell(IPyNbCell):
    """A code cell, judged by nbval first and then by what nbval overlooks."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.output_timeout = 60  # seconds; generous, as a dead kernel is noticed

    def setup(self):
        """Nothing: nbval would excuse the cells after one that took too long."""

    def runtest(self):
        notebook = self.parent
        if notebook.broken:
            self.raise_cell_error(f"Not run: {notebook.broken}")
        if self.cell.source.strip() and self.cell.execution_count is None:
            self.raise_cell_error(
                "Never executed, so there is no output to compare with: "
                "run the whole notebook and save it"
            )
        try:
            super().runtest()
        except KernelDied as death:
            notebook.break_off(f"{death} in cell {self.cell_num}")
            self.raise_cell_error(str(death))
        finally:
            if notebook.timed_out:
                notebook.break_off(f"cell {self.cell_num} took too long")
        if notebook.broken:
            self.raise_cell_error(notebook.broken)
        if complaint := notebook.kernel.complaint(self.test_outputs):
            self.raise_cell_error(complaint)
        if self.options["check"]:
            self.compare_pictures()

    def sanitize(self, text):
        """Of a picture in HTML only the words: its pixels are stored as PNG, too."""
        is_text = isinstance(text, str)
        return super().sanitize(PIXELS.sub("…", text) if is_text else text)

    def compare_pictures(self):
        stored, new = stored_in(self.cell.outputs), stored_in(self.test_outputs)
        if len(stored) != len(new):
            self.raise_cell_error(
                f"{len(stored)} pictures are stored, {len(new)} were drawn"
            )
        for number, pair in enumerate(zip(stored, new, strict=True), start=1):
            if found := difference(*pair):
                folder = save_pair(*pair)
                self.raise_cell_error(
                    f"Picture {number} differs: {found}. Compare "
                    f"{folder / 'stored.png'} with {folder / 'new.png'}"
                )


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path, parent):
    nodes = yield
    return [
        Notebook.from_parent(parent, path=file_path)
        if isinstance(node, IPyNbFile)
        else node
        for node in nodes
    ]


def pytest_configure():
    # Two files are tested at a time: with more threads each waits for the other.
    for name in ("TF_NUM_INTRAOP_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    found = metadata.version("nbval")
    if found != NBVAL:
        raise pytest.UsageError(
            f"tests/notebook_plugin.py builds on the inner workings of nbval {NBVAL}, "
            f"but nbval {found} is installed. Type: pip install -r requirements.txt"
        )
