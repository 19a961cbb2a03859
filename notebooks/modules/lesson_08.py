"""For lesson 08: bins in NumPy, scenes of digits, an op that tries an answer."""

import matplotlib.pyplot as plt
import numpy as np

from utils import like, py_func, tf


def part(first, last, i, n):
    """The rows, or columns, of bin i of n in a box from first to last.

    Of `length` rows these are floor(i length / n) up to, not including,
    ceil((i + 1) length / n).
    """
    length = last - first + 1
    stop = -(-(i + 1) * length // n)  # rounded up
    return slice(first + i * length // n, first + stop)


def bins(rois, grid):
    """For each bin: its place in the output, and that of its pixels in the data.

    The boxes are of whole pixels inside the image.
    """
    for r, (number, left, top, right, bottom) in enumerate(np.array(rois, int)):
        for i, j in np.ndindex(*grid):
            rows = part(top, bottom, i, grid[0])
            columns = part(left, right, j, grid[1])
            yield (r, i, j), (number, rows, columns)


def np_pool(data, rois, grid, reduce=np.max):
    """What RoiPool computes, or with another function than the maximum."""
    pooled = np.zeros([len(rois), *grid, data.shape[3]], data.dtype)
    for place, pixels in bins(rois, grid):
        pooled[place] = reduce(data[pixels], axis=(0, 1))
    return pooled


def make_scenes(rng, images, labels, count):
    """Pictures of 64 by 64 pixels, a digit of its own size in each quarter.

    Returns:
        The scenes (count, 64, 64, 1), float32 from 0 to 1; the boxes (4 * count, 5), in
        each row the number of the scene, left, top, right and bottom: 4 pixels further
        out than the digit, as far as the scene goes, so that boxes may overlap; and
        the labels (4 * count,).
    """
    scenes = np.zeros((count, 64, 64, 1), np.float32)
    boxes, chosen = [], rng.integers(0, len(images), (count, 4))
    for n, r, c in np.ndindex(count, 2, 2):
        digit = images[chosen[n, 2 * r + c], :, :, None] / 255
        size = rng.integers(16, 30)
        y, x = 32 * np.array([r, c]) + rng.integers(0, 32 - size, 2)
        digit = tf.image.resize(digit, [size, size])
        scenes[n, y : y + size, x : x + size] = digit
        corners = x - 4, y - 4, x + size + 3, y + size + 3
        boxes.append([n, *np.clip(corners, 0, 63)])
    return scenes, np.array(boxes, np.float32), labels[chosen].astype(int).ravel()


def draw_pooling(scene, boxes, pooled, gradients):
    """Draw a scene with its four boxes, the pooled boxes, and where gradients are.

    Args:
        scene: (64, 64, 1).
        boxes: (4, 5).
        pooled: (4, n, n, 1).
        gradients: a dict from a title to a gradient of the shape of the scene; what is
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


def as_op(reduce, backward):
    """An op that pools with two functions of NumPy, to try an answer to exercise 1.

    Args:
        reduce: what is computed of a bin, as for `np_pool`.
        backward: takes data, boxes and dy; returns the gradient of the data.

    Returns:
        A function of data, boxes and the grid.
    """

    def pool(data, rois, grid):
        data, rois = tf.convert_to_tensor(data), np.array(rois, float)
        spec = tf.TensorSpec([len(rois), *grid, data.shape[3]], data.dtype)

        def grad(op, dy):
            inputs = [op.inputs[0], dy]
            return py_func(
                lambda data, dy: backward(data, rois, dy), inputs, like(data)
            )

        return py_func(
            lambda x: np_pool(x, rois, grid, reduce), [data], spec, grad=grad
        )

    return pool
