"""The picture of lesson 09: what happens in a call, in order."""

import matplotlib.pyplot as plt


def draw_calls(diaries):
    """Draw a row of boxes for each call: orange with a dashed frame on the way back.

    Args:
        diaries: for each name of a call a list of pairs of texts, what happened and
            the type of the value.
    """
    height = 0.3 + 0.9 * len(diaries)
    _, axes = plt.subplots(len(diaries), figsize=(8, height), squeeze=False)
    for ax, (name, diary) in zip(axes[:, 0], diaries.items(), strict=True):
        ax.set(xlim=(0, 4), ylim=(0, 1))
        ax.set_title(name, loc="left")
        ax.axis("off")
        for number, (what, kind) in enumerate(diary):
            back = "dy" in what or "dx" in what
            box = {
                "boxstyle": "round",
                "edgecolor": "black",
                "facecolor": "#fde0c5" if back else "#d6e6f4",
                "linestyle": "--" if back else "-",
            }
            ax.text(
                number + 0.5,
                0.5,
                f"{number + 1}. {what}\n{kind}",
                bbox=box,
                ha="center",
                va="center",
            )
            if number:
                ax.annotate(
                    "",
                    (number + 0.08, 0.5),
                    (number - 0.08, 0.5),
                    arrowprops={"arrowstyle": "->"},
                )
