"""Show the book's figures on desktops and phones, in both themes, without layout shifts.

- A figure of ``authoring.backend`` becomes two files, ``NAME.svg`` and ``NAME-phone.svg``.
- Their text, axes and ground follow the theme: with ``#dark`` at the end of its address, a
  file shows its dark colours. Panels with a map stay as they were drawn.
- Every picture has its width and height. All but a page's first load when they are needed.
- Only pages with a figure of ``course.plots.live`` load its script.

Recolouring and compressing take a third of a build that executes nothing, so finished pictures
are cached between builds.
"""

from __future__ import annotations

import base64
import hashlib
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import numpy as np
import PIL
from PIL import Image, ImageColor
from sphinx.application import Sphinx

from project.files import write_whole

# Colours that depend on the theme: the drawn one, its name, and the one in the dark. White is
# the page's ground. Blue, indigo and wine are too dark for a dark one; sky differs from blue.
THEMED = (
    ("#000000", "--ink", "#ced6dd"),
    ("#ffffff", "--ground", "#121212"),
    ("#e6e6e6", "--grid", "#343a42"),
    ("#0072b2", "--blue", "#3d9bdb"),
    ("#56b4e9", "--sky", "#7cc5f0"),
    ("#332288", "--indigo", "#8f7ff0"),
    ("#882255", "--wine", "#d65f9b"),
)
# On a dark ground, translucent colours are hard to see. Their opacity is raised there, from
# 0.25 to 0.4 and from 0.6 to 0.79, at which overlapping bars still show each other.
OPACITY, MORE = re.compile(r"\bopacity:([\d.]+)"), "--more"
LIGHT = ";".join([*(f"{name}:{colour}" for colour, name, _ in THEMED), f"{MORE}:0"])
DARK = ";".join([*(f"{name}:{dark}" for _, name, dark in THEMED), f"{MORE}:0.8"])
# Of two bitmaps of the same points, each theme shows one.
LIGHT += ";--by-light:inline;--by-dark:none"
DARK += ";--by-light:none;--by-dark:inline"
NARROW = "(max-width: 719px)"
SVG, LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
INLINE = "data:image/png;base64,"
ROUNDED = 4  # levels of 255 by which a pixel's colour may be off
# Coordinates, but not factors such as scale(0.015625).
NUMBER = re.compile(r"-?\b[1-9]\d*\.\d{3,}")
COORDINATE = re.compile(r"-?\b\d+\.\d{3,}")
LETTER = re.compile(r" ?([A-Za-z]) ")
LOOK = re.compile(r'(?: clip-path="([^"]*)")? style="([^"]*)"')
CURVE = re.compile("[CQ]")
UNUSED = re.compile(r"(?:matplotlib|line2d|patch|text|[xy]tick)[_.]")
AT = re.compile(r"translate\(([\d.-]+) ([\d.-]+)\)")
POINTS = re.compile(r'<svg\b[^>]*?\bwidth="([\d.]+)pt"[^>]*?\bheight="([\d.]+)pt"')
PHONE = re.compile(r"<metadata><!\[CDATA\[(.*)\]\]></metadata>", re.DOTALL)
STEPS = re.compile(r'<svg role="img".*?</svg>', re.DOTALL)
PICTURE = re.compile(r'<img\b[^>]*?\bsrc="([^"]*/_images/[^"]*)"[^>]*?/?>')

CACHE = "_build/.pictures"  # in the folder of the book
# Part of a cached picture's key: another version may make another picture.
VERSION = Path(__file__).read_bytes() + PIL.__version__.encode()

ElementTree.register_namespace("", SVG[1:-1])
ElementTree.register_namespace("xlink", LINK[1:].partition("}")[0])


def themed(text: str) -> ElementTree.Element:
    """Make an SVG of Matplotlib take its colours from custom properties, and smaller."""
    root = ElementTree.fromstring(text)
    for extra in root.findall(f"{SVG}metadata"):
        root.remove(extra)
    fixed, dark_copies = set(), []
    for axes in root.iter(f"{SVG}g"):
        if axes.get("id", "").startswith("axes_") and has_map(axes):
            for part in on_panel(axes):
                part.set("fill", "#000000")  # where Matplotlib leaves it out
                fixed.update(part.iter())
    for part in root.iter():
        part.tail, part.text = None, (part.text or "").strip()
        if UNUSED.match(part.get("id", "")):
            del part.attrib["id"]
        for name in {"d", "x", "y", "transform"} & part.attrib.keys():
            text = " ".join(part.get(name).split())
            if CURVE.search(text):
                number = COORDINATE if name == "d" else NUMBER
                text = number.sub(lambda match: f"{float(match[0]):.2f}", text)
                text = LETTER.sub(r"\1", text)
            else:  # straight lines, which need no letter between two points
                text = NUMBER.sub(lambda match: f"{float(match[0]):.1f}", text)
                text = text.replace(" L ", " ").replace(".0 ", " ")
                text = from_point_to_point(text) if text.count(" ") > 12 else text
            part.set(name, text)
        if picture := part.get(LINK, "").partition(INLINE)[2]:
            part.set(LINK, compact(opened(picture)))
            if part not in fixed and (dark := recoloured(opened(picture))):
                dark_copy = ElementTree.Element(
                    part.tag, part.attrib | {LINK: compact(dark)}
                )
                dark_copy.attrib.pop("id", None)
                dark_copy.set("style", "display:var(--by-dark,none)")
                part.set("style", "display:var(--by-light,inline)")
                dark_copies.append((part, dark_copy))
        if "style" in part.attrib:
            look = part.get("style").replace(": ", ":").replace("; ", ";")
            for colour, name, _ in () if part in fixed else THEMED:
                look = look.replace(colour, f"var({name})")
            if part not in fixed:
                look = OPACITY.sub(more_in_the_dark, look)
            part.set("style", look)
    parents = {child: parent for parent in root.iter() for child in parent}
    for part, dark_copy in dark_copies:
        siblings = parents[part]
        siblings.insert(list(siblings).index(part) + 1, dark_copy)
    root.set("style", "fill:var(--ink)")
    return root


