"""The book as a PDF."""

import re
import unicodedata

import pytest
from bs4 import BeautifulSoup
from conftest import ROOT
from pypdf import PdfReader

from studies.pdf import pages, print_book

pytestmark = [pytest.mark.browser, pytest.mark.long]


def test_every_page_is_printed_whole_and_legibly(book, tmp_path):
    """Headings, collapsed solutions and formulas are printed, on A4 paper."""
    names = pages(ROOT)
    assert len(names) > 8
    print_book(book, tmp_path / "book.pdf", names)
    printed = PdfReader(tmp_path / "book.pdf")
    assert len(printed.outline) == len(names)
    # Ligatures are resolved.
    texts = [
        unicodedata.normalize("NFKC", page.extract_text()) for page in printed.pages
    ]
    text = " ".join(texts)
    starts = [printed.get_destination_page_number(one) for one in printed.outline]
    for name, start, end in zip(names, starts, [*starts[1:], None], strict=True):
        plain = re.sub(r"\W+", "", " ".join(texts[start:end]))
        page = BeautifulSoup((book / f"{name}.html").read_text("utf-8"), "html.parser")
        for heading in page.select("article h1, article h2"):
            for part in heading.select(".headerlink, .math"):
                part.decompose()
            words = re.sub(r"\W+", "", heading.get_text())
            assert words in plain, f"{name}: {heading.get_text()!r} is not on paper"
    plain = re.sub(r"\W+", "", text)
    # Parts that are collapsed on screen are printed; there are no stubs and no raw TeX.
    assert "NotImplementedError" not in plain
    assert "defgaussian_nll" in plain
    # So are the answers of the quizzes, each with its explanation.
    for name in names:
        page = BeautifulSoup((book / f"{name}.html").read_text("utf-8"), "html.parser")
        for answer in page.select("ol.quiz summary"):
            assert re.sub(r"\W+", "", answer.get_text()) in plain
    # Axis labels in code may contain \\log; these commands occur only in formulas.
    assert not re.search(r"\\(?:frac|mathbf|sum|mathcal)\b", text)
    assert {round(float(page.mediabox.width)) for page in printed.pages} == {595}
