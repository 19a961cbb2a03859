"""TensorFlow's messages held back where they name a folder or a line of this machine,
or where errors are wanted: for lessons 09, 12 and 13."""

from contextlib import contextmanager

from utils import stderr_held_back, tf


@contextmanager
def quietly():
    """Inside of it, neither C++ nor TensorFlow's logger writes what is no error."""
    logger = tf.get_logger()
    level = logger.level
    logger.setLevel("ERROR")
    try:
        with stderr_held_back(shown_on_failure=False):
            yield
    finally:
        logger.setLevel(level)
