"""What keeps people out of a page: what axe-core finds, and pictures without words.

axe-core is content with any text in the place of a picture, be it a file's name or
nbconvert's "No description has been provided", so the words are looked at here.
"""

from axe_playwright_python.sync_playwright import Axe

WCAG = {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}
COLOURS = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}
SHOWN = 5  # of the places where a rule is broken
WORDS = 3  # that say what is seen, at least
ALTERNATIVES = """scope => [...document.querySelectorAll(`${scope} img`)]
    .filter(picture => !picture.closest('[aria-hidden=true]'))
    .map(picture => picture.getAttribute('alt') ?? '')"""


def keeps_out(page, scope="html"):
    """A sentence for each thing that keeps people out, in light and in dark.

    What does not depend on colours is looked for in light alone.
    """
    yield from wordless(page, scope)
    for scheme, rules in ("light", WCAG), ("dark", COLOURS):
        page.emulate_media(color_scheme=scheme)
        options = {"resultTypes": ["violations"], "runOnly": rules}
        found = Axe().run(page, scope, options).response["violations"]
        for rule in found:
            places = [
                f"{node['target']} {node['html'][:120]} {summary(node)}"
                for node in rule["nodes"][:SHOWN]
            ]
            yield (
                f"{scheme}: {rule['id']}: {rule['help']}, {len(rule['nodes'])} times\n"
                + "\n".join(places)
            )
    page.emulate_media(color_scheme="light")


def wordless(page, scope):
    """A sentence for each picture that has no words in its place."""
    for text in page.evaluate(ALTERNATIVES, scope):
        if len(text.split()) < WORDS or text.startswith("No description"):
            yield f"a picture without words: {text!r}"


def summary(node):
    """What axe-core advises to do, in one line."""
    return " ".join(node.get("failureSummary", "").split())
