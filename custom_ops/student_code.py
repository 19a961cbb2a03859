"""Run a student's code, and say in words what it did: for `judge`.

Whatever the code does, `Run.result_of` returns: the error named with the line of the
student's own cell, an endless loop ended, what it printed held back.
"""

import contextlib
import ctypes
import functools
import io
import linecache
import logging
import random
import re
import signal
import sys
import threading
import time
import types
import warnings
from pathlib import Path

from .tensorflow_start import tf

SHOWN_LINES = 10  # of what the student's code printed
SHOWN_LETTERS = 300  # of a line, a message, a value
AGAIN = 0.05  # seconds until code that did not listen is stopped again
GRACE = 0.5  # seconds until a signal that ended nothing is no longer relied on
PATIENCE = 5  # times; then it is interrupted at once while it deals with the last one
ADDRESS = re.compile(r"( at)? 0x[0-9a-fA-F]{4,}")
FOLDERS = re.compile(r"(?<![\w.:/])(?:[A-Za-z]:\\|/|~/)(?:[^\s:\"',/\\]+[/\\])+")
FRAME = re.compile(r'File "([^"]+)", line (\d+)')
RAISED = re.compile(r"\w+(Error|Exception): ")
NO_NUMBERS = re.compile(r"symbolic tf\.Tensor|to a numpy array|NumPy call"
                        r"|SymbolicTensor' object has no")
class_name = type.__dict__["__name__"].__get__  # a metaclass may have one of its own


class TookTooLong(BaseException):
    """Raised in the middle of the student's code when its time is over."""


class Run:
    """One judgement: the time that is left, what was printed, whose code it is."""

    def __init__(self, seconds):
        self.seconds, self.end = seconds, time.monotonic() + seconds
        self.printed = HeldOutput()
        check = sys._getframe(2)  # the check, which called `judge`
        names = check.f_code.co_varnames[:check.f_code.co_argcount]
        answers = [check.f_locals.get(name) for name in names]
        self.cells = set()
        for answer in answers:  # even to look at one is to run a student's code
            self.result_of(lambda answer=answer: self.cells.update(files_of(answer)))

    def result_of(self, test):
        """(result, ""), or (None, what happened instead, in words)."""
        result, error, stopped = self.in_time(test)
        if error is None and not stopped:
            return result, ""
        words = None
        if not stopped:  # to look at an error is to run its own code
            words, _, stopped = self.in_time(lambda: self.in_words(error))
        if stopped:
            words = (f"stopped after {self.seconds:g} seconds: does your code come to "
                     "an end?")
        return None, words or class_name(type(error))

    def in_time(self, test):
        """(result, error, how often it was stopped) of a call, in the time left."""
        result, error, stop = None, None, Stopper(self.end)
        if time.monotonic() > self.end:
            return None, None, 1
        try:
            with self.printed.instead_of_the_screen():
                result = stop.result_of(test)
        except BaseException as caught:  # SystemExit and KeyboardInterrupt too
            error = caught
        if error is not None or stop.stopped:
            mend_variable_scope()
        return result, error, stop.stopped

    def in_words(self, error):
        """The error, with the line of the student's cell that it comes from."""
        report = getattr(error, "report", None)
        chain = list(causes(error))
        for cause in chain:
            if place := self.place(cause):
                said = f"{type(cause).__name__} {place}: {first_line(cause)}"
                said = said.rstrip(": ")
                in_graph = "no gradient in tf.function" in str(error)
                if NO_NUMBERS.search(said):
                    said += ("\ninside a tf.function a tensor has no numbers yet: "
                             "NumPy cannot take it, TensorFlow's own ops can")
                return "inside a tf.function: " * in_graph + said
        text = tidy(safe_text(error).strip())
        if report is not None or "custom_ops" in home_of(error):
            return text[:20 * SHOWN_LETTERS]  # in our own words: all of them
        return f"{type(error).__name__}: {first_line(error)}".rstrip(": ")

    def place(self, error):
        """`in line 3 of your cell, "dx = foo * dy"`, or ""."""
        found = None
        if isinstance(error, SyntaxError) and error.filename in self.cells:
            found = error.filename, error.lineno
        for frame, line in walk(error.__traceback__):
            if self.is_students(frame.f_code.co_filename):
                found = frame.f_code.co_filename, line
        if found is None:  # from a graph, as text
            for file, line in FRAME.findall(safe_text(error)):
                if self.is_students(file):
                    found = file, int(line)
        if found is None:
            return ""
        source = linecache.getline(*found).strip()[:SHOWN_LETTERS]
        return f"in line {found[1]} of your cell" + f', "{source}"' * bool(source)

    def is_students(self, file):
        return file in self.cells

    def say(self, verdict):
        """Print what was held back, and then the verdict."""
        lines = self.printed.shown() + verdict.split("\n")
        text = "\n".join(line[:4 * SHOWN_LETTERS] for line in lines)
        print(text.encode("utf-8", "replace").decode("utf-8"))


