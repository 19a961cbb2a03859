"""What students get: no solutions, no teachers' notes, and all that a lesson needs."""

import asyncio
import re
import shutil
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

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


def test_every_lesson_is_handed_out_with_what_it_reads(handed_out):
    names = {path.name for path in handed_out.glob("*.ipynb")}
    assert names == {path.name for path in LESSONS}
    for name in ("utils.py", "requirements.txt", "data/mnist_sample.npz"):
        assert (handed_out / name).read_bytes() == (ROOT / name).read_bytes()
    sources = {path.name for path in (ROOT / "notebooks").glob("cpp/*.cc")}
    assert {path.name for path in handed_out.glob("cpp/*.cc")} == sources
    for folder in (ROOT / "custom_ops", ROOT / "notebooks" / "modules"):
        files, given = (
            {path.name for path in place.iterdir() if path.is_file()}
            for place in (folder, handed_out / folder.name)
        )
        assert given == files and files
    # Answers to the exercises, and the template with its solutions, stay here.
    assert not list(handed_out.glob("**/answers")) + list(handed_out.glob("**/tests"))
    assert not list(handed_out.glob("**/template")) + list(handed_out.glob("**/*.pyc"))


@each_lesson
def test_no_solution_no_teachers_note_no_output(handed_out, lesson):
    everything = (handed_out / lesson.name).read_text("utf-8")
    assert "_solution" not in everything
    assert "solution below" not in everything
    assert "for teachers" not in everything.lower()
    given = Lesson(handed_out / lesson.name)
    solutions = Lesson(lesson).tagged("solution")
    assert solutions and not given.tagged("solution")
    assert not {cell.id for cell in solutions} & {cell.id for cell in given.cells}
    for cell in given.code:
        assert cell.outputs == [] and cell.execution_count is None
        for solution in solutions:
            assert solution.source.strip() not in cell.source
    assert all(cell.source.strip() for cell in given.cells)


@each_lesson
def test_stubs_checks_and_all_other_code_are_those_of_the_lesson(handed_out, lesson):
    given = [(cell.id, cell.source) for cell in Lesson(handed_out / lesson.name).code]
    assert given == [
        (cell.id, cell.source)
        for cell in Lesson(lesson).code
        if "solution" not in tags(cell)
    ]


@each_lesson
def test_text_loses_nothing_else(handed_out, lesson):
    """Without notes for teachers and links, each text cell says what it said."""

    def words(markdown):
        markdown = re.sub(r"\]\([^)]*\)|[\[\]!]", "", markdown)
        markdown = markdown.replace("The solution below it is folded.", "")
        paragraphs = re.split(r"\n(?!>)", markdown)
        return " ".join(
            part
            for part in map(str.strip, paragraphs)
            if not part.startswith("> **For teachers.")
        ).split()

    given = {cell.id: cell for cell in Lesson(handed_out / lesson.name).text}
    for cell in Lesson(lesson).text:
        left = given[cell.id].source if cell.id in given else ""
        assert words(left) == words(cell.source)


@each_lesson
def test_pictures_and_links_lead_somewhere(handed_out, lesson):
    path = handed_out / lesson.name
    for cell in Lesson(path).text:
        assert not list(broken_links(cell.source, path, handed_out))


@each_lesson
def test_nbgrader_is_told_about_every_code_cell(handed_out, lesson):
    given = Lesson(handed_out / lesson.name)
    told = [cell.metadata.nbgrader for cell in given.code]
    assert len({cell.grade_id for cell in told}) == len(told)
    worth = [cell.points for cell in told if cell.grade]
    assert worth == [hand_out.POINTS] * len(given.tagged("exercise"))
    for cell in given.code:
        about = cell.metadata.nbgrader
        assert about.solution == ("exercise" in tags(cell))
        assert about.grade == ("check" in tags(cell))
        assert about.locked != about.solution


