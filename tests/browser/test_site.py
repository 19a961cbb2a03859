"""The site, the single pages and the slides, from a folder and with no network.

Each is made by the command on the teacher's page, in a copy of the project, and moved
elsewhere, so that it cannot lean on what lay beside it, and opened in a real browser.
"""

import os
import re
import shutil
import subprocess
from urllib.parse import quote, unquote

import nbformat
import pytest
from accessible import keeps_out
from in_browser import (
    MINUTE,
    ROOT,
    copy_of_project,
    documented,
    formulas,
    has_picture,
    own_environment,
    page_complaints,
)
from nbformat import v4

pytestmark = pytest.mark.browser
LESSONS = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
LESSON = pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
LINKS = "nodes => nodes.map(node => node.getAttribute('href'))"


def make(tree, command, environment):
    done = subprocess.run(
        command, cwd=tree, env=environment, capture_output=True, text=True
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="session")
def workplace(tmp_path_factory, wall):
    """A copy of the project, and an environment to run commands in."""
    folder = tmp_path_factory.mktemp("made")
    tree = copy_of_project(folder / "project")
    return tree, own_environment(folder, wall)


def made_by(command, workplace, tmp_path_factory):
    """What the page's command makes, moved to another place."""
    tree, environment = workplace
    words = [
        name
        for word in command
        for name in (
            sorted(str(path.relative_to(tree)) for path in tree.glob(word))
            if "*" in word
            else [word]
        )
    ]
    code, said = make(tree, words, environment)
    assert code == 0, said
    output = tree / next(word for word in command if word.startswith("site/_build/"))
    assert output.is_dir(), said
    return shutil.move(output, tmp_path_factory.mktemp("moved") / output.name)


@pytest.fixture(scope="session")
def site(workplace, tmp_path_factory):
    return made_by(documented("sphinx-build"), workplace, tmp_path_factory)


@pytest.fixture(scope="session")
def pages(workplace, tmp_path_factory):
    command = documented("jupyter nbconvert", "--to html")
    return made_by(command, workplace, tmp_path_factory)


@pytest.fixture(scope="session")
def slides(workplace, tmp_path_factory):
    command = documented("jupyter nbconvert", "--to slides")
    return made_by(command, workplace, tmp_path_factory)


def open_page(tab, file):
    """Open a file and wait for its mathematics."""
    tab.page.goto(file.as_uri())
    tab.page.wait_for_load_state("load")
    tab.page.evaluate("window.MathJax?.startup?.promise.then(() => null)")


def squeezed(text):
    return re.sub(r"\s+", "", text)


def complaints(tab, folder, notebook, scope):
    """What is wrong with the page of a lesson."""
    yield from page_complaints(tab.page, notebook, scope)
    drawn = sum(has_picture(cell) for cell in notebook.cells)
    text = "".join(cell.source for cell in notebook.cells if "source" in cell)
    expected = drawn + len(re.findall(r"!\[", text))
    shown = tab.page.locator(f"{scope} img").count()
    if shown < expected:
        yield f"{expected} pictures belong to the lesson, {shown} are there"
    page_text = squeezed(tab.page.locator(scope).first.text_content())
    for number, cell in enumerate(notebook.cells):
        for output in cell.get("outputs", []):
            printed = squeezed(output.get("text", ""))
            if printed and printed not in page_text:
                yield f"what cell {number} printed is not there: {printed[:60]}"
    here = tab.page.url.partition("#")[0].rpartition("/")[2]
    for target in tab.page.locator(f"{scope} a[href]").evaluate_all(LINKS):
        name = unquote(target.partition("#")[0])
        if not re.match(r"[a-z]+:", target) and name:
            parent = next(folder.rglob(here)).parent
            if not (parent / name).exists():
                yield f"a link leads nowhere: {target}"
    for file in sorted(tab.files):
        if not os.path.realpath(file).startswith(os.path.realpath(folder)):
            yield f"it needs a file that was not handed out: {file}"
    for error in tab.errors:
        yield f"a script failed: {error}"


def keep_views(tab, kind, name, formula="mjx-container[display=true]"):
    tab.keep(f"{kind}-{name}-top")
    found = tab.page.locator(formula)
    if found.count():
        found.first.scroll_into_view_if_needed()
        tab.keep(f"{kind}-{name}-formula")


