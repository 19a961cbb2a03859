"""For lesson 09: what came of a call, the names on nodes, the places of a gradient."""

import re
import textwrap

import matplotlib.pyplot as plt
import numpy as np

from utils import tf

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
        where = r"(?s)^Graph.*?Error: |^\{\{.*?\}\} |ValueError: "
        said = re.sub(where, "", str(error)).split("\n")[0]
        return textwrap.indent(textwrap.fill(f"error: {said}", 76), " " * 12)[12:]


def _nodes(f, x):
    """The nodes PyFunc and IdentityN of the graph of f, and of the loops in it."""
    with quietly():
        graph = tf.function(f).get_concrete_function(x).graph.as_graph_def()
    bodies = [body.node_def for body in graph.library.function]
    nodes = [node for body in (graph.node, *bodies) for node in body]
    nodes = [node for node in nodes if node.op in ("PyFunc", "IdentityN")]
    return sorted(nodes, key=lambda node: node.name)


def names_on_nodes(f, x):
    """For each such node a line: its own name, and that of its gradient up to a "-"."""
    lines = []
    for node in _nodes(f, x):
        name = node.attr["_gradient_op_type"].s.decode().split("-")[0]
        lines.append(f"    {node.name:36}{name or 'no name'}")
    return "\n".join(lines)


def without_py_func(make):
    """Whether no node that make adds has the text that our py_func writes on it."""

    def op(x):
        return make(np.negative, [x], x.dtype, grad=lambda op, dy: -dy)

    tokens = [node.attr["token"].s for node in _nodes(op, tf.constant([1.0, 2.0]))]
    return not any(b"py_func" in token for token in tokens)


def draw_places():
    """The record of a tape; a graph from x to y with our gradient on a node."""
    _, (left, right) = plt.subplots(1, 2, figsize=(9, 2.2), width_ratios=[2, 3])
    record = "record of the cube\ninput: x = 2\noutput: y = 8\nbackward: 1 becomes 12"
    places = [(0.05, "x", None), (0.5, record, OURS), (0.95, "y", None)]
    title = "A tape that sees the op:\nits record has our gradient"
    _draw_way(left, title, places, [], [(2, 1, 0), (1, 0, 0)])
    places = [
        (0.06, "x", None),
        (0.34, "node PyFunc\ncalls NumPy", OTHER),
        (0.7, "node IdentityN\npasses y on\nname of our gradient", OURS),
        (0.96, "y", None),
    ]
    title = "A tape around a graph:\na node has the name of our gradient"
    forward = [(0, 1, 0), (1, 2, 0), (2, 3, 0), (0, 2, -0.3)]
    _draw_way(right, title, places, forward, [(3, 2, -0.3), (2, 0, -0.3)])
    right.text(0.16, 0.19, "3x² dy", **MIDDLE)


def _draw_way(ax, title, places, forward, back):
    """Boxes in a row; solid arrows forward, dashed ones back: (start, end, bend)."""
    ax.set(title=title, xlim=(0, 1), ylim=(0, 1), xticks=[], yticks=[])
    ax.text(0.02, 0.97, "tape", va="top")
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
