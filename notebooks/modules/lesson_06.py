"""What `tf.summary.image` wrote for TensorBoard, read back as arrays."""

import numpy as np
import tensorflow as tf
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator


def read_pictures(logs, tag):
    """The pictures of a tag (with its scope) in the event files of a folder.

    Returns:
        A dict from step to an array of pictures, (n, height, width, channels), uint8.

    Raises:
        KeyError: there is no such tag.
    """
    # The reader keeps ten records of a tag, chosen at random; 0 means all. A record
    # holds the width, the height, then each picture as PNG.
    reader = EventAccumulator(str(logs), size_guidance={"tensors": 0}).Reload()
    found = {}
    for event in reader.Tensors(tag):
        pngs = tf.make_ndarray(event.tensor_proto)[2:]
        found[event.step] = np.array([tf.io.decode_png(png).numpy() for png in pngs])
    return found
