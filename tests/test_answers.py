"""What exercises say to answers: to rubbish, to plausible wrong ones, to right ones.

tests/answers/NN_verb_phrase.py has for each exercise of lesson NN at least three wrong
answers, each with a word that the hint must hold, and two right ones of another form
than the solution. CELLS are the numbers of the code cells that the exercises need, from
0; without it all are run that come before them. Nothing of it is handed out.
"""

import ast
import runpy
import shutil
from pathlib import Path

import pytest

from lesson_rules import Lesson, lesson_paths
from notebook_plugin import COMPILERS
from other_process import OtherProcess

ROOT = Path(__file__).resolve().parents[1]
ANSWERS = ROOT / "tests" / "answers"
TEMPLATE = ROOT / "teaching" / "template" / "10_write_a_lesson.ipynb"
LESSONS = lesson_paths(ROOT / "notebooks")
each_lesson = pytest.mark.parametrize(
    "path", [*LESSONS, TEMPLATE], ids=lambda path: path.stem
)
# Of all lessons it takes two minutes; the template stands for them.
each_judged = pytest.mark.parametrize(
    "path",
    [TEMPLATE, *[pytest.param(path, marks=pytest.mark.slow) for path in LESSONS]],
    ids=lambda path: path.stem,
)
CODE = """
import sys
sys.path.insert(0, "tests")
import classroom
room = classroom.open_classroom({path!r}, {cells!r})
connection.send(list(classroom.judge_rubbish(room)))
connection.send(list(classroom.judge_answers(room, *{answers!r})))
"""


def answers(path):
    file = ANSWERS / f"{path.stem}.py"
    if not file.exists():
        return {}, {}, None
    names = runpy.run_path(str(file))
    return names["WRONG"], names["RIGHT"], names.get("CELLS")


def skip_without_compiler(path):
    if Lesson(path).tagged("needs-compiler") and not any(map(shutil.which, COMPILERS)):
        pytest.skip(f"{path.name} needs a C++ compiler")


@each_judged
def test_rubbish_and_wrong_answers_are_told_why_and_right_ones_well_done(path):
    skip_without_compiler(path)
    wrong, right, cells = answers(path)
    exercises = range(1, len(Lesson(path).tagged("exercise")) + 1)
    wrong = {number: wrong.get(number, []) for number in exercises}
    right = {number: right.get(number, []) for number in exercises}
    code = CODE.format(path=str(path), cells=cells, answers=(wrong, right))
    process = OtherProcess(code)
    for _ in ("rubbish", "answers"):
        complaints = process.hear()
        assert isinstance(complaints, list), complaints[1]  # its end comes too early
        assert not complaints, "\n\n".join(complaints)


@each_lesson
def test_there_are_three_wrong_answers_and_two_right_ones(path):
    wrong, right, _ = answers(path)
    solutions = Lesson(path).tagged("solution")
    numbers = set(range(1, len(solutions) + 1))
    assert set(wrong) == set(right) == numbers
    for number, solution in enumerate(solutions, start=1):
        forms = [ast.dump(ast.parse(code)) for _, code in wrong[number]]
        assert len(set(forms)) == len(forms) >= 3
        assert all(len(word) > 1 for word, _ in wrong[number])
        forms = [ast.dump(ast.parse(code)) for code in right[number]]
        forms.append(ast.dump(ast.parse(solution.source)))
        assert len(set(forms)) == len(forms) >= 3


def test_each_file_of_answers_belongs_to_a_lesson():
    stems = {path.stem for path in [*lesson_paths(ROOT / "notebooks"), TEMPLATE]}
    assert {path.stem for path in ANSWERS.glob("*.py")} <= stems
