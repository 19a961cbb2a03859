"""Lessons 02 and 10 by their own code: on the whole of MNIST, and at the extremes."""

import contextlib
import linecache
from pathlib import Path

import nbformat
import numpy as np
import pytest

from utils import gradient

ROOT = Path(__file__).parents[1]
WHOLE = ROOT.parent / "shared" / "data" / "mnist.npz"
pytestmark = pytest.mark.slow


def lesson_namespace(source, until, lesson="02_classify_mnist"):
    """Run the lesson's code with `source` as its data, to the cell tagged `until`.

    As a kernel does, in the folder of the lessons.
    """
    with pytest.MonkeyPatch.context() as patch, np.errstate():
        patch.chdir(ROOT / "notebooks")
        patch.syspath_prepend(ROOT / "notebooks")
        return run_lesson(source, until, lesson)


def run_lesson(source, until, lesson):
    notebook = nbformat.read(ROOT / "notebooks" / f"{lesson}.ipynb", 4)
    names = {}
    for cell in notebook.cells:
        tags = set(cell.metadata.get("tags", ()))
        if cell.cell_type != "code" or "test" in tags:
            continue
        code = cell.source
        if "source" in tags:
            assert code.count('"sample"') == 1
            code = code.replace('"sample"', repr(str(source)), 1)
        file = f"<lesson {cell.id}>"
        linecache.cache[file] = len(code), None, code.splitlines(True), file
        expected = [AssertionError] if "raises-exception" in tags else []
        with contextlib.suppress(*expected):
            exec(compile(code, file, "exec"), names)  # AutoGraph reads it there
        if until in tags:
            return names
    raise AssertionError(f"{lesson} has no cell tagged {until}")


@pytest.mark.skipif(
    not WHOLE.exists(), reason="the whole of MNIST is not at ../shared/data/mnist.npz"
)
def test_lesson_02_reaches_92_of_100_on_the_whole_of_mnist():
    names = lesson_namespace(WHOLE, until="accuracy")
    assert len(names["y_train"]) == 60_000 and len(names["y_test"]) == 10_000
    w, b, _ = names["train"](names["log_loss"], rate=0.3, steps=2000)
    right = names["predict"](names["test_pixels"], w, b) == names["y_test"]
    assert 0.92 <= right.mean() < 0.925


def wrong_and_sure():
    """Scores of 200 for one of two classes, targets for the other, and p - t."""
    y = np.float32([[0, 200], [200, 0], [-1e4, 1e4], [88, 0], [0, 69]])
    t = np.float32([[1, 0], [0, 1], [1, 0], [0, 1], [1, 0]])
    return y, t, 1 - 2 * t


@pytest.fixture(scope="module")
def lesson_02():
    return lesson_namespace("sample", until="cross-entropy")


def test_lesson_02_has_the_right_gradient_for_confident_mistakes(lesson_02):
    y, t, expected = wrong_and_sure()
    dy = lesson_02["gradient"](lambda y: lesson_02["cross_entropy"](y, t), y)
    assert np.allclose(dy, expected)


@pytest.mark.parametrize("size", [1, 1e12])
def test_lesson_02_has_the_loss_of_tensorflow(lesson_02, size):
    rng = np.random.default_rng(0)
    y = np.float32(size * rng.normal(size=(50, 10)))
    y[0] = np.float32(size)  # equal scores: the loss is log 10
    t = np.float32(np.eye(10)[rng.integers(10, size=50)])
    expected = lesson_02["tf"].nn.softmax_cross_entropy_with_logits(t, y)
    assert np.allclose(lesson_02["cross_entropy"](y, t), expected, atol=1e-5)


@pytest.mark.parametrize("loss, loses", [("patched_loss", 3), ("cross_entropy", 0)])
def test_lesson_02_loses_digits_at_the_highest_rate(lesson_02, capsys, loss, loses):
    lesson_02["try_out"](lesson_02[loss], [30])
    _, line = capsys.readouterr().out.splitlines()
    _, *runs = line.split("|")
    assert sum(not run.strip().endswith("[]") for run in runs) == loses


def test_no_form_of_lesson_10_stops_learning():
    names = lesson_namespace("sample", until="train", lesson="10_make_it_fast")
    y, t, expected = wrong_and_sure()
    few = np.random.default_rng(0).integers(4000, size=(200, 100))
    x, digits = names["pixels"].numpy(), names["y_train"]
    for product, loss in ("product", "cross_entropy"), (None, "tf_cross_entropy"):
        op = names[loss]
        dy = gradient(lambda y, op=op: op(y, t), y)
        assert np.allclose(dy, expected), loss
        multiply = names[product] if product else names["tf"].matmul
        step = names["make_step"](multiply, op, rate=1.0)
        w, b = map(np.array, names["loop_in_graph"](step)(*names["start"], few))
        right = np.argmax(x[few[-20:]] @ w + b, axis=-1) == digits[few[-20:]]
        assert np.isfinite(w).all() and right.mean() > 0.85
