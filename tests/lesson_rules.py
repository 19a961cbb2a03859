"""What holds for every lesson and can be seen by a program, as rules for tests.

A rule yields a sentence for each thing that is not as it should be: those in RULES take
a Lesson, those in README_RULES the project's folder. How a lesson reads takes a reader.
"""

import ast
import re
import sys
from pathlib import Path

import nbformat

import pictures
from links import broken_links, links

sys.path.append(str(Path(__file__).resolve().parents[1] / "site"))
import static_lesson  # noqa: E402

EXERCISE_TAGS = ("exercise", "check", "solution")
SET_UP = (
    r"import sys\nsys\.path\.append\('\.\.(/\.\.)?'\)\n"
    r"(import modules\.two_devices\n)?import utils"
)
GLOBAL = {"simplefilter", "filterwarnings", "seterr", "setLevel", "set_verbosity"}
MACHINE_PATH = re.compile(
    r"(?<![\w./])(?:~|/(?:home|root|tmp|work|Users|private|var|opt|usr))/"
    r"|\b[A-Z]:\\|site-packages|\b0x[0-9a-f]{6,}"  # or an address in memory
)
ROW = re.compile(
    r"^\| *\[[^]|]*\]\((?:\.\./)?notebooks/(\w+\.ipynb)\)(.*)\|$", re.MULTILINE
)

RULES, README_RULES = {}, {}


def among(rules):
    return lambda rule: rules.setdefault(rule.__name__, rule)


lesson_rule, readme_rule = among(RULES), among(README_RULES)


def lesson_paths(folder):
    return sorted(Path(folder).glob("[0-9][0-9]_*.ipynb"))


class Lesson:
    """A notebook, and what the rules ask of it."""

    def __init__(self, path, notebook=None):
        self.path = Path(path)
        self.notebook = notebook or nbformat.read(self.path, as_version=4)
        self.cells = self.notebook.cells
        self.code = [cell for cell in self.cells if cell.cell_type == "code"]
        self.text = [cell for cell in self.cells if cell.cell_type == "markdown"]
        paragraphs = re.split(r"\n\s*\n", "\n\n".join(c.source for c in self.text[:2]))
        times = [part for part in paragraphs if part.startswith("**Time**")]
        self.time_line = " ".join(times[0].split()) if times else ""
        found = re.match(r"\*\*Time\*\* (\d+) min · \*\*Needs\*\* ", self.time_line)
        self.minutes = int(found[1]) if found else None

    def tagged(self, tag):
        return [cell for cell in self.code if tag in tags(cell)]

    def says(self, cell, complaint):
        return f"cell {self.cells.index(cell)}: {complaint}"


def tags(cell):
    return cell.metadata.get("tags", [])


def folded(cell):
    return cell.metadata.get("jupyter", {}).get("source_hidden", False)


def output_text(cell):
    """What a cell says and nbval compares: no pictures, no tracebacks."""
    parts = []
    for output in cell.outputs:
        parts += [output.get("text", ""), output.get("evalue", "")]
        parts += [output.get("data", {}).get("text/plain", "")]
    return "\n".join(filter(None, parts))


@lesson_rule
def head(lesson):
    """Title, sentence, picture and time line; its neighbours are named."""
    first, number = lesson.cells[0].source, lesson.path.stem[:2]
    verb = lesson.path.stem.split("_")[1]
    if not re.match(rf"# {verb}\b", first, re.IGNORECASE):
        yield f"the first cell begins with a title that begins with {verb}"
    shown = [target for picture, _, target in links(first) if picture]
    if len(shown) != 1 or not shown[0].startswith(f"images/{number}_"):
        yield f"the first cell shows images/{number}_….png, not {shown}"
    if lesson.minutes is None:
        yield "there is no `**Time** 25 min · **Needs** …` at the top"
    paths = lesson_paths(lesson.path.parent)
    place = paths.index(lesson.path)
    before, after = paths[:place][-1:], paths[place + 1 :][:1]
    for label, neighbour in {"Previous": before, "Next": after}.items():
        found = re.findall(rf"\*\*{label}\*\* \[[^]]+\]\((.+?)\)", lesson.time_line)
        if found != [path.name for path in neighbour]:
            yield f"**{label}** links {found}, not {[p.name for p in neighbour]}"


@lesson_rule
def hero(lesson):
    """The first cell's picture is what the cell tagged `hero` draws."""
    drawn = [p for c in lesson.tagged("hero") for p in pictures.stored_in(c.outputs)]
    if len(drawn) != 1:
        yield f"the cells tagged `hero` store {len(drawn)} pictures instead of 1"
        return
    for picture, _, target in links(lesson.cells[0].source):
        file = lesson.path.parent / target
        if picture and file.exists():
            if found := pictures.difference(drawn[0], file.read_bytes()):
                yield f"{target} is not what the cell tagged `hero` drew: {found}"


@lesson_rule
def honest_minutes(lesson):
    """What reading, running and the exercises take is not more than what is said."""
    words = sum(len(cell.source.split()) for cell in lesson.text)
    exercises = len(lesson.tagged("exercise"))
    before = lesson.code[: lesson.code.index(lesson.tagged("exercise")[0])]
    read = [cell for cell in before if "test" not in tags(cell)]
    lines = sum(bool(line) for cell in read for line in cell.source.split("\n"))
    honest = words / 180 + len(read) + 0.06 * lines + 7 * exercises
    if lesson.minutes and lesson.minutes < honest - 2.5:  # fives are near enough
        yield f"{lesson.minutes} minutes are said, {honest:.0f} are honest"


