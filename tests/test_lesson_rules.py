"""Each rule of lesson_rules.py accepts a good project and sees what is wrong.

A small project with three lessons is written without running anything; then one
thing in it is changed, and the rule must complain about it in words.
"""

import base64
import io
import shutil

import nbformat
import pytest
from nbformat import v4
from PIL import Image

from lesson_rules import CLOSING, COMMANDS, OPENING, README_RULES, RULES, Lesson

FOLDED = {"source_hidden": True}
LESSONS = {"00_shape_tensors": 35, "01_learn_shapes": 25, "02_draw_lines": 30}
MIDDLE = ["The whole thing first", "Check it", "Break it"]
FILLER = "Some words of prose that say what the next cell is going to show, and why."


def png(colour):
    buffer = io.BytesIO()
    Image.new("RGB", (40, 30), colour).save(buffer, "PNG")
    return buffer.getvalue()


def picture(colour):
    return v4.new_output(
        "display_data",
        {"image/png": base64.b64encode(png(colour)).decode(), "text/plain": "<Figure>"},
    )


def printed(text, name="stdout"):
    return v4.new_output("stream", name=name, text=text)


def code(source, *outputs, tags=(), **metadata):
    metadata["tags"] = list(tags)
    return v4.new_code_cell(source, outputs=list(outputs), metadata=metadata)


def exercise(number):
    return [
        v4.new_markdown_cell(f"### Exercise {number}: try it\n\n{FILLER}"),
        code("def attempt(x):\n    return x\n\n\nattempt(1)", tags=["exercise"]),
        code(
            f"def check_{number}(candidate):\n    ...\n\n\ncheck_{number}(attempt)",
            printed("not yet: 1 is not 2\n"),
            tags=["check"],
        ),
        code(
            f"def answer(x):\n    return 2 * x\n\n\ncheck_{number}(answer)",
            printed("well done\n"),
            tags=["solution"],
            jupyter=FOLDED,
        ),
    ]


def good_lesson(name):
    """Cells of a lesson that keeps all rules."""
    names = list(LESSONS)
    place = names.index(name)
    line = f"**Time** {LESSONS[name]} min (runs in 6 s) · **Needs** nothing"
    if place:
        line += f" · **Previous** [before]({names[place - 1]}.ipynb)"
    if place + 1 < len(names):
        line += f" · **Next** [after]({names[place + 1]}.ipynb)"
    say, number = v4.new_markdown_cell, name[:2]
    verb = name.split("_")[1].title()
    cells = [
        say(
            f"# {verb} it\n\n{FILLER}\n\n![A red square, alone](images/{number}_it.png)"
        ),
        say(line),
        *(say(f"## {title}\n\n{FILLER}") for title in OPENING),
        code("import sys\n\nimport utils\n", tags=["setup"], jupyter=FOLDED),
    ]
    for title in MIDDLE:
        cells += [
            say(f"## {title}\n\n{FILLER} See [the end](#Further-reading)."),
            code("x = 1\ny = x / 4\n\n\nprint(y, 10.0, 1.25e-12)", printed("0.25\n")),
            say(FILLER),
            code("x = 2\ny = 2 * x\n\n\nassert y == 4"),
            say(FILLER),
        ]
    cells += [
        code(
            "x = -1\ny = 0\n\n\nraise ValueError('no')",
            v4.new_output("error", ename="ValueError", evalue="no"),
            tags=["raises-exception"],
        ),
        say(FILLER),
        code("x = 3\ny = 6\n\nplt.plot(x, y)\nalt('A red square')\nplt.show()",
             picture("red"), tags=["hero"], jupyter=FOLDED),
        say(f"**What to see** {FILLER}"),
        code("for n in range(3):\n    assert n < 3", tags=["asserts"], jupyter=FOLDED),
        say(FILLER),
        code("import time\n\n\ntime.time()", printed("3.1415926\n"),
             tags=["nbval-ignore-output"]),
        say(f"## {CLOSING[0]}\n\n{FILLER}"),
        *exercise(1),
        *exercise(2),
        *(say(f"## {title}\n\n{FILLER}") for title in CLOSING[1:-1]),
        say(
            f"## {CLOSING[-1]}\n\n"
            "- [A guide](https://example.org/a_(b)): shows the same with\n"
            "  more care.\n- [Data](../data/README.md#the-data) says where it is from."
        ),
    ]  # fmt: skip
    for count, cell in enumerate((c for c in cells if c.cell_type == "code"), start=1):
        cell.execution_count = count
    return cells


