"""Lesson 10's clock: what a call costs, measured and drawn."""

from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np

from notebooks.modules.alt_text import alt

CALLS = 5  # in a row: one alone is too short to be timed


def best_seconds(*runs, rounds=25):
    """The shortest time of each run. They take turns, so that a busy moment of the
    machine hits all of them; the first round, which may trace, is never the best."""
    best = [np.inf] * len(runs)
    for _ in range(rounds):
        for k, run in enumerate(runs):
            begin = perf_counter()
            run()
            best[k] = min(best[k], perf_counter() - begin)
    return best


def repeat(f, x):
    for _ in range(CALLS):
        x = f(x)
    return x


def microseconds(f, xs, rounds=40):
    """Of one call of f, for each x."""
    times = best_seconds(*(lambda x=x: repeat(f, x) for x in xs), rounds=rounds)
    return np.array(times) / CALLS * 1e6


def microseconds_in_graph(f, xs, rounds=40):
    """Of one call of f inside a graph that makes many, for each x."""
    from utils import tf

    def graph(x):
        spec = tf.TensorSpec(x.shape, x.dtype)
        return tf.function(lambda x: repeat(f, x)).get_concrete_function(spec)

    graphs = [graph(x) for x in xs]
    runs = [lambda x=x, run=run: run(x) for x, run in zip(xs, graphs, strict=True)]
    times = best_seconds(*runs, rounds=rounds)
    return np.array(times) / CALLS * 1e6


def crossing(sizes, rising, level):
    """The size at which a line that rises reaches the level, or None outside."""
    rising = np.maximum.accumulate(rising)  # without the noise
    if not rising[0] <= level <= rising[-1]:
        return None
    return float(np.exp(np.interp(np.log(level), np.log(rising), np.log(sizes))))


def draw_costs(sizes, alone, ops):
    """Time of a call over its size; a dot where the work equals the call's cost."""
    _, ax = plt.subplots()
    ax.loglog(sizes, alone, "-", color="0.4", label="np.sin alone")
    looks = [("--", "full"), (":", "none")]  # no two differ in colour alone
    for (name, times), (style, fill) in zip(ops.items(), looks, strict=True):
        (line,) = ax.loglog(sizes, times, style, label=f"as an op, {name}")
        if (size := crossing(sizes, alone, times[0])) is not None:
            ax.plot(size, times[0], "o", color=line.get_color(), fillstyle=fill)
            text = f"{float(f'{size:.2g}'):,.0f}"
            up = 8 if times[0] == max(t[0] for t in ops.values()) else -14
            ax.annotate(text, (size, times[0]), (6, up), textcoords="offset points")
    room = sizes[0] / 2, sizes[-1] * 4  # for the numbers beside the dots
    ax.set(xlabel="numbers", ylabel="microseconds a call", xlim=room)
    ax.legend()


def draw_shares(alone, ops):
    """Which share of an op's time its work takes, and which the call."""
    _, ax = plt.subplots(figsize=(6, 1.5))
    work = np.array([min(1, alone / time) for time in ops.values()])
    ax.barh(list(ops), work, label="work")
    ax.barh(list(ops), 1 - work, left=work, label="call", hatch="//", alpha=0.6)
    ax.set(xlabel="share of the time", xlim=(0, 1))
    parts = zip(work, ops, strict=True)
    shares = ", ".join(f"{part:.0%} {name}" for part, name in parts)
    alt(f"Of an op's time its own work takes {shares}; the call takes the rest.")
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
