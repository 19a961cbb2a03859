"""Answers to the exercises of lesson 08: wrong ones with a word of the hint, right ones
of another form."""

CELLS = 0, 1, 6, 7, 8, 9, 12

MEAN = """
def mean_backward(data, rois, dy):
    dx = np.zeros_like(data)
    image, rows, columns = plan(rois, dy.shape[1], 1.0)
    for r, i, j in np.ndindex(dy.shape[:3]):
        y = slice(rows[0][r, i], rows[1][r, i])
        x = slice(columns[0][r, j], columns[1][r, j])
        size = (y.stop - y.start) * (x.stop - x.start)
        BODY
    return dx
"""


def mean(body):
    return MEAN.replace("BODY", body)


WINS = "image = rois[:, 0].astype(int)[:, None, None, None]"


def collect(*lines):
    return "\n    ".join(["def collect(up, rois, argmax):", *lines]) + "\n"


WRONG = {
    1: [
        ("how many pixels", mean("dx[image[r], y, x] += dy[r, i, j]")),
        ("bins share", mean("dx[image[r], y, x] = dy[r, i, j] / size")),
        (
            "one pixel a bin",
            mean("dx[image[r], y, x] += dy[r, i, j] / dy[r, i, j].size"),
        ),
        (
            "one pixel a bin",
            mean("dx[image[r], y, x] += dy[r, i, j] / dy.shape[1] ** 2"),
        ),
        ("multiplied by dy", mean("dx[image[r], y, x] += 1 / size")),
        ("image of box r", mean("dx[r, y, x] += dy[r, i, j] / size")),
        ("image of box r", mean("dx[0, y, x] += dy[r, i, j] / size")),
        ("rows first", mean("dx[image[r], x, y] += dy[r, i, j] / size")),
        (
            "one pixel a bin",
            mean("dx[image[r], y, x] += dy[r, i, j] / data[image[r], y, x].size"),
        ),
        ("two channels", mean("dx[image[r], y, x, 0] += dy[r, i, j, 0] / size")),
        ("two channels", mean("dx[image[r], y, x] += dy[r, i, j].sum() / size")),
        ("two channels", mean("dx[image[r], y, x] -= dy[r, i, j] / size")),
        ("returned 0 results", mean("pass").replace("    return dx", "")),
        (
            "dy.shape[1]",
            mean("dx[image[r], y, x] += dy[r, i, j] / size").replace(
                "dy.shape[1]", "min(dy.shape[1], 2)"
            ),
        ),
        ("not yet", "def mean_backward(data, rois, dy):\n    return data\n"),
    ],
    2: [
        (
            "which one does rois name",
            collect("flat = up.reshape(len(up), -1)", "return flat[0, argmax]"),
        ),
        ("which one does rois name", collect("return up.ravel()[argmax]")),
        (
            "boxes of image 0",
            collect(
                "image = np.arange(len(rois))[:, None, None, None] % len(up)",
                "return up.reshape(len(up), -1)[image, argmax]",
            ),
        ),
        (
            "two channels",
            collect(WINS, "return up.reshape(len(up), -1)[image, argmax] * 2"),
        ),
        ("two channels", collect("return np.ones(argmax.shape, up.dtype)")),
        (
            "two channels",
            collect(
                WINS,
                "width = up.shape[2]",
                "return up[image, argmax // width, argmax % width, 0]",
            ),
        ),
        (
            "out of bounds",
            collect(
                WINS,
                "return up[..., 0].reshape(len(up), -1)[image, argmax]",
            ),
        ),
        (
            "which one does rois name",
            collect(WINS, "return up.ravel()[image * 9 + argmax]"),
        ),
        (
            "boxes of image 0",
            collect(
                "image = np.array([1, 0, 1])[:, None, None, None] * (rois[1, 0] != 1)",
                "return up.reshape(len(up), -1)[image.astype(int), argmax]",
            ),
        ),
        (
            "two channels",
            collect(WINS, "return up.reshape(len(up), -1)[image, argmax % 9]"),
        ),
        (
            "another shape",
            collect(WINS, "return up.reshape(3, 24)[image, argmax]"),
        ),
        ("not yet", collect("return up")),
    ],
}
RIGHT = {
    1: [
        mean("dx[image[r], y, x] += dy[r, i, j] / size"),
        "def mean_backward(data, rois, dy):\n"
        "    dx = np.zeros(data.shape, data.dtype)\n"
        "    number, rows, columns = plan(rois, dy.shape[1], 1.0)\n"
        "    pixel, place = np.arange(data.shape[1]), np.arange(data.shape[2])\n"
        "    for r, i, j in np.ndindex(dy.shape[:3]):\n"
        "        y = (pixel >= rows[0][r, i]) & (pixel < rows[1][r, i])\n"
        "        x = (place >= columns[0][r, j]) & (place < columns[1][r, j])\n"
        "        mask = np.outer(y, x)[..., None]\n"
        "        dx[number[r]] += mask * dy[r, i, j] / mask.sum()\n"
        "    return dx\n",
    ],
    2: [
        collect(
            "size = up[0].size",
            "first = size * rois[:, 0].astype(int)",
            "return up.ravel()[argmax + first[:, None, None, None]]",
        ),
        collect(
            "mine = up[rois[:, 0].astype(int)].reshape(len(rois), -1)",
            "place = argmax.reshape(len(rois), -1)",
            "return np.take_along_axis(mine, place, 1).reshape(argmax.shape)",
        ),
    ],
}