def write(path, cells, kernel="python3"):
    notebook = v4.new_notebook(cells=cells)
    notebook.metadata["kernelspec"] = {"name": kernel, "display_name": "Python 3"}
    nbformat.write(notebook, path)


@pytest.fixture(scope="module")
def good_project(tmp_path_factory):
    root = tmp_path_factory.mktemp("good")
    for folder in ("notebooks/images", "data", ".ci"):
        (root / folder).mkdir(parents=True)
    for name in LESSONS:
        write(root / "notebooks" / f"{name}.ipynb", good_lesson(name))
        (root / "notebooks" / "images" / f"{name[:2]}_it.png").write_bytes(png("red"))
    rows = "\n".join(
        f"| [{name}](notebooks/{name}.ipynb) | {time} min |"
        for name, time in LESSONS.items()
    )
    (root / "README.md").write_text(
        "# Project\n\n![A red square, alone](notebooks/images/01_it.png)\n\n"
        f"```\n{COMMANDS[0]}\n{COMMANDS[1]}\n```\n\n"
        f"See [the lessons](#the-lessons-in-order).\n\n## The lessons, in order\n\n"
        f"In a row, all 3 lessons, 2 hours.\n\n"
        f"| lesson | time |\n|---|---|\n{rows}\n",
        "utf-8",
    )
    (root / "teaching").mkdir()
    (root / "teaching" / "README.md").write_text(
        "# For teachers\n\nIn a row, all 3\nlessons, 2 hours.\n\n"
        + rows.replace("](", "](../").replace(" min |", " | two |"),
        "utf-8",
    )
    (root / "data" / "README.md").write_text("# The `data`\n")
    (root / ".ci" / "run").write_text(f"#!/bin/sh\nset -e\n{COMMANDS[1]}\n")
    return root


@pytest.fixture
def project(good_project, tmp_path):
    """A copy of the good project, to be spoiled."""
    return shutil.copytree(good_project, tmp_path / "project")


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", LESSONS)
def test_good_lesson(good_project, name, rule):
    assert not list(RULES[rule](Lesson(good_project / "notebooks" / f"{name}.ipynb")))


@pytest.mark.parametrize("rule", README_RULES)
def test_good_readme(good_project, rule):
    assert not list(README_RULES[rule](good_project))


def replace(old, new, tag=None):
    """Replace text in all cells that have it, or in those with a tag."""

    def change(cells):
        found = [
            cell
            for cell in cells
            if old in cell.source and (not tag or tag in cell.metadata.get("tags", []))
        ]
        assert found
        for cell in found:
            cell.source = cell.source.replace(old, new)

    return change


def on(tag, action):
    """Do something with the first cell that has a tag."""

    def change(cells):
        action(next(cell for cell in cells if tag in cell.metadata.get("tags", [])))

    return change


def output(tag, *outputs):
    return on(tag, lambda cell: cell.update(outputs=list(outputs)))


def retag(old, *new):
    return on(old, lambda cell: cell.metadata.update(tags=list(new)))


def remove(tag):
    def change(cells):
        place = [tag in cell.metadata.get("tags", []) for cell in cells].index(True)
        del cells[place]

    return change


def add(*new):
    return lambda cells: cells.extend(new)


def insert(*new):
    """Put cells behind the set-up cell."""
    return lambda cells: cells.__setitem__(slice(6, 6), new)


def unfold(tag):
    return on(tag, lambda cell: cell.metadata.pop("jupyter"))


def exercises_only(cells):
    left = {"setup", "exercise", "check", "solution"}
    cells[:] = [
        cell
        for cell in cells
        if cell.cell_type != "code" or left & set(cell.metadata["tags"])
    ]


def ignore_most(cells):
    for cell in cells:
        if cell.cell_type == "code":
            cell.metadata["tags"] = ["nbval-ignore-output"]


def swap(cells):
    counts = [cell for cell in cells if cell.cell_type == "code"]
    counts[3].execution_count, counts[4].execution_count = 5, 4


