"""Lesson 14: draws images, starts workers on this machine, reads their reports."""

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np

PROGRAM = Path(__file__).with_name("lesson_14_worker.py")


class Report(NamedTuple):
    """What a worker said: its losses by step, and its error or how it ended."""

    losses: dict
    error: str


def draw_parts(parts):
    """The images of each worker's part side by side, under its name."""
    sizes = [len(images) for images in parts.values()]
    _, axes = plt.subplots(1, len(parts), figsize=(5, 1.9), width_ratios=sizes)
    for ax, (name, images) in zip(axes, parts.items(), strict=True):
        ax.imshow(np.hstack(images.reshape(-1, 28, 28)), "gray")
        ax.set(title=name, xticks=[], yticks=[])
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
        A report of each.
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
    """The report of a worker that has ended."""
    worker.wait(timeout=500)
    said.seek(0)
    log.seek(0)
    reports = [json.loads(line) for line in said]
    errors = re.findall(r"^[\w.]*?(\w+Error)\b", log.read().decode(), re.MULTILINE)
    failed = errors[-1] if errors else "ended without a message"
    losses = {report["step"]: report["loss"] for report in reports}
    return Report(losses, failed if worker.returncode else "no error")