# ------------------------------------------------------------------------ the site


@LESSON
def test_page_of_the_site(path, site, tab):
    notebook = nbformat.read(path, as_version=4)
    open_page(tab, site / "notebooks" / f"{path.stem}.html")
    keep_views(tab, "site", path.stem)
    found = [*complaints(tab, site, notebook, "article[role=main]")]
    found += keeps_out(tab.page)
    assert not found, "\n".join(found)


def test_the_front_page_leads_to_every_lesson(site, tab):
    tab.page.goto((site / "index.html").as_uri())
    tab.page.wait_for_url("**/site/index.html")
    tab.keep("site-front")
    inside = tab.page.locator("article[role=main] a").evaluate_all(LINKS)
    beside = tab.page.locator(".sidebar-tree a").evaluate_all(LINKS)
    for path in LESSONS:
        assert f"../notebooks/{path.stem}.html" in inside
        assert f"../notebooks/{path.stem}.html" in beside
    tab.page.locator(".sidebar-tree a").first.click()
    tab.page.wait_for_url(f"**/notebooks/{LESSONS[0].stem}.html")
    found = list(complaints(tab, site, v4.new_notebook(), ".sidebar-drawer"))
    assert not found, "\n".join(found)


def title_of(path):
    return nbformat.read(path, as_version=4).cells[0].source.splitlines()[0][2:]


def wait_for_results(page, path):
    page.wait_for_selector("#search-results li a")
    page.wait_for_function("!document.querySelector('#search-progress')?.textContent")
    return page.locator(f'#search-results li a[href*="notebooks/{path.stem}.html"]')


def test_search_leads_from_the_front_page_to_a_lesson(site, tab):
    page, path = tab.page, LESSONS[-1]
    page.goto((site / "site" / "index.html").as_uri())
    page.locator("input.sidebar-search").fill(title_of(path))
    page.keyboard.press("Enter")
    wait_for_results(page, path).first.click()
    page.wait_for_url(f"**/notebooks/{path.stem}.html*")
    assert page.locator("h1").first.text_content().startswith(title_of(path))
    assert not tab.errors


@LESSON
def test_search_finds_the_lesson(path, site, tab):
    address = f"{(site / 'search.html').as_uri()}?q={quote(title_of(path))}"
    tab.page.goto(address)
    assert wait_for_results(tab.page, path).count()
    tab.keep(f"site-{path.stem}-search")
    assert not tab.errors


def test_search_finds_nothing_where_there_is_nothing(site, tab):
    page = tab.page
    page.goto((site / "search.html").as_uri() + "?q=zyxwvutsrq")
    page.wait_for_function(
        "/did not match/.test(document.querySelector('#search-results').textContent)"
    )
    assert page.locator("#search-results li a").count() == 0


# ------------------------------------------------------- single pages, and slides


@LESSON
def test_single_page(path, pages, tab):
    notebook = nbformat.read(path, as_version=4)
    file = pages / f"{path.stem}.html"
    open_page(tab, file)
    keep_views(tab, "html", path.stem)
    found = [*complaints(tab, pages, notebook, "main"), *keeps_out(tab.page)]
    assert not found, "\n".join(found)
    assert {os.path.realpath(name) for name in tab.files} == {os.path.realpath(file)}


# What the slide that is shown has, in one question; null if it shows nothing.
SLIDE = """() => {
    const seen = piece => piece.checkVisibility({visibilityProperty: true});
    const shown = document.querySelectorAll('.slides section.present section.present');
    if (shown.length !== 1 || !seen(shown[0])) return null;
    const all = selector => [...shown[0].querySelectorAll(selector)];
    const [formulas, pictures] = [all('mjx-container'), all('img')];
    if (!shown[0].textContent.trim() && !pictures.length) return null;
    return {
        formulas: formulas.filter(seen).length,
        pictures: pictures.filter(seen).length,
        'worth looking at': pictures.length
            || formulas.some(formula => formula.matches('[display=true]')),
        last: Reveal.isLastSlide(),
    };
}"""


