"""Sphinx extension: let a page be painted before its scripts have run.

A browser paints a page when its style sheets have arrived and its scripts have run, each after
a round trip. So the style sheets of a page become one file, and scripts run when the page has
been read, in their order. Light or dark is decided before it is painted: the theme decides when
its scripts run, and then paints all of the page again.
"""

from __future__ import annotations

import os
import re
from hashlib import sha256
from pathlib import Path

from sphinx.application import Sphinx

from project.files import write_whole

SHEET = re.compile(
    r'\s*<link\b(?=[^>]*\brel="stylesheet")[^>]*\bhref="(?P<href>[^":?]+)[^"]*"[^>]*>'
)
# A page that was not written again has the one link, with the sheets that it stands for.
JOINED = '\n<link rel="stylesheet" href="{href}?v={digest}" data-sheets="{sheets}" />'
SHEETS = re.compile(r'data-sheets="([^"]*)"')
SCRIPT = re.compile(r"<script\b(?=[^>]*\bsrc=)(?![^>]*\b(?:defer|async)\b)")
# Sphinx's options of a page, which scripts within the page add to.
OPTIONS = re.compile(
    r'<script src="[^"?]*_static/documentation_options\.js[^"]*"></script>'
)
THEME = re.compile(r"document\.documentElement\.dataset\.theme = localStorage[^;]*;")
DECIDED = """{ const mode = document.documentElement.dataset.mode;
    const dark = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    document.documentElement.dataset.theme = mode === "auto" ? dark : mode; }"""
IMPORT = re.compile(r'@import\s*(?:url\()?["\']?([^"\')]+)["\']?\)?\s*;')
URL = re.compile(r"url\(([\"']?)(?!data:|[a-z]+:|/|#)([^)\"']+)\1\)")
CHARSET = re.compile(r"@charset [^;]*;", re.IGNORECASE)


def joined(sheets: list[Path], folder: Path) -> str:
    """Join style sheets for a file in a folder, imported ones in place of their imports."""
    return "\n".join(_moved(sheet, folder) for sheet in sheets)


def _moved(sheet: Path, folder: Path) -> str:
    def to_folder(match: re.Match) -> str:
        target = os.path.relpath(sheet.parent / match[2], folder)
        return f"url({Path(target).as_posix()})"

    text = CHARSET.sub("", sheet.read_text("utf-8"))
    own, *others = IMPORT.split(text)
    parts = [URL.sub(to_folder, own)]
    for name, own in zip(others[::2], others[1::2], strict=True):
        parts += [_moved(sheet.parent / name, folder), URL.sub(to_folder, own)]
    return "".join(parts)


def lighten(page: Path, static: Path) -> None:
    """Join the style sheets of a page, and let its scripts wait for the end of the page.

    Args:
        page: the page's file.
        static: the folder ``_static`` of the build.
    """
    text = page.read_text("utf-8")
    links = list(SHEET.finditer(text))
    if links:
        sheets = [
            sheet
            for link in links
            for sheet in (SHEETS.findall(link[0]) or [link["href"]])[0].split()
        ]
        style = joined([page.parent / sheet for sheet in sheets], static)
        names = [Path(os.path.relpath(page.parent / one, static)) for one in sheets]
        key = sha256(" ".join(name.as_posix() for name in names).encode())
        path = static / f"styles-{key.hexdigest()[:8]}.css"
        write_whole(path, style)
        link = JOINED.format(
            href=Path(os.path.relpath(path, page.parent)).as_posix(),
            digest=sha256(style.encode()).hexdigest()[:8],
            sheets=" ".join(sheets),
        )
        start = links[0].start()
        text = text[:start] + link + SHEET.sub("", text[start:])
    text = THEME.sub(DECIDED, text, count=1)
    if page.name != "search.html":  # its scripts have an order of their own
        options = (static / "documentation_options.js").read_text("utf-8").strip()
        text = OPTIONS.sub(lambda _: f"<script>{options}</script>", text)
        text = SCRIPT.sub("<script defer", text)
    write_whole(page, text)


def paint_early(app: Sphinx, exception: Exception | None) -> None:
    """Change the pages of an HTML build that succeeded."""
    if exception is None and app.builder.format == "html":
        out = Path(app.outdir)
        for page in sorted(out.rglob("*.html")):
            if "_static" not in page.parts:  # templates of the theme are there
                lighten(page, out / "_static")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    # After the theme, which then writes the colours of code.
    app.connect("build-finished", paint_early, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
