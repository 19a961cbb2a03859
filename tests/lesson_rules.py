"""What all lessons have in common, as rules that tests can hold them to.

A rule is a function that yields a sentence for each thing that is not as it should
be: those in RULES take a Lesson, those in README_RULES the project's folder. The
bounds on sizes come from what the best notebook collections do, with some slack.
"""

import ast
import re
import statistics
from pathlib import Path
from urllib.parse import unquote

import nbformat

import pictures
from cell_names import Names

OPENING = ["What you'll do", "What you'll learn", "What you'll need"]
CLOSING = ["Your turn", "In practice", "Summary", "Further reading"]
EXERCISE_TAGS = ("exercise", "check", "solution")
COLUMNS = 79
KILOBYTES = 300
WORDS = 1200
MINUTES = 1.5  # that a reader needs for a code cell, exercises included
PUBLIC = {"_replace", "_asdict", "_fields", "_make"}  # of a namedtuple
DIGITS = 4  # significant ones, in printed numbers
BANNED = re.compile(r"\b(simply|just|easily|obviously)\b", re.IGNORECASE)
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)[^)]*\)")
FLOAT = re.compile(r"(?<![\w.])\d+\.\d+(?:e[+-]?\d+)?(?![\w]|\.\d)", re.IGNORECASE)
ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}", re.IGNORECASE)
MACHINE_PATH = re.compile(
    r"(?<![\w./])(?:~|/(?:home|root|tmp|work|Users|private|var|opt|usr))/"
    r"|\b[A-Z]:\\|site-packages"
)
INSTALL = "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt && "
WITH_LESSONS = ["README.md", "teaching/README.md"]  # with a table of all of them
ROW = re.compile(
    r"^\| *\[[^]|]*\]\((?:\.\./)?notebooks/(\w+\.ipynb)\)(.*)\|$", re.MULTILINE
)
COMMANDS = [INSTALL + ".venv/bin/jupyter lab notebooks", INSTALL + ".venv/bin/pytest"]

RULES = {}
README_RULES = {}


def lesson_rule(function):
    RULES[function.__name__] = function
    return function


def readme_rule(function):
    README_RULES[function.__name__] = function
    return function


def lesson_paths(folder):
    return sorted(Path(folder).glob("[0-9][0-9]_*.ipynb"))


class Lesson:
    """A notebook, and what the rules ask of it."""

    def __init__(self, path):
        self.path = Path(path)
        self.notebook = nbformat.read(self.path, as_version=4)
        self.cells = self.notebook.cells
        self.code = [cell for cell in self.cells if cell.cell_type == "code"]
        self.text = [cell for cell in self.cells if cell.cell_type == "markdown"]

    def tagged(self, tag):
        return [cell for cell in self.code if tag in tags(cell)]

    def section(self, title):
        """The cells of a `## ` section, the one with the heading included."""
        found, inside = [], False
        for cell in self.cells:
            titles = section_titles(cell)
            inside = title in titles or (inside and not titles)
            if inside:
                found.append(cell)
        return found

    def says(self, cell, complaint):
        """The complaint, with the place that it is about."""
        return f"cell {self.cells.index(cell)}: {complaint}"


def tags(cell):
    return cell.metadata.get("tags", [])


def headings(markdown):
    """(level, title) of each heading."""
    plain = re.sub(r"^```.*?^```", "", markdown, flags=re.DOTALL | re.MULTILINE)
    return [
        (len(marks), title.replace("’", "'"))
        for marks, title in re.findall(r"^(#{1,6}) +(.+?) *$", plain, re.MULTILINE)
    ]


def section_titles(cell):
    if cell.cell_type != "markdown":
        return []
    return [title for level, title in headings(cell.source) if level == 2]


def prose(markdown):
    """The text without code and formulas."""
    markdown = re.sub(r"```.*?```|``.*?``|`[^`]*`", " … ", markdown, flags=re.DOTALL)
    return re.sub(r"\$\$.*?\$\$|\$[^$\n]+\$", " … ", markdown, flags=re.DOTALL)


