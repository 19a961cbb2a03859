"""Pictures of lesson 06: read back from TensorBoard's files."""

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
