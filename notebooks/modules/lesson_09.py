"""The museum of lesson 09: rooms in which a way to make an op may fail in silence.

A *room* is a function that takes `make`, a way to make an op, and returns what it
found there:

    museum = Museum([easy, py_func])
    museum.ask(room, right="float32")
    museum.summary()
"""

import matplotlib.pyplot as plt

from utils import tf

from .quiet import quietly


def easy(func, inp, Tout, grad=None):
    """TensorFlow's own op, which has no use for a gradient."""
    return tf.numpy_function(func, inp, Tout)


class Museum:
    """Leads the ways to make an op through rooms, and keeps what they found."""

    def __init__(self, makers):
        self.makers, self.kinds = makers, {}

    def ask(self, room, right):
        """Print what each way finds; `right` is how the right answer prints."""
        self.kinds[room.__name__] = []
        for make in self.makers:
            try:
                with quietly():  # C++ writes of errors that we want
                    found = str(room(make))
                kind = "right" if found == right else "SILENT"
            except Exception as error:
                # In a graph the node's name comes first, which is new each time.
                text = str(error).splitlines()[0].split("}} ")[-1]
                found, kind = f"{type(error).__name__}: {text}", "error"
            self.kinds[room.__name__].append(kind)
            print(f"{make.__name__:10} {kind:6} {found}")

    def summary(self):
        """Print a row for each room."""
        print(f"{'':18}", *[f"{make.__name__:10}" for make in self.makers])
        for room, kinds in self.kinds.items():
            print(f"{room:18}", *[f"{kind:10}" for kind in kinds])


def draw_calls(diaries):
    """Boxes for what happened in a call: a column for each diary."""
    _, axes = plt.subplots(1, len(diaries), figsize=(8, 2.6))
    box = {"boxstyle": "round", "edgecolor": "black"}
    forward = {**box, "linestyle": "-", "facecolor": "#d6e6f4"}
    backward = {**box, "linestyle": "--", "facecolor": "#fde0c5"}
    for ax, (name, diary) in zip(axes, diaries.items(), strict=True):
        ax.set(title=name, xlim=(0, 1), ylim=(4.6, 0.4))
        ax.axis("off")
        for row, text in enumerate(diary, 1):
            back = "dy" in text or "dx" in text
            label, look = f"{row}. {'←' if back else '→'} {text}", {"size": 8}
            look["bbox"] = backward if back else forward
            ax.text(0.5, row, label, ha="center", va="center", **look)
