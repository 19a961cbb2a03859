"""What lesson 03 draws."""

import matplotlib.pyplot as plt
import numpy as np


def draw_bars(ticks, periods):
    """Draw the remainders, a row for each p."""
    rows = len(periods)
    size = (8, 0.6 + 1.2 * rows)
    fig, axes = plt.subplots(rows, figsize=size, sharex=True)
    for ax, p in zip(axes, periods, strict=True):
        multiples = p * np.arange(ticks[-1] // p + 2)
        ax.vlines(multiples, -0.6, 0.6, "0.5", ":", label="multiple of p")
        ax.hlines(0 * ticks, ticks // p * p, ticks, "C1", lw=6, label="remainder")
        ax.vlines(ticks, -0.5, 0.5, "C0", lw=2, label="tick")
        ax.set(ylabel=f"p = {p:.1f}", yticks=[], ylim=(-0.7, 0.7))
    ax.set_xlabel("seconds")
    fig.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=4)
    plt.show()


def draw_remainder(tick, periods):
    """Draw a tick's remainder against p, which jumps once between the two periods."""
    fits = tick // periods[0]
    jump = tick / fits
    ends = periods[0] - 0.1, periods[1] + 0.1
    fig, ax = plt.subplots(figsize=(7, 2.8))
    for end, n in zip(ends, (fits, fits - 1), strict=True):
        ax.plot([end, jump], [tick - n * end, tick - n * jump], "C0-")
        ax.annotate(f"slope −{n:.0f}", ((end + jump) / 2, tick - n * (end + jump) / 2),
                    (0, 12), textcoords="offset points", ha="center")  # fmt: skip
    ax.plot(jump, 0, "C0o")
    ax.plot(jump, jump, "C0o", mfc="w")  # not on the graph
    arrow = {"arrowstyle": "->", "ls": ":", "shrinkA": 6, "shrinkB": 6}
    ax.annotate("", (jump, jump), (jump, 0), arrowprops=arrow)
    ax.text(jump + 0.005, jump / 2, f"jump of {jump}", va="center")
    for p, style in zip(periods, ["C1o", "C2s"], strict=True):
        ax.plot(p, tick % p, style, label=f"p = {p}")
    ax.set(xlabel="period p", ylabel=f"{tick:.0f} mod p", xlim=ends)
    ax.margins(y=0.15)
    ax.legend(loc="upper left")
    plt.show()


def draw_search(loss, paths, since=2.3, until=3.5):
    """Draw a loss for a range of periods, and the steps of the descents."""
    fig, ax = plt.subplots(figsize=(7, 2.8))
    periods = np.linspace(since, until, 701)
    ax.plot(periods, [loss(p) for p in periods])
    for path, style in zip(paths, ["C1o--", "C2s:", "C3^-."], strict=False):
        label = f"steps from {path[0]:.1f}"
        path = path[(path >= since) & (path <= until)]
        ax.plot(path, [loss(p) for p in path], style, ms=4, lw=0.8, label=label)
    ax.set(xlabel="period p", ylabel="loss", xlim=(since, until))
    ax.margins(y=0.15)
    ax.legend(loc="lower right")
    plt.show()
