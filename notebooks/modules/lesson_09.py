"""For lesson 09: what came of a call, and the picture of the places of a gradient."""

import dis
import re
import textwrap

import matplotlib.pyplot as plt
import numpy as np

from utils import py_func

from .quiet import quietly

OURS = {"boxstyle": "round,pad=0.5", "facecolor": "#fde0c5", "linestyle": "--"}
OTHER = {"boxstyle": "round,pad=0.5", "facecolor": "#d6e6f4"}
MIDDLE = {"ha": "center", "va": "center"}


def outcome(f, *arguments):
    """In one line what f returns, or what its error says; warnings are held back."""
    try:
        with quietly():
            return str(np.asarray(f(*arguments)).tolist()).split("\n")[0]
    except Exception as error:
        said = re.sub(r"^\{\{.*?\}\} |ValueError: ", "", str(error)).split("\n")[0]
        return textwrap.indent(textwrap.fill(f"error: {said}", 76), " " * 12)[12:]


def without_py_func(make):
    """Whether make neither is nor, by the names in its code, uses our py_func."""
    steps = dis.get_instructions(getattr(make, "__code__", "pass"))
    names = {step.argval for step in steps if step.opname == "LOAD_GLOBAL"}
    return make is not py_func and names.isdisjoint(["py_func", "utils"])


def draw_places():
    """The record of a tape; a graph from x to y; and what a map makes of that graph."""
    _, axes = plt.subplot_mosaic("abb;acc", figsize=(9, 4))
    titles = {
        "a": "A tape that sees the op:\nits record has our gradient",
        "b": "A tape around a graph: a node has the name of our gradient",
        "c": "The graph that the map makes of it: no node has the name",
    }
    for key, ax in axes.items():
        ax.set_title(titles[key])
        ax.set(xlim=(0, 1), ylim=(0, 1), xticks=[], yticks=[])
        ax.text(0.02, 0.97, "tape", va="top")
    record = "record of the cube\ninput: x = 2\noutput: y = 8\nbackward: 1 becomes 12"
    axes["a"].text(0.5, 0.5, record, bbox=OURS, **MIDDLE)
    _draw_graph(
        axes["b"], "node PyFunc\ncalls NumPy", "name of our gradient", OURS, [(2, 0)]
    )
    _draw_graph(
        axes["c"], "loop over PyFunc\ncalls NumPy", "no name", OTHER, [(2, 1), (1, 0)]
    )
    for key, height, back in ("b", 0.19, "3x² dy"), ("c", 0.26, "0"):
        axes[key].text(0.16, height, back, **MIDDLE)


def _draw_graph(ax, first, name, box, ways_back):
    """From x by two nodes to y: solid arrows; dashed ones go back from y."""
    boxes = [
        ax.text(place, 0.5, text, bbox=style, **MIDDLE)
        for place, text, style in [
            (0.06, "x", None),
            (0.34, first, OTHER),
            (0.7, f"node IdentityN\npasses y on\n{name}", box),
            (0.96, "y", None),
        ]
    ]
    forward = [(0, 1, 0), (1, 2, 0), (2, 3, 0), (0, 2, -0.3)]
    back = [(start, end, -0.3) for start, end in [(3, 2), *ways_back]]
    for style, arrows in ("-", forward), ("--", back):
        for start, end, bend in arrows:
            arrow = {
                "arrowstyle": "->",
                "linestyle": style,
                "patchA": boxes[start],
                "patchB": boxes[end],
                "connectionstyle": f"arc3,rad={bend}",
            }
            tip, tail = boxes[end].get_position(), boxes[start].get_position()
            ax.annotate("", tip, tail, arrowprops=arrow)
