"""For lesson 09: what came of a call, and where the nodes of a graph lead dy."""

import re
import textwrap
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np

from utils import gradient, tf

from .quiet import quietly

PLACES = {"x": 0.08, "PyFunc": 0.42, "IdentityN": 0.76, "y": 0.96}
TASKS = {"PyFunc": "calls NumPy", "IdentityN": "passes y and x on"}
OURS = {"boxstyle": "round,pad=0.6", "facecolor": "#fde0c5", "linestyle": "--"}
OTHER = {"boxstyle": "round,pad=0.6", "facecolor": "#d6e6f4"}


def outcome(f, *arguments):
    """In one line what f returns, or what its error says; warnings are held back."""
    try:
        with quietly():
            return str(np.asarray(f(*arguments)).tolist()).split("\n")[0]
    except Exception as error:
        where = r"(?s)^Graph.*?Error: |^\{\{.*?\}\} |ValueError: "
        text = str(error).removeprefix("in user code:").strip() or type(error).__name__
        said = re.sub(where, "", text).split("\n")[0]
        return textwrap.indent(textwrap.fill(f"error: {said}", 63), " " * 25)[25:]


def nodes_of(f, x):
    """The nodes of the graph of f(x), and of the functions in it."""
    with quietly():
        graph = tf.function(f).get_concrete_function(x).graph.as_graph_def()
    bodies = [graph.node, *(body.node_def for body in graph.library.function)]
    return [node for body in bodies for node in body]


def gradient_names(f, x):
    """For each node PyFunc or IdentityN of the graph of f: node and gradient name."""
    nodes = [node for node in nodes_of(f, x) if node.op in TASKS]
    names = [node.attr["_gradient_op_type"].s.decode() for node in nodes]
    names = [re.sub("-.*", "-…", name) or "no gradient name" for name in names]
    return sorted(zip(nodes, names, strict=True), key=lambda pair: pair[0].name)


def has_loop(f, x):
    """Whether the graph of f runs a loop, as that of tf.map_fn does."""
    return any("While" in node.op for node in nodes_of(f, x))


def draw_way(ax, title, f, x):
    """The nodes of f, or of its map; dashed: where they lead dy. A tape finds dx."""
    dx = outcome(gradient, tf.function(f), x)
    found = {node.op: (node, name) for node, name in gradient_names(f, x)}
    texts = {"x": f"x\n\ndx = {dx}", "y": "y\n\ndy = 1"}
    for node, name in found.values():
        in_loop = ", in a loop" * ("while" in node.name)
        texts[node.op] = f"{node.op}\n{TASKS[node.op]}{in_loop}\n{name}"
    named = found["IdentityN"][1] != "no gradient name"
    styles = {"PyFunc": OTHER, "IdentityN": OURS if named else OTHER}
    boxes = {}
    for place in sorted(texts, key=PLACES.get):
        boxes[place] = ax.text(PLACES[place], 0.5, texts[place], bbox=styles.get(place))
    arrows = [*pairwise(boxes), ("x", "IdentityN"), ("y", "IdentityN")]
    arrows.append(("IdentityN", "x"))
    if named:
        ax.text(0.62, 0.12, "our gradient")
    else:
        ax.text(0.69, 0.12, "dy of the unused output: 0")
        ax.text(0.235, 0.5, "0 from the loop")
        arrows += [("IdentityN", "PyFunc"), ("PyFunc", "x")]
    for start, end in arrows:
        style, height = ("-", 0.62) if PLACES[start] < PLACES[end] else ("--", 0.38)
        bend = -0.13 if {start, end} == {"x", "IdentityN"} else 0
        arrow = {"arrowstyle": "->", "linestyle": style, "patchA": boxes[start]}
        arrow |= {"patchB": boxes[end], "connectionstyle": f"arc3,rad={bend}"}
        ends = (PLACES[end], height), (PLACES[start], height)
        ax.annotate("", *ends, arrowprops=arrow)
    plt.setp(ax.texts, ha="center", va="center")
    ax.set(title=title, xlim=(0, 1), xticks=[], yticks=[])
