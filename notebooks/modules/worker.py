"""One worker of a cluster: lesson 02's model, trained through NumPy ops.

TensorFlow reads from the environment variable TF_CONFIG who the workers are and
which of them this one is. Lesson 09 runs all of them on one machine. Where each has
a machine of its own, set TF_CONFIG on each and type there

    python worker.py STEPS FOLDER

FOLDER, which all workers share, keeps a checkpoint of every tenth step. A worker
that finds one there goes on from it. After each step it says what the loss was.
"""

import json
import os
import re
import sys
import threading
from pathlib import Path

import numpy as np
import tensorflow as tf

BATCH, RATE = 100, 0.3


def own_ops(py_func):
    """Lesson 02's matrix product and logarithm."""

    def like(x):
        return tf.TensorSpec(x.shape, x.dtype)

    def matmul(a, b):
        def grad(op, dc):
            a, b = op.inputs
            da = py_func(lambda dc, b: dc @ b.T, [dc, b], like(a), stateful=False)
            db = py_func(lambda a, dc: a.T @ dc, [a, dc], like(b), stateful=False)
            return da, db

        spec = tf.TensorSpec([a.shape[0], b.shape[1]], a.dtype)
        return py_func(np.matmul, [a, b], spec, stateful=False, grad=grad)

    def log(x):
        def grad(op, dy):
            return py_func(np.divide, [dy, op.inputs[0]], like(x), stateful=False)

        return py_func(np.log, [x], like(x), stateful=False, grad=grad)

    return matmul, log


def train(say, steps, folder, stop=None):
    """Train, and call `say` with a dict for each step; wait before the step `stop`."""
    os.environ["CUDA_VISIBLE_DEVICES"] = "-1"  # the op is Python: it runs on the CPU
    # The strategy connects the workers. It must come before the first op, and so
    # before utils.py, which runs one.
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    from utils import load_mnist, py_func

    matmul, log = own_ops(py_func)
    count = strategy.num_replicas_in_sync
    me = strategy.cluster_resolver.task_id or 0
    (images, labels), _ = load_mnist()
    pixels = images.reshape(-1, 784) / np.float32(255)
    targets = np.eye(10, dtype=np.float32)[labels]
    order = np.random.default_rng(0).permutation(len(pixels))

    with strategy.scope():
        weights = tf.Variable(tf.zeros([784, 10]))
        done = tf.Variable(0, dtype=tf.int64)

    def step(x, t):
        with tf.GradientTape() as tape:
            p = tf.nn.softmax(matmul(x, weights))
            # BATCH, not len(x): the parts of all workers add up to the mean
            loss = -tf.reduce_sum(t * log(p + 1e-30)) / BATCH
        dw = tape.gradient(loss, weights)
        context = tf.distribute.get_replica_context()
        loss, dw = context.all_reduce("SUM", [loss, dw])
        weights.assign_sub(RATE * dw)  # every worker makes the same step
        return loss

    @tf.function
    def run(x, t):
        return strategy.experimental_local_results(strategy.run(step, (x, t)))[0]

    checkpoint = tf.train.Checkpoint(weights=weights, done=done)
    # Saving is a step of all workers; only the first one's file is kept.
    mine = Path(folder) / ("kept" if me == 0 else f"worker{me}")
    manager = tf.train.CheckpointManager(checkpoint, str(mine), max_to_keep=1)
    checkpoint.restore(tf.train.latest_checkpoint(str(Path(folder) / "kept")))
    for i in range(int(done.numpy()), steps):
        if i == stop:
            say({"stopped": i})
            threading.Event().wait()
        start = BATCH * i % len(pixels)
        batch = order[start : start + BATCH]  # the same on all workers …
        rows = np.array_split(batch, count)[me]  # … of which this is one's part
        loss = run(tf.constant(pixels[rows]), tf.constant(targets[rows]))
        say({"step": i, "loss": float(loss)})
        done.assign(i + 1)
        if (i + 1) % 10 == 0:
            manager.save(checkpoint_number=i + 1)


def run(connection, config, *job):
    """Train as a process of lesson 09, which reads what this worker says."""
    os.environ["TF_CONFIG"] = json.dumps(config)
    try:
        train(connection.send, *job)
    except Exception as error:  # such as: another worker is gone
        found = re.search("Collective ops is aborted", str(error))
        text = found[0] if found else str(error)
        connection.send({"error": f"{type(error).__name__}: {text}"})
    connection.send(None)
    threading.Event().wait()  # to be ended: others may still need this one


if __name__ == "__main__":
    train(print, int(sys.argv[1]), sys.argv[2])
