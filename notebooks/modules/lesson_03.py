"""What lesson 03 draws, and what its second exercise hands over."""

import matplotlib.pyplot as plt
import numpy as np

from utils import tf


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


def draw_search(losses, paths):
    """Draw two losses near 2.5, each with its descents; of the second also the rims.

    Args:
        losses: two functions of periods, float64 of shape (N, 1).
        paths: for each loss the periods of two descents, of shape (steps, 2, 1).
    """
    fig, axes = plt.subplots(1, 2, figsize=(9, 3.2))
    near = np.linspace(2.2, 2.9, 14_001)
    for ax, loss, path in zip(axes, losses, paths, strict=True):
        ax.plot(near, loss(near[:, None]))
        for k, style in enumerate(["C1o--", "C2s:"]):
            label = f"steps from {path[0, k, 0]:.1f}"
            ax.plot(path[:, k], loss(path[:, k]), style, ms=4, lw=0.8, label=label)
    axes[0].set(title="cut_at_zero", xlim=(2.2, 2.9), ylim=(-0.2, 8))
    axes[1].set(title="cut_at_half", xlim=(2.2, 2.9), ylim=(-0.02, 1.1))
    heights = losses[1](near[:, None]).numpy()
    rises = np.diff(heights) > 0
    bottom = heights.argmin()
    left = near[np.flatnonzero(rises[:bottom])[-1] + 1]
    right = near[bottom + np.flatnonzero(~rises[bottom:])[0]]
    for rim in left, right:
        axes[1].axvline(rim, color="0.5", linestyle=":")
        axes[1].text(rim, 0.83, f" rim {rim:.2f} ", ha="left" if rim > 2.5 else "right")
    for ax in axes:
        ax.set(xlabel="period p", ylabel="loss")
        ax.legend(loc="upper left")
    plt.show()


def takes_numbers(f):
    """Let a function of float64 tensors take numbers and arrays, and return NumPy."""

    def any_f(x):
        return f(x) if tf.is_tensor(x) else f(tf.constant(x, tf.float64)).numpy()

    return any_f
