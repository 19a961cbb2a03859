"""Run a student's code, and say in words what it did: for `judge`."""

import contextlib
import io
import linecache
import logging
import re
import signal
import sys
import traceback
import warnings

SHOWN = 300  # characters of a line, a message, a value
ADDRESS = re.compile(r"( at)? 0x[0-9a-fA-F]{4,}")
FOLDERS = re.compile(r"(?<![\w.:/])(?:[A-Za-z]:\\|/|~/)(?:[^\s:\"',/\\]+[/\\])+")
NODE = re.compile(  # TensorFlow's names of nodes; what it says first if it uses a GPU
    r"\{\{.*?\}\} | \[Op:.*|\d+ root error\(s\) found\.\s+\(0\) [A-Z_]+: +")
FRAME = re.compile(r'^( *)File "([^"]+)", line (\d+)', re.MULTILINE)
NO_REASON = re.compile(r"\s*(File |Detected at|\[|<)|.*(execution error|user code):$")
RAISED = re.compile(r"(?:\S+: (?=\w+Error: ))?(?:[\w<>]+\.)*(\w+)(?:: |$)")
LIBRARY = re.compile(r"/tensorflow/python/|/lib/python[\d.]+/\w+\.py|<frozen")


class Run(io.StringIO):
    """Runs code for `seconds` in all, and is the screen that it prints on."""

    def __init__(self, seconds, answers):
        super().__init__()
        self.seconds, self.running, self.stopped = seconds, False, False
        self.cells = set(map(cell_of, answers))

    def write(self, text):
        return super().write(text[:100_000 - self.tell()])  # it may be endless

    def shown(self):
        """Ten lines of what was printed, each once: a check calls f many times."""
        lines = map(tidy, self.getvalue().split("\n"))
        lines = [f"| {line[:SHOWN]}" for line in dict.fromkeys(lines) if line]
        lines[10:] = ["| …"] if lines[10:] else []
        return ["your code printed:", *lines] if lines else []

    @contextlib.contextmanager
    def begun(self):
        """While this is open, `result_of` may be called; then all is as it was."""
        log = logging.getLogger("tensorflow")  # warns of a check that traces again
        with contextlib.ExitStack() as after:
            after.enter_context(contextlib.redirect_stdout(self))
            after.enter_context(contextlib.redirect_stderr(self))
            after.enter_context(warnings.catch_warnings(action="ignore"))
            after.callback(sys.settrace, sys.gettrace())
            after.callback(log.setLevel, log.level)
            log.setLevel(logging.ERROR)
            with contextlib.suppress(AttributeError, ValueError):  # Windows; a thread
                handler = signal.signal(signal.SIGALRM, self.on_alarm)
                after.callback(signal.signal, signal.SIGALRM, handler)
                timer = signal.setitimer(signal.ITIMER_REAL, self.seconds, 0.05)
                after.callback(signal.setitimer, signal.ITIMER_REAL, *timer)
            yield

    def on_alarm(self, number, frame):
        """Interrupt the code; TensorFlow, which would crash, only when it returns."""
        caller = frame
        while LIBRARY.search(caller.f_code.co_filename):
            caller = caller.f_back
        if self.running and caller is frame:
            self.stop()
        elif self.running:
            caller.f_trace = self.stop
            sys.settrace(lambda *_: None)

    def stop(self, *_):
        self.stopped = True
        raise KeyboardInterrupt  # which no `except Exception` catches

    def result_of(self, test):
        """(result, ""), or (None, what happened instead, in words)."""
        result = error = None
        try:
            self.running = True
            result = test()
        except BaseException as caught:  # SystemExit and KeyboardInterrupt too
            error = caught
        finally:
            self.running = False
        if self.stopped:
            return None, f"stopped after {self.seconds:g} seconds: does your code end?"
        return result, "" if error is None else in_words(error, self.cells)


def cell_of(answer):
    """The file name of the notebook's cell in which a function stands, or ""."""
    with contextlib.suppress(Exception):  # an answer may be anything
        for name in ("pyfunc", "func", "__func__", "__wrapped__"):
            answer = getattr(answer, name, answer)
        file = answer.__code__.co_filename
        return file if "ipykernel" in file or file.startswith("<") else ""
    return ""


def in_words(error, cells):
    """What went wrong, and in which line; in a graph an error is no more than text."""
    first = error.__cause__ or error  # check_gradient's own words may tell less
    text = "".join(traceback.format_exception(first))
    frames = list(FRAME.finditer(text))
    ours = [frame for frame in frames if frame[2] in cells]
    if not ours and hasattr(error, "report") and "Graph execution error" not in text:
        return tidy(NODE.sub("", str(error)))
    frame = (ours or frames)[-1]
    rest = NODE.sub("", text[frame.end():]).split("\n")[1:]
    reason = next((line.strip() for line in rest if not NO_REASON.match(line) and (
        line[:len(frame[1]) + 1].strip() or re.match(r"\s+\w+Error: ", line))), "")
    kind, place = type(first).__name__, ""
    if raised := RAISED.match(reason):
        kind, reason = raised[1], reason[raised.end():]
    if ours:
        source = linecache.getline(frame[2], int(frame[3])).strip()[:SHOWN]
        place = f' in line {frame[3]} of your cell, "{source}"'
    said = f"{kind}{place}: {tidy(reason)[:SHOWN]}".rstrip(": ")
    if "no gradient in tf.function" in "".join(traceback.format_exception(error)):
        said = f"inside a tf.function: {said}"
    if re.search(r"symbolic tf\.Tensor|SymbolicTensor' object has no", said):
        said += ("\ninside a tf.function a tensor has no numbers yet: "
                 "NumPy cannot take it, TensorFlow's own ops can")
    return said


def tidy(text):
    """The same on every machine: no addresses, no folders."""
    return FOLDERS.sub("", ADDRESS.sub("", text))
