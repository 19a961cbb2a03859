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
# Nothing that is defined there is used in other sections.
ASIDE = "## Why the easy way fails", "## Check it"


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
        section = ""
        for cell in notebook.cells:
            if cell.source.startswith("## "):
                section = cell.source.splitlines()[0]
            if cell.cell_type != "code" or section in ASIDE:
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

        expected = {"final": 8, "training/answers": 8, "training/gradient": 10}
        until(lambda: tags(ask) == expected, lambda: f"TensorBoard has {tags(ask)}")
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


def served(ask, tag, steps, samples):
    """{step: pictures} as TensorBoard serves them."""
    pictures = {step: [] for step in steps}
    for sample in range(samples):
        query = urlencode({"tag": tag, "run": ".", "sample": sample})
        kind, answer = ask("images", query)
        assert kind == "application/json"
        entries = json.loads(answer)
        assert [entry["step"] for entry in entries] == steps
        for entry in entries:
            kind, png = ask("individualImage", entry["query"])
            assert kind == "image/png"
            pictures[entry["step"]].append(tf.io.decode_png(png).numpy())
    return pictures


def tags(ask):
    """{tag: number of pictures} of the only run, as soon as it is read."""
    return {
        tag: about["samples"]
        for tag, about in json.loads(ask("tags")[1]).get(".", {}).items()
    }


@pytest.fixture(scope="module")
def drawn(lesson):
    return lesson["np_draw"](lesson["images"], lesson["truth"], lesson["guesses"])


def test_the_final_answers_are_served_as_they_were_drawn(ask, drawn):
    assert np.array_equal(served(ask, "final", [2000], 8)[2000], drawn)


def test_the_answers_of_the_training_are_served_as_they_were_drawn(ask, lesson, drawn):
    steps = lesson["STEPS"].numpy().tolist()
    answers = served(ask, "training/answers", steps, 8)
    zeros = np.zeros(8, np.int64)  # what weights of zero answer
    first = lesson["np_draw"](lesson["images"], lesson["truth"], zeros)
    assert np.array_equal(answers[0], first)
    assert np.array_equal(answers[steps[-1]], drawn)


def test_the_gradients_of_the_training_are_served_as_they_were_drawn(ask, lesson):
    steps = lesson["STEPS"].numpy().tolist()
    heats = served(ask, "training/gradient", steps, 10)
    zeros = tf.zeros([784, 10])
    dw = (zeros - lesson["descend"](zeros, tf.constant(0, tf.int64))) / 0.3
    expected = lesson["np_heat"](dw.numpy())  # of the first batch, by a plain tape
    assert np.abs(np.int32(heats[0]) - np.int32(expected)).max() <= 3
    assert not np.array_equal(heats[0], heats[steps[-1]])
