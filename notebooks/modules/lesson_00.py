"""Lesson 00 draws a computation graph with this."""

import matplotlib.pyplot as plt
from matplotlib.patches import FancyArrowPatch

FORWARD = "#1f4e9c"  # dark blue, solid
BACKWARD = "#c2410c"  # dark orange, dashed


def draw_our_op():
    """Draw the op of the lesson, y1 = x1 x2 and y2 = x1 + x2, and its loss."""
    boxes = {
        "x1": (0, 0, "$x_1 = 2$\n$dx_1 = 30 + 1 = 31$"),
        "x2": (0, 1, "$x_2 = 3$\n$dx_2 = 20 + 1 = 21$"),
        "y1": (1, 0, "$y_1 = x_1 x_2 = 6$\n$dy_1 = 10$"),
        "y2": (1, 1, "$y_2 = x_1 + x_2 = 5$\n$dy_2 = 1$"),
        "L": (1.9, 0.5, "$L = 10\\,y_1 + y_2$\n$= 65$"),
    }
    arrows = [
        ("x1", "y1", "", "10·3"),
        ("x1", "y2", "", "1·1"),
        ("x2", "y1", "", "10·2"),
        ("x2", "y2", "", "1·1"),
        ("y1", "L", "", "10"),
        ("y2", "L", "", "1"),
    ]
    _, ax = plt.subplots(figsize=(8, 3.6))
    draw_graph(ax, boxes, arrows)
    ax.axvspan(0.25, 1.23, color="0.92", zorder=0)
    ax.text(0.74, 0.24, "our op", ha="center", va="center")
    plt.show()


def draw_graph(ax, boxes, arrows):
    """Draw a computation graph: values flow forward, gradients back.

    Args:
        ax: the axes to draw in; its lines and ticks are taken away.
        boxes: a dict from a name to (column, row, text). Columns count from the left
            and rows from the top; both may be fractions.
        arrows: a list of (from, to, forward, backward): the names of two boxes, and
            what to write at the arrow forward and at the one back.

    Example:
        >>> import matplotlib.pyplot as plt
        >>> boxes = {"x": (0, 0, "x = 2"), "y": (1, 0, "y = 8")}
        >>> draw_graph(plt.gca(), boxes, [("x", "y", "2", "12")])
    """
    patches = {}
    for name, (column, row, text) in boxes.items():
        label = ax.text(
            column,
            -row,
            text,
            ha="center",
            va="center",
            linespacing=1.6,
            zorder=2,  # below the arrows, whose ends need its box
            bbox={"boxstyle": "round,pad=0.5", "fc": "#f4f4f4", "ec": "#444444"},
        )
        patches[name] = label.get_bbox_patch()
    columns = [column for column, _, _ in boxes.values()]
    rows = [-row for _, row, _ in boxes.values()]
    ax.set(
        xlim=(min(columns) - 0.4, max(columns) + 0.4),
        ylim=(min(rows) - 0.3, max(rows) + 0.3),
    )
    ax.axis("off")
    for start, end, forward, backward in arrows:
        places = [(boxes[name][0], -boxes[name][1]) for name in (start, end)]
        ends = patches[start], patches[end]
        _arrow(ax, places, ends, forward, FORWARD, "-")
        _arrow(ax, places[::-1], ends[::-1], backward, BACKWARD, "--")


def _arrow(ax, places, patches, text, color, style):
    """An arrow to the left of the line between two places, with its text beside it."""
    (x0, y0), (x1, y1) = ax.transData.transform(places)
    length = ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5
    normal = (y0 - y1) / length, (x1 - x0) / length
    pixels = ax.figure.dpi / 72  # in a point

    def beside(part, distance):
        """The place at a part of the way, some points to the left of it."""
        x = x0 + part * (x1 - x0) + normal[0] * distance * pixels
        y = y0 + part * (y1 - y0) + normal[1] * distance * pixels
        return ax.transData.inverted().transform((x, y))

    ax.add_patch(
        FancyArrowPatch(
            beside(0, 7),
            beside(1, 7),
            patchA=patches[0],
            patchB=patches[1],
            shrinkA=0,
            shrinkB=0,
            arrowstyle="-|>",
            mutation_scale=12,
            color=color,
            linestyle=style,
            lw=1.4,
            zorder=3,
        )
    )
    half_width = 2.5 * sum(letter not in "$_{}" for letter in text)  # about, in points
    slanted = x0 != x1 and y0 != y1  # two such lines may cross in the middle
    ax.text(
        *beside(0.36 if slanted else 0.5, 15 + abs(normal[0]) * half_width),
        text,
        ha="center",
        va="center",
        color=color,
        zorder=4,
        bbox={"fc": "white", "ec": "none", "pad": 0.5},
    )