def links(markdown):
    """(is a picture, text, target) of each link."""
    return [
        (bool(mark), text, target)
        for mark, text, target in LINK.findall(prose(markdown))
    ]


def anchors(path):
    """The anchors that a Markdown file or notebook offers."""
    if path.suffix == ".ipynb":  # as Jupyter makes them
        text = "\n\n".join(cell.source for cell in Lesson(path).text)
        return {plain_title(title).replace(" ", "-") for _, title in headings(text)}
    titles = [plain_title(title) for _, title in headings(path.read_text("utf-8"))]
    return {
        re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles
    }


def plain_title(title):
    return re.sub(r"[`*]", "", LINK.sub(r"\2", title))


def broken_links(markdown, source, root):
    """A sentence for each link of the file `source` that leads nowhere."""
    for is_picture, text, target in links(markdown):
        if is_picture and len(text.split()) < 3:
            yield f"the picture {target} needs an alt text that says what is seen"
        if target.startswith("https://"):
            continue
        if re.match(r"[a-z]+:", target):
            yield f"{target} is neither an https link nor a file of the project"
            continue
        name, _, anchor = unquote(target).partition("#")
        file = (source.parent / name).resolve() if name else source
        if not (file.exists() and file.is_relative_to(root.resolve())):
            yield f"there is no {name} in the project"
        elif anchor and anchor not in anchors(file):
            yield f"{file.name} has no heading for #{anchor}"


def written(output):
    """What an output says and nbval compares: no pictures, no tracebacks."""
    data = output.get("data", {})
    parts = [output.get("text", ""), output.get("evalue", "")]
    return "\n".join(parts + [data[mime] for mime in data if mime.startswith("text/")])


def output_text(cell):
    return "\n".join(map(written, cell.outputs))


def traceback_text(cell):
    lines = [line for output in cell.outputs for line in output.get("traceback", [])]
    return re.sub(r"\x1b\[[\d;]*m", "", "\n".join(lines))  # without the colours


# What a lesson consists of


@lesson_rule
def title_and_picture(lesson):
    """`# Verb …`, the verb of the file's name, a sentence, and a picture."""
    first = lesson.cells[0]
    found = [
        title for cell in lesson.text for n, title in headings(cell.source) if n == 1
    ]
    verb = lesson.path.stem.split("_")[1]
    if not (first.cell_type == "markdown" and first.source.startswith("# ")):
        yield "the first cell begins with the title, as `# Title`"
    elif found[0].split()[0].lower() != verb:
        yield f"the file's name begins with {verb}, the title is: {found[0]}"
    if len(found) > 1:
        yield f"one `# ` heading is enough: {found}"
    shown = [target for picture, _, target in links(first.source) if picture]
    if len(shown) != 1 or not shown[0].startswith(f"images/{lesson.path.stem[:2]}_"):
        yield f"the first cell shows images/{lesson.path.stem[:2]}_….png, not {shown}"


@lesson_rule
def hero_picture(lesson):
    """The first cell's picture is what the cell tagged `hero` draws."""
    cells = lesson.tagged("hero")
    if len(cells) != 1:
        yield f"{len(cells)} cells are tagged `hero` instead of 1"
        return
    drawn = pictures.stored_in(cells[0].outputs)
    if len(drawn) != 1:
        yield lesson.says(cells[0], f"tagged `hero`, but stores {len(drawn)} pictures")
        return
    for picture, _, target in links(lesson.cells[0].source):
        file = lesson.path.parent / target
        if picture and file.exists():
            if found := pictures.difference(drawn[0], file.read_bytes()):
                yield f"{target} is not what the cell tagged `hero` drew: {found}"


