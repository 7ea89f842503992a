"""Print every page of the built book into one PDF with Chromium.

    make pdf

reads ``_build/html`` and writes ``_build/known-unknowns.pdf``, with all collapsed parts
expanded. It needs Chromium.
"""

from __future__ import annotations

import io
import shutil
import sys
from pathlib import Path

import yaml
from playwright.sync_api import Browser, sync_playwright
from pypdf import PdfReader, PdfWriter
from rich.progress import track

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
.highlight pre { font-size: 8.5pt; }
.unfolded { font-weight: 600; break-after: avoid; }
body { font-size: 10.5pt; }
"""


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
    number = '<div style="font-size:8px;width:100%;text-align:center"><span class="pageNumber"></span></div>'
    data = tab.pdf(
        prefer_css_page_size=True,
        display_header_footer=True,
        header_template="<span></span>",
        footer_template=number,
    )
    tab.close()
    return data


def print_book(built: Path, target: Path, names: list[str]) -> None:
    """Print pages of the built book into one file, with an outline."""
    whole = PdfWriter()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for name in track(names, "printing", transient=True):
            part = PdfReader(io.BytesIO(printed(browser, built / f"{name}.html")))
            start = len(whole.pages)
            whole.append(part, import_outline=False)
            title = (part.pages[0].extract_text() or name).strip().splitlines()[0]
            whole.add_outline_item(title=title, page_number=start)
        browser.close()
    new = target.with_suffix(".new")
    with open(new, "wb") as file:
        whole.write(file)
    new.replace(target)


def main() -> None:
    """Print the book."""
    if not (BUILT / "index.html").exists():
        sys.exit(f"{BUILT} is not there: run `make book` first.")
    print_book(BUILT, TARGET, pages(ROOT))
    print(f"Open {TARGET}")


if __name__ == "__main__":
    main()
