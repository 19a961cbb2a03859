"""One worker of a cluster: lesson 02's model, trained through NumPy ops.

Lesson 09 starts this file once for each worker, all on one machine. TensorFlow
reads from the environment variable TF_CONFIG who the workers are and which of them
this one is. After each step a worker prints a line of JSON with the loss.

    python worker.py STEPS FOLDER [STOP]

FOLDER, which all workers share, keeps a checkpoint of every tenth step. A worker
that finds one there goes on from it. With STOP it waits before that step, to be
killed. It ends when its standard input does, so that none outlives the program that
started it.
"""

import gc
import json
import os
import re
import sys
import threading
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"  # the op is Python: it runs on the CPU

gc.disable()  # TensorFlow loads a fifth faster without
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

gc.enable()

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


def main(steps, folder, stop=None):
    # The strategy connects the workers. It must come before the first op, and so
    # before utils.py, which runs one.
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
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
            print(json.dumps({"stopped": i}), flush=True)
            threading.Event().wait()
        start = BATCH * i % len(pixels)
        batch = order[start : start + BATCH]  # the same on all workers …
        rows = np.array_split(batch, count)[me]  # … of which this is one's part
        loss = run(tf.constant(pixels[rows]), tf.constant(targets[rows]))
        print(json.dumps({"step": i, "loss": float(loss)}), flush=True)
        done.assign(i + 1)
        if (i + 1) % 10 == 0:
            manager.save(checkpoint_number=i + 1)


def end_with_parent():
    """A worker whose parent is gone must not stay behind."""
    sys.stdin.read()
    os._exit(1)


if __name__ == "__main__":
    threading.Thread(target=end_with_parent, daemon=True).start()
    try:
        main(int(sys.argv[1]), sys.argv[2], *map(int, sys.argv[3:]))
    except tf.errors.OpError as error:  # such as: another worker is gone
        found = re.search("Collective ops is aborted", str(error))
        text = found[0] if found else str(error)
        print(json.dumps({"error": f"{type(error).__name__}: {text}"}), flush=True)
        os._exit(1)  # a clean exit would wait for the other workers
