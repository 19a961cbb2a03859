"""For lesson 09: what came of a call, the nodes of a graph, and where they lead dy."""

import textwrap
from itertools import pairwise
from unittest import mock

import numpy as np

from custom_ops import python_op
from utils import gradient, tf

from .quiet import quietly

PLACES = {"x": 0.04, "PyFunc": 0.34, "IdentityN": 0.68, "y": 0.97}
TASKS = {"PyFunc": "calls NumPy", "IdentityN": "passes y and x on"}
BOX = {"boxstyle": "round,pad=0.6", "facecolor": "#d6e6f4"}


def outcome(f, *arguments):
    """In one line what f returns, or what its error says; warnings are held back."""
    try:
        with quietly():
            return str(np.asarray(f(*arguments)).tolist()).split("\n")[0]
    except Exception as error:
        said = str(error).split("Error: ")[-1].strip().split("\n")[0]
        lines = textwrap.fill(f"error: {said}", 63, break_on_hyphens=False)
        return textwrap.indent(lines, " " * 25)[25:]


def nodes_of(f, x):
    """The nodes of the graph of f(x), and of the functions in it, by name."""
    with quietly():
        graph = tf.function(f).get_concrete_function(x).graph.as_graph_def()
    bodies = [graph.node, *(body.node_def for body in graph.library.function)]
    return sorted([node for body in bodies for node in body], key=lambda n: n.name)


def gradient_names(f, x):
    """The first word of the gradient name of each PyFunc and IdentityN in f's graph."""
    names = {node.name: node.attr["_gradient_op_type"].s.decode().split("-")[0]
             for node in nodes_of(f, x) if node.op in TASKS}  # fmt: skip
    return {node: name or "no gradient name" for node, name in names.items()}


def calls_py_func(f, x):
    """Whether f or its gradient calls py_func."""
    with mock.patch.object(python_op, "_PythonCode", wraps=python_op._PythonCode) as it:
        outcome(lambda: [gradient(way, x) for way in (f, tf.function(f))])
    return it.called


def draw_way(ax, title, f, x, names=True, asks=False):
    """The nodes from x to y = f(x); dashed, with its numbers or "?": a gradient."""
    ours = gradient_names(f, x)
    ax.set(title=title, xlim=(0, 1), ylim=(0, 1), xticks=[], yticks=[])
    if {node.split("/")[-1] for node in ours} != set(TASKS):
        ax.text(0.1, 0.5, "only an op with PyFunc and IdentityN can be drawn")
        return

    def gradients_back(x):
        y = f(x)  # comes out of IdentityN, and what is its input 0 out of PyFunc
        cube, back = y.op.inputs[0], {("y", "IdentityN"): tf.ones_like(y)}
        back["IdentityN", "PyFunc"] = tf.gradients(y, cube)[0]
        back["PyFunc", "x"] = tf.gradients(cube, x)[0]
        back["IdentityN", "x"] = tf.gradients(y, x, stop_gradients=[cube])[0]
        return {way: dx for way, dx in back.items() if dx is not None}

    with quietly():
        back = tf.function(gradients_back, autograph=False)(x)
    back = {way: ", ".join(f"{d:g}" for d in dx.numpy()) for way, dx in back.items()}
    back = {("y", "IdentityN"): "1, 1", ("IdentityN", "x"): "?"} if asks else back
    boxes = {p: ax.text(PLACES[p], 0.5, p) for p in "xy"}
    for op, node in {node.split("/")[-1]: node for node in ours}.items():
        more = names * (", in a loop" * ("while" in node) + f"\n{ours[node]}")
        boxes[op] = ax.text(PLACES[op], 0.5, f"{op}\n{TASKS[op]}{more}", bbox=BOX)
    for start, end in [*pairwise(PLACES), ("x", "IdentityN"), *back]:
        a, b, far = PLACES[start], PLACES[end], {start, end} == {"x", "IdentityN"}
        style, height = ("--", 0.38) if (start, end) in back else ("-", 0.62)
        arrow = {"arrowstyle": "->", "patchA": boxes[start], "patchB": boxes[end]}
        arrow |= {"connectionstyle": f"arc3,rad={-0.16 * far}", "linestyle": style}
        ax.annotate("", (b, height), (a, height), arrowprops=arrow)
        if (start, end) in back:
            said, height = back[start, end], 0.28 - 0.18 * far
            ax.text((a + b) / 2, height, said, backgroundcolor="w")
    for text in ax.texts:
        text.set(ha="center", va="center")
