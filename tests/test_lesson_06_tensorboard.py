"""TensorBoard serves the pictures that lesson 06 writes."""

import json
import linecache
import re
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType
from urllib.parse import urlencode
from urllib.request import ProxyHandler, build_opener

import nbformat
import numpy as np
import pytest

from utils import tf  # utils starts it without noise

pytestmark = pytest.mark.slow  # TensorBoard is started for real

ROOT = Path(__file__).parents[1]
SECONDS = 120  # to start, and then to read the event file
STEPS = [0, 100, 200, 300]
TAGS = {
    "digits": {"digits": 1},
    "spread 1": {"gradient at h": 1, "gradient at z": 1},
    "spread 0.05": {"gradient at h": 1, "gradient at z": 1},
}


@pytest.fixture(scope="module")
def lesson():
    """What the lesson's names mean once it has written its pictures."""
    import matplotlib.pyplot as plt

    notebook = nbformat.read(ROOT / "notebooks" / "06_draw_into_tensorboard.ipynb", 4)
    module, backend = ModuleType("lesson_06"), plt.get_backend()
    names = vars(module)
    plt.switch_backend("agg")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT / "notebooks")  # as a kernel, which finds modules/ there
        patch.syspath_prepend(ROOT / "notebooks")
        patch.setitem(sys.modules, "lesson_06", module)  # AutoGraph looks there, too
        for cell in notebook.cells:
            if cell.cell_type != "code":
                continue
            file = f"<lesson 06, {cell.id}>"
            linecache.cache[file] = (
                len(cell.source),
                None,
                cell.source.splitlines(True),
                file,
            )  # AutoGraph reads the source there
            exec(compile(cell.source, file, "exec"), names)
            plt.close("all")  # as Jupyter does after each cell
            if "written" in cell.metadata.get("tags", ()):
                break
        else:
            raise AssertionError("lesson 06 has no cell tagged written")
    plt.switch_backend(backend)
    yield names
    names["folder"].cleanup()


@pytest.fixture(scope="module")
def ask(lesson, tmp_path_factory):
    """Start TensorBoard on loopback, on a free port; a function that asks it.

    It lists all pictures of the lesson before any test begins.
    """
    said = tmp_path_factory.mktemp("tensorboard") / "said.txt"
    command = [sys.executable, "-m", "tensorboard.main", "--logdir", lesson["logs"]]
    with said.open("wb") as file:
        server = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", "0"], stdout=file, stderr=file
        )
    try:
        ready = until(
            lambda: re.search(r"http://127\.0\.0\.1:\d+/", said.read_text("utf-8")),
            lambda: f"TensorBoard did not start: {said.read_text('utf-8')}",
            lambda: server.poll() is None,
        )
        opener = build_opener(ProxyHandler({}))  # no proxy for loopback

        def ask(path, query=""):
            url = f"{ready[0]}data/plugin/images/{path}?{query}"
            with opener.open(url, timeout=SECONDS) as answer:
                return answer.headers.get_content_type(), answer.read()

        until(lambda: tags(ask) == TAGS, lambda: f"TensorBoard has {tags(ask)}")
        yield ask
    finally:
        server.terminate()
        server.wait(SECONDS)


def until(found, complaint, alive=lambda: True):
    """Wait for a true answer, and return it."""
    end = time.monotonic() + SECONDS
    while not (answer := found()):
        assert alive() and time.monotonic() < end, complaint()
        time.sleep(0.2)
    return answer


def served(ask, run, tag):
    """{step: picture} as TensorBoard serves them."""
    kind, answer = ask("images", urlencode({"tag": tag, "run": run, "sample": 0}))
    assert kind == "application/json"
    pictures = {}
    for entry in json.loads(answer):
        kind, png = ask("individualImage", entry["query"])
        assert kind == "image/png"
        pictures[entry["step"]] = tf.io.decode_png(png).numpy()
    return pictures


def tags(ask):
    """{run: {tag: number of pictures}}, as soon as they are read."""
    return {
        run: {tag: about["samples"] for tag, about in found.items()}
        for run, found in json.loads(ask("tags")[1]).items()
    }


@pytest.fixture(scope="module")
def first_batch(lesson):
    batches = tf.data.Dataset.from_tensor_slices((lesson["pixels"], lesson["y_train"]))
    return next(iter(batches.shuffle(4000, seed=0).batch(100)))


def test_the_digits_are_served_as_they_were_drawn(ask, lesson, first_batch):
    images, labels = [part.numpy() for part in first_batch]
    digits = served(ask, "digits", "digits")
    assert list(digits) == STEPS
    assert np.array_equal(digits[0], lesson["np_digits"](images, labels)[0])


@pytest.mark.parametrize("spread", [1, 0.05])
def test_the_gradients_are_those_of_a_plain_tape(ask, lesson, first_batch, spread):
    images, labels = first_batch
    first, _, tanh, _, last = lesson["two_layers"](spread)
    with tf.GradientTape() as tape:
        z = first(images)
        h = tanh(z)
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits(
            tf.cast(labels, tf.int64), last(h)
        )
        loss = tf.reduce_mean(loss)
    for place, dy in zip("zh", tape.gradient(loss, [z, h]), strict=True):
        pictures = served(ask, f"spread {spread}", f"gradient at {place}")
        assert list(pictures) == STEPS
        expected = lesson["np_heat"](dy.numpy())[0]
        assert np.abs(np.int32(pictures[0]) - np.int32(expected)).max() <= 3
        assert not np.array_equal(pictures[0], pictures[300])
