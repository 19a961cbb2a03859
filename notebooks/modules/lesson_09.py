"""For lesson 09: what came of a call, the nodes of a graph, and where they lead dy."""

import re
import textwrap
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np

from utils import tf

from .quiet import quietly

PLACES = {"x": 0.04, "PyFunc": 0.36, "IdentityN": 0.72, "y": 0.96}
TASKS = {"PyFunc": "calls NumPy", "IdentityN": "passes y and x on"}
BOX = {"boxstyle": "round,pad=0.6", "facecolor": "#d6e6f4"}
OURS = BOX | {"facecolor": "#fde0c5", "linewidth": 2.5}


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
    """The nodes of the graph of f(x), and of the functions in it, by name."""
    with quietly():
        graph = tf.function(f).get_concrete_function(x).graph.as_graph_def()
    bodies = [graph.node, *(body.node_def for body in graph.library.function)]
    return sorted([node for body in bodies for node in body], key=lambda n: n.name)


def has_loop(f, x):
    """Whether the graph of f runs a loop, as that of tf.map_fn does."""
    return any("While" in node.op for node in nodes_of(f, x))


def gradients_on_the_way(f, x):
    """What goes back to x, from place to place, if the gradient at y = f(x) is 1."""

    @tf.function(autograph=False)
    def measured(x):
        y = f(x)
        ops = [op for op in y.graph.get_operations() if op.type == "IdentityN"]
        cube = ops[-1].inputs[0] if ops else y  # what comes out of PyFunc
        last = "IdentityN" if ops else "PyFunc"
        dy = tf.gradients(y, cube)[0]
        found = {("y", last): tf.ones_like(y)}
        if ops:
            found["IdentityN", "PyFunc"] = dy
            found["IdentityN", "x"] = tf.gradients(y, x, stop_gradients=[cube])[0]
        if dy is not None:
            found["PyFunc", "x"] = tf.gradients(cube, x, grad_ys=dy)[0]
        return {way: dx for way, dx in found.items() if dx is not None}

    with quietly():
        return measured(x)


def draw_way(ax, title, f, x):
    """The nodes that run for y = f(x); dashed, with its number: a gradient."""
    back = gradients_on_the_way(f, x)
    nodes = {node.op: node for node in nodes_of(f, x) if node.op in TASKS}
    texts, styles = {"x": "x", "y": "y"}, {}
    for op, node in nodes.items():
        name = node.attr["_gradient_op_type"].s.decode().split("-")[0]
        named = f"name: {name}" if name else "no gradient name"
        in_loop = ", in a loop" * ("while" in node.name)
        texts[op] = f"{op}\n{TASKS[op]}{in_loop}\n{named}"
        styles[op] = OURS if name else BOX
    boxes = {}
    for place in sorted(texts, key=PLACES.get):
        boxes[place] = ax.text(PLACES[place], 0.5, texts[place], bbox=styles.get(place))
    forward = [*pairwise(boxes), *[("x", "IdentityN")] * ("IdentityN" in boxes)]
    for start, end in [*forward, *back]:
        far = {start, end} == {"x", "IdentityN"}
        style, height = ("-", 0.62) if (start, end) in forward else ("--", 0.38)
        arrow = {"arrowstyle": "->", "linestyle": style, "patchA": boxes[start]}
        arrow |= {"patchB": boxes[end], "connectionstyle": f"arc3,rad={-0.16 * far}"}
        ends = (PLACES[end], height), (PLACES[start], height)
        ax.annotate("", *ends, arrowprops=arrow)
    for (start, end), dx in back.items():
        height = 0.1 if (start, end) == ("IdentityN", "x") else 0.27
        text = ", ".join(f"{number:g}" for number in dx.numpy())
        ax.text((PLACES[start] + PLACES[end]) / 2, height, text, backgroundcolor="w")
    plt.setp(ax.texts, ha="center", va="center")
    ax.set(title=title, xlim=(0, 1), ylim=(0, 1), xticks=[], yticks=[])