def recoloured(image: Image.Image) -> Image.Image | None:
    """Return a bitmap of points in the dark theme's colours; ``None`` if it has none of them."""
    pixels = np.array(image)
    opacity = pixels[..., 3] / 255
    changed = np.zeros(opacity.shape, bool)
    for colour, _, dark in THEMED:
        off = np.abs(pixels[..., :3].astype(int) - ImageColor.getrgb(colour)).max(-1)
        # The fainter a pixel, the more its colour was rounded.
        here = ~changed & (opacity > 0) & (off * opacity <= ROUNDED)
        pixels[here, :3] = ImageColor.getrgb(dark)
        changed |= here
    return Image.fromarray(pixels) if changed[opacity > 0.5].any() else None


def more_in_the_dark(opacity: re.Match) -> str:
    """Write an opacity that is higher in the dark, and always at most 1."""
    value = float(opacity[1])
    return f"opacity:calc({value:g} + {value * (1 - value):.3g}*var({MORE},0))"


def from_point_to_point(path: str) -> str:
    """Write an SVG path of straight lines with the way from each point to the next."""
    ways = []
    at = start = (0.0, 0.0)
    for part in re.findall(r"[A-Za-z]|[-\d.]+ [-\d.]+", path):
        if part == "z":
            at = start
        if part.isalpha():
            ways.append(part.lower())
            continue
        x, y = map(float, part.split())
        ways.append(f"{round(x - at[0], 4):g} {round(y - at[1], 4):g}")
        at = (x, y)
        if ways[-2] == "m":
            start = at
    return re.sub(r"\b0\.", ".", " ".join(ways)).replace(" -", "-")


def has_map(axes: ElementTree.Element) -> bool:
    """Say whether an image covers the panel; a bitmap of points has gaps."""
    return any(
        opened(image.get(LINK).removeprefix(INLINE)).getextrema()[3][0] > 0
        for image in axes.iter(f"{SVG}image")
    )


def on_panel(axes: ElementTree.Element) -> Iterator[ElementTree.Element]:
    """Yield what is drawn on a panel: all but its axes and the text around it."""
    ground = axes.find(f"{SVG}g/{SVG}path")
    corners = re.findall(r"[\d.]+", ground.get("d")) if ground is not None else [0, 0]
    xs, ys = ([float(corner) for corner in corners[start::2]] for start in (0, 1))
    for part in axes:
        kind = part.get("id", "").partition("_")[0]
        if kind == "text":
            x, y = map(float, AT.search(ElementTree.tostring(part, "unicode")).groups())
            if not (min(xs) <= x <= max(xs) and min(ys) <= y <= max(ys)):
                continue
        if kind != "matplotlib.axis":
            yield part


def opened(picture: str) -> Image.Image:
    """Open a PNG in base64."""
    return Image.open(io.BytesIO(base64.b64decode(picture))).convert("RGBA")


def compact(image: Image.Image) -> str:
    """Return a bitmap's smallest data URL: as PNG in 256 colours, or as WebP; maps on white."""
    files = io.BytesIO(), io.BytesIO()
    if image.getextrema()[3][0] > 0:
        white = Image.new("RGBA", image.size, "white")
        image = Image.alpha_composite(white, image).convert("RGB")
    image.quantize(dither=Image.Dither.NONE).save(files[0], "PNG", optimize=True)
    image.save(files[1], "WEBP", quality=80)
    return min(
        (
            f"data:image/{kind};base64,{base64.b64encode(file.getvalue()).decode()}"
            for kind, file in zip(("png", "webp"), files, strict=True)
        ),
        key=len,
    )


def unwrap(root: ElementTree.Element) -> None:
    """Remove groups that say nothing, and move what is used without a transformation."""
    for part in reversed(list(root.iter())):
        part[:] = [
            inner
            for child in part
            for inner in ([child] if child.attrib or child.tag != f"{SVG}g" else child)
        ]
        moved = AT.fullmatch(part.get("transform", ""))
        if moved and part.tag == f"{SVG}use":
            del part.attrib["transform"]
            part.attrib.update(zip("xy", moved.groups(), strict=True))


