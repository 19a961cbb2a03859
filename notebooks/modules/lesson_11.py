"""What lesson 11 draws: hares and lynxes, and the rates of their model."""

import matplotlib.pyplot as plt
import numpy as np

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


def draw_rates(animals, pelts, fitted, **percent):
    """Curves for other rates, in percent of the fitted ones, and where the loss falls.

    `animals` is the lesson's op, of 6 parameters. The arrows show minus the gradient
    of the loss by the logarithm of a rate.
    """
    part = np.array([*percent.values(), 100, 100]) / 100
    logs = tf.Variable(np.log(part * fitted))
    with tf.GradientTape() as tape:
        curves = animals(tf.exp(logs))
        loss = tf.reduce_mean((tf.math.log(curves) - np.log(pelts)) ** 2)
    down = -tape.gradient(loss, logs).numpy()[:4]
    _, (left, right) = plt.subplots(1, 2, figsize=(8, 2.8), width_ratios=[2, 1])
    draw_animals(left, curves.numpy(), pelts)
    left.set(title=f"loss {loss:.3f}", ylim=(0, 100))
    right.axhline(0, color="grey", linewidth=0.8)
    for place, height in enumerate(np.clip(down, -2, 2)):
        ends = {"xy": (place, height), "xytext": (place, 0)}
        right.annotate("", **ends, arrowprops={"arrowstyle": "->", "lw": 2})
    right.set(xticks=range(4), xticklabels=list(percent), xlim=(-0.5, 3.5))
    right.set(ylim=(-2, 2), ylabel="minus the gradient")
