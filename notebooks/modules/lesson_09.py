"""For lesson 09: what came of a call, the names on nodes, the places of a gradient."""

import dis
import re
import textwrap

import matplotlib.pyplot as plt
import numpy as np
from tensorflow.python.framework.ops import gradient_registry

from utils import py_func, tf

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


def registered_names():
    """How many gradients are registered; the registry is private to TensorFlow."""
    return len(gradient_registry.list())


def names_on_nodes(f, x):
    """The names of gradients on the nodes PyFunc and IdentityN of the graph of f.

    Of a tf.vectorized_map, only what it makes counts: those names have "pfor" in them.
    """
    with quietly():
        graph = tf.function(f).get_concrete_function(x).graph.as_graph_def()
    in_loops = [node for body in graph.library.function for node in body.node_def]
    nodes = [*graph.node, *in_loops]
    nodes = [node for node in nodes if "pfor" in node.name] or nodes
    said = []
    for kind in "PyFunc", "IdentityN":
        for node in nodes:
            if node.op == kind:
                name = node.attr["_gradient_op_type"].s.decode().split("-")[0]
                said.append(f"{kind}: {name or 'no name'}")
    return ", ".join(said)


def draw_places():
    """The record of a tape; a graph from x to y with our gradient on a node."""
    _, (left, right) = plt.subplots(1, 2, figsize=(9, 2.2), width_ratios=[2, 3])
    _frame(left, "A tape that sees the op:\nits record has our gradient")
    record = "record of the cube\ninput: x = 2\noutput: y = 8\nbackward: 1 becomes 12"
    places = [(0.05, "x", None), (0.5, record, OURS), (0.95, "y", None)]
    _draw_way(left, places, [], [(2, 1, 0), (1, 0, 0)])
    _frame(right, "A tape around a graph:\na node has the name of our gradient")
    _draw_graph(
        right, "node PyFunc\ncalls NumPy", "name of our gradient", OURS, [(2, 0)]
    )
    right.text(0.16, 0.19, "3x² dy", **MIDDLE)


def draw_map():
    """What a map makes of the graph that draw_places draws."""
    _, ax = plt.subplots(figsize=(6, 2))
    _frame(ax, "The graph that the map makes: no node has the name")
    _draw_graph(ax, "loop over PyFunc\ncalls NumPy", "no name", OTHER, [(2, 1), (1, 0)])
    ax.text(0.16, 0.26, "0", **MIDDLE)


def _frame(ax, title):
    ax.set_title(title)
    ax.set(xlim=(0, 1), ylim=(0, 1), xticks=[], yticks=[])
    ax.text(0.02, 0.97, "tape", va="top")


def _draw_graph(ax, first, name, box, ways_back):
    """From x by two nodes to y, with the ways back from IdentityN."""
    places = [
        (0.06, "x", None),
        (0.34, first, OTHER),
        (0.7, f"node IdentityN\npasses y on\n{name}", box),
        (0.96, "y", None),
    ]
    forward = [(0, 1, 0), (1, 2, 0), (2, 3, 0), (0, 2, -0.3)]
    _draw_way(ax, places, forward, [(3, 2, -0.3), *[(*w, -0.3) for w in ways_back]])


def _draw_way(ax, places, forward, back):
    """Boxes in a row; solid arrows forward, dashed ones back: (start, end, bend)."""
    boxes = [
        ax.text(place, 0.5, text, bbox=box, **MIDDLE) for place, text, box in places
    ]
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
