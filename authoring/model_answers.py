"""Store the numbers and formulas of questions and tasks, so that no built book is needed.

``python -m authoring.model_answers`` reads the numbers from the notebooks that ``make book``
executed, typesets the formulas as MathML, which browsers show without a style sheet, and
writes both to ``model_answers.json`` beside this file. It is committed: an instructor who
grades a class has neither built the book nor installed Node.
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

from authoring.chapter import notebook_of
from authoring.questions import STORED, formula_key, glued, prompts, questions
from project.errors import CourseError
from project.files import write_whole
from project.practicals import Course, Lab

if TYPE_CHECKING:
    from jupyter_cache.cache.main import JupyterCacheBase

RECORD = "application/papermill.record/text/plain"
# Browsers know no variant of a letter but the upright one; Unicode has letters for the others.
LETTER = re.compile(
    r'<(m[ino]) mathvariant="(bold|bold-italic|script|double-struck)">(\w)<'
)
# Words of a letter's name that its variants leave out.
UNNAMED = ("LATIN", "GREEK", "LUNATE", "LETTER")
# A sign after an opening parenthesis, a comma or a relation is no subtraction.
SIGN = re.compile(r"(<mo[^>]*>(?:[(\[,=≤≥≈∼]|&[lg]t;)</mo>)<mo>−")


def formulas(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the TeX of each formula in a Markdown text, and whether it is displayed."""
    parser = MarkdownIt("commonmark").enable("table")
    parser.use(dollarmath_plugin, allow_labels=False)
    for block in parser.parse(text):
        for token in (block, *(block.children or ())):
            if token.type.startswith("math_"):
                yield token.content.strip(), token.type != "math_inline"


def typeset(course: Course) -> dict[str, str]:
    """Return the MathML of every formula of tasks and written questions, by its key.

    Raises:
        CourseError: KaTeX does not understand one.
    """
    from authoring.markdown import macros
    from authoring.mathematics import Typesetter, WrongFormula

    found: dict[str, str] = {}
    with contextlib.closing(Typesetter(macros(course.root))) as typesetter:
        typesetter.options["output"] = "mathml"
        for lab, tex, display in used(course):
            key = formula_key(tex, display=display)
            if key in found:
                continue
            try:
                mathml = typesetter.typeset(tex, display=display)
            except WrongFormula as error:
                problem = f"The formula {tex!r} is wrong: {error}."
                raise CourseError(lab.chapter, None, problem, "Correct it.") from None
            found[key] = for_browsers(mathml, display=display)
    return dict(sorted(found.items()))


def for_browsers(mathml: str, *, display: bool = False) -> str:
    """Return KaTeX's MathML so that browsers show it as KaTeX shows its HTML.

    In a sentence, parentheses of a KL divergence are as high as those around them.
    """
    mathml = LETTER.sub(
        lambda found: (
            f"<{found[1]}>{letter}<"
            if (letter := styled(found[3], found[2]))
            else found[0]
        ),
        mathml,
    )
    if not display:
        mathml = mathml.replace('<mo fence="true"', '<mo fence="true" stretchy="false"')
        mathml = mathml.replace('stretchy="false" stretchy="true"', 'stretchy="true"')
    return SIGN.sub(r'\1<mo form="prefix">−', mathml)


def styled(letter: str, variant: str) -> str | None:
    """Return Unicode's bold, script or double-struck letter: 𝐰 for w and "bold"; None if it has none.

    Some, such as ℒ, have names without MATHEMATICAL; the bold variants of ϵ and ϕ are called
    symbols.
    """
    style = variant.upper().replace("BOLD-", "BOLD ")
    words = unicodedata.name(letter).split()
    name = " ".join(word for word in words if word not in UNNAMED)
    for full in (f"MATHEMATICAL {style} {name}", f"{style} {name}"):
        with contextlib.suppress(KeyError):
            return unicodedata.lookup(full)
    return None


def used(course: Course) -> Iterator[tuple[Lab, str, bool]]:
    """Yield the formulas of the tasks and written questions of all labs, with their lab."""
    for lab in course.labs():
        texts = list(prompts(lab).values())
        for question in questions(lab):
            texts += question.prompt, question.model_answer, *question.rubric
        for text in texts:
            for tex, display in formulas(text):
                yield lab, tex, display


def numbers(course: Course, cache: Path) -> dict[str, dict[str, str]]:
    """Return the numbers in the model answers, by lab and name.

    Raises:
        CourseError: the book has not been built, or a page lacks a number.
    """
    from jupyter_cache import get_cache

    if not cache.is_dir():
        raise CourseError(cache, None, "There is no built book.", "Run `make book`.")
    store = get_cache(cache)
    found: dict[str, dict[str, str]] = {}
    for lab in course.labs():
        names = sorted(glued(lab))
        page = _glued_by(store, lab) if names else {}
        for name in names:
            if name not in page:
                problem = f"The built page has no number {name!r}."
                raise CourseError(lab.chapter, None, problem, "Run `make book`.")
            found.setdefault(lab.name, {})[name] = page[name]
    return found


def _glued_by(store: JupyterCacheBase, lab: Lab) -> dict[str, str]:
    """Return the numbers of a page as it is now, by name; none if it has not been built."""
    try:
        record = store.match_cache_notebook(notebook_of(lab.chapter))
    except KeyError:
        return {}
    found = {}
    for cell in store.get_cache_bundle(record.pk).nb.cells:
        for output in cell.get("outputs", []):
            name = output.get("metadata", {}).get("scrapbook", {}).get("name")
            if name and RECORD in output["data"]:
                found[name] = output["data"][RECORD]
    return found


def main(root: Path) -> None:
    """Write the file for the checkout ``root``."""
    course = Course.read(root)
    cache = root / "_build" / ".jupyter_cache"
    data = {"numbers": numbers(course, cache), "formulas": typeset(course)}
    text = json.dumps(data, indent=1, ensure_ascii=False)
    write_whole(STORED, f"{text}\n")


if __name__ == "__main__":
    try:
        main(Path(__file__).parents[1])
    except CourseError as error:
        sys.exit(str(error))
