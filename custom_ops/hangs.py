"""A func that calls TensorFlow waits for one of the threads it keeps busy itself.

TensorFlow runs graphs on a few threads, by default one for each core. A func that a
graph calls holds one of them, and a tf.function called in it needs another. Where none
is left, its Python code is run op by op in the thread that calls it. What has no Python
code (a concrete function, a loaded one) is refused in words, and about what this can't
see a thread of its own says so.
"""

import inspect
import os
import re
import sys
import threading
import time

import numpy as np

from .quiet_start import cores, tf
from .tensorflow_private import (
    FunctionCallOptions,
    around_calls,
    eager_context,
    new_executor,
)

PATIENCE = 0.25  # seconds in which nobody does anything, before one is refused
SILENCE = 10  # seconds after which somebody has to say something
_CURE = ("let TensorFlow have more threads (set the environment variable "
         "TF_NUM_INTEROP_THREADS=256 before it starts), or call it outside of func")
_NOT_USERS = re.compile(r"[/\\](tensorflow|keras|threading\.py|queue\.py|concurrent)")
_running = {}  # for each thread that runs a func of a graph: its name and since when
_executors = {}  # kept for as long as a thread may use its own
_watch = None  # the thread that looks for what hangs


def threads():
    """How many threads TensorFlow runs graphs on."""
    chosen = tf.config.threading.get_inter_op_parallelism_threads()
    chosen = chosen or int(os.environ.get("TF_NUM_INTEROP_THREADS") or 0)
    return chosen if chosen > 0 else cores()


def begin(label):
    """This thread runs the func of a graph's op from now on; returns what `end` needs.

    The thread is one of TensorFlow's, so what is prepared in it once can stay.
    """
    me = threading.get_ident()
    outer = _running.get(me)
    _running[me] = label, time.monotonic()
    context = eager_context()
    if type(context.function_call_options) is not _Options:
        context.function_call_options = _Options(context.function_call_options)
        # In asynchronous mode the queue that func would use waits for func.
        context.executor = _executors[me] = new_executor(enable_async=False)
        _start_watch()
    return outer


def end(outer):
    """The func that began last is done."""
    me = threading.get_ident()
    if outer is None:
        del _running[me]
    else:
        _running[me] = outer


def _call(plain, function, *args, **kwargs):
    """Call a tf.function; op by op where a graph of it would have to wait for us."""
    if (not _running or len(_running) < threads()
            or threading.get_ident() not in _running or not tf.executing_eagerly()):
        return plain(function, *args, **kwargs)

    def tensor(value, kinds=(np.ndarray, np.generic)):
        return tf.convert_to_tensor(value) if isinstance(value, kinds) else value

    if function.input_signature is not None:
        args, kwargs = _as_signed(function, args, kwargs)
    args, kwargs = tf.nest.map_structure(tensor, (args, kwargs))
    try:
        results = function.python_function(*args, **kwargs)
    except Exception as error:
        note = (f"A tf.function ran op by op here, for all threads ({threads()}) on "
                "which TensorFlow runs graphs are taken. Where it does not work so, "
                + _CURE)
        if note not in getattr(error, "__notes__", ()):
            error.add_note(note)
        raise
    kinds = np.ndarray, np.generic, int, float, complex, str, bytes
    return tf.nest.map_structure(lambda y: tensor(y, kinds), results)


def _as_signed(function, args, kwargs):
    """The arguments of a call, cast as the input_signature tells."""
    bound = inspect.signature(function.python_function).bind(*args, **kwargs)
    bound.apply_defaults()
    bound = function.function_type.bind_with_defaults(bound.args, bound.kwargs, {})
    return bound.args, bound.kwargs


around_calls(_call)


class _Options(FunctionCallOptions):
    """What TensorFlow looks at in a thread just before it runs a graph's function."""

    __slots__ = ()

    def __init__(self, plain):
        super().__init__(plain.executor_type)
        self._config_proto_serialized = plain.config_proto_serialized

    @property
    def executor_type(self):
        if threading.get_ident() in _running:
            _wait_for_a_thread()
        return self._executor_type

    @executor_type.setter
    def executor_type(self, value):
        self._executor_type = value


def _wait_for_a_thread():
    """Go on once a thread is free; raise when that will never be.

    It will not while each func that holds a thread waits for TensorFlow itself.
    """
    me, seen_at_work = threading.get_ident(), time.monotonic()
    while len(_running) >= threads():
        if not all(map(_waits_for_tensorflow, list(_running))):
            seen_at_work = time.monotonic()
        if time.monotonic() - seen_at_work > PATIENCE or len(_running) == 1:
            raise RuntimeError(
                f"{_running[me][0]} calls a tf.function, which would wait for ever: "
                f"all threads ({threads()}) on which TensorFlow runs graphs are taken "
                f"by functions like this one; {_CURE}")
        time.sleep(0.01)


def _waits_for_tensorflow(thread):
    frame = sys._current_frames().get(thread)
    return frame is None or frame.f_code.co_filename == __file__ or (
        frame.f_code.co_name == "quick_execute")


def _start_watch():
    global _watch
    if _watch is None or not _watch.is_alive():  # a forked process has lost it
        _watch = threading.Thread(target=_look_for_hangs, name="py_func", daemon=True)
        _watch.start()


def _look_for_hangs():
    """Say once of each func that it hangs: it waits, and the process does nothing."""
    told, before, used = set(), {}, time.process_time()
    while True:
        time.sleep(SILENCE / 4)
        idle = time.process_time() - used < SILENCE / 40
        used = time.process_time()
        frames = sys._current_frames() if _running else {}
        places = {me: (id(frames[me]), frames[me].f_lasti)
                  for me in list(_running) if me in frames}
        for me, (label, since) in list(_running.items()):
            still = idle and places.get(me) == before.get(me) is not None
            if still and time.monotonic() - since > SILENCE and since not in told:
                told.add(since)
                _say(label, frames[me])
        before = places


def _say(label, frame):
    """Where a func waits and for what, if that is a matter of TensorFlow."""
    inside = "tensorflow" in frame.f_code.co_filename
    if not inside and len(_running) < threads():
        return  # it may wait for whatever it likes
    while frame and _NOT_USERS.search(frame.f_code.co_filename):
        frame = frame.f_back
    place = f" (line {frame.f_lineno} of {frame.f_code.co_filename})" if frame else ""
    text = (
        f"{label} has been waiting for {SILENCE} s{place}, and nothing else happens. "
        f"{len(_running)} such functions are running, on {threads()} threads that "
        f"TensorFlow has for graphs; where they wait for TensorFlow, {_CURE}.")
    if sys.stderr is not None:
        print(text, file=sys.stderr)
