"""What lesson 03 draws."""

import matplotlib.pyplot as plt
import numpy as np


def draw_bars(ticks, periods):
    """Draw remainders, and distances to the nearest multiple, in a row for each p."""
    fig, axes = plt.subplots(len(periods), figsize=(8, 3), sharex=True)
    for ax, p in zip(axes, periods, strict=True):
        multiples = p * np.arange(ticks[-1] // p + 2)
        below, nearest = ticks // p * p, np.round(ticks / p) * p
        ax.vlines(multiples, -0.6, 0.6, "0.5", ":", label="multiple of p")
        ax.hlines(0 * ticks + 0.25, below, ticks, "C1", lw=6, label="remainder")
        ax.hlines(0 * ticks - 0.25, nearest, ticks, "C2", lw=3,
                  label="distance to the nearest multiple")  # fmt: skip
        ax.vlines(ticks, -0.5, 0.5, "C0", lw=2, label="tick")
        ax.set(ylabel=f"p = {p:.1f}", yticks=[], ylim=(-0.7, 0.7))
    ax.set_xlabel("seconds")
    fig.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=4)
    plt.show()


def draw_search(loss, paths):
    """Draw a loss for periods near 2.5, and two descents."""
    fig, ax = plt.subplots(figsize=(7, 2.8))
    near = np.linspace(2.3, 3.0, 701)
    ax.plot(near, [loss(p) for p in near])
    for path, style in zip(paths, ["C1o--", "C2s:"], strict=True):
        label = f"steps from {path[0]:.1f}"
        ax.plot(path, [loss(p) for p in path], style, ms=4, lw=0.8, label=label)
    ax.set(xlabel="period p", ylabel="loss", xlim=(2.3, 3.0))
    ax.margins(y=0.15)
    ax.legend(loc="upper left")
    plt.show()
