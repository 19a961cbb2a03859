"""Each rule of lesson_rules.py accepts a good project and sees what is wrong.

A small project with three lessons is written without running anything; then one
thing in it is changed, and the rule must complain about it in words.
"""

import base64
import io

import nbformat
import pytest
from nbformat import v4
from PIL import Image

from lesson_rules import README_RULES, RULES, Lesson

FOLDED = {"source_hidden": True}
LESSONS = {"00_shape_tensors": 25, "01_learn_shapes": 15, "02_draw_lines": 25}
SET_UP = 'import sys\n\nsys.path.append("..")  # where utils.py is\nimport utils'
OTHER_SET_UP = "import sys\nsys.path.insert(0, 'there')\nimport utils"


def png(colour):
    buffer = io.BytesIO()
    Image.new("RGB", (40, 30), colour).save(buffer, "PNG")
    return buffer.getvalue()


def picture(colour):
    data = base64.b64encode(png(colour)).decode()
    shown = {"image/png": data, "text/plain": "<Figure>"}
    return v4.new_output("display_data", shown)


def printed(text, name="stdout"):
    return v4.new_output("stream", name=name, text=text)


def code(source, *outputs, tags=(), **metadata):
    metadata["tags"] = list(tags)
    return v4.new_code_cell(source, outputs=list(outputs), metadata=metadata)


def good_lesson(name):
    """Cells of a lesson that keeps all rules."""
    names = list(LESSONS)
    place, number = names.index(name), name[:2]
    line = f"**Time** {LESSONS[name]} min · **Needs** nothing"
    if place:
        line += f" · **Previous** [before]({names[place - 1]}.ipynb)"
    if place + 1 < len(names):
        line += f" · **Next** [after]({names[place + 1]}.ipynb)"
    verb, say = name.split("_")[1].title(), v4.new_markdown_cell
    no = v4.new_output("error", ename="ValueError", evalue="no", traceback=[])
    described = {"alt": "A red square, alone"}
    done, stub = printed("well done\n"), printed("not yet: 1 is not 2\n")
    cells = [
        say(f"# {verb} it\n\n![A red square, alone](images/{number}_it.png)\n\n{line}"),
        code(SET_UP, tags=["setup"]),
        say("See [the end](#Further-reading) and [x](../data/README.md#the-data)."),
        code("raise ValueError('no')", no, tags=["raises-exception"]),
        code("plt.show()", picture("red"), tags=["hero"], **described),
        code("assert 1", tags=["test"], jupyter=FOLDED),
        say("## Your turn\n\n### Exercise 1"),
        code("attempt = 1", tags=["exercise"]),
        code("check_1(attempt)", stub, tags=["check"]),
        code("check_1(2)", done, tags=["solution"], jupyter=FOLDED),
        say("## Further reading\n\n- [A guide](https://example.org/): shows more."),
    ]
    for count, cell in enumerate((c for c in cells if c.cell_type == "code"), start=1):
        cell.execution_count = count
    return cells


def write(path, cells, kernel="python3"):
    notebook = v4.new_notebook(cells=cells)
    notebook.metadata["kernelspec"] = {"name": kernel, "display_name": "Python 3"}
    nbformat.write(notebook, path)


@pytest.fixture
def project(tmp_path):
    """A project that keeps all rules, to be spoiled."""
    for folder in ("notebooks/images", "data", "teaching"):
        (tmp_path / folder).mkdir(parents=True)
    for name in LESSONS:
        write(tmp_path / "notebooks" / f"{name}.ipynb", good_lesson(name))
        picture = tmp_path / "notebooks" / "images" / f"{name[:2]}_it.png"
        picture.write_bytes(png("red"))
    rows = "".join(
        f"| [x](notebooks/{n}.ipynb) | {t} min |\n" for n, t in LESSONS.items()
    )
    text = f"# All\n\nSee [them](#all): all 3 lessons, 1 hours.\n\n{rows}"
    (tmp_path / "README.md").write_text(text)
    (tmp_path / "teaching" / "README.md").write_text(text.replace("](n", "](../n"))
    (tmp_path / "data" / "README.md").write_text("# The `data`\n")
    return tmp_path


def test_a_good_project_has_no_complaints(project):
    for path in sorted(project.glob("notebooks/*.ipynb")):
        assert [said for rule in RULES.values() for said in rule(Lesson(path))] == []
    assert [said for rule in README_RULES.values() for said in rule(project)] == []


def replace(old, new):
    def change(cells):
        found = [cell for cell in cells if old in cell.source]
        assert found
        for cell in found:
            cell.source = cell.source.replace(old, new)

    return change


def on(tag, **changes):
    """Change a cell that has a tag."""
    return lambda cells: tagged(cells, tag).update(changes)


def tagged(cells, tag):
    return next(cell for cell in cells if tag in cell.metadata.get("tags", []))


def about(tag, **metadata):
    return lambda cells: tagged(cells, tag).metadata.update(metadata)