@LESSON
def test_slides(path, slides, tab):
    """Walks through all slides with the space bar, as one who teaches does."""
    notebook = nbformat.read(path, as_version=4)
    file = slides / f"{path.stem}.slides.html"
    page = tab.page
    open_page(tab, file)
    page.wait_for_function("window.Reveal?.isReady()")
    sections = sum(
        cell.cell_type == "markdown" and cell.source.startswith("## ")
        for cell in notebook.cells
    )
    assert page.evaluate("Reveal.getHorizontalSlides().length") >= sections
    total = page.evaluate("Reveal.getTotalSlides()")
    assert total > sections
    seen = {"formulas": 0, "pictures": 0}
    for number in range(total):
        slide = page.evaluate(SLIDE)
        assert slide, f"slide {number} is empty"
        for kind in seen:
            seen[kind] += slide[kind]
        if number == 0 or slide["worth looking at"]:
            tab.keep(f"slides-{path.stem}-{number:02}")
        assert slide["last"] == (number == total - 1)
        page.keyboard.press("Space")
    aside = page.locator("aside.notes mjx-container").count()
    assert seen["formulas"] == formulas(notebook) - aside
    assert seen["pictures"] == page.locator(".slides section img").count()
    found = list(complaints(tab, slides, notebook, ".slides"))
    assert not found, "\n".join(found)
    assert {os.path.realpath(name) for name in tab.files} == {os.path.realpath(file)}


# ------------------------------------------------------------- nobody is kept out

# WCAG 2.1, A and AA, in light and in dark, and words for every picture. The lessons'
# pages were asked above, when they were open.
OTHER_PAGES = "search site/index site/errors site/glossary data/README".split()


# Slides as they are printed, all at once: with no colour of the moment in which they
# were opened, and none of them told to be passed over because another one is shown.
ALL_SLIDES = """() => {
    for (const page of document.querySelectorAll('.pdf-page'))
        page.style.backgroundColor = '';
    for (const slide of document.querySelectorAll('.slides section'))
        for (const name of ['aria-hidden', 'hidden']) slide.removeAttribute(name);
}"""


def open_to_read(tab, file):
    """Open a page, or all slides of a lesson."""
    if not file.name.endswith(".slides.html"):
        open_page(tab, file)
        return
    tab.page.goto(f"{file.as_uri()}?print-pdf")
    tab.page.wait_for_function("window.Reveal?.isReady()")
    tab.page.wait_for_selector(".pdf-page")
    tab.page.evaluate(ALL_SLIDES)


@pytest.mark.parametrize("name", OTHER_PAGES)
def test_no_page_keeps_anybody_out(name, site, tab):
    open_page(tab, site / f"{name}.html")
    found = list(keeps_out(tab.page))
    assert not found, "\n".join(found)


@LESSON
def test_no_slide_keeps_anybody_out(path, slides, tab):
    open_to_read(tab, slides / f"{path.stem}.slides.html")
    found = list(keeps_out(tab.page))
    assert not found, "\n".join(found)


def test_every_page_of_the_site_was_looked_at(site):
    made = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    forwarding, empty = {"index.html"}, {"genindex.html"}
    looked_at = {f"notebooks/{path.stem}.html" for path in LESSONS}
    looked_at |= {f"{name}.html" for name in OTHER_PAGES}
    assert made - forwarding - empty == looked_at


# ------------------------------------------------------------- what is broken is seen

BEACON = "https://example.org/beacon.png"
# Too pale in light, and too pale in dark.
PALE = """<style>
    p.in-light { color: #bbb; background: #fff; }
    p.in-dark { color: #000; background: #fff; }
    @media (prefers-color-scheme: dark) {
        p.in-light { color: #fff; background: #000; }
        p.in-dark { color: #444; background: #333; }
    }
</style>
<p class="in-light">hard to read by day</p>
<p class="in-dark">hard to read by night</p>"""
DOT = {
    "image/png": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwAD"
    "hgGAWjR9awAAAABJRU5ErkJggg=="
}
FAULTS = {
    "formula": "a formula is broken: ",
    "picture": "a picture was not found: a picture of nothing",
    "lost": "pictures belong to the lesson",
    "link": "a link leads nowhere: 99_nowhere.html",
}