def is_cell(file):
    """Whether code of this file was typed into a notebook."""
    return "ipykernel_" in file or file.startswith("<") and "importlib" not in file


def files_of(answer, depth=3):
    """The files, or notebook cells, in which the code of an answer stands."""
    with contextlib.suppress(Exception):
        if isinstance(answer, (list, tuple)):
            for part in answer[:20]:
                yield from files_of(part, depth - 1) if depth else ()
            return
        if isinstance(answer, functools.partial):
            answer = answer.func
        for name in ("python_function", "pyfunc", "py_func", "__func__", "__wrapped__"):
            answer = getattr(answer, name, answer)
        if not hasattr(answer, "__code__"):
            owner = answer if isinstance(answer, type) else type(answer)
            answer = next(member for member in vars(owner).values()
                          if isinstance(member, types.FunctionType))
        if is_cell(answer.__code__.co_filename):
            yield answer.__code__.co_filename


def causes(error):
    """The error and what it was raised from, the first one first."""
    chain = []
    while error is not None and not any(error is known for known in chain):
        chain.append(error)
        error = error.__cause__ or (None if error.__suppress_context__
                                    else error.__context__)
    return reversed(chain)


def walk(traceback):
    while traceback is not None:
        yield traceback.tb_frame, traceback.tb_lineno
        traceback = traceback.tb_next


def home_of(error):
    """The module in which the error was raised."""
    name = ""
    for frame, _ in walk(error.__traceback__):
        name = frame.f_globals.get("__name__", "")
    return name


def safe_text(thing):
    try:
        return str(thing)
    except BaseException:
        return f"(its text cannot be had: {type(thing).__name__})"


def tidy(text):
    """The same on every machine: no addresses, no folders."""
    return FOLDERS.sub("", ADDRESS.sub("", text))


def first_line(error):
    lines = [line.strip() for line in safe_text(error).split("\n") if line.strip()]
    if lines and lines[0] == "in user code:":  # AutoGraph puts the message last
        lines = lines[-1:]
    if lines and lines[0].startswith("Graph execution error"):  # then comes the stack
        lines = [line for line in lines if RAISED.match(line)] or lines
    return tidy(lines[0])[:SHOWN_LETTERS] if lines else ""


class HeldOutput(io.TextIOBase):
    """Takes what is printed, and keeps each of the first lines once."""

    encoding, errors = "utf-8", "replace"

    def __init__(self):
        super().__init__()
        self.lines, self.open, self.more = {}, "", False

    def writable(self):
        return True

    def close(self):
        """Nothing: the student's code may have thought that it was the screen."""

    def write(self, text):
        *lines, self.open = (self.open + text[:10_000]).split("\n")
        for line in lines:
            self.keep(line)
        self.open = self.open[:10_000]
        return len(text)

    def keep(self, line):
        if len(self.lines) < SHOWN_LINES:
            self.lines[tidy(line.rpartition("\r")[2])[:SHOWN_LETTERS]] = None
        elif line not in self.lines:
            self.more = True

    def shown(self):
        if self.open:
            self.keep(self.open)
            self.open = ""
        lines = [f"| {line}" for line in self.lines] + ["| …"] * self.more
        return ["your code printed:", *lines] if lines else []

    @contextlib.contextmanager
    def instead_of_the_screen(self):
        log = logging.getLogger("tensorflow")  # warns of a check that traces again
        level, hook = log.level, sys.unraisablehook
        with (contextlib.redirect_stdout(self), contextlib.redirect_stderr(self),
              warnings.catch_warnings()):
            warnings.simplefilter("ignore")
            log.setLevel(logging.ERROR)
            sys.unraisablehook = id  # of errors in a `__del__`; in C nothing stops it
            try:
                yield
            finally:
                log.setLevel(level)
                sys.unraisablehook = hook


