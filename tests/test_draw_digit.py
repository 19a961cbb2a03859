"""Lesson 02's pad, without a browser: ink, gradient, and what the mouse does."""

import time

import numpy as np
import pytest

from notebooks.modules.count_lines import lines_run
from notebooks.modules.lesson_02 import (
    FINE,
    SCALE,
    DigitPad,
    Drawing,
    answered,
    overlay,
    shifted,
)
from utils import load_mnist


def test_a_line_leaves_ink_where_it_went_and_nowhere_else():
    drawing = Drawing()
    drawing.line([(5, 14), (20, 14)])
    assert drawing.ink[13:15, 6:19].min() == 1
    assert not drawing.ink[:11].any() and not drawing.ink[17:].any()
    drawing.lift()
    drawing.to(14, 24)  # a dot: no line leads there
    assert drawing.ink[24, 14] > 0.9 and not drawing.ink[20].any()
    drawing.clear()
    assert not drawing.ink.any() and drawing.shift() == (0, 0)


def test_ink_is_brought_to_the_middle_as_in_mnist():
    drawing = Drawing()
    drawing.line([(4, 4), (4, 12)])
    rows, columns = drawing.shift()
    middle = shifted(drawing.ink, rows, columns)
    assert np.array_equal(shifted(middle, -rows, -columns), drawing.ink)
    place = np.argwhere(middle).mean(axis=0)
    assert np.abs(place - 13.5).max() <= 1
    images, _ = load_mnist()[1]
    for image in images[:50]:
        drawing.load(image)
        assert np.abs(drawing.shift()).max() <= 1  # MNIST's own are there already


def test_what_leaves_the_paper_does_not_come_back():
    ink = np.zeros((28, 28))
    ink[0, 27] = 1
    assert not shifted(ink, -1, 0).any() and not shifted(ink, 0, 1).any()
    assert shifted(ink, 2, -3)[2, 24] == 1


def test_the_gradient_is_that_of_the_drawing_and_not_of_the_centred_picture():
    weights = np.random.default_rng(0).normal(size=(28, 28))

    def answer(picture):  # the score is sum(weights * picture)
        return np.eye(10)[3], weights

    drawing = Drawing()
    drawing.line([(4, 4), (4, 12)])
    p, gradient = answered(drawing, answer)
    rows, columns = drawing.shift()
    for place in (6, 4), (14, 10):
        one = np.zeros((28, 28))
        one[place] = 1
        moved = shifted(one, rows, columns)
        assert gradient[place] == pytest.approx(np.sum(weights * moved))
    assert p.argmax() == 3


def test_colours():
    gradient = np.zeros((28, 28))
    gradient[0, 0], gradient[0, 1] = 2, -2
    ink = np.zeros((28, 28))
    ink[5, 5] = 1
    picture = overlay(ink, gradient)
    assert picture.shape == (28 * FINE, 28 * FINE, 3)
    assert picture.min() >= 0 and picture.max() <= 1
    red, blue, inked, empty = (
        picture[FINE * r : FINE * (r + 1), FINE * c : FINE * (c + 1)]
        for r, c in [(0, 0), (0, 1), (5, 5), (9, 9)]
    )
    assert (red[..., 0] > red[..., 2]).all()
    assert (blue[0, :, 2] > blue[0, :, 0]).all()
    assert np.allclose(inked, 0.1) and np.allclose(empty, 1)


def test_the_sign_of_the_gradient_is_seen_without_colours():
    gradient = np.random.default_rng(0).uniform(-1, 1, (28, 28))
    gradient[np.abs(gradient) < 0.1] = 0.1
    grey = overlay(np.zeros((28, 28)), gradient) @ [0.299, 0.587, 0.114]
    pixels = grey.reshape(28, FINE, 28, FINE)
    contrast = np.ptp(pixels, axis=(1, 3))
    assert (contrast[gradient < 0] > 0.02).all()  # striped
    assert (contrast[gradient > 0] == 0).all()


class Network:
    """Counts how often it is asked."""

    asked = 0

    def __call__(self, picture):
        self.asked += 1
        return np.full(10, 0.1), np.ones(784)


def test_the_mouse_draws_while_its_button_is_down():
    network = Network()
    pad = DigitPad(network, np.zeros((10, 28, 28)))
    pad.move(100, 100)
    assert not pad.drawing.ink.any() and network.asked == 1
    pad.start(100, 100)
    pad.last = 0
    pad.move(100, 200)
    pad.move(100, 220)  # too soon after the last answer
    assert network.asked == 3 and pad.drawing.ink[15, 10] == 1
    pad.end(100, 200)
    assert network.asked == 4
    pad.move(200, 200)
    assert pad.drawing.ink[20, 20] == 0


def test_fingers_and_buttons():
    images, labels = load_mnist()[1]
    samples = [images[labels == digit][0] for digit in range(10)]
    pad = DigitPad(Network(), samples)
    pad.start([(10 * SCALE, 10 * SCALE), (0, 0)])
    assert pad.drawing.ink[10, 10] > 0
    clear, *numbers = pad.children[1].children
    numbers[7].click()
    assert np.allclose(pad.drawing.ink, samples[7] / 255)
    assert pad.said.value == "It reads a 9 (10%); next comes 8 (10%)."
    clear.click()
    assert not pad.drawing.ink.any() and pad.said.value == "Nothing is drawn yet."


def test_an_answer_takes_less_than_a_fifth_of_a_second():
    pad = DigitPad(Network(), np.zeros((10, 28, 28)))
    taken = []
    for k in range(5):
        start = time.perf_counter()
        pad.start(50 + 10 * k, 100)
        taken.append(time.perf_counter() - start)
    assert min(taken) < 0.2


def test_lines_are_counted():
    def loop(x):
        return [value + 1 for value in x]

    def no_loop(x):
        return np.sum(np.asarray(x) + 1)

    assert lines_run(loop, [1] * 9) > lines_run(loop, [1] * 2)
    assert lines_run(no_loop, [1] * 9) == lines_run(no_loop, [1] * 2) > 0
    assert lines_run(np.vectorize(abs), np.ones(9)) > 0
