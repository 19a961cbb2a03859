"""Lesson 14: workers that train a classifier of digits together, through a NumPy op.

TensorFlow reads from the environment variable TF_CONFIG who the workers are and which
of them this one is. `Workers` runs all of them on this machine:

    functions = {"cross_entropy": cross_entropy, "share": share, "step": step}
    with Workers(2, functions) as workers:
        reports = workers.read()  # for each worker a list of what it said

Where each has a machine of its own, put these three functions into a file, set
TF_CONFIG on each machine and type there, in the project's folder,

    python notebooks/modules/lesson_14.py STEPS FOLDER FILE

FOLDER, which all workers share, keeps a checkpoint of every tenth step. A worker that
finds one there goes on from it. After each step it says what the loss was.
"""

import contextlib
import inspect
import json
import os
import re
import socket
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import tensorflow as tf  # and not utils, which runs an op: see `train`

BATCH, RATE = 100, 0.3
KINDS = ("quick", "waits", "computes")  # what the op does in each third of the steps


def work(rows, kind="quick"):
    """As a simulator that takes half a millisecond for each row, or none."""
    seconds = rows / 2000
    if kind == "waits":
        time.sleep(seconds)
    elif kind == "computes":
        end = time.thread_time() + seconds
        while time.thread_time() < end:
            pass


def text_of(functions):
    """The text of functions, to be sent to a worker, each with the name of its key."""
    named = functions.items()
    return "\n".join(f"{inspect.getsource(f)}\n{k} = {f.__name__}" for k, f in named)


def train(say, steps, folder, text, stop=None, kinds=KINDS):
    """Train, and call `say` with a dict for each step; wait before the step `stop`.

    `text` has the three functions. The steps are divided among `kinds`.
    """
    os.environ["CUDA_VISIBLE_DEVICES"] = "-1"  # all share this machine; elsewhere: no
    # The strategy connects the workers, which has to come before the first op.
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    sys.path += map(str, Path(__file__).resolve().parents[1:3])
    from utils import load_mnist, py_func

    parts = {**globals(), "py_func": py_func}
    exec(text, parts)
    count = strategy.num_replicas_in_sync
    me = strategy.cluster_resolver.task_id or 0
    (images, labels), _ = load_mnist()
    pixels = images.reshape(-1, 784) / np.float32(255)
    targets = np.eye(10, dtype=np.float32)[labels]
    order = np.random.default_rng(0).permutation(len(pixels))

    with strategy.scope():
        weights = tf.Variable(tf.zeros([784, 10]))
        done = tf.Variable(0, dtype=tf.int64)

    @tf.function
    def run(x, t):
        loss = strategy.run(parts["step"], (x, t, weights))
        return strategy.experimental_local_results(loss)[0]

    checkpoint = tf.train.Checkpoint(weights=weights, done=done)
    # Saving is a step of all workers; only the first one's file is kept.
    mine = Path(folder) / ("kept" if me == 0 else f"worker{me}")
    manager = tf.train.CheckpointManager(checkpoint, str(mine), max_to_keep=1)
    checkpoint.restore(tf.train.latest_checkpoint(str(Path(folder) / "kept")))
    for i in range(int(done.numpy()), steps):
        if i == stop:
            say({"stopped": i})
            threading.Event().wait()
        first = BATCH * i % len(pixels)
        rows = parts["share"](order[first : first + BATCH], count, me)
        x, t = tf.constant(pixels[rows]), tf.constant(targets[rows])
        kind = kinds[len(kinds) * i // steps]
        parts["work"] = lambda rows, kind=kind: work(rows, kind)
        start = time.perf_counter()
        loss = float(run(x, t))
        say({"step": i, "loss": loss, "seconds": time.perf_counter() - start})
        done.assign(i + 1)
        if (i + 1) % 10 == 0:
            manager.save(checkpoint_number=i + 1)


def run(connection, config, *job):
    """Train as one process of `Workers`, which reads what it says."""
    os.environ["TF_CONFIG"] = json.dumps(config)
    try:
        train(connection.send, *job)
    except Exception as error:  # such as: another worker is gone
        plain = "Collective ops is aborted|name '.*' is not defined"
        found = re.search(plain, str(error))
        text = found[0] if found else str(error)
        connection.send({"error": f"{type(error).__name__}: {text}"})
    connection.send(None)
    threading.Event().wait()  # to be ended: others may still need this one


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


class Workers:
    """A cluster of worker processes, all of them ended when the block is left.

    Args:
        count: how many.
        functions: what each worker works with, by name. Their text is sent, not what
            they refer to.
        steps: how many steps of training they make together.
        folder: for checkpoints; by default one that is gone afterwards.
        stop: the step before which the last worker stops and waits to be killed.
    """

    def __init__(self, count, functions, steps=30, folder=None, stop=None):
        self._text, self.count = text_of(functions), count
        self.steps, self.folder, self.stop = steps, folder, stop
        self._said = [[] for _ in range(count)]

    def __enter__(self):
        from .processes import start

        with contextlib.ExitStack() as stack:
            folder = self.folder or stack.enter_context(tempfile.TemporaryDirectory())
            self._processes, self._connections = [], []
            for index, config in enumerate(configurations(self.count)):
                stop = self.stop if index == self.count - 1 else None
                job = run, config, self.steps, folder, self._text, stop
                process, connection = start(*job)
                stack.enter_context(connection)
                stack.callback(process.join)
                stack.callback(process.kill)
                self._processes.append(process)
                self._connections.append(connection)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self._stack.close()

    def _next(self, index):
        """What a worker says next; None when it has done its part, or is gone."""
        with contextlib.suppress(EOFError):
            if said := self._connections[index].recv():
                self._said[index].append(said)
                return said

    def read(self):
        """What each worker said, up to its end: a list of dicts for each."""
        for index in range(self.count):
            while self._next(index):
                pass
        return self._said

    def numbers(self, *names):
        """Arrays [worker, step] of what each step said, such as its "loss"."""
        reports = self.read()
        for index, report in enumerate(reports):
            if not report or "error" in report[-1]:
                raise RuntimeError(f"worker {index}: {report or 'it said nothing'}")
        return [np.array([[s[name] for s in r] for r in reports]) for name in names]

    def kill_last(self):
        """Wait until the last worker has stopped, and all wait for it; then kill it."""
        while said := self._next(self.count - 1):
            if "stopped" in said:
                for index in range(self.count - 1):
                    while self._next(index)["step"] < said["stopped"] - 1:
                        pass
                self._processes[-1].kill()
                return
        raise RuntimeError(f"the worker ended too early: {self._said[-1]}")


if __name__ == "__main__":
    steps, folder, file = sys.argv[1:]
    train(print, int(steps), folder, Path(file).read_text(), kinds=["quick"])
