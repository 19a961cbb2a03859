"""Make a folder of notebooks for students from the lessons.

    python teaching/hand_out.py FOLDER            every lesson
    python teaching/hand_out.py FOLDER 01 03      lessons 01 and 03

Solutions, notes for teachers and outputs are taken out; stubs and checks stay. What
the notebooks import and read comes along, so that the folder works wherever it is
copied. It is an assignment for nbgrader as it stands: each check is an autograder
test that is worth one point (see README.md beside this file).
"""

import argparse
import re
import shutil
from pathlib import Path
from urllib.parse import unquote

from nbconvert import NotebookExporter
from nbconvert.preprocessors import (
    ClearOutputPreprocessor,
    Preprocessor,
    RegexRemovePreprocessor,
    TagRemovePreprocessor,
)

PROJECT = Path(__file__).resolve().parents[1]
POINTS = 1  # for each exercise
BESIDE = ("utils.py", "custom_ops", "requirements.txt", "LICENSE", "data")
# What a test left behind.
LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "*.ipynb")
SOLUTION_BELOW = re.compile(r"\s*The solution below it is folded\.")
FOR_TEACHERS = re.compile(r"^> ?\*\*For teachers\.\*\*.*(?:\n>.*)*\n?", re.MULTILINE)
LINK = re.compile(r"(!?)\[([^\]]*)\]\(((?!https?:|#)[^)\s]+)\)")


class ForStudents(Preprocessor):
    """Take out what speaks to teachers, and mend the links for the new folder.

    nbgrader wants notebooks at the top of an assignment. What lies beside them in
    `notebooks/` comes along to the top, and what lies above them is beside them now.
    A link to what is not handed out becomes plain text.
    """

    def __init__(self, names, **traits):
        super().__init__(**traits)
        self.names = names

    def preprocess_cell(self, cell, resources, index):
        if cell.cell_type == "markdown":
            text = FOR_TEACHERS.sub("", cell.source)
            text = SOLUTION_BELOW.sub("", text)
            cell.source = LINK.sub(self.mended, text).rstrip()
        return cell, resources

    def mended(self, link):
        mark, text, target = link.groups()
        name, hash_sign, anchor = target.partition("#")
        place = (PROJECT / "notebooks" / unquote(name)).resolve().relative_to(PROJECT)
        if place.parts[0] == "notebooks":
            place = Path(*place.parts[1:])
            there = place.suffix != ".ipynb" or place.name in self.names
        else:
            there = place.parts[0] in BESIDE
        link = f"{mark}[{text}]({place.as_posix()}{hash_sign}{anchor})"
        return link if there else text


class Assignment(Preprocessor):
    """Tell nbgrader what each code cell is.

    An exercise is the student's to change, and a check is a test. All other code is
    read-only, which means here: whatever a student tried in it, the original is what
    runs when the hand-in is graded.
    """

    def preprocess(self, notebook, resources):
        numbers = {"exercise": 0, "check": 0}
        for cell in notebook.cells:
            if cell.cell_type != "code":
                continue
            kind = next((tag for tag in numbers if tag in tags(cell)), None)
            name = cell.id
            if kind:
                numbers[kind] += 1
                name = f"{kind}_{numbers[kind]}"
            cell.metadata.nbgrader = {
                "schema_version": 3,
                "grade_id": name,
                "grade": kind == "check",
                "solution": kind == "exercise",
                "locked": kind != "exercise",
                "task": False,
            }
            if kind == "check":
                cell.metadata.nbgrader.points = POINTS
        return notebook, resources


def tags(cell):
    return cell.metadata.get("tags", [])


def exporter(names):
    """What turns a lesson into a student's notebook, one step after the other."""
    export = NotebookExporter()
    for step in (
        TagRemovePreprocessor(enabled=True, remove_cell_tags={"solution"}),
        ForStudents(names, enabled=True),
        RegexRemovePreprocessor(enabled=True, patterns=[r"\s*\Z"]),  # now empty
        ClearOutputPreprocessor(enabled=True),
        Assignment(enabled=True),
    ):
        export.register_preprocessor(step)
    return export


def chosen_lessons(numbers):
    """The paths of the lessons with these numbers; all of them for no number."""
    lessons = {
        path.name[:2]: path
        for path in sorted((PROJECT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
    }
    if unknown := [number for number in numbers if number not in lessons]:
        raise SystemExit(
            f"no lesson {', '.join(unknown)}; there are: {', '.join(lessons)}"
        )
    return [lessons[number] for number in sorted(set(numbers)) or lessons]


def hand_out(folder, numbers=()):
    """Write the students' folder, which must be new or empty; return its notebooks."""
    folder, lessons = Path(folder), chosen_lessons(numbers)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SystemExit(
            f"{folder} exists and is not empty: name a new folder, or "
            "remove this one yourself"
        )
    folder.mkdir(parents=True, exist_ok=True)
    for name in BESIDE:
        copy = shutil.copytree if (PROJECT / name).is_dir() else shutil.copy2
        extra = {"ignore": LEFT_OUT} if copy is shutil.copytree else {}
        copy(PROJECT / name, folder / name, **extra)
    shutil.copytree(PROJECT / "notebooks", folder, ignore=LEFT_OUT, dirs_exist_ok=True)
    export = exporter({path.name for path in lessons})
    for path in lessons:
        text, _ = export.from_filename(str(path))
        (folder / path.name).write_text(text + "\n", encoding="utf-8")
    return [folder / path.name for path in lessons]


def main():
    about, _, more = __doc__.partition("\n")
    parser = argparse.ArgumentParser(
        description=about,
        epilog=more,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", help="a new folder, such as class/source/lessons")
    parser.add_argument(
        "lessons",
        nargs="*",
        metavar="NN",
        help="numbers of lessons, such as 01; all, if none is named",
    )
    wanted = parser.parse_args()
    for path in hand_out(wanted.folder, wanted.lessons):
        print(path)


if __name__ == "__main__":
    main()
