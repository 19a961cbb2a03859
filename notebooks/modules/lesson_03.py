"""What lesson 03 draws."""

import matplotlib.pyplot as plt
import numpy as np


def draw_distances(ticks, periods):
    """Draw how far ticks are from multiples of p, on a line of time for each p."""
    fig, axes = plt.subplots(2, figsize=(8, 2.4), sharex=True)
    for ax, p in zip(axes, periods, strict=True):
        nearest = np.round(ticks / p) * p
        ax.vlines(p * np.arange(27 // p + 1), -0.5, 0.5, "0.5", ":", label="multiple")
        ax.hlines(0 * ticks, nearest, ticks, "C1", "-", lw=5, label="distance")
        ax.plot(ticks, 0 * ticks, "C0|", ls="", ms=10, mew=2, label="tick")
        ax.set(ylabel=f"p = {p:.2f}", yticks=[], ylim=(-0.7, 0.7))
    ax.set_xlabel("seconds")
    fig.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=3)
    plt.show()


def draw_search(loss, path):
    """Draw a loss for periods near 2.5, and two descents: path is (steps, 2, 1)."""
    fig, ax = plt.subplots(figsize=(7, 2.8))
    near = np.linspace(2.38, 2.72, 6_801)
    ax.plot(near, loss(near[:, None]))
    for k, style in enumerate(["C1o--", "C2s:"]):
        label = f"steps from {path[0, k, 0]:.1f}"
        ax.plot(path[:, k], loss(path[:, k]), style, ms=4, lw=0.8, label=label)
    ax.set(xlabel="period p", ylabel="loss", xlim=(2.38, 2.72))
    ax.margins(y=0.15)
    ax.legend(loc="upper left")
    plt.show()
