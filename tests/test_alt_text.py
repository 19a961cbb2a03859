"""A picture with words in its place, and sliders that move in whole steps."""

import io

import matplotlib.pyplot as plt
import numpy as np
from ipywidgets import FloatSlider, IntSlider
from matplotlib.layout_engine import ConstrainedLayoutEngine
from PIL import Image

from notebooks.modules import alt_text
from notebooks.modules.pictures import figure, move


def line(*heights):
    fig, ax = figure(2, 1)
    ax.plot(heights)
    return fig


def test_every_figure_comes_in_the_style_of_all_lessons():
    fig, ax = plt.subplots()
    lines = [line for _ in range(4) for line in ax.plot([0, 1])]
    for differ in (lambda line: line.get_color(), lambda line: line.get_linestyle()):
        assert len({differ(line) for line in lines}) == 4
    assert isinstance(fig.get_layout_engine(), ConstrainedLayoutEngine)
    legend = ax.legend(lines, "abcd")
    assert legend.get_texts()[0].get_fontsize() == 8
    plt.close(fig)


def test_a_figure_is_drawn_once_for_html_and_png():
    fig = line(1, 2)
    assert alt_text.described(fig) is None
    fig.set_label('a "line" & more')
    html = alt_text.described(fig)
    assert 'alt="a &quot;line&quot; &amp; more"' in html
    fig.axes[0].plot([3, 0])
    first, second = alt_text.png(fig), alt_text.png(fig)
    assert alt_text.as_html(first, fig.get_label()) == html
    assert first != second and second == alt_text.png(fig)
    plt.close(fig)


def test_whole_numbers_make_a_slider_of_whole_steps():
    moved = move(lambda count, size: line(count, size), "a line", count=(3, 0, 8),
                 size=(3.0, 0, 8, 0.5))  # fmt: skip
    count, size, picture, _ = moved.children
    assert isinstance(count, IntSlider) and isinstance(size, FloatSlider)
    assert (count.step, size.step) == (1, 0.5)
    half = move(lambda size: line(1, size), "a line", size=(3, 0, 8, 0.5)).children[0]
    assert isinstance(half, FloatSlider)
    before = picture.value
    count.value += 1
    assert picture.value != before and 'alt="a line"' in picture.value


def test_a_picture_that_needs_more_room_gets_it():
    """Numbers beside the axes may get wider, and push the label out of the picture."""
    rooms = []

    def draw(size):
        fig, ax = figure(3, 2)
        ax.set_yticks([0], [f"{size}"])
        ax.set_ylabel("a label")
        rooms.append(ax)
        return fig

    slider = move(draw, "an empty picture", size=(1, 1, 10**6)).children[0]
    for size in 10**6, 1:
        slider.value = size
    first, wide, back = (ax.get_position().x0 for ax in rooms)
    assert first < wide == back
    assert rooms[1].yaxis.label.get_window_extent().x0 >= 0


def test_a_figure_that_keeps_its_shades_has_the_colours_of_its_colour_bar():
    fig, ax = figure(3, 2)
    fig.colorbar(ax.imshow(np.random.default_rng(0).normal(0, 0.1, (99, 99)), "RdBu_r",
                           vmin=-1, vmax=1))  # fmt: skip
    drawn = io.BytesIO()
    fig.savefig(drawn, format="png", bbox_inches="tight", dpi=fig.dpi)
    right = np.int32(Image.open(drawn).convert("RGB"))

    def off():
        picture = Image.open(io.BytesIO(alt_text.png(fig)))
        return np.abs(np.int32(picture.convert("RGB")) - right).max()

    assert off() > 20
    assert alt_text.keep_shades(fig) is fig
    assert off() <= 10
    plt.close(fig)