@lesson_rule
def time_line(lesson):
    """**Time** 25 min (runs in 6 s) · **Needs** … · **Previous** … · **Next** …"""
    if minutes(lesson) is None:
        yield (
            "the second cell needs a paragraph `**Time** 25 min (runs in 6 s) · "
            "**Needs** … · **Previous** [title](file) · **Next** [title](file)`"
        )
        return
    line = time_paragraph(lesson)
    paths = lesson_paths(lesson.path.parent)
    place = paths.index(lesson.path)
    neighbours = {
        "Previous": paths[place - 1] if place else None,
        "Next": paths[place + 1] if place + 1 < len(paths) else None,
    }
    for label, path in neighbours.items():
        found = re.findall(rf"\*\*{label}\*\* \[[^\]]+\]\(([^)]+)\)", line)
        expected = [path.name] if path else []
        if found != expected or line.count(f"**{label}**") != len(expected):
            yield f"**{label}** links {found} instead of {expected}"


def time_paragraph(lesson):
    for paragraph in re.split(r"\n\s*\n", lesson.cells[1].source):
        if paragraph.startswith("**Time**"):
            return " ".join(paragraph.split())
    return ""


def minutes(lesson):
    """The minutes that the time line gives the learner, or None."""
    pattern = r"\*\*Time\*\* (\d+) min \(runs in \d+ s\) · \*\*Needs\*\* [^· ]"
    found = re.match(pattern, time_paragraph(lesson))
    return found and int(found[1])


@lesson_rule
def sections(lesson):
    found = [title for cell in lesson.cells for title in section_titles(cell)]
    if found[: len(OPENING)] != OPENING:
        yield f"the first `## ` headings are {OPENING}, not {found[: len(OPENING)]}"
    if found[-len(CLOSING) :] != CLOSING:
        yield f"the last `## ` headings are {CLOSING}, not {found[-len(CLOSING) :]}"
    if len(found) < len(OPENING) + len(CLOSING) + 3:
        yield f"too few sections to walk through an example: {found}"


@lesson_rule
def set_up_cell(lesson):
    """The first code cell is the set-up cell, the same in every lesson."""
    if lesson.tagged("setup") != lesson.code[:1]:
        yield "the first code cell, and no other, is tagged `setup`"
        return
    first = lesson_paths(lesson.path.parent)[0]
    expected = [cell.source for cell in Lesson(first).tagged("setup")]
    if expected != [lesson.code[0].source]:
        yield lesson.says(lesson.code[0], f"is not the set-up cell of {first.name}")


@lesson_rule
def exercises(lesson):
    """2 to 4, each a heading, a stub, a check and a collapsed solution."""
    cells = lesson.section("Your turn")
    numbers = [
        re.findall(r"\d+", title)[:1]
        for cell in cells
        if cell.cell_type == "markdown"
        for level, title in headings(cell.source)
        if level == 3 and title.startswith("Exercise ")
    ]
    count = len(numbers)
    if not 2 <= count <= 4:
        yield f"{count} exercises (`### Exercise 1: …`) instead of 2 to 4"
    if numbers != [[str(number)] for number in range(1, count + 1)]:
        yield f"the exercises are numbered {numbers}"
    code = [cell for cell in cells if cell.cell_type == "code"]
    kinds = [tag for cell in code for tag in tags(cell) if tag in EXERCISE_TAGS]
    if kinds != list(EXERCISE_TAGS) * count or len(code) != len(kinds):
        yield f"the code cells of an exercise are tagged {EXERCISE_TAGS}; found {kinds}"
        return
    for number in range(1, count + 1):
        _, check, solution = code[3 * number - 3 : 3 * number]
        if f"def check_{number}(" not in check.source:
            yield lesson.says(check, f"defines no check_{number}")
        if "not yet: " not in output_text(check):
            yield lesson.says(check, "does not answer the stub with `not yet: …`")
        if f"check_{number}(" not in solution.source:
            yield lesson.says(solution, f"does not call check_{number}")
        said = output_text(solution)
        if "well done" not in said or "not yet" in said:
            yield lesson.says(solution, "is not answered with `well done`")
        if not solution.metadata.get("jupyter", {}).get("source_hidden"):
            yield lesson.says(solution, "is not collapsed (jupyter.source_hidden)")


