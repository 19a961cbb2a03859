"""What lesson 11 draws and moves: hares and lynxes, and the rates of their model."""

import numpy as np

from notebooks.modules.pictures import figure, move
from utils import tf

YEARS = range(1900, 1921)
LOOKS = [("hares", "C0-", "C0o"), ("lynxes", "C1--", "C1s")]


def draw_animals(ax, curves, pelts):
    """Curves over dots, hares and lynxes; both arrays of shape (21, 2)."""
    for k, (name, line, dot) in enumerate(LOOKS):
        ax.plot(YEARS, curves[:, k], line, label=name)
        ax.plot(YEARS, pelts[:, k], dot, markersize=4)
    ax.set(xlabel="year", ylabel="pelts (thousands)", xticks=YEARS[::5])
    ax.legend(loc="upper right")


def move_rates(animals, fitted, pelts):
    """Sliders for the four rates, in percent: curves, loss and gradient follow.

    `animals` is the lesson's op, of 6 parameters; `fitted` has what 100 percent are.
    The arrows show minus the gradient of the loss by the logarithm of a rate.
    """

    def show(**percent):
        part = np.array([*percent.values(), 100, 100]) / 100
        logs = tf.Variable(np.log(part * fitted))
        with tf.GradientTape() as tape:
            curves = animals(tf.exp(logs))
            loss = tf.reduce_mean((tf.math.log(curves) - np.log(pelts)) ** 2)
        down = -tape.gradient(loss, logs).numpy()[:4]
        fig, (left, right) = figure(8, 2.8, 2, width_ratios=[2, 1])
        draw_animals(left, curves.numpy(), pelts)
        left.set(title=f"loss {loss:.3f}", ylim=(0, 100))
        right.axhline(0, color="grey", linewidth=0.8)
        for place, height in enumerate(np.clip(down, -2, 2)):
            ends = {"xy": (place, height), "xytext": (place, 0)}
            right.annotate("", **ends, arrowprops={"arrowstyle": "->", "lw": 2})
        right.set(xticks=range(4), xticklabels=list(percent), xlim=(-0.5, 3.5))
        right.set(ylim=(-2, 2), ylabel="minus the gradient")
        return fig

    def seen(**percent):
        rates = ", ".join(f"{name} {value} %" for name, value in percent.items())
        return (
            "Hares and lynxes over the years: the curves for the rates of the "
            f"sliders, {rates} of the fitted ones, over the dots of the data. Beside "
            "them an arrow for each rate, up or down, where the loss falls."
        )

    return move(show, seen, **dict.fromkeys("abcd", (100, 70, 130)))
