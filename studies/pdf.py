"""Print every page of the built book into one PDF with Chromium.

    make pdf

reads ``_build/html`` and writes ``_build/known-unknowns.pdf``, with all collapsed parts
expanded and links that stay inside the file. It needs Chromium.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path
from urllib.parse import unquote, urldefrag

import yaml
from playwright.sync_api import Browser
from pypdf import PdfReader, PdfWriter
from pypdf.generic import (
    ArrayObject,
    DictionaryObject,
    NameObject,
    NullObject,
    TextStringObject,
)
from rich.progress import track

from studies.chromium import launched

ROOT = Path(__file__).parents[1]
BUILT = ROOT / "_build" / "html"
TARGET = ROOT / "_build" / "known-unknowns.pdf"
READY = """() =>
  document.readyState === "complete" && document.fonts.status === "loaded"
"""
UNFOLD = """async () => {
  for (const fold of document.querySelectorAll("details")) {
    const title = document.createElement("div");
    title.className = "unfolded";
    const summary = fold.querySelector("summary");
    title.append(...summary.childNodes);
    summary.remove();
    const code = fold.matches(".hide:not(.answer)");
    fold.replaceWith(code ? "" : title, ...fold.childNodes);
  }
  for (const tab of document.querySelectorAll(".sd-tab-content")) tab.style.display = "block";
  // Chromium notes where an element is printed if a link on the page leads to it.
  for (const place of document.querySelectorAll("article [id]")) {
    const link = document.createElement("a");
    link.href = "#" + place.id;
    document.querySelector("article").append(link);
  }
  const pictures = [...document.querySelectorAll("article img:not(.only-dark)")];
  for (const picture of pictures) picture.loading = "eager";
  await Promise.all(pictures.map(picture => picture.decode()));
}"""
PAPER = """
@page { size: A4; margin: 18mm 16mm; }
.bd-header, .bd-header-article, .bd-sidebar, .bd-sidebar-primary, .bd-sidebar-secondary,
.prev-next-footer, .bd-footer, #pst-skip-link,
#jb-print-docs-body, .pst-scroll-pixel-helper { display: none !important; }
.bd-main .bd-content .bd-article h1:first-of-type { display: block; }
.bd-main .bd-content .bd-article-container { max-width: none !important; }
.highlight pre { font-size: 0.82rem; }
.unfolded { font-weight: 600; break-after: avoid; }
"""
# The page's title and number.
FOOTER = """<div style="font-size: 7pt; width: 100%; text-align: center">
<span class="title"></span> · <span class="pageNumber"></span></div>"""
SCALE = 0.8  # of the screen's sizes: 16 px are 9.6 pt


def pages(root: Path) -> list[str]:
    """List the pages of the book in order, without file extensions."""
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    entries = [entry for part in toc["parts"] for entry in part["chapters"]]
    names = [toc["root"], *(entry["file"] for entry in entries)]
    return [name for name in names if name != "genindex"]


def printed(browser: Browser, page: Path) -> bytes:
    """Print one page of the book as a PDF."""
    tab = browser.new_page()
    tab.goto(page.as_uri())
    tab.wait_for_function(READY, timeout=60_000)
    tab.evaluate(UNFOLD)
    tab.add_style_tag(content=PAPER)
    tab.emulate_media(media="print", color_scheme="light")
    data = tab.pdf(
        prefer_css_page_size=True,
        display_header_footer=True,
        header_template="<span></span>",
        footer_template=FOOTER,
        scale=SCALE,
    )
    tab.close()
    return data


def print_book(built: Path, target: Path, names: list[str]) -> None:
    """Print pages of the built book into one file, with an outline."""
    whole = PdfWriter()
    places = {}
    with launched() as browser:
        for name in track(names, "printing", transient=True):
            address = unquote((built / f"{name}.html").as_uri())
            part = PdfReader(io.BytesIO(printed(browser, built / f"{name}.html")))
            places |= places_in(part, address, len(whole.pages))
            for page in part.pages:
                complete_links(page, address)
            title, _, _ = part.metadata.title.partition(" — ")  # before the book's
            start = len(whole.pages)
            whole.append(part, import_outline=False)
            whole.add_outline_item(title=title, page_number=start)
    whole.root_object.pop("/Names", None)  # the places of each page, whose names clash
    for page in whole.pages:
        lead_inside(page, places, whole)
    new = target.with_suffix(".new")
    with open(new, "wb") as file:
        whole.write(file)
    new.replace(target)


def places_in(part: PdfReader, address: str, start: int) -> dict[str, tuple]:
    """Map addresses in a printed page to sheet, left and top in the file, in points.

    The address is as people write it, with spaces and umlauts.
    """
    found = {address: (start, NullObject(), NullObject())}
    for name, place in part.named_destinations.items():
        sheet = start + part.get_destination_page_number(place)
        found[f"{address}#{name.removeprefix('/')}"] = (sheet, place.left, place.top)
    return found


def complete_links(page: DictionaryObject, address: str) -> None:
    """Write the links inside a page as addresses, as those to other pages are."""
    for link in links(page):
        if "/Dest" in link:
            place = str(link.pop("/Dest")).removeprefix("/")
            link[NameObject("/A")] = DictionaryObject(
                {
                    NameObject("/S"): NameObject("/URI"),
                    NameObject("/URI"): TextStringObject(f"{address}#{place}"),
                }
            )


def lead_inside(page: DictionaryObject, places: dict[str, tuple], whole: PdfWriter):
    """Let the links to pages of the book lead to their place in the file.

    Links to other files of the built book are dropped: a reader of the file has none.
    """
    kept = ArrayObject()
    for link in links(page):
        address = unquote(link["/A"]["/URI"])
        if not address.startswith("file:"):
            kept.append(link)
            continue
        at = places.get(address) or places.get(urldefrag(address).url)
        if at:
            sheet, left, top = at
            del link["/A"]
            link[NameObject("/Dest")] = ArrayObject(
                [
                    whole.pages[sheet].indirect_reference,
                    NameObject("/XYZ"),
                    left,
                    top,
                    NullObject(),
                ]
            )
            kept.append(link)
    page[NameObject("/Annots")] = kept


def links(page: DictionaryObject) -> list[DictionaryObject]:
    """Return the links on a sheet."""
    marks = [mark.get_object() for mark in page.get("/Annots", [])]
    return [mark for mark in marks if mark["/Subtype"] == "/Link"]


def main() -> None:
    """Print the book."""
    if not (BUILT / "index.html").exists():
        sys.exit(f"{BUILT} is not there: run `make book` first.")
    print_book(BUILT, TARGET, pages(ROOT))
    print(f"Open {TARGET}")


if __name__ == "__main__":
    main()
