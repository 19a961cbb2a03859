"""Kernels that find TensorFlow loaded: each is a copy of a process that only imported.

Sixteen notebooks load the same packages. Here one process for each worker of pytest
loads them, runs no op and makes no thread, and is copied (os.fork) for each kernel. So
a kernel has a Python, a TensorFlow and devices of its own, as a fresh one has.

On Linux only. Elsewhere kernels start as always: on macOS a copy of a process that has
loaded the system's libraries may crash.
"""

import contextlib
import functools
import json
import os
import signal
import subprocess
import sys
import time
from multiprocessing import process
from unittest import mock

PACKAGES = ("tensorflow", "ipykernel.kernelapp", "matplotlib.figure", "scipy.integrate")
# What utils and ipykernel set before they load TensorFlow and Matplotlib.
SETTINGS = {
    "TF_ENABLE_ONEDNN_OPTS": "0",
    "TF_CPP_MIN_LOG_LEVEL": "2",
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
}


class Kernel:
    """A kernel's process, with what jupyter_client asks of a subprocess.Popen."""

    stdin = stdout = stderr = None

    def __init__(self, pid):
        self.pid = pid

    def poll(self):
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return 0  # gone: nobody can tell any more with which status
        return None

    def wait(self, timeout=None):
        end = time.monotonic() + (float("inf") if timeout is None else timeout)
        while self.poll() is None:
            if time.monotonic() > end:
                raise subprocess.TimeoutExpired("kernel", timeout)
            time.sleep(0.02)
        return 0

    def send_signal(self, number):
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def terminate(self):
        self.send_signal(signal.SIGTERM)

    def kill(self):
        self.send_signal(signal.SIGKILL)


@functools.cache
def server():
    """The process that is copied; it ends with ours, which closes its stdin."""
    return subprocess.Popen(
        [sys.executable, __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=SETTINGS | os.environ,
        text=True,
        bufsize=1,
    )


def launch(command, env, cwd=None, **_):
    """What jupyter_client calls instead of starting `python -m ipykernel_launcher`."""
    request = {"arguments": command[3:], "env": dict(env), "cwd": str(cwd or ".")}
    print(json.dumps(request), file=server().stdin)
    return Kernel(int(server().stdout.readline()))


def used():
    """While this is entered, a kernel that is started is a copy."""
    if sys.platform != "linux":
        return contextlib.nullcontext()
    place = "jupyter_client.provisioning.local_provisioner.launch_kernel"
    return mock.patch(place, launch)


def serve():
    del sys.path[0]  # this folder, where a kernel would not look
    for package in PACKAGES:
        __import__(package)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # a kernel that ended is gone
    for line in iter(sys.stdin.readline, ""):
        request = json.loads(line)
        pid = os.fork()
        if pid == 0:
            become_a_kernel(**request)
        os.setpgid(pid, pid)  # signals to a kernel reach its own processes only
        print(pid, flush=True)


def become_a_kernel(arguments, env, cwd):
    from ipykernel.kernelapp import IPKernelApp

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(SETTINGS | env)
    process.ORIGINAL_DIR = cwd  # where processes of the notebook look for its modules
    IPKernelApp.launch_instance(arguments)
    os._exit(0)


if __name__ == "__main__":
    serve()