def the_check_answers_the_stub(handed_out, lesson, folder):
    """Run the lesson in a folder of its own, to the answer of the first check."""
    shutil.copytree(handed_out, folder)
    notebook = nbformat.read(folder / lesson.name, as_version=4)
    kinds = [tags(cell) for cell in notebook.cells]
    first = next(place for place, kind in enumerate(kinds) if "check" in kind)
    assert "exercise" in kinds[first - 1]
    del notebook.cells[first + 1 :]
    asyncio.run(run(notebook, folder))
    said = output_text(notebook.cells[first])
    assert said.startswith("not yet: ")
    assert said == output_text(Lesson(lesson).tagged("check")[0])


@pytest.mark.slow
def test_a_lesson_runs_to_its_first_exercise(handed_out, tmp_path):
    """One lesson: its code and that of the others is that of the lessons, as the
    tests above say, and that is run as it is when the lessons are tested."""
    the_check_answers_the_stub(handed_out, LESSONS[0], tmp_path / "elsewhere")


@pytest.mark.teaching
@pytest.mark.parametrize("lesson", LESSONS[1:], ids=lambda path: path.stem)
def test_the_others_run_to_their_first_exercise_too(handed_out, lesson, tmp_path):
    the_check_answers_the_stub(handed_out, lesson, tmp_path / "elsewhere")


async def run(notebook, folder):
    """Fails with the error of the first cell that is not meant to fail."""
    await NotebookClient(
        notebook,
        timeout=300,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
    ).async_execute()


@each_lesson
def test_each_solution_can_be_handed_in(lesson):
    """tests/teaching has them graded; this says early which lesson cannot be."""
    codes = hand_ins.answers(lesson)
    assert len(codes) == len(Lesson(lesson).tagged("exercise"))
    for stub, code in zip(Lesson(lesson).tagged("exercise"), codes, strict=True):
        assert code != stub.source


def test_one_lesson_alone_has_no_links_to_the_others(tmp_path):
    (path,) = hand_out.hand_out(tmp_path / "one", ["01"])
    assert path.name == "01_learn_identity_matrix.ipynb"
    texts = [cell.source for cell in Lesson(path).text]
    assert not any(".ipynb" in text for text in texts)
    assert "**Needs** lesson 00 ·" in texts[0]
    assert not list(broken_links("\n".join(texts), path, path.parent))


def test_links_to_lessons_that_come_along_stay(tmp_path):
    path, _ = hand_out.hand_out(tmp_path / "two", ["01", "00"])
    assert path.name == "00_start_here.ipynb"
    assert "(01_learn_identity_matrix.ipynb)" in Lesson(path).text[0].source


@pytest.mark.parametrize(
    "note",
    [
        "> **For teachers.** Answer: 3.",
        "> **For teachers.** Ask.\n> The answer is 3.\n>\n> - that is 3",
        ">**For teachers.** Answer: 3.\n> More of 3.",
        "> **Note.** Kept.\n>\n> **For teachers.** Answer: 3.\n> **Hint.** It is 3.",
    ],
)
def test_a_note_for_teachers_goes_to_its_last_line(note):
    text = f"Before.\n\n{note}\n\nAfter.\n\n> **Watch out.** This stays."
    cell = nbformat.v4.new_markdown_cell(text)
    hand_out.ForStudents(set()).preprocess_cell(cell, {}, 0)
    assert "3" not in cell.source and "teachers" not in cell.source
    for kept in ("Before.", "After.", "> **Watch out.** This stays."):
        assert kept in cell.source
    assert ("Kept." in cell.source) == ("Kept." in note)


def test_nothing_is_overwritten(tmp_path):
    (tmp_path / "mine.txt").write_text("kept")
    with pytest.raises(SystemExit, match="is not empty"):
        hand_out.hand_out(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_an_unknown_lesson_is_named(tmp_path):
    with pytest.raises(SystemExit, match="no lesson 77; there are: 00, 01"):
        hand_out.hand_out(tmp_path / "new", ["01", "77"])
    assert not (tmp_path / "new").exists()