@lesson_rule
def set_up(lesson):
    """The first code cell, and nothing in it that one would not type at home."""
    if lesson.tagged("setup") != lesson.code[:1]:
        yield "the first code cell, and no other, is tagged `setup`"
    elif not re.fullmatch(SET_UP, ast.unparse(ast.parse(lesson.code[0].source))):
        yield "the set-up cell is not that of the other lessons"


@lesson_rule
def tests_stand_apart(lesson):
    """What only a test needs is in a folded cell tagged `test`, or in a check."""
    for cell in lesson.code:
        if "test" in tags(cell):
            if not folded(cell):
                yield lesson.says(cell, "is tagged `test`: fold it")
            continue
        nodes = list(ast.walk(ast.parse(cell.source)))  # plain Python, no %magic
        if "check" not in tags(cell) and any(isinstance(n, ast.Assert) for n in nodes):
            yield lesson.says(cell, "asserts: do so in a cell tagged `test`")
        if found := GLOBAL & {getattr(node, "attr", None) for node in nodes}:
            yield lesson.says(cell, f"changes what holds everywhere: {found}")


@lesson_rule
def exercises(lesson):
    """Each is a stub, a check and a folded solution, and is answered as it should."""
    kinds = [tag for cell in lesson.code for tag in tags(cell) if tag in EXERCISE_TAGS]
    if not kinds or kinds != list(EXERCISE_TAGS) * kinds.count("exercise"):
        yield f"the cells of an exercise are tagged {EXERCISE_TAGS}, not {kinds}"
    for check in lesson.tagged("check"):
        if "not yet: " not in output_text(check):
            yield lesson.says(check, "does not answer the stub with `not yet: …`")
    for cell in lesson.tagged("solution"):
        said = output_text(cell)
        if "well done" not in said or "not yet" in said:
            yield lesson.says(cell, "is not answered with `well done`")
        if not folded(cell):
            yield lesson.says(cell, "is a solution: fold it")


@lesson_rule
def resolved_links(lesson):
    root = next(p for p in lesson.path.parents if (p / "notebooks").is_dir())
    for cell in lesson.text:
        for complaint in broken_links(cell.source, lesson.path, root):
            yield lesson.says(cell, complaint)


@lesson_rule
def described_pictures(lesson):
    for data, words in static_lesson.pictures(lesson.notebook):
        if len(words.split()) < 3:
            yield f"a picture needs words, as `alt` of its cell: {data['text/plain']}"


@lesson_rule
def executed_in_order(lesson):
    """Once, in a fresh kernel; errors where they are announced, and only there."""
    counts = [cell.execution_count for cell in lesson.code]
    if counts != list(range(1, len(counts) + 1)):
        yield f"not executed once, in order, in a fresh kernel: {counts}"
    for cell in lesson.code:
        if any(output.get("name") == "stderr" for output in cell.outputs):
            yield lesson.says(cell, f"wrote to stderr: {output_text(cell)[:200]}")
        failed = any(output.output_type == "error" for output in cell.outputs)
        if failed != ("raises-exception" in tags(cell)):
            yield lesson.says(cell, "`raises-exception` is for cells that fail")


@lesson_rule
def same_on_every_machine(lesson):
    for cell in lesson.code:
        errors = [line for o in cell.outputs for line in o.get("traceback", [])]
        plain = re.sub(r"\x1b\[[\d;]*m", "", "\n".join([output_text(cell), *errors]))
        if found := MACHINE_PATH.findall(plain):
            yield lesson.says(cell, f"stores what only one machine has: {found}")
        if "nbval-skip" in tags(cell):
            yield lesson.says(cell, "is tagged `nbval-skip`: no test looks at it")


@lesson_rule
def tidy_file(lesson):
    kernel = lesson.notebook.metadata.get("kernelspec", {}).get("name")
    if kernel != "python3":
        yield f"the kernel's name is {kernel}, not python3"
    if (size := len(nbformat.writes(lesson.notebook)) / 1000) > 300:
        yield f"{size:.0f} KB, more than 300"


@readme_rule
def lessons_table(root):
    times = {p.name: Lesson(p).minutes for p in lesson_paths(root / "notebooks")}
    hours = round(sum(filter(None, times.values())) / 60)
    for name in "README.md", "teaching/README.md":
        text = (root / name).read_text("utf-8")
        listed = [lesson for lesson, _ in ROW.findall(text)]
        if sorted(listed) != list(times):
            yield f"{name}: the tables list {listed} instead of {list(times)}"
        for part in re.split(r"^(?!\|).*\n", text, flags=re.MULTILINE):
            inside = [lesson for lesson, _ in ROW.findall(part)]
            if inside != sorted(inside):
                yield f"{name}: not in order: {inside}"
        for lesson, row in ROW.findall(text):
            said = [cell.strip().removesuffix(" min") for cell in row.split("|")]
            if str(times.get(lesson)) not in said:
                yield f"{name}: the row of {lesson} does not say {times.get(lesson)}"
        if f"all {len(times)} lessons, {hours} hours" not in " ".join(text.split()):
            yield f"{name} does not say: all {len(times)} lessons, {hours} hours"


@readme_rule
def resolved_readme_links(root):
    for path in sorted([*root.glob("*.md"), *root.glob("[a-z]*/*.md")]):
        for complaint in broken_links(path.read_text("utf-8"), path, root):
            yield f"{path.relative_to(root)}: {complaint}"
