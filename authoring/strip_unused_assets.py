"""Reduce the size of the built pages, so that they load quickly on a phone.

- Pictures are reduced to 256 colours, with no visible difference in the figures.
- Of the theme's two thousand icons, only those that a page uses are kept.
"""

from __future__ import annotations

import re
from pathlib import Path

from PIL import Image
from sphinx.application import Sphinx

from project.files import write_whole

COLOURS = 256
ICONS = Path("_static") / "scripts" / "fontawesome.js"
ICON = (
    r'(?:"[\w-]+"|\w+):\[\d+,\d+,\[[^\]]*\],"[0-9a-f]+",'
    r'(?:"[^"]*"|\["[^"]*"(?:,"[^"]*")*\])\]'
)
SET = re.compile(rf"\{{(?:{ICON},?)+\}}")
USED = re.compile(r"\bfa-([a-z0-9-]+)")


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


def keep_icons(script: str, used: set[str]) -> str:
    """Remove the icons from the theme's script that are not used by name or by an alias."""

    def reduced(match: re.Match) -> str:
        kept = []
        for icon in re.finditer(ICON, match[0]):
            name, _, rest = icon[0].partition(":[")
            aliases = re.findall(r'"([\w-]+)"', rest[: rest.index("]")])
            if {name.strip('"'), *aliases} & used:
                kept.append(icon[0])
        return "{" + ",".join(kept) + "}"

    return SET.sub(reduced, script)


def make_light(app: Sphinx, exception: Exception | None) -> None:
    """Reduce the pictures and icons of an HTML build that succeeded."""
    if exception is not None or app.builder.format != "html":
        return
    out = Path(app.outdir)
    for path in sorted((out / "_images").glob("*.png")):
        reduce_colours(path)
    icons = out / ICONS
    if icons.exists():
        texts = [*out.rglob("*.html"), *out.glob("_static/**/*theme*.js")]
        used = {name for p in texts for name in USED.findall(p.read_text("utf-8"))}
        write_whole(icons, keep_icons(icons.read_text("utf-8"), used))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("build-finished", make_light)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
