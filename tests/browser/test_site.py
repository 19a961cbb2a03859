"""The site, the single pages and the slides, from a folder and with no network.

Each is made by the command on the teacher's page, in a copy of the project, and moved
elsewhere, so that it cannot lean on what lay beside it. Each page is opened once, and
asked for all that a lesson holds and for what would keep people out: WCAG 2.1, A and
AA, in light and in dark, and words for every picture.
"""

import re
import shutil
import subprocess
from glob import glob
from pathlib import Path
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

import nbformat
import pytest
from accessible import keeps_out
from in_browser import LESSONS, copy_of_project, documented, has_output

pytestmark = pytest.mark.browser
LINKS = "nodes => nodes.map(node => node.getAttribute('href'))"
# What is made: by which command, where the page of a lesson is, what holds the lesson.
KINDS = {
    "site": ("sphinx-build", "notebooks/{}.html", "article[role=main]"),
    "page": ("jupyter nbconvert .*--to html", "{}.html", "main"),
    "slides": ("jupyter nbconvert .*--to slides", "{}.slides.html", ".slides"),
}
OTHER_PAGES = "site/errors site/glossary data/README".split()


def make(tree, environment, kind):
    """Run the documented command: (folder, return code, what was said)."""
    command = documented(KINDS[kind][0])
    words = [name for word in command for name in glob(word, root_dir=tree) or [word]]
    done = subprocess.run(
        words, cwd=tree, env=environment, capture_output=True, text=True
    )
    folder = next(word for word in command if word.startswith("site/_build/"))
    return tree / folder, done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="session")
def made(tmp_path_factory, wall):
    """kind -> the folder that was made, in another place than it was made in."""
    folder, elsewhere = map(tmp_path_factory.mktemp, ("made", "moved"))
    tree, environment = copy_of_project(folder, wall)
    for kind in KINDS:
        output, code, said = make(tree, environment, kind)
        assert code == 0, said
        shutil.move(output, elsewhere / kind)
    shutil.rmtree(folder)
    return {kind: elsewhere / kind for kind in KINDS}


def open_page(tab, file):
    """Open a file, of slides all at once as they are printed; wait for its formulas."""
    slides = file.name.endswith(".slides.html")
    tab.page.goto(file.as_uri() + "?print-pdf" * slides)
    tab.page.evaluate("window.MathJax?.startup?.promise.then(() => null)")
    if slides:
        tab.page.wait_for_function("window.Reveal?.isReady()")
        tab.page.wait_for_selector(".pdf-page")
        tab.page.evaluate(ALL_SLIDES)


# With no colour of the moment in which they were opened, and none of them told to be
# passed over because another one is shown.
ALL_SLIDES = """() => {
    for (const page of document.querySelectorAll('.pdf-page'))
        page.style.backgroundColor = '';
    for (const slide of document.querySelectorAll('.slides section'))
        for (const name of ['aria-hidden', 'hidden']) slide.removeAttribute(name);
}"""


def broken_links(tab, scope):
    here = Path(url2pathname(urlsplit(tab.page.url).path)).parent
    for target in tab.page.locator(f"{scope} a[href]").evaluate_all(LINKS):
        name = unquote(target.partition("#")[0])
        if not re.match(r"[a-z]+:", target) and not (here / name).exists():
            yield f"a link leads nowhere: {target}"


def complaints(tab, folder, notebook, scope):
    """What is wrong with the page of a lesson, and whom it keeps out."""
    yield from tab.complaints(scope, notebook)
    yield from broken_links(tab, scope)
    drawn = sum(has_output(cell, "image/") for cell in notebook.cells)
    expected = drawn + sum(cell.source.count("![") for cell in notebook.cells)
    shown = tab.page.locator(f"{scope} img").count()
    if shown < expected:
        yield f"{expected} pictures belong to the lesson, {shown} are there"
    page_text = squeezed(tab.page.locator(scope).first.text_content())
    for number, cell in enumerate(notebook.cells):
        for output in cell.get("outputs", []):
            printed = squeezed(output.get("text", ""))
            if printed not in page_text:
                yield f"what cell {number} printed is not there: {printed[:60]}"
    for number, slide in enumerate(tab.page.locator(".pdf-page > section").all()):
        if not slide.inner_text().strip() and not slide.locator("img").count():
            yield f"slide {number} is empty"
    for file in tab.files:
        if not file.is_relative_to(folder.resolve()):
            yield f"it needs a file that was not handed out: {file}"
    yield from keeps_out(tab.page)


