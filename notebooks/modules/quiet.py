"""TensorFlow's messages held back where they name a folder or a line of this machine,
or where errors are wanted."""

import logging
from contextlib import contextmanager

from utils import stderr_held_back


@contextmanager
def quietly():
    """Inside of it, neither C++ nor a Python logger writes what is no error."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with stderr_held_back(shown_on_failure=False):
            yield
    finally:
        logging.disable(before)
