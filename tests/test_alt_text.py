"""A picture with words in its place, and sliders that move in whole steps."""

import matplotlib.pyplot as plt
from ipywidgets import FloatSlider, IntSlider

from notebooks.modules import alt_text
from notebooks.modules.pictures import figure, move


def line(*heights):
    fig, ax = figure(2, 1)
    ax.plot(heights)
    return fig


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
                 size=(3.0, 0, 8))  # fmt: skip
    count, size, picture, _ = moved.children
    assert isinstance(count, IntSlider) and isinstance(size, FloatSlider)
    before = picture.value
    count.value += 1
    assert picture.value != before and 'alt="a line"' in picture.value