NEXT = "**Next** [after](02_draw_lines.ipynb)"
PREVIOUS = "**Previous** [before](00_shape_tensors.ipynb)"
LIST = "- [A guide](https://example.org/a_(b)): shows the same with\n  more care."
SOLUTION = "def answer(x):\n    return 2 * x\n\n\ncheck_1(answer)"
SVG = v4.new_output("display_data", {"image/svg+xml": "<svg/>", "text/plain": "x"})

# (rule, what is changed in lesson 01, a part of the complaint)
MUTATIONS = [
    ("title_and_picture", replace("# Learn it", "Learn it"), "begins with the title"),
    ("title_and_picture", replace("# Learn it", "# Shapes"), "begins with learn"),
    ("title_and_picture", add(v4.new_markdown_cell("# More")), "is enough"),
    ("title_and_picture", replace("images/01", "images/02"), "shows images/01_….png"),
    ("title_and_picture", replace("![A red", "[A red"), "not []"),
    ("hero_picture", retag("hero"), "0 cells are tagged `hero`"),
    ("hero_picture", output("hero"), "stores 0 pictures"),
    ("hero_picture", output("hero", picture("blue")), "is not what the cell tagged"),
    ("time_line", replace("25 min (", "25 minutes ("), "the second cell needs"),
    ("time_line", replace("(runs in 6 s) ", ""), "the second cell needs"),
    ("time_line", replace("**Needs** nothing · ", ""), "the second cell needs"),
    ("time_line", replace(NEXT, ""), "**Next** links [] instead of"),
    ("time_line", replace(NEXT, NEXT.replace("02", "03")), "**Next** links"),
    ("time_line", replace(PREVIOUS, NEXT), "**Previous** links [] instead of"),
    (
        "sections",
        replace("## What you'll learn", "**You'll learn**"),
        "the first `## `",
    ),
    ("sections", replace("## Summary", "## To sum up"), "the last `## `"),
    ("sections", replace("## Check it", "### Check it"), "too few sections"),
    ("set_up_cell", remove("setup"), "is tagged `setup`"),
    ("set_up_cell", retag("hero", "hero", "setup"), "is tagged `setup`"),
    (
        "set_up_cell",
        replace("sys", "os", "setup"),
        "is not the set-up cell of 00_shape",
    ),
    ("exercises", replace("### Exercise", "### Task"), "0 exercises"),
    ("exercises", replace("Exercise 2", "Exercise 3"), "are numbered"),
    ("exercises", remove("solution"), "cells of an exercise are tagged"),
    ("exercises", retag("exercise"), "cells of an exercise are tagged"),
    ("exercises", replace("check_1", "test", "check"), "defines no check_1"),
    ("exercises", output("check", printed("well done\n")), "does not answer the stub"),
    ("exercises", replace("check_1", "print", "solution"), "does not call check_1"),
    ("exercises", output("solution"), "is not answered with `well done`"),
    (
        "exercises",
        on("solution", lambda cell: cell.metadata.pop("jupyter")),
        "collapsed",
    ),
    ("further_reading", replace(LIST[:2], ""), "lists nothing"),
    ("further_reading", replace(LIST, "- A guide of mine"), "no link in"),
    (
        "further_reading",
        replace(": shows the same with\n  more care.", ""),
        "no reason",
    ),
    ("wording", replace("Some words", "Simply words"), "can do without ['Simply']"),
    ("wording", replace("[A guide]", "[It is just this]"), "can do without ['just']"),
    ("resolved_links", replace("](../data/", "](../date/"), "there is no ../date/"),
    ("resolved_links", replace("#the-data", "#The-data"), "no heading for #The-data"),
    ("resolved_links", replace("#Further", "#further"), "no heading for #further"),
    ("resolved_links", replace("../data/README.md#the-data", "../.."), "no ../.."),
    ("resolved_links", replace("https:", "http:"), "is neither an https link"),
    ("resolved_links", replace("![A red square, alone", "![A"), "needs an alt text"),
    ("resolved_links", replace("01_it.png", "01_is.png"), "there is no images/01_is"),
    ("cell_sizes", exercises_only, "code cells: 7, not from 8 to 28"),
    ("cell_sizes", add(*[code("x\ny\nz") for _ in range(40)]), "code cells: "),
    ("cell_sizes", replace("x", "\n\n\nx"), "lines in half of the code cells: "),
    ("cell_sizes", replace("x = ", "\n" * 9 + "x = "), "lines in nine of ten"),
    (
        "cell_sizes",
        add(*[v4.new_markdown_cell(FILLER) for _ in range(9)]),
        "for each code cell: ",
    ),
    ("cell_sizes", replace(FILLER, FILLER * 9), "words in half"),
    ("cell_sizes", replace("assert y == 4", "#" * 80), "a line of 80 columns"),
    ("figures", replace("\nplt.show()", "\nplt.show();"), "does not end in plt.show()"),
    ("figures", replace("**What to see**", ""), "no text below the figure"),
    ("figures", replace("alt('A red square')", "alt"), "describe what is seen"),
    ("length", insert(*[code("x = 1\ny = 2") for _ in range(10)]), "before Your turn"),
    ("length", replace(FILLER, FILLER * 5), "words of text, more than 1200"),
    ("length", replace("25 min (", "20 min ("), "20 minutes, not from 25 to 45"),
    ("length", replace("25 min (", "50 min ("), "50 minutes, not from 25 to 45"),
    ("length", insert(*[code("x = 1\ny = 2") for _ in range(9)]), "39 is honest"),
    ("folded", unfold("setup"), "is the set-up cell: fold it"),
    ("folded", unfold("hero"), "only draws: fold it"),
    ("folded", unfold("asserts"), "only asserts: fold it"),
    ("public_names", replace("import time", "import utils._time"), "uses _time"),
    ("public_names", replace("time.time()", "utils._held()"), "uses _held, which"),
    ("public_names", replace("import time", "from utils import _held"), "uses _held"),
    ("plain_python", replace("import time", "%time"), "is not plain Python"),
    ("plain_python", replace("import time", "x = !date"), "is not plain Python"),
    ("plain_python", replace("x = -1\ny = 0\n\n\nraise ValueError('no')", ""), "empty"),
    ("executed_in_order", swap, "[1, 2, 3, 5, 4, 6,"),
    ("executed_in_order", add(code("x")), "None]"),
    (
        "expected_errors_only",
        output("hero", printed("?", "stderr")),
        "wrote to stderr: ?",
    ),
    ("expected_errors_only", retag("raises-exception"), "and is not tagged"),
    ("expected_errors_only", output("raises-exception"), "but did not fail"),
    ("same_on_every_machine", output("check", printed("in /home/me/x")), "a path of"),
    ("same_on_every_machine", output("check", printed("in ~/utils.py")), "['~/']"),
    (
        "same_on_every_machine",
        output("check", v4.new_output("error", traceback=["File \x1b[32m/tmp/x.py:1"])),
        "stores a path of one machine",
    ),
    ("same_on_every_machine", output("check", SVG), "stores an SVG"),
    ("same_on_every_machine", output("check", printed("at 0x7f12ab34")), "an address"),
    ("same_on_every_machine", output("check", printed("is 0.33333.")), "['0.33333']"),
    (
        "same_on_every_machine",
        output("check", printed("[1.2346e-05]")),
        "than 4 digits",
    ),
    ("compared", retag("hero", "hero", "nbval-skip"), "so that no test runs it"),
    ("compared", ignore_most, "17 of 17 outputs are not compared"),
    ("compared", replace("x = 3", "# NBVAL_IGNORE_OUTPUT"), "use a tag"),
    (
        "compared",
        retag("raises-exception", "raises-exception", "nbval-ignore-output"),
        "need not fail",
    ),
    ("tidy_file", output("check", printed("x" * 300_000)), "KB, more than 300"),
    (
        "tidy_file",
        on("hero", lambda cell: cell.metadata.update(execution={"iopub.execute": "2"})),
        "holds execution times",
    ),
]


