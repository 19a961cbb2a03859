"""The workers of lesson 14: what they are sent, and that none stays behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from notebooks.modules.lesson_14 import Workers

ROOT = Path(__file__).resolve().parents[1]
# Two workers, of which the second waits for ever; its parent says who is there.
PARENT = """
import os, sys, time
sys.path.insert(0, "tests")
from test_lesson_14_workers import FUNCTIONS, family
from notebooks.modules.lesson_14 import Workers

if __name__ == "__main__":
    with Workers(2, FUNCTIONS, stop=3) as workers:
        while "stopped" not in workers._next(1):
            pass
        print(*family(os.getpid()), flush=True)
        time.sleep(600)
"""


def family(of):
    """The processes that the process `of` started, and those that these started."""
    parents = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended meanwhile
            continue
        parents[int(entry.name)] = int(fields[1])
    found = {of}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return sorted(found - {of})


def runs(pid):
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def gone(pids, seconds=30):
    """Whether all of them end within some seconds."""
    end = time.monotonic() + seconds
    while any(map(runs, pids)) and time.monotonic() < end:
        time.sleep(0.1)
    return not any(map(runs, pids))


def share(rows, count, me):
    return rows[me::count]


def step(x, t, weights):
    return cross_entropy(x, t)  # noqa: F821  (unless it is sent, too)


def cross_entropy(x, t):
    return x[0, 0] - t[0, 0]


FUNCTIONS = {"cross_entropy": cross_entropy, "share": share, "step": step}


def test_workers_end_with_their_block():
    with Workers(2, FUNCTIONS, stop=3) as workers:
        pids = [process.pid for process in workers._processes]
        assert all(map(runs, pids))
    assert gone(pids)


def test_a_worker_has_no_function_but_those_that_it_was_sent():
    functions = {"share": share, "step": step}
    with Workers(1, functions, steps=1) as workers:
        (said,) = workers.read()[0]
    assert said["error"] == "NameError: name 'cross_entropy' is not defined"


@pytest.mark.slow
def test_no_process_outlives_a_parent_that_is_killed():
    if not Path("/proc/self/stat").exists():
        return  # who is whose child is read there, on Linux
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        text=True,
    )
    with parent:
        children = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(children) >= 2 and all(map(runs, children))
        parent.send_signal(signal.SIGKILL)
    assert gone(children)
