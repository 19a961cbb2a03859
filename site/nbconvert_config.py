"""Let nbconvert write a lesson, or its slides, as one file that needs no network."""

import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))
import static_lesson  # noqa: E402


def one_page(notebook, resources):
    static_lesson.describe(notebook)
    static_lesson.without_widgets(notebook)
    static_lesson.link_lessons(notebook, ".html")
    return notebook, resources


def slides(notebook, resources):
    static_lesson.describe(notebook)
    static_lesson.without_widgets(notebook)
    static_lesson.link_lessons(notebook, ".slides.html")
    static_lesson.as_slides(notebook)
    return notebook, resources


c = get_config()  # noqa: F821  (nbconvert defines it)
c.TemplateExporter.extra_template_basedirs = [str(FOLDER / "templates")]
c.TemplateExporter.extra_template_paths = [
    str(FOLDER / "templates"),
    str(static_lesson.mathjax()),
    str(static_lesson.reveal()),
]
c.HTMLExporter.embed_images = True
c.HTMLExporter.template_name = "lesson"
c.HTMLExporter.preprocessors = [one_page]
c.SlidesExporter.template_name = "lesson_slides"
c.SlidesExporter.preprocessors = [slides]
c.SlidesExporter.exclude_input_prompt = True
c.SlidesExporter.exclude_output_prompt = True