@pytest.mark.parametrize(
    ("rule", "change", "complaint"),
    MUTATIONS,
    ids=[f"{rule}-{complaint}" for rule, _, complaint in MUTATIONS],
)
def test_rule_sees_what_is_wrong(project, rule, change, complaint):
    path = project / "notebooks" / "01_learn_shapes.ipynb"
    cells = good_lesson("01_learn_shapes")
    change(cells)
    write(path, [cell.copy() for cell in cells])
    found = list(RULES[rule](Lesson(path)))
    assert any(complaint in said for said in found), found


def test_a_picture_that_moves_brings_its_description(project):
    path = project / "notebooks" / "01_learn_shapes.ipynb"
    cells = good_lesson("01_learn_shapes")
    replace("alt('A red square')", "move(show, 'A red square', x=(1, 0, 2))")(cells)
    write(path, cells)
    assert not list(RULES["figures"](Lesson(path)))


def test_a_drawing_from_which_names_are_taken_is_not_folded(project):
    path = project / "notebooks" / "01_learn_shapes.ipynb"
    cells = good_lesson("01_learn_shapes")
    unfold("hero")(cells)
    insert(code("print(y)"))(cells)  # before it: takes nothing from it
    write(path, cells)
    assert "only draws" in str(list(RULES["folded"](Lesson(path))))
    replace("time.time()", "print(y)")(cells)
    write(path, cells)
    assert not list(RULES["folded"](Lesson(path)))


