"""Starts TensorFlow without its start-up messages, the same on every processor.

Import this before TensorFlow: it keeps TensorFlow's start-up messages out of your
notebook and makes its numbers independent of the processor. Only to set up devices
or several workers (`tf.config`, `MultiWorkerMirroredStrategy`) import TensorFlow
first: that has to happen before its first op, and this module runs one.
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


def cores():
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


# By default TensorFlow runs graphs on one thread for each core. A py_func holds one of
# them, and what it calls of TensorFlow may need another. (Many would slow every graph
# down: TensorFlow's threads sleep the sooner the more they are.)
if not os.environ.get("TF_NUM_INTEROP_THREADS") and cores() == 1:
    os.environ["TF_NUM_INTEROP_THREADS"] = "2"


@contextlib.contextmanager
def stderr_held_back(shown_on_failure=True):
    """Keep what C++ writes to file descriptor 2, and show it on failure or never.

    TensorFlow greets from C++ whatever its log level says, and each machine
    gets another greeting: in a notebook it would be stored as output.

    Example:
        >>> with stderr_held_back():
        ...     written = os.write(2, b"a greeting")  # held back, and forgotten
    """
    with contextlib.suppress(AttributeError, OSError, ValueError):  # there may be none
        sys.stderr.flush()
    try:
        saved = os.dup(2)
    except OSError:  # nothing is open there, so nothing can be held back
        yield
        return
    with tempfile.TemporaryFile() as held:
        os.dup2(held.fileno(), 2)
        try:
            yield
        except BaseException:
            if shown_on_failure:
                os.dup2(saved, 2)
                held.seek(0)
                os.write(2, held.read())
            raise
        finally:
            os.dup2(saved, 2)
            os.close(saved)


@contextlib.contextmanager
def _garbage_left():
    """Don't look for garbage among all that TensorFlow loads: a fifth of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


if "tensorflow" in sys.modules:  # then devices may still have to be configured
    import tensorflow as tf
else:
    # What TensorFlow loads may want a stderr, and there may be none.
    some_stderr = contextlib.redirect_stderr(sys.stderr or io.StringIO())
    with some_stderr, stderr_held_back(), _garbage_left():
        import tensorflow as tf

        tf.identity(0.0)  # the first op starts the devices, and they write too
