"""Scenes of four digits with boxes, for lesson 08: made, drawn, timed, trained on."""

import timeit

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import PowerNorm

from utils import gradient, like, py_func, tf


def make_scenes(rng, images, labels, count):
    """Pictures of 64 by 64 pixels, a digit of its own size in each quarter.

    Returns:
        The scenes (count, 64, 64, 1), from 0 to 1; the boxes (4 * count, 5), in each
        row the number of the scene, left, top, right and bottom (which belong to the
        box); and the labels (4 * count,). The boxes of one scene never overlap.
    """
    scenes = np.zeros((count, 64, 64, 1), np.float32)
    boxes, chosen = [], rng.integers(0, len(images), (count, 4))
    for n, r, c in np.ndindex(count, 2, 2):
        digit = images[chosen[n, 2 * r + c], :, :, None] / 255
        size = rng.integers(16, 30)
        y, x = 32 * np.array([r, c]) + rng.integers(0, 32 - size, 2)
        digit = tf.image.resize(digit, [size, size])
        scenes[n, y : y + size, x : x + size] = digit
        boxes.append([n, x, y, x + size - 1, y + size - 1])
    return scenes, np.array(boxes, np.float32), labels[chosen].astype(int).ravel()


def draw_pooling(scene, boxes, pooled, gradients):
    """Draw a scene with its boxes, the pooled boxes, and gradients.

    Args:
        scene: (64, 64, 1).
        boxes: (boxes, 5), one or four of them.
        pooled: (boxes, n, n, 1).
        gradients: a dict from a title to a gradient of the shape of the scene. They
            share a scale on which small numbers can be told from 0.
    """
    side = 1 if len(boxes) == 1 else 2
    grid = [[f"{side * r + c}" for c in range(side)] for r in range(side)]
    size = 2.75 * (2 + len(gradients)), 2.7
    fig, axes = plt.subplot_mosaic([["scene", grid, *gradients]], figsize=size)
    axes["scene"].imshow(scene[:, :, 0], cmap="gray")
    axes["scene"].set(title="scene", xlabel="x", ylabel="y")
    _draw_boxes(axes["scene"], boxes)
    for r, box in enumerate(pooled):
        axes[f"{r}"].imshow(box[:, :, 0], cmap="gray", vmin=0, vmax=1)
        axes[f"{r}"].set(title=f"box {r}, pooled", xticks=[], yticks=[])
    scale = PowerNorm(0.4, vmin=0, vmax=4)
    for title, dx in gradients.items():
        shown = axes[title].imshow(dx[:, :, 0], cmap="inferno", norm=scale)
        axes[title].set(title=title, xlabel="x")
        _draw_boxes(axes[title], boxes)
    fig.colorbar(shown, ax=[axes[title] for title in gradients], ticks=range(5))


def _draw_boxes(ax, boxes):
    """Frames along the outer edges of the pixels, each in a line style of its own."""
    for _, *corners in np.floor(np.asarray(boxes) + 0.5):
        left, top, right, bottom = np.array(corners) + [-0.5, -0.5, 0.5, 0.5]
        ax.plot([left, right, right, left, left], [top, top, bottom, bottom, top])


def window(rows, columns, r, i, j):
    """The rows and the columns of bin i, j of box r, as two slices."""
    y = slice(rows[0][r, i], rows[1][r, i])
    return y, slice(columns[0][r, j], columns[1][r, j])


def mean_search(data, image, rows, columns, pooled, argmax):
    """The forward pass of exercise 1: the mean of each bin; it leaves argmax as is."""
    for r, i, j in np.ndindex(pooled.shape[:3]):
        y, x = window(rows, columns, r, i, j)
        pooled[r, i, j] = data[image[r], y, x].mean(axis=(0, 1))


def sent_back(backward, collect, images, shape):
    """For exercise 2: the backward pass as an op, with a gradient of its own.

    Args:
        backward: np_backward of the lesson.
        collect: the student's; takes the upstream gradient, the boxes and the argmax.
        images: the number of its image for each box.
        shape: of the data: images, height, width, channels.

    Returns:
        A function of dy, and a dy for it. The function weighs each pixel by a number
        of its own, so that no upstream gradient is the same everywhere.
    """
    rng = np.random.default_rng(4)
    data, weights = rng.normal(size=shape), rng.normal(size=shape)
    channels, pixels = shape[3], shape[1] * shape[2]
    rois = np.array([[image, 0, 0, 2, 3.0] for image in images])
    won = rng.integers(0, pixels, (len(rois), 2, 2, channels))
    won = channels * won + np.arange(channels)

    def second(op, up):
        dy = py_func(collect, [up, *op.inputs[1:3]], like(op.inputs[3]))
        return None, None, None, dy

    def f(dy):
        inputs = [data, rois, won.astype(np.int32), dy]
        spec = tf.TensorSpec(shape, dy.dtype)
        return weights * py_func(backward, inputs, spec, grad=second)

    return f, rng.normal(size=won.shape)


def times(pool, boxes, side):
    """Seconds for pooling, and for pooling with its gradient: the best of seven."""
    data = np.random.default_rng(0).normal(size=(1, side, side, 16))
    data = tf.constant(data, tf.float32)

    def forward():
        return pool(data, boxes, 7)

    def both():
        return gradient(lambda x: pool(x, boxes, 7), data)

    runs = forward, both
    return np.array([min(timeit.repeat(run, number=1, repeat=7)) for run in runs])


def one_epoch(scenes, boxes, labels, logits, layers, adam):
    """Train once on all scenes, 25 at a time; in their boxes they count from 0."""
    for start in range(0, len(scenes), 25):
        mine, first = slice(4 * start, 4 * (start + 25)), [start, 0, 0, 0, 0]
        with tf.GradientTape() as tape:
            y = logits(scenes[start : start + 25], boxes[mine] - np.float32(first))
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels[mine], y)
        weights = [weight for layer in layers for weight in layer.weights]
        adam.apply(tape.gradient(losses, weights), weights)
