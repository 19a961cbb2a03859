"""One worker of a cluster: a classifier of digits, trained through a NumPy op.

TensorFlow reads from the environment variable TF_CONFIG who the workers are and
which of them this one is. Lesson 14 runs all of them on one machine. Where each has
a machine of its own, set TF_CONFIG on each and type there, in the project's folder,

    python notebooks/modules/worker.py STEPS FOLDER

FOLDER, which all workers share, keeps a checkpoint of every tenth step. A worker
that finds one there goes on from it. After each step it says what the loss was.

A worker works with the text of three functions: `cross_entropy`, `share` and `step`.
They are below; the lesson sends those of its cells.
"""

import inspect
import json
import os
import re
import sys
import threading
import time
from pathlib import Path

import numpy as np
import tensorflow as tf

BATCH, RATE = 100, 0.3
KINDS = ("quick", "waits", "computes")  # what the op does in each third of the steps


def cross_entropy(scores, targets):
    def func(z, t):
        work(len(z))
        z = z - z.max(axis=1, keepdims=True)
        return np.log(np.exp(z).sum(axis=1)) - (z * t).sum(axis=1)

    def grad(op, dy):
        z, t = op.inputs
        return dy[:, None] * (tf.nn.softmax(z) - t), None

    spec = tf.TensorSpec(scores.shape[:1], scores.dtype)
    return py_func(func, [scores, targets], spec, grad=grad)  # noqa: F821


def share(rows, count, me):
    return np.array_split(rows, count)[me]


def step(x, t, weights):
    with tf.GradientTape() as tape:
        losses = cross_entropy(x @ weights, t)
        loss = tf.reduce_sum(losses) / BATCH  # of the whole batch
    dw = tape.gradient(loss, weights)
    context = tf.distribute.get_replica_context()
    loss, dw = context.all_reduce("SUM", [loss, dw])
    weights.assign_sub(RATE * dw)
    return loss


def work(rows, kind="quick"):
    """As a simulator that takes half a millisecond for each row, or none."""
    seconds = rows / 2000
    if kind == "waits":
        time.sleep(seconds)
    elif kind == "computes":
        end = time.thread_time() + seconds
        while time.thread_time() < end:
            pass


def texts(functions):
    """The text of each function by what it is for, to be sent to a worker."""
    return {name: (f.__name__, inspect.getsource(f)) for name, f in functions.items()}


def understood(sent):
    """The functions again, in a namespace of their own."""
    space = dict(globals())
    for name in "cross_entropy", "share", "step":
        del space[name]  # a worker has what was sent, and nothing else
    for name, (own_name, text) in sent.items():
        exec(text, space)
        space[name] = space[own_name]
    return space


def train(say, steps, folder, stop=None, sent=None, kinds=KINDS):
    """Train, and call `say` with a dict for each step; wait before the step `stop`.

    The steps are divided among `kinds`, which say what the op does.
    """
    os.environ["CUDA_VISIBLE_DEVICES"] = "-1"  # the op is Python: it runs on the CPU
    # The strategy connects the workers. It must come before the first op, and so
    # before utils.py, which runs one.
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    from utils import load_mnist, py_func

    own = {"cross_entropy": cross_entropy, "share": share, "step": step}
    parts = understood(sent or texts(own))
    parts["py_func"] = py_func
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
    """Train as a process of lesson 14, which reads what this worker says."""
    os.environ["TF_CONFIG"] = json.dumps(config)
    try:
        train(connection.send, *job)
    except Exception as error:  # such as: another worker is gone
        found = re.search(
            "Collective ops is aborted|name '.*' is not defined", str(error)
        )
        text = found[0] if found else str(error)
        connection.send({"error": f"{type(error).__name__}: {text}"})
    connection.send(None)
    threading.Event().wait()  # to be ended: others may still need this one


if __name__ == "__main__":
    train(print, int(sys.argv[1]), sys.argv[2], kinds=KINDS[:1])  # without waiting
