"""Every lesson and the README keep the rules of lesson_rules.py."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from lesson_rules import README_RULES, RULES, Lesson, lesson_paths

ROOT = Path(__file__).resolve().parents[1]
LESSONS = lesson_paths(ROOT / "notebooks")
TEMPLATE = ROOT / "teaching" / "template" / "10_write_a_lesson.ipynb"
TOP = set(
    "README.md requirements.txt utils.py custom_ops notebooks data pyproject.toml "
    "tests benchmarks LICENSE CONTRIBUTING.md CHANGELOG.md CITATION.cff noxfile.py "
    ".pre-commit-config.yaml teaching site .github .ci .gitignore "
    ".gitattributes".split()
)


def test_lessons_are_numbered():
    """From 00 on, no number twice; one may be missing, for a lesson to come."""
    assert LESSONS == sorted((ROOT / "notebooks").glob("*.ipynb"))
    numbers = [path.name[:2] for path in LESSONS]
    assert numbers[0] == "00" and len(set(numbers)) == len(numbers)


def test_the_folder_that_jupyter_shows_holds_lessons():
    names = {path.name for path in (ROOT / "notebooks").iterdir()}
    names -= {path.name for path in LESSONS}
    shown = {name for name in names if not name.startswith((".", "__"))}
    assert shown <= {"images", "cpp", "modules"}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("path", [*LESSONS, TEMPLATE], ids=lambda path: path.stem)
def test_lesson(path, rule):
    complaints = list(RULES[rule](Lesson(path)))
    assert not complaints, "\n".join(complaints)


@pytest.mark.parametrize("rule", README_RULES)
def test_readme(rule):
    complaints = list(README_RULES[rule](ROOT))
    assert not complaints, "\n".join(complaints)


@pytest.mark.parametrize("what", [["check"], ["format", "--check"]], ids=" ".join)
def test_ruff_finds_nothing_in_code_and_notebooks(what):
    command = [sys.executable, "-m", "ruff", *what, "--no-cache", str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_lowest_packages_are_the_lower_ends_of_the_ranges():
    """For Python 3.11; a newer one may need a newer package, which the file says."""

    def read(name):
        lines = (ROOT / name).read_text("utf-8").splitlines()
        wanted = [Requirement(bare) for line in lines if (bare := line.split("#")[0])]
        python = {"python_version": "3.11"}
        return {
            one.name: {
                Version(end.version)
                for end in one.specifier
                if end.operator in (">=", "~=", "==")
            }
            for one in wanted
            if not one.marker or one.marker.evaluate(python)
        }

    assert read("tests/lowest.txt") == read("requirements.txt")


def test_nothing_else_lies_at_the_top():
    git = shutil.which("git")
    if not (git and (ROOT / ".git").exists()):
        pytest.skip("not a git clone: what belongs to the project is not known")
    tracked = subprocess.run(
        [git, "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert {name.partition("/")[0] for name in tracked.splitlines()} <= TOP
