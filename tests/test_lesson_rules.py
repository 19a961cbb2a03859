"""Each rule of lesson_rules.py sees what is wrong, and says it in words.

One thing is changed in a lesson or in a README; as they are, they keep all rules, as
test_lessons.py says.
"""

import re
import shutil
from pathlib import Path

import nbformat
import pytest
from nbformat import v4

from lesson_rules import README_RULES, RULES, Lesson

ROOT = Path(__file__).resolve().parents[1]
PATH = ROOT / "notebooks" / "01_learn_identity_matrix.ipynb"


def replace(old, new):
    """In each cell."""

    def change(cells):
        assert any(re.search(old, cell.source) for cell in cells)
        for cell in cells:
            cell.source = re.sub(old, new, cell.source)

    return change


def on(tag, **changes):
    """Of the first cell with this tag; what no cell has is its metadata."""

    def change(cells):
        cell = next(cell for cell in cells if tag in cell.metadata.get("tags", []))
        for name, value in changes.items():
            (cell if name in cell else cell.metadata)[name] = value

    return change


def printed(text, name="stdout"):
    return [v4.new_output("stream", name=name, text=text)]


DOT = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAA"
    "AABJRU5ErkJggg=="
)
DRAWN = [v4.new_output("display_data", data={"image/png": DOT})]
FAILED = [v4.new_output("error", ename="ValueError", evalue="no", traceback=[])]
# (rule, what is changed in lesson 01, a part of the complaint)
LESSON_FAULTS = [
    ("head", replace("# Learn", "# Matrix"), "begins with learn"),
    ("head", replace("images/01", "images/02"), "shows images/01_….png"),
    ("head", replace("40 min", "40 minutes"), "there is no `**Time**"),
    ("head", replace(r"\*\*Next\*\*", "Then"), "**Next** links [], not ['02"),
    ("hero", on("hero", tags=[]), "store 0 pictures"),
    ("hero", on("hero", outputs=DRAWN), "is not what the cell"),
    ("honest_minutes", on("setup", source="x\n" * 600), "40 minutes are said, "),
    ("set_up", on("setup", tags=[]), "is tagged `setup`"),
    ("set_up", on("setup", source="import utils"), "is not that of the other"),
    ("tests_stand_apart", on("setup", tags=["test"]), "fold it"),
    ("tests_stand_apart", on("hero", source="assert 1"), "asserts: do so"),
    ("tests_stand_apart", on("hero", source="np.seterr(all='raise')"), "{'seterr'}"),
    ("exercises", on("solution", tags=[]), "cells of an exercise are tagged"),
    ("exercises", on("check", outputs=[]), "does not answer the stub"),
    ("exercises", on("solution", outputs=[]), "is not answered"),
    ("exercises", on("solution", jupyter={}), "fold it"),
    ("resolved_links", replace(r"\]\(00_", "](99_"), "there is no 99_start"),
    ("resolved_links", replace(r"\]\(00_start_here.ipynb", r"\g<0>#no"), "for #no"),
    ("resolved_links", replace("https:", "http:"), "is neither an https link"),
    ("resolved_links", replace(r"!\[[^]]*", "![A"), "needs an alt text"),
    ("described_pictures", on("hero", alt="square"), "needs words"),
    ("executed_in_order", on("hero", execution_count=9), "not executed once"),
    ("executed_in_order", on("check", outputs=printed("?", "stderr")), "to stderr"),
    ("executed_in_order", on("check", outputs=FAILED), "for cells that fail"),
    ("executed_in_order", on("hero", tags=["raises-exception"]), "for cells that fail"),
    ("same_on_every_machine", on("check", outputs=printed("/home/me/x")), "only one"),
    ("same_on_every_machine", on("check", outputs=printed("0x7f12ab34")), "only one"),
    ("same_on_every_machine", on("check", tags=["nbval-skip"]), "no test looks"),
    ("tidy_file", on("check", outputs=printed("x" * 300_000)), "KB, more than 300"),
]
ROW = r"\| \[01 .*\n"
README_FAULTS = [
    ("lessons_table", "README.md", r"(\[01 .*) 40 ", r"\1 44 ", "does not say 40"),
    ("lessons_table", "README.md", rf"({ROW})(.*\n)", r"\2\1", "not in order"),
    ("lessons_table", "teaching/README.md", ROW, "", "the tables list"),
    ("lessons_table", "README.md", "lessons, [0-9]+ hours", "", "does not say: all"),
    ("resolved_readme_links", "README.md", r"\(#(\w)", r"(#no\1", "no heading for #no"),
    ("resolved_readme_links", "data/README.md", "#", "[x](y)\n#", "there is no y"),
]


@pytest.mark.parametrize(("rule", "change", "complaint"), LESSON_FAULTS)
def test_a_rule_sees_what_is_wrong(rule, change, complaint):
    notebook = nbformat.read(PATH, as_version=4)
    change(notebook.cells)
    found = list(RULES[rule](Lesson(PATH, notebook)))
    assert any(complaint in said for said in found), found


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    ignored = shutil.ignore_patterns(".*", "_build", "tests", "artefacts")
    return shutil.copytree(ROOT, tmp_path_factory.mktemp("x") / "x", ignore=ignored)


@pytest.mark.parametrize(("rule", "name", "old", "new", "complaint"), README_FAULTS)
def test_a_rule_sees_what_is_wrong_in_a_readme(
    project, rule, name, old, new, complaint
):
    text = (project / name).read_text("utf-8")
    (project / name).write_text(re.sub(old, new, text), "utf-8")
    found = list(README_RULES[rule](project))
    (project / name).write_text(text, "utf-8")
    assert any(complaint in said for said in found), found


def test_every_rule_is_shown_to_fail():
    assert {rule for rule, *_ in LESSON_FAULTS} == set(RULES)
    assert {rule for rule, *_ in README_FAULTS} == set(README_RULES)
