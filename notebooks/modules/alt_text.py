"""A text alternative for each picture that a cell draws.

Jupyter shows a figure as an `<img>` without an `alt`, so that a screen reader has
nothing to say. A figure that was described is shown as HTML, with its `alt`; the
picture itself stays in the notebook, for programs that show no HTML.

Who imports this draws in the style of all lessons, which `lessons.mplstyle` has.
"""

import base64
import html
import io
import weakref
from pathlib import Path

import matplotlib.pyplot as plt
from IPython import get_ipython
from matplotlib.figure import Figure
from PIL import Image

plt.style.use(Path(__file__).with_name("lessons.mplstyle"))
just_shown = {}  # a figure, and its PNG, for which Jupyter asks once more
COLOURS = 64  # in a picture that is stored twice: a third of the bytes
with_shades = weakref.WeakSet()  # figures whose colours stand for numbers


def alt(text):
    """Say in words what the current figure shows; call it before `plt.show()`."""
    plt.gcf().set_label(" ".join(text.split()))
    shell = get_ipython()
    if shell:  # the backend puts its own formatter in place with its first figure
        formatters = shell.display_formatter.formatters
        formatters["image/png"].for_type(Figure, png)
        formatters["text/html"].for_type(Figure, described)


def keep_shades(figure):
    """The figure, which is then shown with 256 colours, each of them close to its own.

    With fewer, a colour bar comes in bands, and its rare colours are mixed with others.
    """
    with_shades.add(figure)
    return figure


def png(figure):
    """The figure as PNG of few colours; the same bytes for the same figure."""
    if figure in just_shown:
        return just_shown.pop(figure)
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", bbox_inches="tight", dpi=figure.dpi)
    return few_colours(Image.open(drawn), figure in with_shades)


def few_colours(picture, shades=False):
    """A PIL picture as PNG of few colours; `shades`: of more, the rare ones too."""
    few = picture.convert("RGB").quantize(
        256 if shades else COLOURS,
        Image.Quantize.MAXCOVERAGE if shades else Image.Quantize.MEDIANCUT,
        dither=Image.Dither.NONE,
    )
    return as_png(few, optimize=True)


def as_png(picture, **options):
    saved = io.BytesIO()
    picture.save(saved, format="png", **options)
    return saved.getvalue()


def described(figure):
    """The figure as HTML, with its description as `alt`; None without one."""
    text = figure.get_label()
    if not text:
        return None
    just_shown.clear()  # nobody asked for the last one
    picture = png(figure)
    just_shown[figure] = picture
    return as_html(picture, text)


def as_html(picture, text):
    """A PNG (bytes) as HTML, with `text` in its place where it cannot be seen."""
    data = base64.b64encode(picture).decode()
    return f'<img alt="{html.escape(text)}" src="data:image/png;base64,{data}">'
