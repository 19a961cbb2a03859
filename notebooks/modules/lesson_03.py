"""What lesson 03 draws."""

import matplotlib.pyplot as plt
import numpy as np


def draw_remainders(ticks, p):
    """Draw ticks on a line of time, and what each is later than a multiple of p."""
    fig, ax = plt.subplots(figsize=(8, 1.7))
    multiples = p * np.arange(ticks.max() // p + 2)
    ax.vlines(multiples, -0.5, 0.5, "0.5", ":", label=f"multiples of {p}")
    ax.hlines(0 * ticks, ticks - ticks % p, ticks, "C1", "-", lw=5, label="remainder")
    ax.plot(ticks, 0 * ticks, "C0|", ls="", ms=10, mew=2, label="tick")
    ax.set(xlabel="seconds", yticks=[], ylim=(-0.7, 1.7))
    ax.legend(loc="upper center", ncols=3)
    plt.show()


def draw_search(loss, path):
    """Draw a loss for periods near 2.5, and two descents: path is (steps, 2, 1)."""
    fig, ax = plt.subplots(figsize=(7, 2.8))
    near = np.linspace(2.2, 2.9, 14_001)
    heights = loss(near[:, None]).numpy()
    ax.plot(near, heights)
    for k, style in enumerate(["C1o--", "C2s:"]):
        label = f"steps from {path[0, k, 0]:.1f}"
        ax.plot(path[:, k], loss(path[:, k]), style, ms=4, lw=0.8, label=label)
    ax.set(xlabel="period p", ylabel="loss", xlim=(2.2, 2.9))
    ax.set_ylim(-0.05 * heights.max(), 1.15 * heights.max())
    ax.legend(loc="upper left")
    plt.show()
