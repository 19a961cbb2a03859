"""The picture of lesson 09: the two places of a gradient."""

import matplotlib.pyplot as plt


def draw_places(record, nodes):
    """Draw a tape with its record on the left, and on the right a graph from x to y.

    Args:
        record: a list of lines, what the tape has written of an op.
        nodes: the lines of two nodes. The second one, which gets x as well and names
            the gradient, is drawn like the record: orange, with a dashed frame.
    """
    _, (tape, graph) = plt.subplots(1, 2, figsize=(9, 2.1), width_ratios=[2, 3.2])
    tape.set(title="A tape that sees the op keeps a record", xticks=[], yticks=[])
    tape.text(0.03, 0.87, "tape", va="center")
    graph.set(title="A tape around a graph looks at the nodes", xlim=(0, 1))
    graph.axis("off")
    ours = {"boxstyle": "round,pad=0.5", "facecolor": "#fde0c5", "linestyle": "--"}
    other = {"boxstyle": "round,pad=0.5", "facecolor": "#d6e6f4"}
    middle = {"ha": "center", "va": "center"}
    tape.text(0.5, 0.42, "\n".join(record), bbox=ours, **middle)
    boxes = [
        graph.text(place, 0.4, "\n".join(lines), bbox=box, **middle)
        for place, lines, box in [
            (0.02, ["x"], None),
            (0.3, nodes[0], other),
            (0.73, nodes[1], ours),
            (1, ["y"], None),
        ]
    ]
    for start, end, bend in [(0, 1, 0), (1, 2, 0), (2, 3, 0), (0, 2, -0.35)]:
        arrow = {
            "arrowstyle": "->",
            "patchA": boxes[start],
            "patchB": boxes[end],
            "connectionstyle": f"arc3,rad={bend}",
        }
        graph.annotate(
            "", boxes[end].get_position(), boxes[start].get_position(), arrowprops=arrow
        )
