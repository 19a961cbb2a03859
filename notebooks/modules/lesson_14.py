"""Lesson 14: draws weights, starts workers on this machine, reads their reports."""

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


def draw_weights(models):
    """A row for each model, by its name: the weights of its ten scores as pictures."""
    _, axes = plt.subplots(len(models), 10, figsize=(7, 1.7))
    for row, (name, weights) in zip(axes, models.items(), strict=True):
        for ax, of_score in zip(row, weights.T, strict=True):
            ax.imshow(of_score.reshape(28, 28), "gray", vmin=-0.2, vmax=0.2)
            ax.set(xticks=[], yticks=[])
        row[0].set_ylabel(name, fontsize="small")
    plt.show()


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
    """Run two workers to their end; the first one may crash before a step.

    Returns:
        For each the losses, a dict by step, and the name of its error or how it ended.
    """
    # On a machine of its own, a worker uses all GPUs. These two would compete for one.
    here = os.environ | {"CUDA_VISIBLE_DEVICES": "-1"}
    with contextlib.ExitStack() as stack:
        workers = []
        for index, config in enumerate(configurations(2)):
            command = [sys.executable, str(PROGRAM), str(folder)]
            if index == 0 and crash_before is not None:
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
    """The losses by step of a worker that has ended, and its error or how it ended."""
    worker.wait(timeout=500)
    said.seek(0)
    log.seek(0)
    reports = [json.loads(line) for line in said]
    errors = re.findall(r"^[\w.]*?(\w+Error)\b", log.read().decode(), re.MULTILINE)
    failed = errors[-1] if errors else "ended without a message"
    losses = {report["step"]: report["loss"] for report in reports}
    return losses, failed if worker.returncode else "no error"
