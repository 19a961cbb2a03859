"""Lesson 14: the program of each worker. It trains, and resumes after a stop.

    python lesson_14_worker.py FOLDER [STEP]

FOLDER keeps a checkpoint for each worker, and all of them can read it. TF_CONFIG, in
the environment, says who they are and which of them this is. (Close the ports that it
names to others: the traffic is unauthenticated.) With STEP the process ends before that
step, at once and without a word.
"""

import json
import os
import sys
from pathlib import Path

import tensorflow as tf

strategy = tf.distribute.MultiWorkerMirroredStrategy()  # before the first op

import keras  # noqa: E402
import numpy as np  # noqa: E402

sys.path += map(str, Path(__file__).resolve().parents[1:3])  # utils.py lies there
from utils import load_mnist, py_func  # noqa: E402


def cross_entropy(t, scores):
    def func(t, z):
        z = z - z.max(axis=1, keepdims=True)  # lesson 02: no overflow
        return np.log(np.exp(z).sum(axis=1)) - (z * t).sum(axis=1)

    def grad(op, dy):
        t, z = op.inputs
        return None, dy[:, None] * (tf.nn.softmax(z) - t)

    one_a_row = tf.TensorSpec(scores.shape[:1], scores.dtype)
    return py_func(func, [t, scores], one_a_row, grad=grad)


def sum_over_workers(value):
    context = tf.distribute.get_replica_context()
    return context.all_reduce("SUM", value)


def part_of_gradient(x, t, model):
    rows_of_batch = sum_over_workers(tf.shape(x)[0])
    with tf.GradientTape() as tape:
        losses = cross_entropy(t, model(x))
        loss = tf.nn.compute_average_loss(losses, global_batch_size=rows_of_batch)
    return loss, tape.gradient(loss, model.trainable_variables)


def step(x, t, model, optimizer):
    loss, dw = part_of_gradient(x, t, model)
    optimizer.apply(dw, model.trainable_variables)
    return loss


# The training
folder = Path(sys.argv[1])
crash_before = int(sys.argv[2]) if len(sys.argv) > 2 else None

(images, labels), _ = load_mnist()
order = np.random.default_rng(seed=0).permutation(len(images))[:1003]
x = images[order].reshape(-1, 784) / np.float32(255)
t = np.eye(10, dtype=np.float32)[labels[order]]
batches = tf.data.Dataset.from_tensor_slices((x, t)).batch(100).repeat(3)

with strategy.scope():
    layer = keras.layers.Dense(10, kernel_initializer="zeros")
    model = keras.Sequential([keras.Input([784]), layer])
    optimizer = keras.optimizers.SGD(0.3)

checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
own_folder = folder / f"worker{strategy.cluster_resolver.task_id}"
manager = tf.train.CheckpointManager(checkpoint, own_folder, max_to_keep=1)

checkpoint.restore(tf.train.latest_checkpoint(folder / "worker0"))
start = int(optimizer.iterations.numpy())  # the steps made so far
starts = strategy.run(lambda: tf.constant(start))
sum_of_starts = strategy.reduce("SUM", starts, axis=None)
if sum_of_starts != start * strategy.num_replicas_in_sync:
    raise RuntimeError("Not all found the same checkpoint. Is the folder shared?")


@tf.function
def run(x, t):
    parts = strategy.run(step, (x, t, model, optimizer))
    return strategy.reduce("SUM", parts, axis=None)


data = strategy.experimental_distribute_dataset(batches.skip(start))
for number, batch in enumerate(data, start):
    if number == crash_before:
        os._exit(1)
    loss = float(run(*batch))
    print(json.dumps({"step": number, "loss": loss}), flush=True)
    if (number + 1) % 10 == 0:
        manager.save()
manager.save()  # the trained model
