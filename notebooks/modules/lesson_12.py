"""What lesson 12 needs besides its package: programs, a picture, and a check."""

import os
import re
import subprocess
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from custom_ops.cpp_op import _go_on_without_compiler
from utils import compile_command, gives, holds, judge

from .lesson_12_worker import attempt, call_op
from .processes import load_early, start

load_early()
CPP = Path(__file__).resolve().parents[1] / "cpp"
# Before a student's code, which calls this Shard instead of TensorFlow's.
WATCHED_SHARD = """
#include <fstream>
#include "tensorflow/core/util/work_sharder.h"
namespace tensorflow {
template <typename Threads, typename Pool, typename... Rest>
void WatchedShard(Threads threads, Pool pool, int64_t total, const Rest&... rest) {
  std::ofstream("shard") << total;
  Shard(threads, pool, total, rest...);
}
}
#include "answer.cc"
"""


def look_for_compiler():
    """Without a C++ compiler, say so, and skip the cells that begin with `# C++`."""
    try:
        compile_command(next(CPP.rglob("*.cc")))
    except FileNotFoundError as error:
        _go_on_without_compiler(error)


def show(name, start, end=None):
    """Print a part of a file in cpp: from `start` to before `end`."""
    text = (CPP / name).read_text("utf-8")
    part = text[text.index(start) :]
    print((part[: part.index(end)] if end else part).rstrip())


def run(*words, folder):
    """Run a program in a folder, and print what it says, or why it failed."""
    env = os.environ | {"PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, env=env)
    print(done.stdout, done.stderr if done.returncode else "", sep="", end="")


def in_new_process(program, name, folder):
    """What a function of this program returns in a process of its own, or its error."""
    return start(attempt, program, name, str(folder))[1].recv()


def call_elsewhere(files, calls):
    """What `call_op` sends of each call, or why it cannot."""
    with tempfile.TemporaryDirectory() as folder:
        process, connection = start(call_op, files, calls, folder)
        try:
            if connection.poll(200):
                return connection.recv()
        except EOFError:
            return "it ends the process: does it write or read where nothing is?"
        process.kill()
        return "stopped after 200 seconds: does each loop come to an end?"


def judge_norm(code):
    """Judge the C++ of SegmentNorm: values, ids, lengths, p, threads, and shapes."""
    x, ids = np.array([3.0, -5.0, -4.0, 12.0, -2.0]), np.int32([2, 0, 2, 0, 3])
    many = np.random.default_rng(0).normal(size=1_000_000)
    many_ids = np.arange(len(many), dtype=np.int32) % 7
    which = "a million numbers: which thread writes y, and what type is the sum?"
    wrong_id = "refuse ids 4 and -1 for 4 segments: they would write where nothing is"
    lengths = "refuse four numbers and five ids, and matrices, before `Shard` is called"
    wrong_p = "refuse p = 0, -1 and nan, before `Shard` is called: what sets p?"
    tries = [  # x, ids, segments and p, hint; the first four are right
        (x, ids, [1000], "p is 2 by default; most of the segments are empty"),
        (x, ids, [5, 1.0], "p = 1: what about the sign of x?"),
        (np.float32(x), ids, [1000, 0.5], "p = 0.5, in float32"),
        (many, many_ids, [1000, 3.0], which),
        *[(x, wrong, [4], wrong_id) for wrong in (ids + 1, ids - 1)],
        *[(x[:4], ids, [4], lengths), (x[None], ids[None], [4], lengths)],
        *[(x, ids, [4, p], wrong_p) for p in (0.0, -1.0, float("nan"))],
    ]
    found = "p is not yet an attribute in the interface"
    if re.search(r"\bp\s*:", str(code)):  # else do not wait for the compiler
        answer = re.sub(r"\bShard\b", "WatchedShard", code)
        files = {"op.cc": WATCHED_SHARD, "answer.cc": answer}
        found = call_elsewhere(files, [one[:3] for one in tries])
    if isinstance(found, str):
        return judge(holds(lambda: found))
    ys, shapes, shared = zip(*found, strict=True)

    def value(y, x, ids, options, hint):
        segments, p = [*options, 2.0][:2]
        right = np.bincount(ids, abs(x) ** p, segments) ** (1 / p)
        return gives(lambda *_: y, [x, ids], right, hint, graph=False)

    divided = "which thread writes y? `Shard` should divide the outputs"
    shape = "recorded with lengths None: which shape does the shape function give?"
    judge(
        *[value(y, *one) for y, one in zip(ys[:4], tries[:4], strict=True)],
        holds(lambda: 0 < shared[3] < len(many), divided),
        *[
            holds(lambda n=n: isinstance(ys[n], str) and not shared[n], tries[n][3])
            for n in range(4, len(tries))
        ],
        holds(lambda: shapes[6] is shapes[7] is None, f"recorded: {lengths}"),
        gives(lambda: shapes[:2], [], [(1000,), (5,)], shape, graph=False),
    )


def draw_segments(terms, ids, segments):
    """exp(x) above, the segments below, a line from each term to its segment."""
    _, axes = plt.subplots(figsize=(8, 2.4))
    box = {"boxstyle": "square,pad=0.5", "facecolor": "w"}
    centre = {"ha": "center", "va": "center"}
    places = np.linspace(0, len(ids) - 1, segments)
    for i, (term, s) in enumerate(zip(terms, ids, strict=True)):
        axes.plot([i, places[s]], [1, 0], "-", color=f"C{s}", lw=2, zorder=0)
        axes.text(i, 1, f"{term:.0f}", bbox={**box, "edgecolor": f"C{s}"}, **centre)
    for s, place in enumerate(places):
        axes.text(place, 0, f"y[{s}]", bbox={**box, "edgecolor": f"C{s}"}, **centre)
    axes.text(-0.6, 1, "exp(x)", ha="right", va="center")
    axes.set(xlim=(-1.5, len(ids) - 0.4), ylim=(-0.25, 1.25))
    axes.axis("off")