@lesson_rule
def further_reading(lesson):
    """A list; each item has a link and says what it is good for."""
    markdown = "\n".join(
        cell.source
        for cell in lesson.section("Further reading")
        if cell.cell_type == "markdown"
    )
    items = re.split(r"^[-*] ", markdown, flags=re.MULTILINE)[1:]
    if not items:
        yield "Further reading lists nothing"
    for item in items:
        _, *rest = LINK.split(item, maxsplit=1)
        if not rest:
            yield f"no link in: {item.strip()}"
        elif len(re.findall(r"\w+", rest[-1])) < 3:
            yield f"no reason why to read it: {item.strip()}"


# How it is written


@lesson_rule
def wording(lesson):
    for cell in lesson.text:
        if found := BANNED.findall(LINK.sub(r"\2", prose(cell.source))):
            yield lesson.says(cell, f"can do without {found}")


@lesson_rule
def resolved_links(lesson):
    for cell in lesson.text:
        root = next(p for p in lesson.path.parents if (p / "notebooks").is_dir())
        for complaint in broken_links(cell.source, lesson.path, root):
            yield lesson.says(cell, complaint)


@lesson_rule
def cell_sizes(lesson):
    lines = sorted(len(cell.source.splitlines()) for cell in lesson.code)
    words = statistics.median(len(cell.source.split()) for cell in lesson.text)
    p90 = lines[int(0.9 * (len(lines) - 1))]
    ratio = len(lesson.text) / len(lesson.code)
    for what, found, low, high in (
        ("code cells", len(lesson.code), 8, 28),
        ("lines in half of the code cells", statistics.median(lines), 2, 7),
        ("lines in nine of ten code cells", p90, 1, 12),
        ("text cells for each code cell", round(ratio, 2), 1.0, 1.5),
        ("words in half of the text cells", words, 15, 90),
    ):
        if not low <= found <= high:
            yield f"{what}: {found}, not from {low} to {high}"
    for cell in lesson.code:
        widest = max(map(len, cell.source.splitlines()), default=0)
        if widest > COLUMNS:
            yield lesson.says(cell, f"a line of {widest} columns, more than {COLUMNS}")


@lesson_rule
def length(lesson):
    """What can be read and done in 25 to 45 minutes; and the minutes are honest."""
    exercises = lesson.section("Your turn")[:1]
    start = lesson.cells.index(exercises[0]) if exercises else len(lesson.cells)
    before = sum(cell.cell_type == "code" for cell in lesson.cells[:start])
    if before > 20:
        yield f"{before} code cells before Your turn, more than 20"
    words = sum(len(cell.source.split()) for cell in lesson.text)
    if words > WORDS:
        yield f"{words} words of text, more than {WORDS}"
    said, honest = minutes(lesson), MINUTES * len(lesson.code)
    if said and not 25 <= said <= 45:
        yield f"{said} minutes, not from 25 to 45"
    if said and said < honest - 2.5:  # a multiple of five is near enough
        what = f"{said} minutes for {len(lesson.code)} code cells"
        yield f"{what}: {honest:.0f} is honest"


@lesson_rule
def folded(lesson):
    """The set-up cell, and cells that only draw or only assert, are folded."""
    for cell in lesson.code:
        why = (
            "is the set-up cell"
            if "setup" in tags(cell)
            else "only asserts"
            if only_asserts(cell)
            else "only draws"
            if only_draws(cell, lesson)
            else ""
        )
        if why and not cell.metadata.get("jupyter", {}).get("source_hidden"):
            yield lesson.says(cell, f"{why}: fold it (jupyter.source_hidden)")


def only_asserts(cell):
    def asserts(statement):
        body = getattr(statement, "body", None)
        if isinstance(statement, (ast.For, ast.With)):
            return all(map(asserts, body))
        return isinstance(statement, ast.Assert)

    body = parsed(cell).body
    return bool(body) and all(map(asserts, body))


