"""Lesson 02's digits, and the pad on which one is drawn while a network reads it.

`Drawing` is the ink, `overlay` the picture of ink and gradient, and `DigitPad` the
widget that joins both. Only the widget needs a browser.
"""

import time

import ipywidgets
import numpy as np
from ipycanvas import Canvas, hold_canvas

from utils import tf

SIZE, SCALE = 28, 10  # pixels of MNIST; of the screen for each of them
FINE = 2  # rows and columns of `overlay` for each of them
BRUSH = 1.2  # half the width of a line, in pixels
PAUSE = 1 / 30  # seconds between two answers while the mouse moves
RED, BLUE, INK = (np.array(c) for c in ([0.7, 0, 0], [0, 0.45, 0.85], [0.1] * 3))


def prepare(images, labels):
    """Pixels from 0 to 1, one digit a row, and rows with a 1 at the label."""
    pixels = images.reshape(len(images), -1) / np.float32(255)
    return tf.constant(pixels), tf.one_hot(labels, 10)


def draw_batches(n, steps, size=100):
    """The numbers of `size` of n digits for each step: every digit once an epoch."""
    rng = np.random.default_rng(0)
    epochs = -(-steps * size // n)  # rounded up
    order = np.concatenate([rng.permutation(n) for _ in range(epochs)])
    return order[: steps * size].reshape(steps, size)


def in_numpy(func, *arrays):
    """Whether func(*arrays) is an array that no op of TensorFlow has computed.

    Inside a graph a tensor has no numbers: an answer that asks one for them, by
    `.numpy()`, fails there.

    Example:
        >>> in_numpy(np.sin, np.ones(3))
        True
    """
    with tf.Graph().as_default():
        try:
            return type(func(*arrays)) is np.ndarray
        except (AttributeError, NotImplementedError):
            return False


class Drawing:
    """Ink on 28 by 28 pixels: `ink` is 0 where there is none and 1 where it is full."""

    def __init__(self):
        self.clear()

    def clear(self):
        self.ink, self.pen = np.zeros((SIZE, SIZE), np.float32), None

    def load(self, image):
        """Take over a picture of MNIST, bytes from 0 to 255."""
        self.ink, self.pen = np.float32(image) / 255, None

    def to(self, x, y):
        """A line from where the pen is to (x, y); a dot if it was not on the paper."""
        end = np.array([x, y], float)
        start = end if self.pen is None else self.pen
        self.pen = end
        columns, rows = np.meshgrid(np.arange(SIZE) + 0.5, np.arange(SIZE) + 0.5)
        points = np.stack([columns, rows], axis=-1)
        way = end - start
        along = (points - start) @ way / max(way @ way, 1e-9)
        nearest = start + np.clip(along, 0, 1)[..., None] * way
        distance = np.linalg.norm(points - nearest, axis=-1)
        wet = np.clip(BRUSH + 0.5 - distance, 0, 1)
        self.ink = np.maximum(self.ink, np.float32(wet))

    def line(self, places):
        for x, y in places:
            self.to(x, y)

    def lift(self):
        self.pen = None

    def shift(self):
        """(rows, columns) that bring the ink's centre to the middle, as in MNIST."""
        total = self.ink.sum()
        if not total:
            return 0, 0
        middle = np.arange(SIZE) - SIZE / 2
        rows, columns = self.ink.sum(axis=1), self.ink.sum(axis=0)
        return tuple(int(-np.rint(w @ middle / total)) for w in (rows, columns))


def shifted(picture, rows, columns):
    """The picture moved down and to the right; what comes in is 0."""
    moved = np.zeros_like(picture)
    new = tuple(slice(max(n, 0), SIZE + min(n, 0)) for n in (rows, columns))
    old = tuple(slice(max(-n, 0), SIZE + min(-n, 0)) for n in (rows, columns))
    moved[new] = picture[old]
    return moved


def answered(drawing, answer):
    """What `answer` says of the drawing: ten probabilities, and the gradient.

    `answer` gets the centred picture. Moving a picture by whole pixels only gives
    the pixels other places, so the gradient is moved back to the drawing.
    """
    rows, columns = drawing.shift()
    probabilities, gradient = answer(shifted(drawing.ink, rows, columns))
    gradient = np.reshape(gradient, (SIZE, SIZE))
    return np.reshape(probabilities, 10), shifted(gradient, -rows, -columns)


def overlay(ink, gradient):
    """RGB from 0 to 1: the ink, and red or blue where more of it would raise or lower
    the score. The largest gradient has the full colour.

    A pixel has two rows and two columns. Blue ones are white in their second row:
    the stripes tell them from red ones where no colour is seen.
    """
    strength = gradient / max(np.abs(gradient).max(), 1e-30)
    fine = np.ones((FINE, FINE, 1))
    ink, strength = (np.kron(a[..., None], fine) for a in (ink, strength))
    striped = (strength < 0) & (np.arange(len(ink)) % FINE > 0)[:, None, None]
    colour = np.where(striped, 1, np.where(strength > 0, RED, BLUE))
    paper = 1 - 0.75 * np.abs(strength) * (1 - colour)
    return paper + ink * (INK - paper)


def in_words(drawing, probabilities):
    """What the bars show, for those who cannot see them."""
    if not drawing.ink.any():
        return "Nothing is drawn yet."
    second, first = np.argsort(probabilities)[-2:]
    return (
        f"It reads a {first} ({probabilities[first]:.0%}); "
        f"next comes {second} ({probabilities[second]:.0%})."
    )


class DigitPad(ipywidgets.VBox):
    """A pad to draw on; beside it the network's answer, after each move of the mouse.

    answer: gets a picture, 28 by 28 numbers from 0 to 1, and returns the
        probabilities of the ten digits and the gradient with respect to the picture.
    samples: ten pictures of MNIST. A button loads each of them, without a mouse.
    """

    def __init__(self, answer, samples):
        self.answer, self.drawing, self.last = answer, Drawing(), 0
        side = SIZE * SCALE
        self.pad = Canvas(width=side, height=side)
        self.pad.image_smoothing_enabled = False
        self.pad.layout.border = "1px solid gray"
        self.bars = Canvas(width=side, height=side)
        for start in self.pad.on_mouse_down, self.pad.on_touch_start:
            start(self.start)
        for move in self.pad.on_mouse_move, self.pad.on_touch_move:
            move(self.move)
        for end in (self.pad.on_mouse_up, self.pad.on_mouse_out, self.pad.on_touch_end):
            end(self.end)
        buttons = [self.button("clear", self.drawing.clear)] + [
            self.button(str(digit), lambda image=image: self.drawing.load(image))
            for digit, image in enumerate(samples)
        ]
        self.down, self.said = False, ipywidgets.Label()
        super().__init__(
            [
                ipywidgets.HBox([self.pad, self.bars]),
                ipywidgets.HBox(buttons, layout={"flex_flow": "row wrap"}),
                self.said,
            ]
        )
        self.show()

    def button(self, text, action):
        button = ipywidgets.Button(description=text, layout={"width": "auto"})

        def clicked(_):
            action()
            self.show()

        button.on_click(clicked)
        return button

    # ipycanvas gives (x, y) for the mouse, and a list of them for fingers.
    def start(self, *place):
        self.down = True
        self.draw(place)
        self.show()

    def move(self, *place):
        if self.down:
            self.draw(place)
            if time.perf_counter() - self.last > PAUSE:
                self.show()

    def end(self, *place):
        if self.down:
            self.down = False
            self.drawing.lift()
            self.show()

    def draw(self, place):
        x, y = place if len(place) == 2 else place[0][0]
        self.drawing.to(x / SCALE, y / SCALE)

    def show(self):
        """Ask the network, and draw what it says."""
        probabilities, gradient = answered(self.drawing, self.answer)
        if not self.drawing.ink.any():
            gradient = np.zeros_like(gradient)
        picture = np.rint(255 * overlay(self.drawing.ink, gradient)).astype(np.uint8)
        with hold_canvas():
            self.pad.reset_transform()
            self.pad.scale(SCALE / FINE, SCALE / FINE)
            self.pad.put_image_data(picture)
        with hold_canvas():
            self.draw_bars(probabilities)
        self.said.value = in_words(self.drawing, probabilities)
        self.last = time.perf_counter()

    def draw_bars(self, probabilities):
        canvas, row = self.bars, SIZE * SCALE / 10
        canvas.clear()
        canvas.font = "16px sans-serif"
        for digit, p in enumerate(probabilities):
            won = digit == np.argmax(probabilities) and self.drawing.ink.any()
            canvas.fill_style = "#1f77b4" if won else "#999999"
            canvas.fill_rect(30, digit * row + 4, 190 * float(p), row - 8)
            canvas.fill_text(str(digit), 10, digit * row + 20)
            canvas.fill_text(f"{p:.0%}", 228, digit * row + 20)
