"""The book as a PDF."""

import copy
import re
import unicodedata

import pypdfium2
import pytest
from book_pages import parsed
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
    return path


@pytest.fixture(scope="module")
def reader(printed):
    return PdfReader(printed)


@pytest.fixture(scope="module")
def texts(printed):
    """The text of each sheet."""
    sheets = pypdfium2.PdfDocument(printed)
    return [same_characters(one.get_textpage().get_text_bounded()) for one in sheets]


@pytest.fixture(scope="module")
def soups(book, names):
    """Each page of the book as it is on the screen, by name."""
    return {name: parsed(book / f"{name}.html") for name in names}


def same_characters(text):
    """Without ligatures, superscripts and other forms that fonts and printing exchange."""
    return unicodedata.normalize("NFKC", text)


def test_every_page_is_printed_whole_and_legibly(names, soups, reader, texts):
    """Headings, collapsed solutions and formulas are printed, on A4 paper."""
    assert len(names) > 8
    assert len(reader.outline) == len(names)
    for name, one in zip(names, reader.outline, strict=True):
        title = soups[name].title.get_text()
        assert title.removesuffix(" — Known Unknowns") == one.title
    text = " ".join(texts)
    starts = [reader.get_destination_page_number(one) for one in reader.outline]
    for name, start, end in zip(names, starts, [*starts[1:], None], strict=True):
        plain = re.sub(r"\W+", "", " ".join(texts[start:end]))
        for heading in soups[name].select("article h1, article h2"):
            heading = copy.copy(heading)
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
        for answer in soups[name].select("ol.quiz summary"):
            words = re.sub(r"\W+", "", same_characters(answer.get_text()))
            assert words in plain, answer
    # A long table begins on the sheet of what stands above it.
    for name, above, row in (
        ("book/notation", "All labs share", "number of data points, number of"),
        ("book/grading-a-class", "A flag never", "exceeds the size limit"),
    ):
        here = texts[starts[names.index(name)] :]
        assert above in next(words for words in here if row in words), name
    # Axis labels in code may contain \\log; these commands occur only in formulas.
    assert not re.search(r"\\(?:frac|mathbf|sum|mathcal)\b", text)
    assert {round(float(page.mediabox.width)) for page in reader.pages} == {595}


def test_links_stay_inside_the_file_or_lead_to_the_web(names, soups, reader, texts):
    """Those to a page lead to its first sheet; those to a term lead to its definition."""
    starts = [reader.get_destination_page_number(one) for one in reader.outline]
    led = set()
    for sheet, page in enumerate(reader.pages):
        for mark in page.get("/Annots", []):
            if "/A" in (link := mark.get_object()):
                assert link["/A"]["/URI"].startswith("https://"), sheet + 1
            else:
                at, _, _, top, _ = link["/Dest"]
                led.add((reader.get_page_number(at.get_object()), top))
    sheets = {sheet for sheet, _ in led}
    links = soups[names[0]].select("article a")
    cards = {link["href"].removesuffix(".html") for link in links}
    for name, start in zip(names, starts, strict=True):
        if name.removeprefix("book/") in cards:
            assert start in sheets, name
    glossary = names.index("book/glossary")
    defined = {
        sheet: re.sub(r"\W+", "", text)
        for sheet, text in enumerate(texts)
        if starts[glossary] <= sheet < starts[glossary + 1]
    }
    terms = set()
    for name in names:
        for link in soups[name].select("article a[href*='glossary.html#term-']"):
            terms.add(link["href"].partition("#term-")[2])
    assert len(terms) > 10
    inside = [at for at in led if at[0] in defined and isinstance(at[1], int | float)]
    assert len(inside) >= len(terms)
    for term in terms:
        word = re.sub(r"\W+", "", term)
        assert any(word in defined[sheet] for sheet, _ in inside), term
