"""Tools of the tests in a browser: a wall around it, a copy of the project, a tab.

Nothing may leave the machine: the browser, the Jupyter server and its kernels have
a proxy on loopback that refuses and records whatever they ask of it.
"""

import contextlib
import os
import re
import shlex
import shutil
import socketserver
import sys
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[2]
LESSONS = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
ARTEFACTS = Path(__file__).with_name("artefacts")
MINUTE = 60
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync"
).split()
# Whom Chromium asks on its own account, flags or not. What a page asks of them is
# noted all the same, as the page's request.
HOUSEKEEPING = re.compile(r"[/ .](google|googleapis|gvt1|gstatic)\.com\b")
LOOPBACK = ("127.0.0.1", "localhost", "::1")
OWN_FOLDERS = ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "KERAS_HOME")
NOT_COPIED = shutil.ignore_patterns(
    *".git .venv* .nox .tox _build artefacts __pycache__ .ipynb_checkpoints "
    ".pytest_cache .ruff_cache .hypothesis".split()
)


def find_chromium():
    found = filter(None, map(shutil.which, NAMES))
    return os.environ.get("CHROMIUM") or next(found, None)


class Wall(socketserver.ThreadingTCPServer):
    """A proxy that lets nothing through and remembers who was asked for."""

    daemon_threads = True

    def __init__(self):
        self.asked = []
        super().__init__(("127.0.0.1", 0), Refusal)
        self.address = f"http://127.0.0.1:{self.server_address[1]}"


class Refusal(socketserver.StreamRequestHandler):
    def handle(self):
        self.server.asked.append(self.rfile.readline().decode("latin1").strip())
        self.wfile.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")


class Tab:
    """A page of its own profile, and what it asked for.

    Attributes:
        page: Playwright's page.
        files: the files that were read.
    """

    def __init__(self, context, wall):
        context.set_default_timeout(3 * MINUTE * 1000)
        self.page, self.wall = context.new_page(), wall
        self.requests, self.errors, self.files = set(), [], set()
        wall.asked.clear()
        context.on("request", self.note)
        self.page.on("websocket", self.note)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))

    def note(self, request):
        url = urlsplit(request.url)
        if url.scheme == "file":
            self.files.add(Path(urllib.request.url2pathname(url.path)).resolve())
        elif url.scheme not in ("data", "blob", "about"):
            if url.hostname not in LOOPBACK:
                self.requests.add(request.url)

    def complaints(self, scope, notebook=None):
        """What is wrong with a page: formulas, pictures, scripts, who was asked."""
        found = self.page.evaluate(LOOK, scope)
        if notebook and found["formulas"] != formulas(notebook):
            yield f"{formulas(notebook)} formulas are written, not {found['formulas']}"
        yield from (f"a formula is broken: {text!r}" for text in found["wrong"])
        yield from (f"a formula is not to be seen: {text!r}" for text in found["flat"])
        yield from (f"a picture was not found: {name}" for name in found["bad"])
        yield from (f"a script failed: {error}" for error in self.errors)
        asked = {line for line in self.wall.asked if not HOUSEKEEPING.search(line)}
        yield from (f"it left the machine: {one}" for one in asked | self.requests)

    def keep_views(self, name, *selectors):
        """Keep screenshots of the top and of what is selected, for people to see."""
        ARTEFACTS.mkdir(exist_ok=True)
        self.photograph(ARTEFACTS / f"{name}-top.png")
        for number, found in enumerate(map(self.page.locator, selectors), start=1):
            if found.count():
                found.first.scroll_into_view_if_needed()
                self.photograph(ARTEFACTS / f"{name}-{number}.png")

    def photograph(self, path):
        """Where a busy machine does not draw the page in time, once more."""
        from playwright.sync_api import Error  # not everybody has it

        with contextlib.suppress(Error):
            return self.page.screenshot(path=path)
        self.page.wait_for_timeout(5000)
        self.page.screenshot(path=path)


# Formulas that MathJax gave up on, wholly (merror) or in part (names that it does
# not know are set in red), or that have no size; and pictures that are not there.
LOOK = """scope => {
    const all = selector => [...document.querySelectorAll(`${scope} ${selector}`)];
    const formulas = all('mjx-container');
    const wrong = formulas.filter(m => m.querySelector(
        'merror, mjx-merror, [data-mml-node="merror"], [data-mjx-error], '
        + '[mathcolor="red"], [fill="red"], [stroke="red"], [style*="color: red"]'));
    const flat = formulas.filter(m => !m.closest('aside, details')
        && !m.querySelector('svg, mjx-math')?.getBoundingClientRect().width);
    const bad = all('img').filter(i => !(i.complete && i.naturalWidth > 0));
    return {formulas: formulas.length, wrong: wrong.map(m => m.textContent),
        flat: flat.map(m => m.textContent),
        bad: bad.map(i => i.alt || i.src.slice(0, 80))};
}"""


def copy_of_project(folder, wall):
    """The project as others get it, and an environment to run its commands in.

    The environment is without the user's settings, and has no way out.
    """
    tree = Path(shutil.copytree(ROOT, folder / "project", ignore=NOT_COPIED))
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("JUPYTER", "PYTEST"))
    }
    for name in (*OWN_FOLDERS, "JUPYTER_DATA_DIR"):
        environment[name] = str(folder / name.lower())
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        environment[name] = environment[name.upper()] = wall.address
    environment["no_proxy"] = environment["NO_PROXY"] = ",".join(LOOPBACK)
    environment["CUDA_VISIBLE_DEVICES"] = "-1"
    return tree, environment


def documented(program):
    """The command of the README or the teacher's page that begins so, in words.

    Its program is taken from the environment that the tests run in.
    """
    pages = ROOT / "README.md", ROOT / "teaching" / "README.md"
    text = "\n".join(page.read_text("utf-8") for page in pages)
    (command,) = set(re.findall(rf"\.venv/bin/({program}\b.*)", text))
    name, *words = shlex.split(command)
    return [str(Path(sys.executable).with_name(name)), *words]


def formulas(notebook):
    """How many formulas the text has: $…$ and $$…$$ outside of code."""
    count = 0
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            text = re.sub(r"```.*?```|`[^`\n]*`", "", cell.source, flags=re.DOTALL)
            count += len(re.findall(r"(?s)\$\$.+?\$\$|(?<!\\)\$[^$]+?\$", text))
    return count


def has_output(cell, kind):
    """Whether a cell's stored outputs hold data whose name begins so."""
    data = [output.get("data", {}) for output in cell.get("outputs", [])]
    return any(name.startswith(kind) for one in data for name in one)
