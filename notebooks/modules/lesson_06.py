"""Pictures of lesson 06: read back from TensorBoard's files, and compared."""

import numpy as np
import tensorflow as tf
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator


def read_pictures(run, tag):
    """From step to picture, (height, width, channels), for a tag in a run's folder."""
    # It keeps ten records of a tag, chosen at random; 0 means all.
    reader = EventAccumulator(run, size_guidance={"tensors": 0}).Reload()
    return {
        event.step: tf.io.decode_png(tf.make_ndarray(event.tensor_proto)[2]).numpy()
        for event in reader.Tensors(tag)  # [0] is the width, [1] the height
    }


def same_drawing(found, right, untitled):
    """True, or in which part `found` differs; `untitled` is `right` without titles."""
    found, right = np.asarray(found), np.asarray(right)
    if np.array_equal(found, right):
        return True
    if found.shape != right.shape:
        return f"the shape is {found.shape} instead of {right.shape}"
    other_rows = (right == untitled).all(axis=(0, 2, 3))  # of pixels: without letters
    if np.array_equal(found[:, other_rows], right[:, other_rows]):
        return "the pictures are right, and the titles are not"
    return "other pictures are drawn"