def short(svg: str) -> str:
    """Shorten names in an SVG, and write the look that several parts share as a class."""
    referred = set(re.findall(r"#([\w-]+)[\")]", svg))  # colours begin like references
    names = sorted(referred & set(re.findall(r' id="([\w-]+)"', svg)))
    new = {name: f"i{number:x}" for number, name in enumerate(names)}
    svg = re.sub(
        r'( id="|="#|url\(#)([\w-]+)',
        lambda match: match[1] + new.get(match[2], match[2]),
        svg,
    )
    svg = svg.replace(' y="0"', "").replace(" />", "/>")
    looks = Counter(LOOK.findall(svg))
    classes = {look: f"c{n:x}" for n, look in enumerate(looks) if looks[look] > 1}
    svg = LOOK.sub(
        lambda match: (
            f' class="{classes[match.groups()]}"'
            if match.groups() in classes
            else match[0]
        ),
        svg,
    )
    rules = (
        f".{name}{{{clip and f'clip-path:{clip};'}{style}}}"
        for (clip, style), name in classes.items()
    )
    return svg.replace("</style></svg>", f"{''.join(rules)}</style></svg>")


def in_page(drawn: str) -> str:
    """Return the SVG to write into a page, which defines the colours of both themes."""
    return ElementTree.tostring(themed(drawn), "unicode")


def in_file(drawn: str) -> str:
    """Return the content of an SVG file, with the colours of both themes."""
    root = themed(drawn)
    root.set("id", "dark")
    style = ElementTree.SubElement(root, f"{SVG}style")
    style.text = f"svg{{{LIGHT}}}svg:target{{{DARK}}}"
    unwrap(root)
    return short(ElementTree.tostring(root, "unicode").replace("xlink:href", "href"))


def made(make: Callable[[str], str], drawn: str, folder: Path) -> str:
    """Apply ``make`` to a drawn SVG, or return the result that ``folder`` has cached."""
    name = hashlib.sha256(VERSION + make.__name__.encode() + drawn.encode())
    path = folder / f"{name.hexdigest()}.svg"
    if not path.exists():
        write_whole(path, make(drawn))
    return path.read_text("utf-8")


def write_both(path: Path, folder: Path) -> None:
    """Write a figure's two files in place of the one that holds both."""
    text = path.read_text("utf-8")
    if phone := PHONE.search(text):  # else an earlier build has written them
        write_whole(phone_of(path), made(in_file, phone[1], folder))
        write_whole(path, made(in_file, text.replace(phone[0], ""), folder))


def phone_of(path: Path) -> Path:
    """Name the file of a figure's layout for phones."""
    return path.with_name(f"{path.stem}-phone.svg")


def show_pictures(app: Sphinx, page, template, context, doctree) -> None:
    """Put both layouts, both themes and sizes into a page."""
    if "body" not in context:
        return
    if 'class="live"' in context["body"]:
        app.add_js_file("live.js", loading_method="defer")  # to this page alone
    sources = {name: Path(app.srcdir) / uri for uri, name in app.builder.images.items()}
    first = []

    def shown(match: re.Match) -> str:
        tag, address = match[0], match[1]
        source = sources.get(unquote(address.rpartition("/")[2]))
        if source is None:  # raw HTML: Sphinx does not know it
            return tag
        loading = ' loading="lazy"' if first else ""
        first.append(address)
        if source.suffix != ".svg":
            with Image.open(source) as image:
                size = ' width="{}" height="{}"'.format(*image.size)
            return tag.replace("<img", f"<img{size}{loading}", 1)
        text = source.read_text("utf-8")
        if not (found := PHONE.search(text)):  # not drawn by a page
            return tag
        phone = found[1]
        narrow = phone_of(Path(address)).as_posix()
        return "".join(
            f'<picture><source media="{NARROW}" srcset="{narrow}{part}"{lengths(phone)}>'
            + tag.replace(address, address + part).replace(
                "<img",
                f'<img class="only-{theme} dark-light"{lengths(text)}{loading}',
                1,
            )
            + "</picture>"
            for theme, part in (("light", ""), ("dark", "#dark"))
        )

    context["body"] = PICTURE.sub(shown, context["body"])
    folder = Path(app.srcdir) / CACHE
    context["body"] = STEPS.sub(
        lambda match: made(in_page, match[0], folder), context["body"]
    )


def lengths(svg: str) -> str:
    """Return the attributes for the size of an SVG, in pixels."""
    width, height = (
        round(float(points) * 4 / 3) for points in POINTS.search(svg).groups()
    )
    return f' width="{width}" height="{height}"'


def write_pictures(app: Sphinx, exception: Exception | None) -> None:
    """Write the files of all figures after an HTML build that succeeded."""
    if exception is None and app.builder.format == "html":
        for path in sorted((Path(app.outdir) / "_images").glob("*.svg")):
            write_both(path, Path(app.srcdir) / CACHE)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("html-page-context", show_pictures)
    app.connect("build-finished", write_pictures)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
