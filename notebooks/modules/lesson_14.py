"""Lesson 14: draws images, starts workers on this machine, reads their reports."""

import contextlib
import json
import socket
from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np

from .processes import load_early, run_program, start

PROGRAM = Path(__file__).with_name("lesson_14_worker.py")
load_early()  # the workers come late in the lesson


class Report(NamedTuple):
    """What a worker said: its losses by step, and its error or how it ended."""

    losses: dict
    error: str


def draw_parts(parts):
    """The images of each worker's part side by side, under its name."""
    sizes = [len(images) for images in parts.values()]
    _, axes = plt.subplots(1, len(parts), figsize=(5, 1.9), width_ratios=sizes)
    for ax, (name, images) in zip(axes, parts.items(), strict=True):
        ax.imshow(np.hstack(np.reshape(images, [-1, 28, 28])), "gray")
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
    crash = [] if crash_before is None else [str(crash_before)]
    with contextlib.ExitStack() as stack:
        connections = []
        for index, config in enumerate(configurations(2)):
            arguments = [str(folder), *(crash if index == 0 else [])]
            # On a machine of its own, a worker uses all GPUs. These two would compete.
            here = {"TF_CONFIG": json.dumps(config), "CUDA_VISIBLE_DEVICES": "-1"}
            process, connection = start(run_program, PROGRAM, arguments, here)
            stack.callback(process.join)
            stack.callback(process.kill)
            connections.append(connection)
        return [report(connection) for connection in connections]


def report(connection):
    """What a worker sends until it ends."""
    printed, error = "", "ended without a message"
    with contextlib.suppress(EOFError):
        while isinstance(said := connection.recv(), str):
            printed += said
        error = said[0] or "no error"
    reports = map(json.loads, printed.splitlines())
    return Report({each["step"]: each["loss"] for each in reports}, error)
