"""Workers on this machine, for lesson 09: each is a process that runs worker.py.

with Workers(2) as workers:
    reports = workers.read()  # for each worker a list of what it said
"""

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path


def configurations(count):
    """The TF_CONFIG of each worker: addresses that are free, and its number."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("localhost", 0))  # any port that is free
        addresses = [f"localhost:{each.getsockname()[1]}" for each in sockets]
    return [
        {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": i}}
        for i in range(count)
    ]


class Workers:
    """A cluster of worker processes, all of them ended when the block is left.

    Args:
        count: how many.
        steps: how many steps of training they make together.
        folder: for checkpoints; by default one that is gone afterwards.
        stop: the step before which the last worker stops and waits to be killed.
    """

    def __init__(self, count, steps=30, folder=None, stop=None):
        self.count, self.steps, self.folder, self.stop = count, steps, folder, stop
        self._seen = ""  # of what the last worker says

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            folder = self.folder or stack.enter_context(tempfile.TemporaryDirectory())
            self.processes = []
            for config in configurations(self.count):
                last = config["task"]["index"] == self.count - 1
                options = [str(self.stop)] if last and self.stop is not None else []
                process = stack.enter_context(self._start(config, folder, options))
                stack.callback(process.kill)  # before the process is waited for
                self.processes.append(process)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self._stack.close()

    def _start(self, config, folder, options):
        program = Path(__file__).with_name("worker.py")
        return subprocess.Popen(
            [sys.executable, program, str(self.steps), folder, *options],
            # A worker does without Keras, which takes a second to load.
            env=os.environ
            | {"TF_CONFIG": json.dumps(config), "TF_USE_LEGACY_KERAS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def read(self):
        """What each worker said, up to its end: a list of dicts for each."""
        texts = [process.stdout.read() for process in self.processes]
        texts[-1] = self._seen + texts[-1]
        return [self._said(text) for text in texts]

    def losses(self):
        """The loss of each step, for each worker."""
        return [[said["loss"] for said in report] for report in self.read()]

    def kill_last(self):
        """Wait until the last worker has stopped, and kill it, as a power cut does."""
        process = self.processes[-1]
        while '"stopped"' not in self._seen:
            line = process.stdout.readline()
            if not line:
                raise RuntimeError(f"the worker ended too early:\n{self._seen}")
            self._seen += line
        process.kill()

    @staticmethod
    def _said(text):
        said = [json.loads(line) for line in text.splitlines() if line[:1] == "{"]
        if not said:
            raise RuntimeError(f"a worker said nothing but:\n{text[-2000:]}")
        return said
