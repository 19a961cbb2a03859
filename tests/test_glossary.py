"""site/glossary.md: each term has the lesson that explains it, and no lesson uses a
term that neither itself nor what it needs has explained."""

import re
from pathlib import Path

import pytest

from lesson_rules import Lesson, lesson_paths
from links import prose

ROOT = Path(__file__).resolve().parents[1]
ENTRY = re.compile(
    r"^\*\*(.+?)\*\*(?: \((.+?)\))?: (.+?) \[.+?\]\(\.\./notebooks/(\w+)\.ipynb\)$",
    re.MULTILINE,
)
ENTRIES = ENTRY.findall((ROOT / "site" / "glossary.md").read_text("utf-8"))
PATHS = {path.stem: path for path in lesson_paths(ROOT / "notebooks")}


def words(term, also):
    names = [term, *filter(None, also.split(", "))]
    return re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, names))})(?![\w-])", re.I)


def text(lesson):
    """What a lesson says; of what stands in code only `tf.function` is a term."""
    cells = [c for c in lesson.text if not c.source.startswith("## Further reading")]
    marked = "\n".join(cell.source for cell in cells).replace(
        "`tf.function`", "tf.function"
    )
    return re.sub(r"\]\([^)]*\)", "]", prose(marked))


def needs(stem):
    """The lesson, those that it needs, and what these need."""
    line = Lesson(PATHS[stem]).time_line.partition("**Needs**")[2]
    named = re.findall(r"\((\w+)\.ipynb\)", re.split(r"\*\*(?:Previous|Next)", line)[0])
    return {stem}.union(*(needs(other) for other in named))


def test_there_are_25_terms_in_the_order_of_the_alphabet():
    terms = [term.lower() for term, *_ in ENTRIES]
    assert len(terms) >= 25 and terms == sorted(set(terms))


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry[0])
def test_the_lesson_that_explains_a_term_uses_it(entry):
    term, also, _, stem = entry
    assert words(term, also).search(text(Lesson(PATHS[stem])))


@pytest.mark.parametrize("stem", PATHS)
def test_no_term_is_used_before_it_is_explained(stem):
    said, known = text(Lesson(PATHS[stem])), needs(stem)
    for term, also, _, explained in ENTRIES:
        if explained not in known:
            found = words(term, also).search(said)
            assert not found, (
                f"{stem} says {found[0]!r}, which {explained} explains: "
                "explain it, or name that lesson in the line of what it needs"
            )
