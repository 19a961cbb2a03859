"""What keeps people out of a page: what axe-core finds, and pictures without words.

axe-core is content with any text in the place of a picture, be it a file's name or
nbconvert's "No description has been provided", so the words are looked at here.
"""

WCAG = {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}
COLOURS = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}
WORDS = 3  # that say what is seen, at least
# Code is made of thousands of pieces in a dozen looks. One piece of each look stays,
# the others become plain text, and of the formulas three stay: axe-core takes 2 s for
# such a page, and 13 s for all of it.
THIN = """() => {
    const seen = new Set();
    for (const piece of document.querySelectorAll('.highlight span, pre span')) {
        const style = getComputedStyle(piece);
        const area = piece.closest('pre')?.parentElement.className;
        const look = [piece.className, area, style.color, style.fontWeight,
            style.backgroundColor].join();
        if (piece.isConnected && !piece.children.length && seen.has(look))
            piece.replaceWith(piece.textContent);
        seen.add(look);
    }
    [...document.querySelectorAll('mjx-container')].slice(3).forEach(
        formula => formula.replaceWith('formula'));
    document.body.normalize();
}"""


def keeps_out(page, scope="html"):
    """A sentence for each thing that keeps people out, in light and in dark.

    What does not depend on colours is looked for in light alone. Code and formulas
    are not what they were afterwards.
    """
    from axe_playwright_python.sync_playwright import Axe  # not everybody has it

    yield from wordless(page, scope)
    page.evaluate(THIN)
    for scheme, rules in ("light", WCAG), ("dark", COLOURS):
        page.emulate_media(color_scheme=scheme)
        options = {"resultTypes": ["violations"], "runOnly": rules}
        for rule in Axe().run(page, scope, options).response["violations"]:
            said = {" ".join(n["failureSummary"].split()): n for n in rule["nodes"]}
            places = [f"{text}\n    {said[text]['html'][:200]}" for text in said]
            times = f"{len(rule['nodes'])} times"
            yield "\n  ".join([f"{scheme}: {rule['id']}, {times}", *places])


def wordless(page, scope):
    """A sentence for each picture that has no words in its place."""
    hidden = "[aria-hidden=true], [aria-hidden=true] *"
    for picture in page.locator(f"{scope} img:not({hidden})").all():
        text = picture.get_attribute("alt") or ""
        if len(text.split()) < WORDS or text.startswith("No description"):
            yield f"a picture without words: {text!r}"
