"""How the lessons draw: figures of a size, the computation graph, and sliders.

>>> from notebooks.modules.pictures import draw_graph, figure, move
"""

import gc

import ipywidgets
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.patches import FancyArrowPatch
from PIL import Image

from notebooks.modules.alt_text import as_html, as_png, few_colours, with_shades

FORWARD = "#1f4e9c"  # dark blue, solid
BACKWARD = "#c2410c"  # dark orange, dashed


def figure(width=6, height=3, columns=1, **options):
    """A figure and its axes, side by side.

    Args:
        width, height: in inches.
        columns: how many axes.
        options: as for `plt.subplots`.

    Returns:
        The figure, and one axes or an array of them.
    """
    return plt.subplots(1, columns, figsize=(width, height), **options)


def draw_graph(ax, boxes, arrows):
    """Draw a computation graph: values flow forward, gradients back.

    Args:
        ax: the axes to draw in; its own lines and ticks are taken away.
        boxes: a dict from a name to (column, row, text). Columns count from the
            left and rows from the top; both may be fractions.
        arrows: a list of (from, to, forward, backward): names of two boxes, and what
            to write at the arrow forward and at the one back. No text, no arrow.

    Example:
        >>> fig, ax = figure()
        >>> boxes = {"x": (0, 0, "x"), "y": (1, 0, "cube")}
        >>> draw_graph(ax, boxes, [("x", "y", "2", "12")])
    """
    patches = {}
    for name, (column, row, text) in boxes.items():
        label = ax.text(
            column,
            -row,
            text,
            ha="center",
            va="center",
            zorder=2,  # below the arrows: its box has to be in place before them
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
        if forward:
            _arrow(ax, places, ends, forward, FORWARD, "-", 7)
        if backward:
            _arrow(ax, places[::-1], ends[::-1], backward, BACKWARD, "--", 7)


def move(draw, alt, **sliders):
    """Sliders above a picture that follows them at once.

    Each picture is drawn once, and laid out as the one before if it has room so.
    (Jupyter's own way to show a figure draws it several times, to cut its margins.)

    Args:
        draw: gets a number for each slider, by name; returns a figure.
        alt: says in a sentence or two what is seen, for those who cannot see it: a
            text, or a function that gets the same numbers and returns the text.
        sliders: for each argument of `draw`: (number to begin with, lowest, highest),
            and the step, if it is to be another one than 1 for whole numbers and 0.1
            for others.

    Returns:
        A widget; a page without a kernel shows the first picture.
    """
    picture = ipywidgets.HTML()  # an ipywidgets.Image has no alt
    places, formulas = [], []

    def redraw(**values):
        fig = draw(**values)
        for ax, place in zip(fig.axes, places, strict=False):
            fig.set_layout_engine("none")
            ax.set_position(place)
        canvas = FigureCanvasAgg(fig)
        renderer = canvas.get_renderer()
        if not formulas:  # it remembers those that it has set; a new one knows none
            formulas.append(renderer.mathtext_parser)
        renderer.mathtext_parser = formulas[0]
        canvas.draw()  # once; savefig draws twice
        if places and any(map(_cut_off, fig.axes)):  # wider numbers need more room
            for ax in fig.axes:
                ax.set_in_layout(True)  # set_position takes it out
            fig.set_layout_engine("constrained")
            canvas.draw()
        plt.close(fig)
        places[:] = [ax.get_position() for ax in fig.axes]
        pixels = Image.fromarray(np.asarray(canvas.buffer_rgba()))
        if picture.value:  # the others are to be there at once, and the first is to
            png = as_png(pixels, compress_level=1)
        else:  # be small, since it is stored in the notebook
            png = few_colours(pixels, fig in with_shades)
        picture.value = as_html(png, alt(**values) if callable(alt) else alt)

    # Python would look through all of TensorFlow's objects again and again, to collect
    # what a picture leaves behind: 0.3 s each time, in which the slider hangs.
    gc.freeze()
    controls = {}
    for name, (start, low, high, *step) in sliders.items():
        whole = all(isinstance(number, int) for number in (start, low, high, *step))
        kind = ipywidgets.IntSlider if whole else ipywidgets.FloatSlider
        controls[name] = kind(start, min=low, max=high, description=name)
        if step:
            controls[name].step = step[0]
    said = ipywidgets.interactive_output(redraw, controls)  # an error, if any
    return ipywidgets.VBox([*controls.values(), picture, said])


def _cut_off(ax):
    """Whether a label beside the axes is not all in the picture."""
    inside = ax.figure.bbox
    labels = [label for label in (ax.xaxis.label, ax.yaxis.label) if label.get_text()]
    return any(
        not (inside.contains(box.x0, box.y0) and inside.contains(box.x1, box.y1))
        for box in (label.get_window_extent() for label in labels)
    )


def _arrow(ax, places, patches, text, color, style, shift):
    """An arrow to the left of the line between two places, as seen on the way.

    `shift` is how far from the line it runs, in points. Its text stands beside it,
    in the middle, or before the middle of a slanted one, where others may cross it.
    """
    to_pixels = ax.transData.transform
    (x0, y0), (x1, y1) = to_pixels(places)
    length = ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5
    normal = (y0 - y1) / length, (x1 - x0) / length
    points = ax.figure.dpi / 72  # pixels in a point

    def beside(x, y, distance):
        moved = x + normal[0] * distance * points, y + normal[1] * distance * points
        return ax.transData.inverted().transform(moved)

    ax.add_patch(
        FancyArrowPatch(
            beside(x0, y0, shift),
            beside(x1, y1, shift),
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
    width = 2.5 * sum(letter not in "$_{}" for letter in text)  # half of it, about
    part = 0.36 if x0 != x1 and y0 != y1 else 0.5
    away = shift + 8 + abs(normal[0]) * width
    ax.text(
        *beside(x0 + part * (x1 - x0), y0 + part * (y1 - y0), away),
        text,
        ha="center",
        va="center",
        color=color,
        zorder=4,
        bbox={"fc": "white", "ec": "none", "pad": 0.5},
    )
