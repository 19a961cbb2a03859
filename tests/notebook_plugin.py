"""A pytest plugin: what nbval lacks when it runs a notebook and compares its outputs.

- Where the kernel dies, nbval waits for the cell's time-out: here the cell fails within
  seconds.
- A picture that differs is an error (see pictures.py for the tolerance).
- A notebook with a cell tagged `needs-compiler` is skipped where no C++ compiler is.

pyproject.toml loads it with -p, since it serves notebooks/ and tests/ alike.
"""

import gc
import os
import shutil
import time
from queue import Empty
from unittest import mock

import nbval.plugin
import pytest
from nbval.kernel import RunningKernel
from nbval.plugin import IPyNbCell, IPyNbFile

import warm_kernels
from pictures import difference, save_pair, stored_in

COMPILERS = ("c++", "g++", "clang++")


class KernelDied(Exception):
    """The kernel's process ended while a cell was running."""


class WatchedKernel(RunningKernel):
    def get_message(self, stream, timeout=None):
        """Wait for a message in short steps, for as long as the kernel lives."""
        end = time.monotonic() + (float("inf") if timeout is None else timeout)
        while True:
            left = max(end - time.monotonic(), 0)
            try:
                return super().get_message(stream, timeout=min(left, 1))
            except Empty:
                if not self.is_alive():
                    raise KernelDied from None
                if time.monotonic() >= end:
                    raise


class Notebook(IPyNbFile):
    def collect(self):
        for cell in super().collect():
            about = {"cell_num": cell.cell_num, "cell": cell.cell}
            yield Cell.from_parent(self, name=cell.name, options=cell.options, **about)

    def setup(self):
        tags = {tag for cell in self.nb.cells for tag in cell.metadata.get("tags", ())}
        if "needs-compiler" in tags and not any(map(shutil.which, COMPILERS)):
            pytest.skip(f"{self.path.name} needs a C++ compiler: {COMPILERS}")
        # Where Matplotlib has no font cache it makes one now, and not in a cell.
        import matplotlib.font_manager  # noqa: F401

        # An <img> with words for a picture, which the command that writes the outputs
        # adds, and a kernel doesn't. What else has HTML is compared as text.
        self.skip_compare += ("text/html",)
        watched = mock.patch.object(nbval.plugin, "RunningKernel", WatchedKernel)
        with watched, warm_kernels.used():
            super().setup()


class Cell(IPyNbCell):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.output_timeout = 60  # seconds; a busy machine is slow to answer

    def runtest(self):
        if not self.parent.kernel.is_alive():
            self.raise_cell_error("Not run: the kernel is dead")
        try:
            super().runtest()
        except KernelDied:
            self.raise_cell_error("The kernel died")
        if self.options["check"]:
            self.compare_pictures()

    def compare_pictures(self):
        stored, new = stored_in(self.cell.outputs), stored_in(self.test_outputs)
        if len(stored) != len(new):
            said = f"{len(stored)} pictures are stored, {len(new)} were drawn"
            self.raise_cell_error(said)
        for number, pair in enumerate(zip(stored, new, strict=True), start=1):
            if found := difference(*pair):
                folder = save_pair(*pair)
                said = f"Picture {number} differs: {found}. Compare those in {folder}"
                self.raise_cell_error(said)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path, parent):
    nodes = yield
    return [
        Notebook.from_parent(parent, path=file_path)
        if isinstance(node, IPyNbFile)
        else node
        for node in nodes
    ]


def pytest_collection_finish():
    gc.freeze()  # what was imported and collected stays: no need to look at it again


def pytest_configure():
    # Two files are tested at a time: with more threads each waits for the other.
    for name in ("TF_NUM_INTRAOP_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")  # as the outputs were computed
