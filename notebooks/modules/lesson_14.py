"""Lesson 14: starts its workers on this machine, and draws what they said."""

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

PROGRAM = Path(__file__).with_name("lesson_14_worker.py")


def configurations(count):
    """The TF_CONFIG of each worker: addresses that are free, and its number."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("localhost", 0))  # any port that is free
        addresses = [f"localhost:{each.getsockname()[1]}" for each in sockets]
    return [
        {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": i}}
        for i in range(count)
    ]


def run_workers(folder, crash_before=None):
    """Run two workers to their end; the second one may crash before a step.

    Returns:
        For each the losses, a dict by step, and the name of its error, or "no error".
    """
    # On a machine of its own, a worker uses all GPUs. These two would compete for one.
    here = os.environ | {"CUDA_VISIBLE_DEVICES": "-1"}
    with contextlib.ExitStack() as stack:
        workers = []
        for index, config in enumerate(configurations(2)):
            command = [sys.executable, str(PROGRAM), str(folder)]
            if index == 1 and crash_before is not None:
                command.append(str(crash_before))
            said, log = (stack.enter_context(tempfile.TemporaryFile()) for _ in "12")
            worker = subprocess.Popen(
                command,
                env=here | {"TF_CONFIG": json.dumps(config)},
                stdout=said,
                stderr=log,
            )
            stack.callback(worker.wait)
            stack.callback(worker.kill)
            workers.append((worker, said, log))
        return [result(*worker) for worker in workers]


def result(worker, said, log):
    """The losses by step, and the name of the error, of a worker that has ended."""
    worker.wait(timeout=500)
    said.seek(0)
    log.seek(0)
    reports = [json.loads(line) for line in said]
    errors = re.findall(r"^[\w.]*?(\w+Error)\b", log.read().decode(), re.MULTILINE)
    failed = errors[-1] if errors else "no message"
    losses = {report["step"]: report["loss"] for report in reports}
    return losses, failed if worker.returncode else "no error"


def draw_workers(losses, before, after):
    """Losses of one worker, and of two before and after a crash (dicts by step)."""
    _, ax = plt.subplots()
    ax.plot(losses, color="0.75", linewidth=6, label="one worker")
    circles = {"fillstyle": "none", "label": "two processes"}
    ax.plot(before.keys(), before.values(), "C0o", **circles)
    ax.plot(after.keys(), after.values(), "C1x", label="two, started again")
    ax.axvline(24.5, color="C3", linestyle=":", label="the second one crashes")
    ax.set(xlabel="step", ylabel="loss of the batch")
    ax.legend()
    plt.show()