class Stopper:
    """Ends what it runs when the time is over; `stopped` counts how often.

    In the main thread a signal interrupts everything that Python runs. Elsewhere, on
    Windows, for functions that TensorFlow calls in threads of its own, and where the
    student's code takes the signal away, a second thread raises TookTooLong in them:
    between two steps of Python, so that a sleep or a call into a library is waited
    for, and a loop that catches every exception goes on.
    """

    def __init__(self, end):
        self.end, self.stopped, self.running = end, 0, False
        self.thread, self.over = threading.get_ident(), threading.Event()
        self.by_signal = (hasattr(signal, "setitimer")
                          and threading.current_thread() is threading.main_thread())

    def result_of(self, test):
        self.start()
        try:
            self.running = True
            return test()
        finally:  # no `with`: it calls a function first, and one may be raised there
            self.running = False
            try:
                self.put_away()
            except TookTooLong:  # the last one: it was on its way
                self.put_away()

    def start(self):
        left, self.watch = max(self.end - time.monotonic(), 0.001), None
        try:
            watch = threading.Thread(target=self.stop_threads, args=[left], daemon=True)
            watch.start()
            self.watch = watch
        except RuntimeError:  # no more threads; the signal alone will do
            if not self.by_signal:
                raise
        if self.by_signal:
            self.handler = signal.signal(signal.SIGALRM, self.on_alarm)
            self.timer = signal.setitimer(signal.ITIMER_REAL, left)

    def put_away(self):
        self.over.set()
        if self.watch:
            self.watch.join()
        if self.by_signal:
            signal.setitimer(signal.ITIMER_REAL, *self.timer)
            signal.signal(signal.SIGALRM, self.handler)

    def on_alarm(self, number, frame):
        if self.over.is_set():
            return
        ready = self.running and frame.f_globals.get("__name__") != __name__
        # Where it cannot raise, it rings as soon as it would have raised again: with
        # AGAIN as the pause, loops that catch everything would last for minutes.
        soon = ready or (self.running and self.stopped >= PATIENCE)
        signal.setitimer(signal.ITIMER_REAL, self.pause() if soon else AGAIN)
        if ready:
            raise TookTooLong

    def pause(self):
        """How long to wait before it is raised again: code that caught it several
        times (`except: pass` in a loop) gets another one while it deals with the last.
        That takes a microsecond, and how late a clock rings is each machine's own.
        """
        self.stopped += 1
        return AGAIN if self.stopped < PATIENCE else 10 ** random.uniform(-6, -3.3)

    def stop_threads(self, left):
        ring = False
        while not self.over.wait(left):
            left = AGAIN if self.by_signal else self.pause()
            late = self.by_signal and time.monotonic() > self.end + GRACE
            # By turns: an error raised in on_alarm itself would stop its clock.
            ring = (late and not ring
                    and signal.getsignal(signal.SIGALRM) == self.on_alarm)
            if ring:
                signal.pthread_kill(self.thread, signal.SIGALRM)  # ends a sleep too
            threads = threads_of_tensorflow()
            if self.running and (late and not ring or not self.by_signal):
                threads.add(self.thread)
            for thread in threads:
                self.stopped += 1
                raise_in(thread, TookTooLong)


def raise_in(thread, error):
    """Raise the error in another thread, at its next step."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(thread), ctypes.py_object(error))


def mend_variable_scope():
    """Take back what tf.map_fn leaves behind when an error ends it in a graph.

    Variables in a strategy's scope and Keras models would fail from then on, with
    "Caching devices is not yet supported" (seen with TensorFlow 2.21).
    """
    def mend():  # in a graph, for in eager mode TensorFlow refuses it
        tf.compat.v1.get_variable_scope().set_caching_device(None)

    if (tf.executing_eagerly()
            and tf.compat.v1.get_variable_scope().caching_device is not None):
        tf.function(mend, autograph=False)()


def threads_of_tensorflow():
    """Threads of TensorFlow's that run Python now: their stack begins in its registry.

    Others that Python did not start, such as a kernel's, are none of our business.
    """
    found = set()
    for thread, frame in sys._current_frames().items():
        while frame.f_back is not None:
            frame = frame.f_back
        if Path(frame.f_code.co_filename).name == "script_ops.py":
            found.add(thread)
    return found
