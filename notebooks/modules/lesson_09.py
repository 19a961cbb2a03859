"""For lesson 09: what came of a call, and where the nodes of a graph lead dy."""

import gc
import re
import sys
import textwrap
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np

from utils import gradient, py_func, tf

from .quiet import quietly

PLACES = {"x": 0.08, "end": 0.24, "PyFunc": 0.42, "IdentityN": 0.76, "y": 0.96}
TASKS = {"PyFunc": "calls NumPy", "IdentityN": "passes y and x on"}
OURS = {"boxstyle": "round,pad=0.6", "facecolor": "#fde0c5", "linestyle": "--"}
OTHER = {"boxstyle": "round,pad=0.6", "facecolor": "#d6e6f4"}
LABELS = {"PyFunc": (0.25, 0.26), "IdentityN": (0.62, 0.12)}
PRIVATE = r"tensorflow\.python|(record_operation|py_func)$"


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


def gradient_names(f, x):
    """For each node PyFunc or IdentityN of the graph of f: node and gradient name."""
    with quietly():
        graph = tf.function(f).get_concrete_function(x).graph.as_graph_def()
    bodies = [body.node_def for body in graph.library.function]
    nodes = [
        node for body in (graph.node, *bodies) for node in body if node.op in TASKS
    ]
    names = [node.attr["_gradient_op_type"].s.decode() for node in nodes]
    names = [re.sub("-.*", "-…", name) or "no gradient name" for name in names]
    return sorted(zip(nodes, names, strict=True), key=lambda pair: pair[0].name)


def grad_is_kept(make):
    """Whether an eager call of the op keeps its grad, say under a registered name."""

    def grad(op, dy):
        return -dy

    before = sys.getrefcount(grad)
    make(np.negative, [tf.constant(1.0)], tf.float32, grad=grad)
    gc.collect()
    return sys.getrefcount(grad) > before


def public_names_only(make):
    """Whether make, what it calls and holds have neither a private name nor py_func."""
    parts, used = [make, type(make).__call__, getattr(make, "func", None)], set()
    notebook = next((f.__globals__ for f in parts if hasattr(f, "__globals__")), {})
    for part in parts:  # functions, the code of those in them, and what has no code
        code = getattr(part, "__code__", part)
        new = set(getattr(code, "co_names", ())) - used
        used |= new
        parts += [*map(notebook.get, new), *getattr(code, "co_consts", ())]
        held = [c.cell_contents for c in getattr(part, "__closure__", None) or ()]
        parts += [one for one in held if all(one is not known for known in parts)]
    names = used | {getattr(part, "__name__", "") for part in parts}
    private = any(re.match(PRIVATE, name) for name in names)
    return not private and all(part is not py_func for part in parts)


def draw_way(ax, title, f, x):
    """The nodes of f, or of its map; dashed: where they lead dy. A tape finds dx."""
    dx = outcome(gradient, tf.function(f), x)
    found = gradient_names(f, x)
    names = {node.op: name for node, name in found}
    tasks = {node.op: TASKS[node.op] + ", in a loop" * ("while" in node.name)
             for node, _ in found}  # fmt: skip
    nodes = sorted(names)  # in the order of the way back
    ours = [node for node in nodes if names[node] != "no gradient name"]
    back = nodes[: nodes.index(ours[0]) + 1] if ours else nodes
    texts = {node: f"{node}\n{tasks[node]}\n{names[node]}" for node in nodes}
    texts |= {"x": f"x\n\ndx = {dx}", "y": "y\n\ndy = 1"}
    boxes = {}
    for place in sorted(texts, key=PLACES.get):
        style = OURS if place in ours else OTHER if place in nodes else None
        boxes[place] = ax.text(PLACES[place], 0.5, texts[place], bbox=style)
    arrows = [*pairwise(boxes), ("x", nodes[0]), *pairwise(["y", *back])]
    if ours:
        arrows.append((back[-1], "x"))
        ax.text(*LABELS[back[-1]], "our gradient")
    else:
        arrows.append((back[-1], "end"))
        boxes["end"] = ax.text(PLACES["end"], 0.38, "✕ no gradient")
        arrows.append(("IdentityN", "x"))
        ax.text(0.69, 0.12, "dy of the unused output: 0")
    for start, end in dict.fromkeys(arrows):
        style, height = ("-", 0.62) if PLACES[start] < PLACES[end] else ("--", 0.38)
        bend = -0.13 if {start, end} == {"x", "IdentityN"} else 0
        arrow = {"arrowstyle": "->", "linestyle": style, "patchA": boxes[start]}
        arrow |= {"patchB": boxes[end], "connectionstyle": f"arc3,rad={bend}"}
        ends = (PLACES[end], height), (PLACES[start], height)
        ax.annotate("", *ends, arrowprops=arrow)
    plt.setp(ax.texts, ha="center", va="center")
    ax.set(title=title, xlim=(0, 1), xticks=[], yticks=[])
