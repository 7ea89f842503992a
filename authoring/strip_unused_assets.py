"""Reduce the size of the built pages, so that they load quickly on a phone.

- Pictures are reduced to 256 colours, with no visible difference.
- Of the theme's two thousand icons, only those that a page uses are kept in its fonts; the
  script that would draw them once more is left out.
- Of the style sheets, only rules are kept whose classes and ids occur in a page or script.
- Code is marked up only where its colour differs from that of plain text.
- Only the search page loads the search index.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import tinycss2
from fontTools import subset
from PIL import Image
from sphinx.application import Sphinx

from project.files import write_whole

COLOURS = 256
WORD = re.compile(r"[\w-]+")
# The classes and ids of a selector, and its parts in which names need not occur: attributes
# and the arguments of :not(), :is() and their like.
NAME = re.compile(r"[.#]((?:[\w-]|\\.)+)")
OPTIONAL = re.compile(r"\[[^\]]*\]|\([^()]*\)")
# How class names begin that scripts put together from parts.
PUT_TOGETHER = "bs-"
ICON_GLYPH = re.compile("[\ue000-\uf8ff]")  # where icon fonts have theirs
# Pygments' names, punctuation and white space, which have the colour of plain text.
PLAIN = re.compile(r'<span class="(?:n|p|w)">([^<]*)</span>')
SCRIPTS = r'\s*<script\b[^>]*\bsrc="[^"]*(?:{names})\.js[^"]*"></script>'
SEARCH = re.compile(SCRIPTS.format(names="searchtools|language_data|searchindex"))
ICONS = re.compile(SCRIPTS.format(names="fontawesome"))


def reduce_colours(path: Path) -> None:
    """Rewrite a picture with at most 256 colours, on white, if that makes it smaller."""
    with Image.open(path) as image:
        if image.format != "PNG" or image.mode == "P":
            return
        picture = image.convert("RGBA")
    ground = Image.new("RGBA", picture.size, "white")
    opaque = Image.alpha_composite(ground, picture).convert("RGB")
    small = opaque.quantize(
        COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE
    )
    new = path.with_suffix(".new")
    small.save(new, format="PNG", optimize=True)
    if new.stat().st_size < path.stat().st_size:
        new.replace(path)
    else:
        new.unlink()


def keep_rules(style: str, words: set[str]) -> str:
    """Remove the rules of a style sheet whose classes or ids are not among the words."""
    rules = tinycss2.parse_stylesheet(style, skip_comments=True, skip_whitespace=True)
    return "".join(_kept(rules, words))


def _kept(rules: Iterable, words: set[str]) -> Iterable[str]:
    for rule in rules:
        if rule.type == "qualified-rule":
            selectors = [s for s in _selectors(rule.prelude) if _may_match(s, words)]
            if selectors:
                content = tinycss2.serialize(rule.content).strip()
                yield f"{','.join(selectors)}{{{content}}}"
        elif rule.type == "at-rule" and rule.lower_at_keyword in ("media", "supports"):
            inner = "".join(
                _kept(tinycss2.parse_rule_list(rule.content, True, True), words)
            )
            if inner:
                condition = tinycss2.serialize(rule.prelude)
                yield f"@{rule.at_keyword}{condition}{{{inner}}}"
        else:
            yield rule.serialize()


def _selectors(prelude: Iterable) -> list[str]:
    selectors = [[]]
    for token in prelude:
        if token == ",":
            selectors.append([])
        else:
            selectors[-1].append(token)
    return [tinycss2.serialize(selector).strip() for selector in selectors]


def _may_match(selector: str, words: set[str]) -> bool:
    while (simpler := OPTIONAL.sub("", selector)) != selector:
        selector = simpler
    names = (re.sub(r"\\(.)", r"\1", name) for name in NAME.findall(selector))
    return all(
        name.startswith(PUT_TOGETHER) or words.issuperset(WORD.findall(name))
        for name in names
    )


def keep_glyphs(path: Path, glyphs: set[int]) -> None:
    """Remove all glyphs of a font but these from its file."""
    options = subset.Options(flavor="woff2", layout_features=[], notdef_outline=True)
    with subset.load_font(path, options) as font:
        subsetter = subset.Subsetter(options)
        subsetter.populate(unicodes=glyphs)
        subsetter.subset(font)
        new = path.with_suffix(".new")
        subset.save_font(font, new, options)
    new.replace(path)


def lighten_page(app: Sphinx, page, template, context, doctree) -> None:
    """Remove markup of code that no style sheet tells from plain text."""
    if "body" in context:
        context["body"] = PLAIN.sub(r"\1", context["body"])


def drop_scripts(path: Path) -> None:
    """Remove the script of icons from a page, and those of the search if it is not the search."""
    text = path.read_text("utf-8")
    new = ICONS.sub("", text)
    if path.name != "search.html":
        new = SEARCH.sub("", new)
    if new != text:
        write_whole(path, new)


def make_light(app: Sphinx, exception: Exception | None) -> None:
    """Reduce the pages and files of an HTML build that succeeded."""
    if exception is not None or app.builder.format != "html":
        return
    out = Path(app.outdir)
    for path in sorted((out / "_images").glob("*.png")):
        reduce_colours(path)
    for path in out.rglob("*.html"):
        drop_scripts(path)
    for path in out.glob("_static/scripts/fontawesome.js*"):
        path.unlink()
    pages = [path.read_text("utf-8") for path in out.rglob("*.html")]
    scripts = [path.read_text("utf-8") for path in out.glob("_static/**/*.js")]
    words = {w for text in [*pages, *scripts] for w in WORD.findall(text)}
    glyphs: set[int] = set()
    for path in sorted(out.glob("_static/**/*.css")):
        style = keep_rules(path.read_text("utf-8"), words)
        write_whole(path, style)
        glyphs |= set(map(ord, ICON_GLYPH.findall(style)))
    for path in sorted(out.glob("_static/vendor/fontawesome/webfonts/*.woff2")):
        keep_glyphs(path, glyphs)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("html-page-context", lighten_page)
    app.connect("build-finished", make_light)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
