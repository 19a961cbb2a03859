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
# It stands before a student's code, which calls this Shard instead of TensorFlow's.
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
#line 1 "op.cc"
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
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run(
        words, cwd=folder, capture_output=True, text=True, env={**os.environ, **quiet}
    )
    print(done.stdout, done.stderr if done.returncode else "", sep="", end="")


def in_new_process(program, name, folder):
    """What a function of this program returns in a process of its own, or its error."""
    return start(attempt, program, name, str(folder))[1].recv()


def call_elsewhere(code, name, calls):
    """What `call_op` sends of each call (inputs, attributes), or why it cannot."""
    with tempfile.TemporaryDirectory() as folder:
        process, connection = start(call_op, code, name, calls, folder)
        try:
            if connection.poll(200):
                return connection.recv()
        except EOFError:
            return "it ends the process: does it write or read where nothing is?"
        process.kill()
        return "stopped after 200 seconds: does each loop come to an end?"


def judge_norm(code):
    """Judge the C++ of SegmentNorm: values, ids, lengths, p, threads, and shape."""
    x, ids = np.array([3.0, -5.0, -4.0, 12.0, -2.0]), np.int32([2, 0, 2, 0, 3])
    many = np.random.default_rng(0).normal(size=1_000_000)
    many_ids = np.arange(len(many), dtype=np.int32) % 7
    which = "a million numbers: which thread writes y, and what type is the sum?"
    tries = [
        (x, ids, {}, "p is 2 by default; most of the segments are empty"),
        (x, ids, {"p": 1.0}, "p = 1: what about the sign of x?"),
        (np.float32(x), ids, {"p": 0.5}, "p = 0.5, in float32"),
        (many, many_ids, {"p": 3.0}, which),
    ]
    wrong_id = "an id of 4 or -1 for four segments: it would write where nothing is"
    lengths = "four numbers and five ids, or matrices, have to be refused"
    wrong_p = "p = 0, -1 and nan have to be refused: where does the kernel get p?"
    refused = [
        *[(x, ids + 1, {}, wrong_id), (x, ids - 1, {}, wrong_id)],
        *[(x[:4], ids, {}, lengths), (x[None], ids[None], {}, lengths)],
        *[(x, ids, {"p": p}, wrong_p) for p in (0.0, -1.0, float("nan"))],
    ]
    if not isinstance(code, str):
        found = f"C++ code is a text, not {type(code).__name__}"
    elif not re.search(r"\bp\s*:", code):  # then do not wait for the compiler
        found = "p is not yet an attribute in the interface"
    else:
        calls = [((x, ids), {"segments": 1000, **p}) for x, ids, p, _ in tries]
        calls += [((x, ids), {"segments": 4, **p}) for x, ids, p, _ in refused]
        watched = WATCHED_SHARD + re.sub(r"\bShard\b", "WatchedShard", code)
        found = call_elsewhere(watched, "segment_norm", calls)

    def value(n, x, ids, p=2.0):
        y = np.bincount(ids, abs(x) ** p, 1000) ** (1 / p)
        return gives(lambda *_: found[n][0], [x, ids], y, tries[n][3], graph=False)

    def early(y, shape, total):
        if y is not None:
            return "it is not refused"
        return total == 0 or "it is refused too late: `Shard` was called before"

    judge(
        holds(lambda: isinstance(found, list) or found),
        *[value(n, x, ids, **p) for n, (x, ids, p, _) in enumerate(tries)],
        holds(
            lambda: 0 < found[3][2] < len(many),
            "which thread writes y? `Shard` should divide the outputs",
        ),
        *[
            holds(lambda n=n: early(*found[n]), one[3])
            for n, one in enumerate(refused, len(tries))
        ],
        holds(
            lambda: found[6][1] is found[7][1] is None,
            f"{lengths}, and while a function is recorded",
        ),
        holds(
            lambda: found[0][1] == (1000,),
            "which shape of the output does the shape function give for 1000 segments?",
        ),
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
