"""For lesson 09: what came of a call, and where the nodes of a graph lead dy."""

import gc
import re
import textwrap
import weakref
from functools import partial
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np

from utils import tf

from .quiet import quietly

PLACES = {"x": 0.03, "PyFunc": 0.4, "IdentityN": 0.77, "y": 0.97}
TASKS = {"PyFunc": "calls NumPy", "IdentityN": "passes y and x on"}
OURS = {"boxstyle": "round,pad=0.6", "facecolor": "#fde0c5", "linestyle": "--"}
OTHER = {"boxstyle": "round,pad=0.6", "facecolor": "#d6e6f4"}
PRIVATE = "tensorflow.python", "record_operation", "stop_recording"


def outcome(f, *arguments):
    """In one line what f returns, or what its error says; warnings are held back."""
    try:
        with quietly():
            return str(np.asarray(f(*arguments)).tolist()).split("\n")[0]
    except Exception as error:
        where = r"(?s)^Graph.*?Error: |^\{\{.*?\}\} |ValueError: "
        said = re.sub(where, "", str(error)).split("\n")[0]
        return textwrap.indent(textwrap.fill(f"error: {said}", 63), " " * 25)[25:]


def gradient_names(f, x):
    """For each node PyFunc or IdentityN of the graph of f: node and gradient name."""
    with quietly():
        graph = tf.function(f).get_concrete_function(x).graph.as_graph_def()
    bodies = [body.node_def for body in graph.library.function]
    nodes = [
        node for body in (graph.node, *bodies) for node in body if node.op in TASKS
    ]
    names = [node.attr["_gradient_op_type"].s.decode() for node in nodes]
    names = [re.sub("-.*", "-…", name) or "no name" for name in names]
    return sorted(zip(nodes, names, strict=True), key=lambda pair: pair[0].name)


def left_in_memory(make, in_graph=True):
    """Make an op, drop its func, grad and graph, and name what is still there."""

    def references():
        func, grad = partial(np.negative), partial(lambda op, dy: -dy)
        op = tf.function(lambda x: make(func, [x], x.dtype, grad=grad))
        things, one = {"func": func, "grad": grad}, tf.constant(1.0)
        if in_graph:
            things["graph"] = op.get_concrete_function(one).graph
        else:
            op.python_function(one)
        return {name: weakref.ref(thing) for name, thing in things.items()}

    left = references()
    gc.collect()
    return [name for name, reference in left.items() if reference() is not None]


def public_names_only(make):
    """Whether make adds no node with the text of py_func, and has no private name."""
    codes = [make.__code__] if hasattr(make, "__code__") else []  # a partial has none
    for code in codes:  # and those of the functions in it
        codes += [part for part in code.co_consts if hasattr(part, "co_names")]
    f = tf.function(lambda x: make(np.negative, [x], x.dtype, grad=lambda op, dy: -dy))
    texts = [node.attr["token"].s for node, _ in gradient_names(f, tf.constant(1.0))]
    private = [name for c in codes for name in c.co_names if name.startswith(PRIVATE)]
    return not private and not any(b"py_func" in text for text in texts)


def draw_way(ax, title, f, x):
    """The nodes of f, or of its map; dashed: dy, from y to the first name and to x."""
    names = {node.op: name for node, name in gradient_names(f, x)}
    nodes = sorted(names)  # in the order of the way back
    ours = [node for node in nodes if names[node] != "no name"]
    boxes = {}
    for place, at in PLACES.items():
        if place in names:
            text = f"{place}\n{TASKS[place]}\n{names[place]}"
            boxes[place] = ax.text(at, 0.5, text, bbox=OURS if place in ours else OTHER)
        elif place not in TASKS:
            boxes[place] = ax.text(at, 0.5, place)
    back = ["y", *nodes[: nodes.index(ours[0]) + 1], "x"] if ours else ["y", *nodes]
    by_hand = [("x", "IdentityN")] if "IdentityN" in names else []
    for start, end in [*pairwise(boxes), *pairwise(back), *by_hand]:
        style, height = ("-", 0.6) if PLACES[start] < PLACES[end] else ("--", 0.4)
        bend = -0.13 if {start, end} == {"x", "IdentityN"} else 0
        arrow = {"arrowstyle": "->", "linestyle": style, "patchA": boxes[start]}
        arrow |= {"patchB": boxes[end], "connectionstyle": f"arc3,rad={bend}"}
        ax.annotate(
            "", (PLACES[end], height), (PLACES[start], height), arrowprops=arrow
        )
    ax.text(0.2, 0.3, "3x² dy" if ours else "the way back ends here: 0")
    plt.setp(ax.texts, ha="center", va="center")
    ax.set(title=title, xlim=(0, 1), xticks=[], yticks=[])
