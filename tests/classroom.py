"""Run a lesson up to its exercises, and hand in one answer after the other.

The cells run in this process, without a kernel: a lesson takes the time of one run,
an answer some milliseconds.
"""

import ast
import contextlib
import io
import itertools
import linecache
import os
import sys
import traceback
from pathlib import Path

from lesson_rules import EXERCISE_TAGS, Lesson, output_text, tags

# Nobody's right answer. Each is what all of the stub's names are set to.
RUBBISH = """None
12345.678
float("nan")
"some text"
[]
[[1.0], [2.0, 3.0]]
np.zeros((7, 5))
np.array([None, "x"], object)
tf.constant("text")
object()
lambda: 0
lambda a, b, c, d, e, f, g, h: a
lambda *a, **k: None
lambda *a, **k: float("nan")
lambda *a, **k: [None] * 9
lambda *a, **k: unknown_name
lambda *a, **k: 1 / 0
lambda *a, **k: exec("raise SystemExit")
lambda *a, **k: exec("raise KeyboardInterrupt")
lambda *a, **k: (x for x in a)
type("Odd", (), {"__eq__": lambda *a: 1 / 0, "__array__": lambda *a, **k: 1 / 0})()
""".strip().split("\n")


RUNS = itertools.count()  # AutoGraph reads the source of a cell, so each has a name


class Classroom:
    """The namespace of a lesson, before its exercises."""

    def __init__(self, path, needed=None):
        self.lesson = Lesson(path)
        self.exercises = list(zip(*map(self.lesson.tagged, EXERCISE_TAGS), strict=True))
        before = range(self.lesson.code.index(self.exercises[0][0]))
        self.names = {"__name__": "__main__"}
        for number in before if needed is None else needed:
            cell = self.lesson.code[number]
            self.run(cell.source, number, "raises-exception" in tags(cell))
        for _, check, _ in self.exercises:  # what an earlier check imports stays
            body = [node for node in ast.parse(check.source).body if is_import(node)]
            self.run(ast.unparse(ast.Module(body, [])), "imports")
        self.before = dict(self.names)

    def run(self, source, number, may_fail=False):
        """What a cell prints."""
        name = f"<ipykernel_{self.lesson.path.stem}_{number}>"
        linecache.cache[name] = len(source), None, source.splitlines(True), name
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            try:
                exec(compile(source, name, "exec"), self.names)
            except Exception:
                if not may_fail:
                    raise
        return printed.getvalue()

    def answer(self, number, code):
        """What exercise `number` says to this code in the place of the stub."""
        check = self.exercises[number - 1][1].source
        return self.say(code, check)

    def solved(self, number):
        stub, check, solution = (cell.source for cell in self.exercises[number - 1])
        check = ast.parse(check)
        check.body.pop()  # the call with the stub's names
        return self.say(stub, ast.unparse(check), solution)

    def say(self, *sources):
        """What the last of these cells prints; the names are afterwards as before."""
        try:
            return [self.run(s, f"answer{next(RUNS)}") for s in sources][-1]
        finally:
            self.names.clear()
            self.names.update(self.before)

    def names_of(self, number):
        """The stub's names, with which the check cell calls its check."""
        call = ast.parse(self.exercises[number - 1][1].source).body[-1].value
        return [name.id for name in call.args if isinstance(name, ast.Name)]

    def as_stored(self):
        """Whether stubs and solutions are answered as the notebook says."""
        try:
            return all(
                self.answer(number, stub.source).strip() == output_text(check).strip()
                and self.solved(number).strip() == output_text(solution).strip()
                for number, (stub, check, solution) in enumerate(self.exercises, 1)
            )
        except Exception:
            return False


def is_import(node):
    return isinstance(node, (ast.Import, ast.ImportFrom))


def open_classroom(path, needed=None):
    """The lesson, ready for answers; sets the process up as a kernel would be.

    needed: the numbers of the code cells that the exercises need; None: all of them.
    """
    import matplotlib

    matplotlib.use("Agg")
    path = Path(path).resolve()
    project = Path(__file__).resolve().parents[1]
    os.chdir(path.parent)
    sys.path[:0] = [str(project), str(path.parent)]
    room = Classroom(path, needed)
    assert room.as_stored(), (
        "run without a kernel, its stubs and solutions are not answered as stored"
    )
    return room


# What the tests ask for: a sentence for each answer that is not judged as it should be


def judge_rubbish(room):
    for number in range(1, len(room.exercises) + 1):
        names = room.names_of(number)
        for rubbish in RUBBISH:
            lines = ["import numpy as np", "import tensorflow as tf"]
            lines += [f"{name} = {rubbish}" for name in names]
            yield from complaints(room, number, "\n".join(lines), rubbish, "")


def judge_answers(room, wrong, right):
    for number in range(1, len(room.exercises) + 1):
        for word, code in wrong[number]:
            yield from complaints(room, number, code, code, word)
        for code in right[number]:
            yield from complaints(room, number, code, code, None)


def complaints(room, number, code, shown, word):
    """word: that the hint must hold; None for a right answer."""
    try:
        said = room.answer(number, code)
    except BaseException as error:  # SystemExit too
        where = traceback.extract_tb(error.__traceback__)[-1]
        yield (
            f"exercise {number}: {type(error).__name__}: {error} in line "
            f"{where.lineno} of {where.name} for:\n{shown}"
        )
        return
    lines = said.split("\n")
    refused = any(line.startswith("not yet: ") for line in lines)
    passed = not refused and said.endswith("well done\n")
    if word is None and not passed:
        yield f"exercise {number}: a right answer is told {said!r}:\n{shown}"
    elif word is not None and (passed or not refused):
        yield f"exercise {number}: a wrong answer is told {said!r}:\n{shown}"
    elif word and word.lower() not in said.lower():
        yield f"exercise {number}: no {word!r} in {said!r}, said to:\n{shown}"
