"""The book on paper."""

import re
import unicodedata

import pytest
from bs4 import BeautifulSoup
from conftest import ROOT
from pypdf import PdfReader

from studies.pdf import pages, print_book

pytestmark = [pytest.mark.browser, pytest.mark.long]


def test_every_page_is_printed_whole_and_legibly(book, tmp_path):
    """Headings, folded solutions and formulas; on A4."""
    names = pages(ROOT)
    assert len(names) > 8
    print_book(book, tmp_path / "book.pdf", names)
    printed = PdfReader(tmp_path / "book.pdf")
    assert len(printed.outline) == len(names)
    text = " ".join(page.extract_text() for page in printed.pages)
    text = unicodedata.normalize("NFKC", text)  # ligatures apart
    plain = re.sub(r"\W+", "", text)
    for name in names:
        page = BeautifulSoup((book / f"{name}.html").read_text("utf-8"), "html.parser")
        for heading in page.select("article h1, article h2"):
            for part in heading.select(".headerlink, .math"):
                part.decompose()
            words = re.sub(r"\W+", "", heading.get_text())
            assert words in plain, f"{name}: {heading.get_text()!r} is not on paper"
    # What is folded on a screen stands on paper; no formula is raw TeX, no button is left.
    assert "NotImplementedError" not in plain
    assert "defgaussian_nll" in plain
    # An axis label in a code cell may say \\log; these stand in formulas alone.
    assert not re.search(r"\\(?:frac|mathbf|sum|mathcal)\b", text)
    assert {round(float(page.mediabox.width)) for page in printed.pages} == {595}
