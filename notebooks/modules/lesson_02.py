"""Lesson 02's drawing pad: draw a digit with the mouse, and a network reads it."""

import ipywidgets
import numpy as np
from ipycanvas import Canvas, hold_canvas

SIZE, SCALE = 28, 10  # pixels of MNIST; of the screen for each of them
BRUSH = 1.2  # half the width of a line, in pixels of MNIST


def draw_line(ink, start, end):
    """The picture (28, 28) with a line of ink between two places (x, y)."""
    start, way = np.asarray(start, float), np.subtract(end, start)
    pixels = np.moveaxis(np.mgrid[:SIZE, :SIZE][::-1] + 0.5, 0, -1)  # (x, y) of each
    along = np.clip((pixels - start) @ way / max(way @ way, 1e-9), 0, 1)
    distance = np.linalg.norm(pixels - start - along[..., None] * way, axis=-1)
    return np.maximum(ink, np.clip(BRUSH + 0.5 - distance, 0, 1).astype(np.float32))


def centred(ink):
    """The picture, moved by whole pixels until its ink is centred, as in MNIST."""
    if not ink.any():
        return ink
    rows, columns = [
        round(ink.sum(axis=axis) @ np.arange(SIZE) / ink.sum()) + SIZE // 2
        for axis in (1, 0)
    ]  # in the padded picture, where the centre of mass comes to pixel 14
    return np.pad(ink, SIZE)[rows : rows + SIZE, columns : columns + SIZE]


class DigitPad(ipywidgets.VBox):
    """A pad to draw on, and what a network says of the drawing while it grows.

    read: gets a picture, 28 by 28 numbers from 0 (paper) to 1 (ink), and returns the
        probabilities of the ten digits.
    samples: ten pictures. A button loads each of them, for those without a mouse.
    """

    def __init__(self, read, samples):
        self.read, self.pen = read, None
        self.canvas = Canvas(width=SIZE * SCALE, height=SIZE * SCALE)
        self.canvas.image_smoothing_enabled = False
        self.canvas.layout.border = "1px solid gray"
        self.said = ipywidgets.HTML()
        for down in self.canvas.on_mouse_down, self.canvas.on_touch_start:
            down(self.start)
        for move in self.canvas.on_mouse_move, self.canvas.on_touch_move:
            move(self.move)
        for up in (
            self.canvas.on_mouse_up,
            self.canvas.on_mouse_out,
            self.canvas.on_touch_end,
        ):
            up(self.lift)
        blank = np.zeros((SIZE, SIZE), np.float32)
        pictures = {"clear": blank, **{str(d): ink for d, ink in enumerate(samples)}}
        buttons = [self.button(text, ink) for text, ink in pictures.items()]
        super().__init__(
            [
                ipywidgets.HBox([self.canvas, self.said]),
                ipywidgets.HBox(buttons, layout={"flex_flow": "row wrap"}),
            ]
        )
        self.show(blank)

    def button(self, text, ink):
        button = ipywidgets.Button(description=text, layout={"width": "auto"})
        button.on_click(lambda _: self.show(ink))
        return button

    def start(self, *place):
        self.pen = self.on_paper(place)
        self.move(*place)

    def move(self, *place):
        if self.pen is not None:
            before, self.pen = self.pen, self.on_paper(place)
            self.show(draw_line(self.ink, before, self.pen))

    def lift(self, *place):
        self.pen = None

    def on_paper(self, place):
        """ipycanvas gives (x, y) for the mouse, and a list of them for fingers."""
        x, y = place if len(place) == 2 else place[0][0]
        return x / SCALE, y / SCALE

    def show(self, ink):
        """Draw the picture, and say what the network reads in it."""
        self.ink = ink
        grey = np.repeat(255 * (1 - ink)[..., None], 3, axis=-1)
        with hold_canvas():
            self.canvas.reset_transform()
            self.canvas.scale(SCALE, SCALE)
            self.canvas.put_image_data(np.rint(grey).astype(np.uint8))
        if ink.any():
            lines = [
                f"{digit} {'█' * round(20 * p)} {p:.0%}"
                for digit, p in enumerate(np.ravel(self.read(centred(ink))))
            ]
        else:
            lines = ["Nothing is drawn yet."]
        self.said.value = f"<pre>{'<br>'.join(lines)}</pre>"