def test_a_number_may_be_missing(project):
    """The neighbours are those that are there."""
    (project / "notebooks" / "02_draw_lines.ipynb").rename(
        project / "notebooks" / "07_draw_lines.ipynb"
    )
    lesson = project / "notebooks" / "01_learn_shapes.ipynb"
    write(lesson, good_lesson("01_learn_shapes"))
    assert "['07_draw_lines.ipynb']" in str(list(RULES["time_line"](Lesson(lesson))))
    cells = good_lesson("01_learn_shapes")
    replace("02_draw_lines", "07_draw_lines")(cells)
    write(lesson, cells)
    assert not list(RULES["time_line"](Lesson(lesson)))


def test_other_kernel_is_seen(project):
    path = project / "notebooks" / "01_learn_shapes.ipynb"
    write(path, good_lesson("01_learn_shapes"), kernel="conda-env")
    assert "conda-env" in str(list(RULES["tidy_file"](Lesson(path))))


TEACHERS = "teaching/README.md"
README_MUTATIONS = [
    ("two_commands", "README.md", COMMANDS[0], "jupyter lab", "README.md has no line"),
    (
        "two_commands",
        "README.md",
        "bin/pytest",
        "bin/pytest -q",
        "README.md has no line",
    ),
    ("two_commands", ".ci/run", "bin/pytest", "bin/pytest -q", ".ci/run has no line"),
    ("lessons_table", "README.md", "| 25 min", "| 26 min", "does not say 25"),
    ("lessons_table", "README.md", "| [02_draw_lines](", "| ", "the tables list"),
    (
        "lessons_table",
        "README.md",
        "3 lessons, 2",
        "3 lessons, 3",
        "does not say: all 3",
    ),
    ("lessons_table", "README.md", "2 hours", "2 years", "lessons, 2 hours"),
    (
        "lessons_table",
        TEACHERS,
        "| 25 |",
        "| 24 |",
        "01_learn_shapes.ipynb does not say",
    ),
    ("lessons_table", TEACHERS, "01_learn_", "02_draw_", "the tables list"),
    ("lessons_table", TEACHERS, "| [00", "| \\[00", "the tables list"),
    ("picture_on_the_first_screen", "README.md", "![", "[", "no picture in"),
    ("resolved_readme_links", "README.md", "(#the", "(#The", "no heading for #The-les"),
    (
        "resolved_readme_links",
        "data/README.md",
        "#",
        "[x](y.npz)\n#",
        "there is no y.npz",
    ),
]


@pytest.mark.parametrize(
    ("rule", "name", "old", "new", "complaint"),
    README_MUTATIONS,
    ids=[f"{row[0]}-{row[4]}" for row in README_MUTATIONS],
)
def test_readme_rule_sees_what_is_wrong(project, rule, name, old, new, complaint):
    text = (project / name).read_text("utf-8")
    assert old in text
    (project / name).write_text(text.replace(old, new), "utf-8")
    found = list(README_RULES[rule](project))
    assert any(complaint in said for said in found), found


def test_the_lessons_of_a_part_stand_in_order(project):
    """Parts may come in any order."""
    path = project / "README.md"
    start, line, rows = path.read_text("utf-8").partition("|---|---|\n")
    first, second, third = rows.splitlines()
    start += line
    path.write_text(start + f"{third}\n\n{first}\n{second}\n", "utf-8")
    assert not list(README_RULES["lessons_table"](project))
    path.write_text(start + f"{third}\n{first}\n{second}\n", "utf-8")
    assert "not in order" in str(list(README_RULES["lessons_table"](project)))


def test_every_rule_is_shown_to_fail():
    assert {rule for rule, *_ in MUTATIONS} == set(RULES)
    assert {rule for rule, *_ in README_MUTATIONS} == set(README_RULES)
