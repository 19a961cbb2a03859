"""What students get: no solutions, no teachers' notes, and all that a lesson needs."""

import re
import shutil
from pathlib import Path

import nbformat
import pytest
from nbconvert.preprocessors import ExecutePreprocessor

import hand_ins
from lesson_rules import Lesson, lesson_paths, output_text, tags
from links import broken_links
from teaching import hand_out

ROOT = Path(__file__).resolve().parents[1]
LESSONS = lesson_paths(ROOT / "notebooks")
each_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)


@pytest.fixture(scope="module")
def handed_out(tmp_path_factory):
    folder = tmp_path_factory.mktemp("students") / "lessons"
    hand_out.hand_out(folder)
    return folder


def test_what_a_lesson_reads_comes_along_and_no_answers(handed_out):
    def files(folder, pattern):
        return {path.relative_to(folder): path.read_bytes()
                for path in folder.glob(pattern) if path.is_file()}  # fmt: skip

    assert {p.name for p in handed_out.glob("*.ipynb")} == {p.name for p in LESSONS}
    for pattern in "utils.py", "requirements.txt", "custom_ops/**/*.py", "data/*.npz":
        assert files(handed_out, pattern) == files(ROOT, pattern) != {}
    for pattern in "cpp/*.cc", "modules/*.py":
        assert files(handed_out, pattern) == files(ROOT / "notebooks", pattern) != {}
    for other in "answers", "tests", "template", "*.pyc":
        assert not list(handed_out.glob(f"**/{other}"))


@each_lesson
def test_code_is_that_of_the_lesson_without_solutions_and_outputs(handed_out, lesson):
    kept = [cell for cell in Lesson(lesson).code if "solution" not in tags(cell)]
    given = Lesson(handed_out / lesson.name)
    assert [(c.id, c.source) for c in given.code] == [(c.id, c.source) for c in kept]
    assert not any(cell.outputs or cell.execution_count for cell in given.code)
    assert "_solution" not in given.path.read_text("utf-8")


@each_lesson
def test_text_loses_what_speaks_to_teachers_and_nothing_else(handed_out, lesson):
    def words(markdown):
        bare = re.sub(r"\]\([^)]*\)|[\[\]!]", "", markdown)  # links become text
        return bare.replace("The solution below it is folded.", "").split()

    path = handed_out / lesson.name
    given = {cell.id: cell.source for cell in Lesson(path).text}
    assert all(text.strip() for text in given.values())
    for cell in Lesson(lesson).text:
        parts = re.split(r"\n(?!>)", cell.source)
        kept = [part for part in parts if not part.startswith("> **For teachers.")]
        assert words(given.get(cell.id, "")) == words("\n".join(kept))
        assert not list(broken_links(given.get(cell.id, ""), path, handed_out))
    assert "for teachers" not in " ".join(given.values()).lower()


@each_lesson
def test_nbgrader_is_told_about_every_code_cell(handed_out, lesson):
    given = Lesson(handed_out / lesson.name)
    assert len({cell.metadata.nbgrader.grade_id for cell in given.code}) == len(
        given.code
    )
    for cell in given.code:
        about = cell.metadata.nbgrader
        assert about.solution == ("exercise" in tags(cell)) != about.locked
        assert about.grade == ("check" in tags(cell))
        assert about.get("points", 0) == about.grade


@pytest.mark.parametrize(
    "lesson",
    [pytest.param(LESSONS[0], marks=pytest.mark.slow)]
    + [pytest.param(path, marks=pytest.mark.teaching) for path in LESSONS[1:]],
    ids=lambda path: path.stem,
)
def test_a_lesson_runs_to_its_first_check_wherever_it_lies(
    handed_out, lesson, tmp_path
):
    """One of them is enough for each day: the code is that of the lessons."""
    folder = shutil.copytree(handed_out, tmp_path / "elsewhere")
    notebook = nbformat.read(folder / lesson.name, as_version=4)
    first = next(n for n, cell in enumerate(notebook.cells) if "check" in tags(cell))
    del notebook.cells[first + 1 :]
    run = ExecutePreprocessor(timeout=300, kernel_name="python3")
    run.preprocess(notebook, {"metadata": {"path": str(folder)}})
    said = output_text(notebook.cells[first])
    assert said.startswith("not yet: ")
    assert said == output_text(Lesson(lesson).tagged("check")[0])


@each_lesson
def test_each_solution_can_be_handed_in(lesson):
    """tests/teaching has them graded; this says early which lesson cannot be."""
    assert hand_ins.answers(lesson)


def test_links_to_lessons_that_do_not_come_along_become_text(tmp_path):
    (alone,) = hand_out.hand_out(tmp_path / "one", ["01"])
    text = "\n".join(cell.source for cell in Lesson(alone).text)
    assert ".ipynb" not in text and "**Needs** lesson 00 ·" in text
    _, beside = hand_out.hand_out(tmp_path / "two", ["01", "00"])
    assert "(00_start_here.ipynb)" in Lesson(beside).text[0].source


def test_a_note_for_teachers_goes_to_its_last_line():
    note = "> **For teachers.** Ask.\n> The answer is 3.\n>\n> - that is 3"
    kept = "Before.\n\n> **Note.** Kept.\n>\n{}\n\nAfter.\n\n> **Watch out.** Stays."
    cell = nbformat.v4.new_markdown_cell(kept.format(note))
    hand_out.ForStudents(set()).preprocess_cell(cell, {}, 0)
    assert cell.source.split() == kept.format("").split()


def test_nothing_is_overwritten_and_an_unknown_lesson_is_named(tmp_path):
    (tmp_path / "mine.txt").write_text("kept")
    with pytest.raises(SystemExit, match="is not empty"):
        hand_out.hand_out(tmp_path)
    with pytest.raises(SystemExit, match="no lesson 77; there are: 00, 01"):
        hand_out.hand_out(tmp_path / "new", ["01", "77"])
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
