"""Workers on this machine, for lesson 14: each is a process that runs worker.py.

with Workers(2) as workers:
    reports = workers.read()  # for each worker a list of what it said
"""

import contextlib
import socket
import tempfile

import numpy as np

from notebooks.modules import worker
from notebooks.modules.processes import start


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
        functions: what each worker works with, by name: `cross_entropy`, `share` and
            `step`. Their text is sent, not what they refer to. By default those of
            worker.py.
        steps: how many steps of training they make together.
        folder: for checkpoints; by default one that is gone afterwards.
        stop: the step before which the last worker stops and waits to be killed.
    """

    def __init__(self, count, functions=None, steps=30, folder=None, stop=None):
        self._sent = worker.texts(functions) if functions else None
        self.count, self.steps, self.folder, self.stop = count, steps, folder, stop
        self._said, self._ended = [[] for _ in range(count)], False

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            folder = self.folder or stack.enter_context(tempfile.TemporaryDirectory())
            self._processes, self._connections = [], []
            for index, config in enumerate(configurations(self.count)):
                stop = self.stop if index == self.count - 1 else None
                process, connection = start(
                    worker.run, config, self.steps, folder, stop, self._sent
                )
                stack.enter_context(connection)
                stack.callback(process.join)
                stack.callback(process.kill)
                self._processes.append(process)
                self._connections.append(connection)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self._stack.close()

    def _next(self, index):
        """What a worker says next; None when it has done its part, or is gone."""
        try:
            said = self._connections[index].recv()
        except EOFError:
            said = None
        if said is not None:
            self._said[index].append(said)
        return said

    def read(self):
        """What each worker said, up to its end: a list of dicts for each."""
        if self._ended:
            return self._said
        for index, process in enumerate(self._processes):
            while self._next(index) is not None:
                pass
            if not self._said[index]:
                process.join()
                raise RuntimeError(
                    f"worker {index} said nothing; its exit code is {process.exitcode}"
                )
        self._ended = True
        return self._said

    def numbers(self, name="loss"):
        """The "loss" or the "seconds" of each step: an array [worker, step]."""
        reports = self.read()
        for index, report in enumerate(reports):
            if "error" in report[-1]:
                raise RuntimeError(f"worker {index}: {report[-1]['error']}")
        return np.array([[said[name] for said in report] for report in reports])

    def kill_last(self):
        """Wait until the last worker has stopped, and kill its process."""
        while said := self._next(self.count - 1):
            if "stopped" in said:
                self._processes[-1].kill()
                return
        raise RuntimeError(f"the worker ended too early: {self._said[-1]}")