def remove(tag):
    return lambda cells: cells.remove(tagged(cells, tag))


NEXT = "**Next** [after](02_draw_lines.ipynb)"
LONG = "x\n" * 200
# (rule, what is changed in lesson 01, a part of the complaint)
MUTATIONS = [
    ("head", replace("# Learn it", "# Shapes"), "begins with learn"),
    ("head", replace("images/01", "images/02"), "shows images/01_….png"),
    ("head", replace("15 min", "15 minutes"), "there is no `**Time**"),
    ("head", replace(NEXT, ""), "**Next** links [], not ['02"),
    ("hero", about("hero", tags=[]), "store 0 pictures"),
    ("hero", on("hero", outputs=[picture("blue")]), "is not what the cell"),
    ("honest_minutes", on("setup", source=LONG), "15 minutes are said, 22 are"),
    ("set_up", remove("setup"), "is tagged `setup`"),
    ("set_up", on("setup", source=OTHER_SET_UP), "is not that of the other"),
    ("tests_stand_apart", about("test", jupyter={}), "fold it"),
    ("tests_stand_apart", on("hero", source="assert 1"), "asserts: do so"),
    ("tests_stand_apart", on("hero", source="np.seterr(all='raise')"), "{'seterr'}"),
    ("exercises", remove("solution"), "cells of an exercise are tagged"),
    ("exercises", on("check", outputs=[]), "does not answer the stub"),
    ("exercises", on("solution", outputs=[]), "is not answered"),
    ("exercises", about("solution", jupyter={}), "fold it"),
    ("resolved_links", replace("](../data/", "](../date/"), "there is no ../date/"),
    ("resolved_links", replace("#the-data", "#The-data"), "no heading for #The-data"),
    ("resolved_links", replace("#Further", "#further"), "no heading for #further"),
    ("resolved_links", replace("../data/README.md#the-data", "../.."), "no ../.."),
    ("resolved_links", replace("https:", "http:"), "is neither an https link"),
    ("resolved_links", replace("![A red square, alone", "![A"), "needs an alt text"),
    ("described_pictures", about("hero", alt="square"), "needs words"),
    ("described_pictures", about("hero", alt=[]), "needs words"),
    ("executed_in_order", on("hero", execution_count=9), "not executed once"),
    ("executed_in_order", on("check", outputs=[printed("?", "stderr")]), "to stderr"),
    ("executed_in_order", about("raises-exception", tags=[]), "for cells that fail"),
    ("executed_in_order", on("raises-exception", outputs=[]), "for cells that fail"),
    ("same_on_every_machine", on("check", outputs=[printed("/home/me/x")]), "only one"),
    ("same_on_every_machine", on("check", outputs=[printed("0x7f12ab34")]), "only one"),
    ("same_on_every_machine", about("check", tags=["nbval-skip"]), "no test looks"),
    ("tidy_file", on("check", outputs=[printed("x" * 300_000)]), "KB, more than 300"),
    ("tidy_file", about("hero", execution={"busy": "2"}), "holds execution times"),
]
README_MUTATIONS = [
    ("lessons_table", "README.md", "| 15 min", "| 16 min", "does not say 15"),
    ("lessons_table", "README.md", "02_draw_lines", "00_shape_tensors", "not in order"),
    ("lessons_table", "teaching/README.md", "| [x](../notebooks/02", "| ", "list"),
    ("lessons_table", "README.md", "1 hours", "2 hours", "does not say: all 3"),
    ("resolved_readme_links", "README.md", "#all", "#All", "no heading for #All"),
    ("resolved_readme_links", "data/README.md", "#", "[x](y)\n#", "there is no y"),
]


@pytest.mark.parametrize(("rule", "change", "complaint"), MUTATIONS)
def test_a_rule_sees_what_is_wrong(project, rule, change, complaint):
    path = project / "notebooks" / "01_learn_shapes.ipynb"
    cells = good_lesson("01_learn_shapes")
    change(cells)
    write(path, cells)
    found = list(RULES[rule](Lesson(path)))
    assert any(complaint in said for said in found), found


@pytest.mark.parametrize(("rule", "name", "old", "new", "complaint"), README_MUTATIONS)
def test_a_rule_sees_what_is_wrong_in_a_readme(
    project, rule, name, old, new, complaint
):
    text = (project / name).read_text()
    assert old in text
    (project / name).write_text(text.replace(old, new))
    found = list(README_RULES[rule](project))
    assert any(complaint in said for said in found), found


def test_other_kernel_is_seen(project):
    path = project / "notebooks" / "01_learn_shapes.ipynb"
    write(path, good_lesson("01_learn_shapes"), kernel="conda-env")
    assert "conda-env" in str(list(RULES["tidy_file"](Lesson(path))))


def test_every_rule_is_shown_to_fail():
    assert {rule for rule, *_ in MUTATIONS} == set(RULES)
    assert {rule for rule, *_ in README_MUTATIONS} == set(README_RULES)
