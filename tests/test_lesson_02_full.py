"""Lesson 02's own code on the whole of MNIST reaches what its text says."""

import linecache
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[1]
WHOLE = ROOT.parent / "shared" / "data" / "mnist.npz"
NOT_NEEDED = {"hero"}


def lesson_namespace(source, until):
    """Run the lesson's code with `source` as its data, to the cell tagged `until`."""
    notebook = nbformat.read(ROOT / "notebooks" / "02_classify_mnist.ipynb", 4)
    names = {}
    for cell in notebook.cells:
        tags = set(cell.metadata.get("tags", ()))
        if cell.cell_type != "code" or tags & NOT_NEEDED:
            continue
        code = cell.source
        if "source" in tags:
            assert code.startswith('source = "sample"\n')
            code = code.replace('"sample"', repr(str(source)), 1)
        file = f"<lesson 02, {cell.id}>"
        linecache.cache[file] = len(code), None, code.splitlines(True), file
        exec(compile(code, file, "exec"), names)  # AutoGraph reads the source there
        if until in tags:
            return names
    raise AssertionError(f"lesson 02 has no cell tagged {until}")


@pytest.mark.skipif(
    not WHOLE.exists(), reason="the whole of MNIST is not at ../shared/data/mnist.npz"
)
def test_lesson_02_reaches_92_of_100_on_the_whole_of_mnist(monkeypatch):
    monkeypatch.chdir(ROOT)
    names = lesson_namespace(WHOLE, until="accuracy")
    assert len(names["y_train"]) == 60_000 and len(names["y_test"]) == 10_000
    assert names["test_accuracy"] >= 0.92