def squeezed(text):
    return re.sub(r"\s+", "", text)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_lesson_has_all_that_it_holds_and_keeps_nobody_out(path, kind, made, tab):
    _, file, scope = KINDS[kind]
    file = made[kind] / file.format(path.stem)
    open_page(tab, file)
    tab.keep_views(f"{kind}-{path.stem}", "mjx-container[display=true]")
    notebook = nbformat.read(path, as_version=4)
    found = list(complaints(tab, made[kind], notebook, scope))
    assert not found, "\n".join(found)
    assert kind == "site" or tab.files == {file.resolve()}  # one file is all it needs


@pytest.mark.parametrize("name", OTHER_PAGES)
def test_other_page_keeps_nobody_out(name, made, tab):
    open_page(tab, made["site"] / f"{name}.html")
    found = [*tab.complaints("main"), *broken_links(tab, "main")]
    found += keeps_out(tab.page)
    assert not found, "\n".join(found)


def test_front_page_leads_to_every_lesson_and_so_does_the_search(made, tab):
    page, site = tab.page, made["site"]
    page.goto((site / "index.html").as_uri())
    page.wait_for_url("**/site/index.html")
    tab.keep_views("site-front")
    for place in "article[role=main]", ".sidebar-tree":
        targets = page.locator(f"{place} a").evaluate_all(LINKS)
        assert {f"../notebooks/{path.stem}.html" for path in LESSONS} <= {*targets}
    found = [*tab.complaints("html"), *broken_links(tab, "html")]
    found += keeps_out(page)
    for path in LESSONS:
        title = nbformat.read(path, as_version=4).cells[0].source.splitlines()[0][2:]
        results = search(page, title)
        if not any(path.stem in target for target in results.evaluate_all(LINKS)):
            found.append(f"the search does not find {title}")
    found += keeps_out(page)
    page.locator(f"#search-results a[href*={path.stem[3:]}]").first.click()
    page.wait_for_url(f"**/notebooks/{path.stem}.html*")
    found += tab.complaints("html")
    assert not search(page, "zyxwvutsrq").count()
    assert not found, "\n".join(found)


def search(page, words):
    page.locator("input.sidebar-search").fill(words)
    page.keyboard.press("Enter")
    page.wait_for_selector("#search-results h2:text-is('Search Results')")
    return page.locator("#search-results li a")


def test_every_page_of_the_site_was_looked_at(made):
    site = made["site"]
    found = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    looked_at = {f"notebooks/{path.stem}.html" for path in LESSONS}
    looked_at |= {f"{name}.html" for name in OTHER_PAGES}
    assert found - looked_at == {
        "index.html", "site/index.html", "search.html", "genindex.html"
    }  # fmt: skip


def test_space_leads_through_the_slides_to_the_last(made, tab):
    file = made["slides"] / f"{LESSONS[0].stem}.slides.html"
    tab.page.goto(file.as_uri())
    tab.page.wait_for_function("window.Reveal?.isReady()")
    total = tab.page.evaluate("Reveal.getTotalSlides()")
    assert total > 5
    for number in range(total):
        shown = tab.page.locator(".slides section.present section.present")
        assert shown.inner_text().strip() or shown.locator("img").is_visible(), number
        assert tab.page.evaluate("Reveal.isLastSlide()") == (number == total - 1)
        tab.page.keyboard.press("Space")