def only_draws(cell, lesson):
    """It draws, prints nothing, and binds no name that another cell takes from it."""
    if not pictures.stored_in(cell.outputs) or set(tags(cell)) & set(EXERCISE_TAGS):
        return False
    if any(output.output_type == "stream" for output in cell.outputs):
        return False
    bound = Names(parsed(cell)).bound
    later = lesson.code[lesson.code.index(cell) + 1 :]
    found = [Names(parsed(other)) for other in later]
    return not any(bound & (names.used - names.bound) for names in found)


def parsed(cell):
    try:
        return ast.parse(cell.source)
    except SyntaxError:  # which is the business of another rule
        return ast.parse("")


@lesson_rule
def public_names(lesson):
    """Nothing private of another module: no reader could rely on it."""
    for cell in lesson.code:
        found = []
        for node in ast.walk(parsed(cell)):
            if isinstance(node, ast.Attribute):
                mine = isinstance(node.value, ast.Name) and node.value.id == "self"
                found += [] if mine else [node.attr]
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                found += [part for one in node.names for part in one.name.split(".")]
        for name in found:
            if name.startswith("_") and not name.endswith("__") and name not in PUBLIC:
                yield lesson.says(cell, f"uses {name}, which is private")


@lesson_rule
def figures(lesson):
    """A plot cell says what is seen and ends in plt.show(); so does the text below."""
    for cell, below in zip(lesson.cells, [*lesson.cells[1:], None], strict=True):
        if cell.cell_type != "code" or not pictures.stored_in(cell.outputs):
            continue
        if cell.source.splitlines()[-1] != "plt.show()":
            yield lesson.says(cell, "draws, but does not end in plt.show()")
        if not describes(cell):
            yield lesson.says(cell, "describe what is seen, by alt(…) or move(…)")
        if set(tags(cell)) & set(EXERCISE_TAGS):
            continue
        if below is None or "what to see" not in below.source.lower():
            yield lesson.says(cell, "no text below the figure says **What to see**")


def describes(cell):
    """Whether it calls `alt`, or `move`, which takes no picture without an alt."""
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("alt", "move")
        for node in ast.walk(parsed(cell))
    )


# How it stays testable


@lesson_rule
def plain_python(lesson):
    """No %magic, no !command, no help?: they can fail without a sign."""
    for cell in lesson.code:
        try:
            ast.parse(cell.source)
        except SyntaxError as error:
            yield lesson.says(cell, f"is not plain Python: {error}")
        if not cell.source.strip():
            yield lesson.says(cell, "is empty")


@lesson_rule
def executed_in_order(lesson):
    counts = [cell.execution_count for cell in lesson.code]
    if counts != list(range(1, len(counts) + 1)):
        yield f"not executed once, in order, in a fresh kernel: {counts}"


@lesson_rule
def expected_errors_only(lesson):
    """No stderr; errors where they are announced, and only there."""
    for cell in lesson.code:
        if any(output.get("name") == "stderr" for output in cell.outputs):
            yield lesson.says(cell, f"wrote to stderr: {output_text(cell)[:200]}")
        failed = any(output.output_type == "error" for output in cell.outputs)
        if failed and "raises-exception" not in tags(cell):
            yield lesson.says(cell, "failed, and is not tagged `raises-exception`")
        if "raises-exception" in tags(cell) and not failed:
            yield lesson.says(cell, "is tagged `raises-exception`, but did not fail")


@lesson_rule
def same_on_every_machine(lesson):
    """No address, no path, no more digits than hold, nothing that changes."""
    for cell in lesson.code:
        text = output_text(cell)
        if found := MACHINE_PATH.findall(text + "\n" + traceback_text(cell)):
            yield lesson.says(cell, f"stores a path of one machine: {found}")
        if any("image/svg+xml" in output.get("data", {}) for output in cell.outputs):
            yield lesson.says(cell, "stores an SVG, which holds dates and random ids")
        if "nbval-ignore-output" in tags(cell):
            continue
        if found := ADDRESS.findall(text):
            yield lesson.says(cell, f"prints an address: {found}")
        if found := [
            number for number in FLOAT.findall(text) if digits(number) > DIGITS
        ]:
            yield lesson.says(cell, f"prints more than {DIGITS} digits: {found}")


