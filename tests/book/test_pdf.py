"""The book as a PDF."""

import re
import unicodedata
from functools import cache

import pytest
from bs4 import BeautifulSoup
from conftest import ROOT
from pypdf import PdfReader

from studies.pdf import pages, print_book

pytestmark = [pytest.mark.browser, pytest.mark.long]


@pytest.fixture(scope="module")
def names():
    return pages(ROOT)


@pytest.fixture(scope="module")
def printed(book, names, tmp_path_factory):
    """The PDF, printed from a folder whose name addresses write with percent signs."""
    folder = tmp_path_factory.mktemp("printed")
    (folder / "mit Leerzeichen, für 100%").symlink_to(book)
    path = folder / "book.pdf"
    print_book(folder / "mit Leerzeichen, für 100%", path, names)
    return PdfReader(path)


def same_characters(text):
    """Without ligatures, superscripts and other forms that fonts and printing exchange."""
    return unicodedata.normalize("NFKC", text)


@cache
def text_of(printed):
    """The text of each sheet."""
    return [same_characters(page.extract_text()) for page in printed.pages]


def test_every_page_is_printed_whole_and_legibly(book, names, printed):
    """Headings, collapsed solutions and formulas are printed, on A4 paper."""
    assert len(names) > 8
    assert len(printed.outline) == len(names)
    for name, one in zip(names, printed.outline, strict=True):
        page = BeautifulSoup((book / f"{name}.html").read_text("utf-8"), "html.parser")
        assert page.title.get_text() == f"{one.title} — Known Unknowns"
    texts = text_of(printed)
    text = " ".join(texts)
    starts = [printed.get_destination_page_number(one) for one in printed.outline]
    for name, start, end in zip(names, starts, [*starts[1:], None], strict=True):
        plain = re.sub(r"\W+", "", " ".join(texts[start:end]))
        page = BeautifulSoup((book / f"{name}.html").read_text("utf-8"), "html.parser")
        for heading in page.select("article h1, article h2"):
            for part in heading.select(".headerlink, .math"):
                part.decompose()
            words = re.sub(r"\W+", "", same_characters(heading.get_text()))
            assert words in plain, f"{name}: {heading.get_text()!r} is not on paper"
    plain = re.sub(r"\W+", "", text)
    # Parts that are collapsed on screen are printed; there are no stubs and no raw TeX.
    assert "NotImplementedError" not in plain
    assert "defgaussian_nll" in plain
    # So are the answers of the quizzes, each with its explanation.
    for name in names:
        page = BeautifulSoup((book / f"{name}.html").read_text("utf-8"), "html.parser")
        for answer in page.select("ol.quiz summary"):
            words = re.sub(r"\W+", "", same_characters(answer.get_text()))
            assert words in plain, answer
    # A long table begins on the sheet of what stands above it.
    for name, above, row in (
        ("book/notation", "All chapters share", "number of data points, number of"),
        ("book/grading-a-class", "A flag never", "exceeds the size limit"),
    ):
        here = texts[starts[names.index(name)] :]
        assert above in next(words for words in here if row in words), name
    # Axis labels in code may contain \\log; these commands occur only in formulas.
    assert not re.search(r"\\(?:frac|mathbf|sum|mathcal)\b", text)
    assert {round(float(page.mediabox.width)) for page in printed.pages} == {595}


def test_links_stay_inside_the_file_or_lead_to_the_web(book, names, printed):
    """Those to a page lead to its first sheet; those to a term lead to its definition."""
    starts = [printed.get_destination_page_number(one) for one in printed.outline]
    led = set()
    for sheet, page in enumerate(printed.pages):
        for mark in page.get("/Annots", []):
            if "/A" in (link := mark.get_object()):
                assert link["/A"]["/URI"].startswith("https://"), sheet + 1
            else:
                at, _, _, top, _ = link["/Dest"]
                led.add((printed.get_page_number(at.get_object()), top))
    sheets = {sheet for sheet, _ in led}
    first = BeautifulSoup((book / f"{names[0]}.html").read_text("utf-8"), "html.parser")
    cards = {link["href"].removesuffix(".html") for link in first.select("article a")}
    for name, start in zip(names, starts, strict=True):
        if name.removeprefix("book/") in cards:
            assert start in sheets, name
    glossary = names.index("book/glossary")
    texts = {
        sheet: re.sub(r"\W+", "", text)
        for sheet, text in enumerate(text_of(printed))
        if starts[glossary] <= sheet < starts[glossary + 1]
    }
    terms = set()
    for name in names:
        page = BeautifulSoup((book / f"{name}.html").read_text("utf-8"), "html.parser")
        for link in page.select("article a[href*='glossary.html#term-']"):
            terms.add(link["href"].partition("#term-")[2])
    assert len(terms) > 10
    inside = [at for at in led if at[0] in texts and isinstance(at[1], int | float)]
    assert len(inside) >= len(terms)
    for term in terms:
        word = re.sub(r"\W+", "", term)
        assert any(word in texts[sheet] for sheet, _ in inside), term
