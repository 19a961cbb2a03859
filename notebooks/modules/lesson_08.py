"""For lesson 08: bins in NumPy, scenes of digits, an op that tries an answer."""

import matplotlib.pyplot as plt
import numpy as np

from utils import like, py_func, tf


def bins(rois, grid):
    """For each bin: its place in the output, and that of its pixels in the data.

    The boxes are of whole pixels inside the image. Of `length` rows, bin i of n gets
    floor(i length / n) up to, not including, ceil((i + 1) length / n); so for columns.
    """

    def cut(first, last, i, n):
        length = last + 1 - first
        return slice(first + i * length // n, first - -(i + 1) * length // n)

    for r, (image, left, top, right, bottom) in enumerate(np.array(rois, int).tolist()):
        for i, j in np.ndindex(*grid):
            rows, columns = cut(top, bottom, i, grid[0]), cut(left, right, j, grid[1])
            yield (r, i, j), (image, rows, columns)


def np_pool(data, rois, grid, reduce=np.max):
    """What RoiPool computes, or with another function than the maximum."""
    pooled = np.zeros([len(rois), *grid, data.shape[3]], data.dtype)
    for place, pixels in bins(rois, grid):
        pooled[place] = reduce(data[pixels], axis=(0, 1))
    return pooled


def make_scenes(seed, images, labels, count):
    """Pictures of 64 by 64 pixels, a digit of its own size in each quarter.

    Returns:
        The scenes (count, 64, 64, 1), float32 from 0 to 1; the boxes (4 * count, 5) as
        RoiPool takes them, up to 4 pixels further out than the digit, so that they may
        overlap; and the labels (4 * count,).
    """
    rng = np.random.default_rng(seed)
    scenes = np.zeros((count, 64, 64, 1), np.float32)
    boxes, chosen = [], rng.integers(0, len(images), (count, 4))
    for n, r, c in np.ndindex(count, 2, 2):
        digit = images[chosen[n, 2 * r + c], :, :, None] / 255
        size = rng.integers(16, 30)
        y, x = 32 * np.array([r, c]) + rng.integers(0, 32 - size, 2)
        scenes[n, y : y + size, x : x + size] = tf.image.resize(digit, [size, size])
        corners = x - 4, y - 4, x + size + 3, y + size + 3
        boxes.append([n, *np.clip(corners, 0, 63)])
    return scenes, np.array(boxes, np.float32), labels[chosen].astype(int).ravel()


def draw_pooling(scene, boxes, pooled, gradients):
    """Draw a scene (64, 64, 1), its four boxes, each pooled, and where gradients are.

    `gradients` is a dict from a title to a gradient of the shape of the scene; what is
    not 0 is drawn in white.
    """
    grid = [["0", "1"], ["2", "3"]]
    size = 2.75 * (2 + len(gradients)), 2.7
    _, axes = plt.subplot_mosaic([["scene", grid, *gradients]], figsize=size)
    axes["scene"].imshow(scene[:, :, 0], cmap="gray")
    axes["scene"].set(title="scene", xlabel="x", ylabel="y")
    for r, box in enumerate(pooled):
        axes[f"{r}"].imshow(box[:, :, 0], cmap="gray", vmin=0, vmax=1)
        axes[f"{r}"].set(xticks=[], yticks=[])
        axes[f"{r}"].set_title(f"box {r}, pooled", color=f"C{r}")  # as its frame
    for title, dx in gradients.items():
        axes[title].imshow(dx[:, :, 0] != 0, cmap="gray", vmin=0, vmax=1)
        axes[title].set(title=title, xlabel="x")
    for title in ["scene", *gradients]:  # frames along the outer edges of the pixels
        for _, left, top, right, bottom in boxes + [0, -0.5, -0.5, 0.5, 0.5]:
            frame = [left, right, right, left, left], [top, top, bottom, bottom, top]
            axes[title].plot(*frame, clip_on=False)
    plt.show()


def range_op(backward):
    """RoiPool with the range, whose gradient is an answer to exercise 1."""

    def pool(data, rois, grid):
        data, rois = tf.convert_to_tensor(data), np.array(rois, float)
        spec = tf.TensorSpec([len(rois), *grid, data.shape[3]], data.dtype)

        def forward(data):
            return np_pool(data, rois, grid, np.ptp)

        def grad(op, dy):
            return py_func(backward, [op.inputs[0], rois, dy], like(data))

        return py_func(forward, [data], spec, grad=grad)

    return pool