def broken_lesson():
    return v4.new_notebook(
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
        cells=[
            v4.new_markdown_cell("# Break everything\n\n$$x^2$$"),
            v4.new_markdown_cell("## Formulas\n\n" + r"$\frac{1}$ and $\notknown{x}$"),
            v4.new_markdown_cell("![a picture of nothing](data:image/png;base64,AAAA)"),
            v4.new_markdown_cell(f'<img alt="beacon" src="{BEACON}">'),
            v4.new_markdown_cell('<a href="99_nowhere.html">to nowhere</a>'),
            v4.new_markdown_cell(PALE),
            v4.new_code_cell("dot", outputs=[v4.new_output("display_data", data=DOT)]),
        ],
    )


@pytest.fixture(scope="session")
def broken(tmp_path_factory, workplace):
    """The site, a page and the slides of a lesson with each of the faults."""
    folder = tmp_path_factory.mktemp("broken")
    tree = copy_of_project(folder / "project")
    for path in (tree / "notebooks").glob("*.ipynb"):
        path.unlink()
    (tree / "README.md").write_text("## The lessons\n\n## Look things up\n")
    nbformat.write(broken_lesson(), tree / "notebooks" / "00_broken.ipynb")
    made = {}
    for kind, words in {
        "site": [word for word in documented("sphinx-build") if word != "-W"],
        "page": documented("jupyter nbconvert", "--to html"),
        "slides": documented("jupyter nbconvert", "--to slides"),
    }.items():
        words = [w.replace("notebooks/*", "notebooks/00_broken") for w in words]
        code, said = make(tree, words, workplace[1])
        assert code == 0, said
        made[kind] = tree / next(w for w in words if w.startswith("site/_build/"))
    return made


BROKEN = [
    ("site", "notebooks/00_broken.html", "article[role=main]"),
    ("page", "00_broken.html", "main"),
    ("slides", "00_broken.slides.html", ".slides"),
]


@pytest.mark.parametrize("kind, file, scope", BROKEN)
def test_what_keeps_people_out_is_seen(kind, file, scope, broken, tab):
    tab.page.set_default_timeout(MINUTE * 1000)
    open_to_read(tab, broken[kind] / file)
    found = list(keeps_out(tab.page, scope))
    tab.forget()
    pictures = [text for text in found if text.startswith("a picture without words")]
    assert len(pictures) == 2, found  # the one of a cell, and "beacon"
    for scheme, place in ("light", "by day"), ("dark", "by night"):
        said = [text for text in found if text.startswith(f"{scheme}: color-contrast")]
        assert len(said) == 1 and "1 times" in said[0] and place in said[0], found


@pytest.mark.parametrize("kind, file, scope", BROKEN)
def test_what_is_broken_is_seen(kind, file, scope, broken, tab):
    tab.page.set_default_timeout(MINUTE * 1000)
    path = broken[kind] / file
    open_page(tab, path)
    lesson = broken_lesson()
    picture = v4.new_output("display_data", data={"image/png": "iVBORw0KGgo="})
    for _ in range(3):
        lesson.cells.append(v4.new_code_cell("", outputs=[picture]))
    printed = v4.new_output("stream", text="printed, and lost")
    lesson.cells.append(v4.new_code_cell("", outputs=[printed]))
    found = list(complaints(tab, path.parent, lesson, scope))
    assert BEACON in tab.outside
    tab.forget()
    assert sum(text.startswith(FAULTS["formula"]) for text in found) == 2, found
    for fault in FAULTS.values():
        assert any(fault in text for text in found), (fault, found)
    assert any("what cell" in text for text in found)


def test_the_site_is_not_built_where_a_picture_or_a_link_is_missing(
    tmp_path, workplace
):
    tree = copy_of_project(tmp_path / "project")
    path = tree / "notebooks" / LESSONS[0].name
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[1].source += "\n\n![not there](images/none.png) [no](nowhere.ipynb)"
    nbformat.write(notebook, path)
    code, said = make(tree, documented("sphinx-build"), workplace[1])
    assert code != 0
    assert "images/none.png" in said and "nowhere.ipynb" in said
