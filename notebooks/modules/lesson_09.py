"""The picture of lesson 09: the two places of a gradient."""

import matplotlib.pyplot as plt


def draw_places(record, nodes):
    """Draw a tape's record on the left, and on the right a graph with its nodes.

    Args:
        record: a list of lines, what the tape has written of an op.
        nodes: for each node of the graph, in order, its lines; the last one, which
            names the gradient, is drawn in an orange box with a dashed frame.
    """
    _, (tape, graph) = plt.subplots(1, 2, figsize=(8.5, 1.7), width_ratios=[2, 3])
    tape.set_title("A tape that sees the op looks at its record")
    graph.set_title("A tape around a graph looks at the nodes")
    for ax in tape, graph:
        ax.axis("off")
    write(tape, 0.5, record, dashed=True)
    for number, lines in enumerate(nodes):
        place = (number + 0.5) / len(nodes)
        write(graph, place, lines, dashed=number == len(nodes) - 1)
        if number:
            ends = (place - 0.18, 0.5), (place - 0.34, 0.5)
            graph.annotate("", *ends, arrowprops={"arrowstyle": "->"})


def write(ax, place, lines, dashed):
    """Write the lines into a box whose middle is at `place`, from 0 to 1."""
    style = ("#fde0c5", "--") if dashed else ("#d6e6f4", "-")
    box = {"boxstyle": "round", "edgecolor": "black", "pad": 0.6}
    box |= dict(zip(["facecolor", "linestyle"], style, strict=True))
    ax.text(place, 0.5, "\n".join(lines), bbox=box, ha="center", va="center")
