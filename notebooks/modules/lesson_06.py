"""What `tf.summary.image` wrote for TensorBoard, read back as arrays."""

import numpy as np
import tensorflow as tf
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator


def read_pictures(logs, tag):
    """The pictures of a tag, from the event files of a folder.

    Args:
        logs: the folder that the writer was made for.
        tag: the name that was given to `tf.summary.image`, with its scope.

    Returns:
        A dict from step to an array of pictures, (n, height, width, channels), uint8.

    Raises:
        KeyError: there is no such tag.

    Example:
        >>> read_pictures(logs, "final")[2000].shape
        (8, 140, 120, 3)

    TensorBoard's own reader keeps ten records of a tag, chosen at random; 0 means all.
    A record holds the width, the height, then each picture as PNG.
    """
    reader = EventAccumulator(str(logs), size_guidance={"tensors": 0}).Reload()
    found = {}
    for event in reader.Tensors(tag):
        pngs = tf.make_ndarray(event.tensor_proto)[2:]
        found[event.step] = np.array([tf.io.decode_png(png).numpy() for png in pngs])
    return found
