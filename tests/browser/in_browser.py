"""Tools of the tests in a browser: Chromium, a wall around it, JupyterLab, a copy.

Nothing may leave the machine: the browser, the Jupyter server and its kernels have
a proxy on loopback that refuses and records whatever they ask of it.
"""

import contextlib
import json
import os
import re
import shlex
import shutil
import socketserver
import subprocess
import sys
import time
import urllib.request
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

import nbformat

ROOT = Path(__file__).resolve().parents[2]
ARTEFACTS = Path(__file__).with_name("artefacts")
MINUTE = 60
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ON_MACOS = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
ARGUMENTS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync"
).split()
# Whom Chromium asks on its own account, flags or not. What a page asks of them is
# noted all the same, as the page's request.
HOUSEKEEPING = re.compile(r"[/ .](google|googleapis|gvt1|gstatic)\.com\b")
LOOPBACK = ("127.0.0.1", "localhost", "::1")
OWN_FOLDERS = ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "KERAS_HOME")
PACKAGES = {
    "playwright": "playwright",
    "axe_playwright_python": "axe-playwright-python",
    "sphinx": "sphinx",
    "myst_nb": "myst-nb",
    "furo": "furo",
    "sphinx-mathjax-offline": "sphinx-mathjax-offline",
    "sphinx_revealjs": "sphinx-revealjs",
}
NOT_COPIED = (
    ".git .venv* .nox .tox _build artefacts __pycache__ .ipynb_checkpoints "
    ".pytest_cache .ruff_cache .hypothesis"
).split()


def find_chromium():
    named = os.environ.get("CHROMIUM")
    found = [named] if named else [*map(shutil.which, NAMES), *ON_MACOS]
    return next((path for path in found if path and Path(path).is_file()), None)


def whats_missing():
    missing = [name for module, name in PACKAGES.items() if not find_spec(module)]
    if missing:
        return (
            f"the tests in a browser need {', '.join(missing)}: "
            "pip install -r tests/browser/requirements.txt"
        )
    if not find_chromium():
        return (
            "the tests in a browser need Chromium: on Debian apt-get install "
            "chromium, or name the program in the variable CHROMIUM"
        )
    return ""


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
        outside: what left loopback, or would have, had the wall not been there.
        files: the files that were read.
        errors: what the page's scripts threw.
    """

    def __init__(self, page, wall):
        self.page, self.wall = page, wall
        self.requests, self.errors, self.files = [], [], set()
        wall.asked.clear()
        page.context.on("request", self.note)
        page.on("websocket", self.note)
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    @classmethod
    @contextlib.contextmanager
    def of(cls, browser, wall):
        """A tab with a profile of its own, which is closed in the end."""
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        context.set_default_timeout(3 * MINUTE * 1000)
        yield cls(context.new_page(), wall)
        context.close()

    def note(self, request):
        url = urlsplit(request.url)
        if url.scheme == "file":
            self.files.add(urllib.request.url2pathname(url.path))
        elif url.scheme not in ("data", "blob", "about"):
            if url.hostname not in LOOPBACK:
                self.requests.append(request.url)

    @property
    def outside(self):
        asked = [line for line in self.wall.asked if not HOUSEKEEPING.search(line)]
        return [*self.requests, *asked]

    def forget(self):
        for noted in (self.requests, self.wall.asked, self.errors, self.files):
            noted.clear()

    def keep(self, name, full=False):
        """Keep a screenshot, for people to look at."""
        ARTEFACTS.mkdir(exist_ok=True)
        self.page.screenshot(path=ARTEFACTS / f"{name}.png", full_page=full)


def copy_of_project(folder):
    """The project as others get it, in a place of its own."""
    ignored = shutil.ignore_patterns(*NOT_COPIED)
    return Path(shutil.copytree(ROOT, folder, ignore=ignored))


def own_environment(folder, wall):
    """An environment without the user's settings, and with no way out."""
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
    return environment


def documented(program, *others):
    """The command of the README or the teacher's page that calls the program, in words.

    What comes before (installing) is left out, and the program is taken from the
    environment that the tests run in.
    """
    pages = (ROOT / "README.md", ROOT / "teaching" / "README.md")
    text = "\n".join(page.read_text("utf-8") for page in pages)
    found = [
        command.strip()
        for block in re.findall(r"^```bash\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
        for line in block.splitlines()
        for command in line.split("&&")
        if all(word in command for word in (f".venv/bin/{program}", *others))
    ]
    assert len(found) == 1, f"the pages have {len(found)} commands for {program}"
    name, *words = shlex.split(found[0])
    return [str(Path(sys.executable).with_name(Path(name).name)), *words]


# Where the interface would wait for an answer, ask the network, or leave cells out
# of the page until they are scrolled to.
LAB_SETTINGS = {
    "apputils-extension/notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
    },
    "notebook-extension/tracker": {"windowingMode": "none"},
    "docmanager-extension/plugin": {"autosave": False},
}


