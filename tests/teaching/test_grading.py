"""nbgrader, as the teacher's page tells to use it, gives the points that are due."""

import csv
import html
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

import hand_ins
from lesson_rules import Lesson, lesson_paths, tags
from teaching import hand_out

pytest.importorskip(
    "nbgrader",
    reason="nbgrader is not installed: pip install -r teaching/requirements.txt",
)
pytestmark = pytest.mark.teaching

ROOT = Path(__file__).resolve().parents[2]
LESSONS = lesson_paths(ROOT / "notebooks")
ONE = next(path for path in LESSONS if path.name.startswith("01_"))
POINTS = len(Lesson(ONE).tagged("exercise"))

LOOP = "while True:\n    pass"
DEAF = """
while True:
    try:
        while True:
            pass
    except KeyboardInterrupt:
        pass"""
CRASH = "import os\nos.kill(os.getpid(), 9)"
FIRST, SECOND = hand_ins.answers(ONE)
BEFORE, _, AFTER = FIRST.rpartition("return")
# student -> (what is handed in for some exercises, points)
HAND_INS = {
    "perfect": ({1: FIRST, 2: SECOND}, POINTS),
    "empty": ({}, 0),
    "half": ({1: FIRST}, POINTS / 2),
    "mistyped": ({1: "def rows_grad(op, dy:", 2: SECOND}, POINTS - 1),
    "says_so_itself": (
        {
            1: f"{BEFORE}print('well done')\n    return 2 *{AFTER}",
            2: "print('well done')\nfooling = growing = np.eye(2)",
        },
        0,
    ),
    "changed_all": ({1: FIRST, 2: SECOND}, POINTS),
    "lost_a_check": ({1: FIRST, 2: SECOND}, POINTS),
    "a_hangs_at_first": ({1: LOOP, 2: SECOND}, POINTS - 1),
    "b_crashes_at_last": ({1: FIRST, 2: CRASH}, POINTS - 1),
    "c_does_not_listen": ({1: FIRST, 2: DEAF}, POINTS - 1),
    "d_crashes_at_first": ({1: CRASH, 2: SECOND}, 0),
}
README = (ROOT / "teaching" / "README.md").read_text("utf-8")


class Course:
    """A course folder, and nbgrader run in it as a teacher would."""

    def __init__(self, folder, numbers):
        self.folder = folder
        hand_out.hand_out(folder / "source" / "lessons", numbers)
        shutil.copy(ROOT / "teaching" / "nbgrader_config.py", folder)
        self.nbgrader("generate_assignment", "lessons")
        self.release = folder / "release" / "lessons"

    def nbgrader(self, *arguments, fails=False):
        """Run a command of nbgrader; it finds its own helpers on the PATH."""
        documented = [word for word in arguments if not word.startswith("--")]
        assert f"\nnbgrader {' '.join(documented)}\n" in README
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        done = subprocess.run(
            [sys.executable, "-m", "nbgrader", *arguments],
            cwd=self.folder,
            env=os.environ | {"PATH": path},
            capture_output=True,
            text=True,
        )
        said = done.stdout + done.stderr
        assert (done.returncode != 0) == fails, said[-5000:]
        return said

    def hand_in(self, student, exercises, lesson=ONE):
        folder = self.folder / "submitted" / student / "lessons"
        return hand_ins.write(self.release / lesson.name, folder, exercises)

    def scores(self):
        """student -> (score, best score possible)"""
        self.nbgrader("export")
        with (self.folder / "grades.csv").open(newline="") as file:
            return {
                row["student_id"]: (float(row["score"]), float(row["max_score"]))
                for row in csv.DictReader(file)
            }


def changed(cell):
    """A student who tried things: the lesson's own code and the checks are changed."""
    if cell.cell_type == "code" and "exercise" not in tags(cell):
        cell.source = "raise SystemExit('I was curious')"
    return cell


def without_the_last_check(cell):
    return None if f"check_{POINTS}(" in cell.source and "check" in tags(cell) else cell


SPOILED = {"changed_all": changed, "lost_a_check": without_the_last_check}


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """Lesson 01 with a class of all kinds, graded in one run."""
    course = Course(tmp_path_factory.mktemp("course"), ["01"])
    for student, (exercises, _) in HAND_INS.items():
        path = course.hand_in(student, exercises)
        if student in SPOILED:
            notebook = nbformat.read(path, as_version=4)
            notebook.cells = list(filter(None, map(SPOILED[student], notebook.cells)))
            nbformat.write(notebook, path)
    broken = course.hand_in("z_not_a_notebook", {})
    broken.write_text("{")
    said = course.nbgrader("autograde", "lessons", "--Execute.timeout=60", fails=True)
    assert said.count("There was an error processing assignment 'lessons'") == 1
    assert "for student 'z_not_a_notebook'" in said
    course.nbgrader("generate_feedback", "lessons")
    course.marks = course.scores()
    return course


@pytest.mark.parametrize("student", HAND_INS)
def test_points(graded, student):
    assert graded.marks[student] == (HAND_INS[student][1], POINTS)


def test_feedback_says_what_was_found(graded):
    pages = graded.folder / "feedback"
    page = (pages / "half" / "lessons" / f"{ONE.stem}.html").read_text("utf-8")
    text = html.unescape(re.sub("<[^>]*>", "", page))
    assert re.search(r"check_1\(rows_grad\)\s+well done\n", text)
    second = r"check_2\(fooling, growing\)"
    assert re.search(second + r"\s+not yet: (.+\n)+\s+no points", text)
    assert len(list(pages.glob("*/lessons/*.html"))) == len(HAND_INS)


def test_a_perfect_hand_in_of_all_lessons_gets_all_points(tmp_path):
    course = Course(tmp_path, [])
    points = 0
    for lesson in LESSONS:
        codes = hand_ins.answers(lesson)
        course.hand_in("perfect", dict(enumerate(codes, start=1)), lesson)
        points += len(codes)
    course.nbgrader("autograde", "lessons")
    assert course.scores() == {"perfect": (points, points)}