def digits(number):
    """Significant digits; 0 for a whole number, which says all there is to it."""
    mantissa = number.lower().partition("e")[0].rstrip("0")
    return 0 if mantissa.endswith(".") else len(mantissa.replace(".", "").lstrip("0"))


@lesson_rule
def compared(lesson):
    """Nothing is skipped, and at most a third of the outputs not compared."""
    if cells := lesson.tagged("nbval-skip"):
        yield lesson.says(cells[0], "is tagged `nbval-skip`, so that no test runs it")
    ignored = lesson.tagged("nbval-ignore-output")
    if len(ignored) > len(lesson.code) / 3:
        yield f"{len(ignored)} of {len(lesson.code)} outputs are not compared"
    for cell in lesson.code:
        if re.search(r"^\s*#\s*(NBVAL|PYTEST)_", cell.source, re.MULTILINE):
            yield lesson.says(cell, "steers nbval by a comment: use a tag")
        if {"nbval-ignore-output", "raises-exception"} <= set(tags(cell)):
            yield lesson.says(cell, "need not fail: `nbval-ignore-output` hides it")


@lesson_rule
def tidy_file(lesson):
    kernel = lesson.notebook.metadata.get("kernelspec", {}).get("name")
    if kernel != "python3":
        yield f"the kernel's name is {kernel}, not python3"
    size = lesson.path.stat().st_size
    if size > KILOBYTES * 1000:
        yield f"{size / 1000:.0f} KB, more than {KILOBYTES}"
    if any("execution" in cell.metadata for cell in lesson.code):
        yield "holds execution times: write it with record_timing=False"


# The README


@readme_rule
def two_commands(root):
    """They stand there as typed, and .ci/run runs the second as it stands."""
    lines = (root / "README.md").read_text("utf-8").splitlines()
    for command in COMMANDS:
        if command not in lines:
            yield f"README.md has no line `{command}`"
    if COMMANDS[1] not in (root / ".ci" / "run").read_text("utf-8").splitlines():
        yield f".ci/run has no line `{COMMANDS[1]}`"


@readme_rule
def lessons_table(root):
    """Each lesson once, with the minutes of its time line; and their sum in hours.

    The lessons are the one place that says how long they take. The tables may come
    in parts; in each part the lessons stand in order.
    """
    paths = lesson_paths(root / "notebooks")
    times = {path.name: minutes(Lesson(path)) for path in paths}
    total = round(sum(filter(None, times.values())) / 60)
    hours = f"all {len(times)} lessons, {total} hours"
    for name in WITH_LESSONS:
        text = (root / name).read_text("utf-8")
        rows = ROW.findall(text)
        listed = [lesson for lesson, _ in rows]
        if sorted(listed) != list(times):
            yield f"{name}: the tables list {listed} instead of {list(times)}"
        for part in re.split(r"^(?!\|).*\n", text, flags=re.MULTILINE):
            inside = [lesson for lesson, _ in ROW.findall(part)]
            if inside != sorted(inside):
                yield f"{name}: not in order: {inside}"
        for lesson, row in rows:
            said = [cell.strip().removesuffix(" min") for cell in row.split("|")]
            if str(times.get(lesson)) not in said:
                yield f"{name}: the row of {lesson} does not say {times.get(lesson)}"
        if hours not in " ".join(text.split()):
            yield f"{name} does not say: {hours}"


@readme_rule
def picture_on_the_first_screen(root):
    screen = "\n".join((root / "README.md").read_text("utf-8").splitlines()[:40])
    if not any(is_picture for is_picture, _, _ in links(screen)):
        yield "no picture in the first 40 lines of README.md"


@readme_rule
def resolved_readme_links(root):
    for path in sorted([*root.glob("*.md"), *root.glob("[a-z]*/*.md")]):
        for complaint in broken_links(path.read_text("utf-8"), path, root):
            yield f"{path.relative_to(root)}: {complaint}"