class Lab:
    """A JupyterLab on a copy of the project whose notebooks have no outputs."""

    def __init__(self, folder, wall):
        self.tree = copy_of_project(folder / "project")
        self.notebooks = self.tree / "notebooks"
        for path in self.notebooks.glob("*.ipynb"):
            notebook = nbformat.read(path, as_version=4)
            self.write(path.name, notebook)
        environment = own_environment(folder, wall)
        settings = Path(environment["JUPYTER_CONFIG_DIR"], "lab", "user-settings")
        for name, values in LAB_SETTINGS.items():
            file = settings / "@jupyterlab" / f"{name}.jupyterlab-settings"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(values))
        command = [*documented("jupyter lab"), "--no-browser", "--ServerApp.port=0"]
        command += ["--LabApp.expose_app_in_browser=True", "--LabApp.news_url=None"]
        if hasattr(os, "getuid") and os.getuid() == 0:
            command.append("--allow-root")
        self.log = folder / "lab.log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                command, cwd=self.tree, env=environment, stdout=log, stderr=log
            )
        self.runtime = Path(environment["JUPYTER_RUNTIME_DIR"])
        self.server = self.wait_for_server()

    def wait_for_server(self):
        end = time.monotonic() + 3 * MINUTE
        while time.monotonic() < end and self.process.poll() is None:
            for file in self.runtime.glob("jpserver-*.json"):
                try:
                    server = json.loads(file.read_text())
                    self.ask(server, "api/status")
                    return server
                except (OSError, ValueError):
                    pass  # half written, or not listening yet
            time.sleep(0.3)
        self.stop()
        raise RuntimeError(f"JupyterLab did not start:\n{self.log.read_text()}")

    @staticmethod
    def ask(server, path):
        url = f"{server['url']}{path}?token={server['token']}"
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with direct.open(url, timeout=MINUTE) as answer:
            return json.load(answer)

    def kernels(self):
        return self.ask(self.server, "api/kernels")

    @property
    def address(self):
        return f"{self.server['url']}lab?reset&token={self.server['token']}"

    def write(self, name, notebook):
        """Write a notebook without its outputs."""
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = [], None
        notebook.metadata.pop("widgets", None)
        nbformat.write(notebook, self.notebooks / name)

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(MINUTE)
        except subprocess.TimeoutExpired:
            self.process.kill()


# ------------------------------------------------- what notebooks and pages hold


def formulas(notebook):
    """How many formulas the text has: $…$ and $$…$$ outside of code."""
    count = 0
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            text = re.sub(r"```.*?```|`[^`\n]*`", "", cell.source, flags=re.DOTALL)
            count += len(re.findall(r"(?s)\$\$.+?\$\$|(?<!\\)\$[^$]+?\$", text))
    return count


def has_picture(cell):
    """Whether a code cell's stored outputs hold a picture."""
    return any(
        name.startswith("image/")
        for output in cell.get("outputs", [])
        for name in output.get("data", {})
    )


def has_widget(cell):
    kind = "application/vnd.jupyter.widget-view+json"
    return any(kind in output.get("data", {}) for output in cell.get("outputs", []))


# Formulas that MathJax gave up on, wholly (merror) or in part (names that it does
# not know are set in red), or that have no size.
MATHEMATICS = """scope => {
    const made = [...document.querySelectorAll(`${scope} mjx-container`)];
    const wrong = made.filter(m => m.querySelector(
        'merror, mjx-merror, [data-mml-node="merror"], [data-mjx-error], '
        + '[mathcolor="red"], [fill="red"], [stroke="red"], [style*="color: red"]'));
    const flat = made.filter(m => m.checkVisibility()
        && !m.querySelector('svg, mjx-math')?.getBoundingClientRect().width);
    return {made: made.length, wrong: wrong.map(m => m.textContent), flat: flat.length};
}"""
PICTURES = """scope => {
    const all = [...document.querySelectorAll(`${scope} img`)];
    const bad = all.filter(i => !(i.complete && i.naturalWidth > 0));
    return {all: all.length, bad: bad.map(i => i.alt || i.src.slice(0, 80))};
}"""


def page_complaints(page, notebook, scope):
    """What is wrong with the mathematics and the pictures of a notebook's page."""
    mathematics = page.evaluate(MATHEMATICS, scope)
    expected = formulas(notebook)
    if mathematics["made"] != expected:
        yield f"{expected} formulas are written, {mathematics['made']} were set"
    for text in mathematics["wrong"]:
        yield f"a formula is broken: {text!r}"
    if mathematics["flat"]:
        yield f"{mathematics['flat']} formulas have no width"
    for name in page.evaluate(PICTURES, scope)["bad"]:
        yield f"a picture was not found: {name}"
