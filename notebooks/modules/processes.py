"""Processes for lessons 07, 12 to 14 and tests, in which TensorFlow is loaded already.

    def answer(connection):
        connection.send(connection.recv() + 1)

    process, connection = start(answer)
    connection.send(41)
    connection.recv()  # 42

On Linux a server loads TensorFlow, once, and each process begins as a copy of it
(Python's multiprocessing calls it a fork server). As the server runs no op, a copy has
its own devices, graphs and table of Python functions.
"""

import atexit
import contextlib
import io
import multiprocessing
import os
import runpy
import sys
import threading

method = "forkserver" if sys.platform == "linux" else "spawn"
context = multiprocessing.get_context(method)
context.set_forkserver_preload(["tensorflow"])


def start(target, *args):
    """Call target(connection, *args) in a new process, which ends when ours does.

    Returns the process, and our end of the connection. Where nobody sends any more,
    `recv` raises EOFError. `target` is a function of a module that can be imported.
    """
    # Only here: where it comes first utils runs an op, and in a worker the
    # strategy has to come before that.
    from utils import stderr_held_back

    ours, theirs = context.Pipe()
    # Not a daemon, which could have no processes of its own.
    process = context.Process(target=_run, args=(target, theirs, *args))
    with stderr_held_back(), theirs:  # TensorFlow greets while it is loaded
        process.start()
    atexit.register(process.kill)
    return process, ours


def load_early(*modules):
    """Let the server load TensorFlow, and these, beside what the caller does next."""
    from utils import stderr_held_back

    # A process that the server started imports the caller's module once more.
    main = multiprocessing.current_process().name == "MainProcess"
    if method == "forkserver" and main:
        from multiprocessing import forkserver

        context.set_forkserver_preload(["tensorflow", *modules])
        with stderr_held_back():
            forkserver.ensure_running()


def run_program(connection, path, arguments, environment):
    """A target for `start`: runs a program as `python path arguments` would.

    Sends each piece of text that it prints, then (error,), its name or None.
    """
    os.environ.update(environment)
    sys.argv = [str(path), *arguments]
    printed = io.TextIOBase()
    printed.write = connection.send
    try:
        with contextlib.redirect_stdout(printed):
            runpy.run_path(str(path), run_name="__main__")
        connection.send((None,))
    except Exception as error:
        connection.send((type(error).__name__,))
    connection.poll(None)  # others may still need what it serves


def end_with_parent():
    """Called in a new process: when its parent ends, however it does, so does this."""
    threading.Thread(target=_wait_and_end, daemon=True).start()


def _run(target, connection, *args):
    end_with_parent()
    target(connection, *args)


def _wait_and_end():
    multiprocessing.parent_process().join()
    os._exit(1)
