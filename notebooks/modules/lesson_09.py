"""For lesson 09: what came of a call, the nodes of a graph, and where they lead dy."""

import re
import textwrap
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np

from utils import tf

from .quiet import quietly

PLACES = {"x": 0.04, "PyFunc": 0.34, "IdentityN": 0.68, "y": 0.97}
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


def gradients_back(f, x):
    """What goes back to x, from place to place, if the gradient at y = f(x) is 1."""
    y = f(x)
    passing = [op for op in y.graph.get_operations() if op.type == "IdentityN"]
    cube = passing[-1].inputs[0] if passing else y  # what comes out of PyFunc
    dy = tf.gradients(y, cube)[0]
    back = {("y", "IdentityN" if passing else "PyFunc"): tf.ones_like(y)}
    if passing:
        back["IdentityN", "PyFunc"] = dy
        back["IdentityN", "x"] = tf.gradients(y, x, stop_gradients=[cube])[0]
    back["PyFunc", "x"] = dy if dy is None else tf.gradients(cube, x, grad_ys=dy)[0]
    return {way: dx for way, dx in back.items() if dx is not None}


def draw_way(ax, title, f, x):
    """The nodes that run for y = f(x); dashed, with its numbers: a gradient."""
    with quietly():
        back = tf.function(lambda x: gradients_back(f, x), autograph=False)(x)
    boxes = {place: ax.text(PLACES[place], 0.5, place) for place in "xy"}
    for op, node in {n.op: n for n in nodes_of(f, x) if n.op in TASKS}.items():
        name = node.attr["_gradient_op_type"].s.decode().split("-")[0]
        task = TASKS[op] + ", in a loop" * ("while" in node.name)
        said = f"{op}\n{task}\n" + (f"name: {name}" if name else "no gradient name")
        boxes[op] = ax.text(PLACES[op], 0.5, said, bbox=OURS if name else BOX)
    ways = [*pairwise(sorted(boxes, key=PLACES.get)), ("x", "IdentityN")]
    forward = [way for way in ways if way[1] in boxes]
    for start, end in [*forward, *back]:
        a, b, far = PLACES[start], PLACES[end], {start, end} == {"x", "IdentityN"}
        style, height = ("--", 0.38) if (start, end) in back else ("-", 0.62)
        arrow = {"arrowstyle": "->", "patchA": boxes[start], "patchB": boxes[end]}
        arrow |= {"connectionstyle": f"arc3,rad={-0.16 * far}", "linestyle": style}
        ax.annotate("", (b, height), (a, height), arrowprops=arrow)
        if (start, end) in back:
            numbers = ", ".join(f"{number:g}" for number in back[start, end].numpy())
            height, ground = (0.1, "w") if far else (0.28, "none")
            ax.text((a + b) / 2, height, numbers, backgroundcolor=ground)
    plt.setp(ax.texts, ha="center", va="center")
    ax.set(title=title, xlim=(0, 1), ylim=(0, 1), xticks=[], yticks=[])
