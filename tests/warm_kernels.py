"""Kernels that find TensorFlow loaded, as copies of a process that has only loaded it.

Sixteen notebooks load TensorFlow. On Linux, Python's fork server does it once for each
worker of pytest, runs no op and starts no thread, and each kernel begins as a copy of
it. So it has a Python, devices and graphs of its own, as a fresh kernel has. Elsewhere
kernels start as always.
"""

import contextlib
import gc
import multiprocessing.process
import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

from notebooks.modules.processes import context, end_with_parent

ROOT = Path(__file__).resolve().parents[1]


class Kernel:
    """A kernel's process, with what jupyter_client asks of a subprocess.Popen."""

    stdin = stdout = stderr = None

    def __init__(self, process):
        self.process, self.pid = process, process.pid
        self.terminate, self.kill = process.terminate, process.kill

    def poll(self):
        return self.process.exitcode

    def wait(self, timeout=None):
        self.process.join(timeout)
        if self.poll() is None:
            raise subprocess.TimeoutExpired("a kernel", timeout)
        return self.poll()

    def send_signal(self, number):
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)


def launch(command, env, cwd=None, **_):
    """What jupyter_client calls instead of starting `python -m ipykernel_launcher`."""
    ours, theirs = context.Pipe()
    args = (theirs, command[3:], dict(env), str(cwd or os.getcwd()))
    process = context.Process(target=run_kernel, args=args)
    process.start()
    theirs.close()
    ours.recv()  # else a signal to the kernel's group might reach ours
    return Kernel(process)


def run_kernel(connection, arguments, env, cwd):
    from ipykernel.kernelapp import IPKernelApp

    end_with_parent()
    gc.freeze()  # collections pass over what TensorFlow's import has made
    os.setpgid(0, 0)
    connection.send("has a group of its own")
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (1, 2):
        os.dup2(nothing, descriptor)
    os.environ.clear()
    # What utils sets before it loads TensorFlow is read when the first op runs.
    os.environ.update({"TF_ENABLE_ONEDNN_OPTS": "0", "TF_CPP_MIN_LOG_LEVEL": "2"} | env)
    os.chdir(cwd)
    # Where processes of the notebook look for its modules.
    multiprocessing.process.ORIGINAL_DIR = cwd
    sys.path[:] = [folder for folder in sys.path if not is_for_tests(folder)]
    IPKernelApp.launch_instance([*arguments, "--matplotlib=inline"])


def is_for_tests(folder):
    """Whether pytest put it into sys.path: in the project, but not its packages."""
    path = Path(folder or ".").resolve()
    return path.is_relative_to(ROOT) and not path.is_relative_to(sys.prefix)


def used():
    """While this is entered, each kernel that is started is such a copy."""
    if sys.platform != "linux":
        return contextlib.nullcontext()
    place = "jupyter_client.provisioning.local_provisioner.launch_kernel"
    return mock.patch(place, launch)
