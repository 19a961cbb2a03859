"""Lesson 02's pad, without a browser: the ink, and what the mouse does."""

import numpy as np

from notebooks.modules.lesson_02 import SCALE, DigitPad, centred, draw_line
from utils import load_mnist

BLANK = np.zeros((28, 28), np.float32)


def test_ink_is_brought_to_the_middle_as_in_mnist():
    ink = draw_line(BLANK, (4, 4), (4, 12))
    middle = centred(ink)
    assert np.abs(np.argwhere(middle).mean(axis=0) - 14).max() <= 0.5
    assert middle.sum() == ink.sum() and not centred(BLANK).any()
    near = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1)]
    for image in load_mnist()[1][0][:50] / 255:  # MNIST's own are there already
        moved = [np.roll(centred(image), way, (0, 1)) for way in near]
        assert any(np.allclose(picture, image) for picture in moved)


def read_two(picture):
    """A network that takes all ink for a 2."""
    return np.eye(10)[2 if picture.any() else 0]


def test_the_mouse_draws_while_its_button_is_down():
    pad = DigitPad(read_two, np.zeros((10, 28, 28)))
    pad.move(100, 100)
    assert not pad.ink.any() and "Nothing" in pad.said.value
    pad.start(100, 100)
    pad.move(100, 200)
    assert pad.ink[15, 10] == 1 and not pad.ink[:, 13:].any()
    assert "2 " + "█" * 20 + " 100%" in pad.said.value
    pad.lift(100, 200)
    pad.move(200, 200)
    assert pad.ink[20, 20] == 0


def test_a_finger_draws_and_buttons_load_a_sample_and_clear():
    samples = np.float32(load_mnist()[1][0][:10]) / 255
    pad = DigitPad(read_two, samples)
    pad.start([(10 * SCALE, 10 * SCALE), (0, 0)])
    assert pad.ink[10, 10] > 0
    clear, *numbers = pad.children[1].children
    numbers[7].click()
    assert np.array_equal(pad.ink, samples[7])
    clear.click()
    assert not pad.ink.any() and "Nothing" in pad.said.value
