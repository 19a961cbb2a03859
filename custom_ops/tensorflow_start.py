"""Starts TensorFlow without its start-up messages, the same on every processor.

Import this before TensorFlow. Only to set up devices or several workers, which has to
come before the first op, import TensorFlow first: this module runs an op.
"""

import contextlib
import gc
import io
import os
import sys
import tempfile

# oneDNN picks its kernels by processor, and with them the last digits change.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
# A C++ kernel that fails raises an error in Python; the log repeats it.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
# A graph has a thread for each core. A py_func takes one; what it calls, another.
if hasattr(os, "sched_getaffinity") and len(os.sched_getaffinity(0)) == 1:
    os.environ.setdefault("TF_NUM_INTEROP_THREADS", "2")


@contextlib.contextmanager
def stderr_held_back(shown_on_failure=True):
    """Keep what C++ writes to file descriptor 2; show it at an error, or never.

    TensorFlow greets from C++ on each machine in another way, whatever its log level.

    Example:
        >>> with stderr_held_back():
        ...     written = os.write(2, b"a greeting")  # held back, and forgotten
    """
    try:
        sys.stderr.flush()
        saved = os.dup(2)
    except (AttributeError, OSError, ValueError):  # there is no stderr
        yield
        return
    with tempfile.TemporaryFile() as held:
        os.dup2(held.fileno(), 2)
        try:
            yield
        except BaseException:
            held.seek(0)
            os.write(saved, held.read() if shown_on_failure else b"")
            raise
        finally:
            os.dup2(saved, 2)
            os.close(saved)


if "tensorflow" in sys.modules:  # then devices may still have to be configured
    import tensorflow as tf
else:
    gc.disable()  # looking for garbage among all that is loaded takes half a second
    with contextlib.redirect_stderr(sys.stderr or io.StringIO()), stderr_held_back():
        import tensorflow as tf

        tf.identity(0.0)  # the first op starts the devices, and they write too
    gc.enable()
