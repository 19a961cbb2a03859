"""Run Python code in a process of its own, without waiting for TensorFlow to load."""

import contextlib
import io
import os
import textwrap
import traceback
from pathlib import Path

from notebooks.modules.processes import start

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 300  # that anything may take


class OtherProcess:
    """A process that runs `code` in the project's folder.

    There, `connection.send` is heard by our `hear`, `connection.recv` hears our `say`.
    """

    def __init__(self, code, **environ):
        code = textwrap.dedent(code)
        environ = {**os.environ, **environ}
        self._process, self._connection = start(_run, code, environ)
        self.say = self._connection.send

    def hear(self):
        try:
            if self._connection.poll(SECONDS):
                return self._connection.recv()
        except EOFError:
            pass
        self._process.kill()
        self._process.join()
        raise AssertionError(f"no answer; exit code {self._process.exitcode}")

    def printed(self):
        """What the code printed, once it has come to its end."""
        printed, error = self.hear()
        assert not error, error
        return printed


def run(code, **environ):
    """What `code` prints."""
    return OtherProcess(code, **environ).printed()


def _run(connection, code, environ):
    os.environ.clear()
    os.environ.update(environ)
    os.chdir(ROOT)
    error = None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        try:
            exec(code, {"__name__": "__main__", "connection": connection})
        except Exception:
            error = traceback.format_exc()
    connection.send((printed.getvalue(), error))
