"""Lesson 14: draws images, runs workers on this computer, reads their reports."""

import contextlib
import json
import socket
from collections import namedtuple
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from .processes import load_early, run_program, start

load_early()  # the workers come late in the lesson
Report = namedtuple("Report", ["losses", "error"])  # by step; or how it ended


def draw_last_batch(strategy, batches):
    """The images that each of two workers gets of the last batch, under its name."""
    *_, (images, _) = strategy.experimental_distribute_dataset(batches)
    parts = strategy.experimental_local_results(images)
    sizes = [len(part) for part in parts]
    _, axes = plt.subplots(1, 2, figsize=(5, 1.9), width_ratios=sizes)
    for ax, part, name in zip(axes, parts, ["first", "second"], strict=True):
        ax.imshow(np.hstack(np.reshape(part, [-1, 28, 28])), "gray")
        ax.set(title=f"{name} worker", xticks=[], yticks=[])
    plt.show()


def free_addresses(count):
    """Addresses on this computer, each with a port that is free."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("localhost", 0))  # any port
        return [f"localhost:{each.getsockname()[1]}" for each in sockets]


def run_processes(program, *calls):
    """Run a program in a process for each (TF_CONFIG, arguments); a report of each."""
    with contextlib.ExitStack() as stack:
        connections = []
        for config, arguments in calls:
            # On a machine of its own, a worker uses all GPUs. These two would compete.
            here = {"TF_CONFIG": json.dumps(config), "CUDA_VISIBLE_DEVICES": "-1"}
            path, texts = Path(program).resolve(), [str(each) for each in arguments]
            process, connection = start(run_program, path, texts, here)
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
