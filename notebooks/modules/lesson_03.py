"""The pictures of lesson 03."""

import matplotlib.pyplot as plt
import numpy as np


def draw_jump():
    """Draw 3 mod p around p = 1.5, and what its gradient promises."""
    fig, ax = plt.subplots(figsize=(6, 3))
    below, above = np.linspace(1.4, 1.5, 50), np.linspace(1.5001, 1.6, 50)
    ax.plot(below, 3 % below, "C0-", label="3 mod p")
    ax.plot(above, 3 % above, "C0-")
    ax.plot([1.4, 1.5, 1.6], [0.2, 0, -0.1], "C1--", label="what its gradient promises")
    ax.annotate("", (1.5, 1.5), (1.5, 0), arrowprops={"arrowstyle": "->"})
    ax.text(1.497, 0.75, "jump: +1.5", ha="right")
    ax.text(1.42, 0.27, "slope −2")
    ax.text(1.55, 1.52, "slope −1")
    ax.set(xlabel="period p", ylabel="remainder", ylim=(-0.2, 1.7))
    ax.legend(loc="upper left")
    plt.show()


def draw_search(losses, paths, jumps):
    """Draw the first loss, the same near its jumps, and the second loss.

    Args:
        losses: two functions of periods, float64 of shape (N, 1).
        paths: for each loss the periods of two descents, of shape (steps, 2, 1).
        jumps: for each tick the period at which the first loss jumps.
    """
    fig, axes = plt.subplots(1, 3, figsize=(10, 3.2))
    near = np.linspace(2.2, 2.9, 14_001)[:, None]
    for ax, loss, path in zip(axes[[0, 2]], losses, paths, strict=True):
        ax.plot(near, loss(near))
        for k, style in enumerate(["C1o--", "C2s:"]):
            ax.plot(
                path[:, k],
                loss(path[:, k]),
                style,
                markersize=4,
                linewidth=0.8,
                label=f"steps from {path[0, k, 0]:.1f}",
            )
        ax.legend(loc="upper left")
    close = np.linspace(2.4995, 2.5038, 4301)[:, None]
    axes[1].plot(close, losses[0](close))
    for place, tick in enumerate(np.argsort(jumps)[:9]):
        axes[1].text(
            jumps[tick] - 3e-5, 0.625 * (place + 0.6), tick + 1, ha="right", fontsize=8
        )
    axes[1].set(xticks=[2.5, 2.502])
    titles = ["cut_at_zero", "cut_at_zero, near 2.5", "cut_at_half"]
    for ax, title in zip(axes, titles, strict=True):
        ax.set(title=title, xlabel="period p", ylabel="loss", ylim=(-0.2, 8))
    for ax in axes[[0, 2]]:
        ax.set(xlim=(2.2, 2.9))
    plt.show()
