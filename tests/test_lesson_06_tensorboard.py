"""TensorBoard serves the pictures that lesson 06 writes."""

import json
import time
from urllib.parse import urlencode
from urllib.request import ProxyHandler, build_opener

import matplotlib.pyplot as plt
import numpy as np
import pytest

from test_lesson_02_full import lesson_namespace
from utils import tf  # utils starts it without noise

pytestmark = pytest.mark.slow  # TensorBoard is started for real

SECONDS = 120  # to read the event files
STEPS = [0, 1, 2, 3, 5, 10, 20, 50, 100, 180]  # of the trainings
RATES = 0.1, 1.5
CHANGES = "raw", "m subtracted", "times 1.29", "one pixel added"
RUNS = *(f"rate {rate}" for rate in RATES), *CHANGES
TAGS = {"mistakes": {"mistakes": 1}} | dict.fromkeys(RUNS, {"gradient at z": 1})


@pytest.fixture(scope="module")
def lesson():
    """What the lesson's names mean once it has written its pictures."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plt, "show", lambda: plt.close("all"))
        names = lesson_namespace(None, "mistakes", "06_draw_into_tensorboard")
    yield names
    names["folder"].cleanup()


@pytest.fixture(scope="module")
def served(lesson):
    """(run, tag) -> {step: picture}, as TensorBoard serves them on loopback."""
    from tensorboard import program  # it sets up logging

    board = program.TensorBoard()
    board.configure(logdir=lesson["logs"], host="127.0.0.1", port=0)
    address = f"{board.launch()}data/plugin/images/"
    opener = build_opener(ProxyHandler({}))  # no proxy for loopback

    def ask(path, query=""):
        with opener.open(f"{address}{path}?{query}", timeout=SECONDS) as answer:
            return answer.read()

    def pictures(run, tag):
        query = urlencode({"tag": tag, "run": run, "sample": 0})
        return {
            one["step"]: tf.io.decode_png(ask("individualImage", one["query"])).numpy()
            for one in json.loads(ask("images", query))
        }

    end, found = time.monotonic() + SECONDS, None
    while found != TAGS:
        assert time.monotonic() < end, f"TensorBoard has {found}"
        time.sleep(0.2)
        found = {
            run: {tag: about["samples"] for tag, about in tags.items()}
            for run, tags in json.loads(ask("tags")).items()
        }
    return pictures


@pytest.fixture(scope="module")
def first_batch(lesson):
    return next(iter(lesson["batches"]()))


def test_the_digits_are_served_as_they_were_drawn(served, lesson):
    digits = served("mistakes", "mistakes")  # the first eight: nobody has answered
    images, labels = lesson["test_pixels"], lesson["y_test"]
    assert list(digits) == [0]
    assert np.array_equal(digits[0], lesson["np_digits"](images, labels)[0])


@pytest.mark.parametrize("rate", RATES)
def test_the_gradients_are_those_of_a_plain_tape(served, lesson, first_batch, rate):
    images, labels = first_batch
    first, last = lesson["network"](relu=None).layers
    cross_entropy = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    with tf.GradientTape() as tape:
        z = first(images)
        loss = cross_entropy(labels, last(tf.nn.relu(z)))
    pictures = served(f"rate {rate}", "gradient at z")
    assert list(pictures) == STEPS
    expected = lesson["np_colours"](tape.gradient(loss, z).numpy())[0]
    assert np.abs(np.int32(pictures[0]) - np.int32(expected)).max() <= 3
    assert not np.array_equal(pictures[0], pictures[180])
