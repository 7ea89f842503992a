"""Lighthouse's scores of built pages that are not times, as on a desktop and on a phone."""

import os

import pytest
from conftest import ROOT
from rich.console import Console
from seeds import SOAK, first_seed

from studies.lighthouse import (
    LEAST,
    LIGHTHOUSE,
    LONGEST_TASK,
    SPEED,
    WEIGHT,
    judged,
    table,
)
from studies.pdf import pages

pytestmark = [pytest.mark.long, pytest.mark.browser]
MISSING = "No Lighthouse here: run `make _build/lighthouse/ready`."
TIMES = {SPEED, LONGEST_TASK}  # `make lighthouse` has limits for them


def too_low(found):
    """Return the scores below the limit, by page and screen, but for those that are times."""
    return {
        (*at, name): score
        for at, row in found.items()
        for name, score in row.items()
        if name not in TIMES | {WEIGHT} and score < LEAST
    }


@pytest.fixture(autouse=True)
def lighthouse():
    if not LIGHTHOUSE.exists():
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(MISSING)


def test_pages_have_high_scores_on_every_screen(book, capsys):
    """One page, which each commit draws; all where ``SOAK`` is set."""
    names = pages(ROOT)
    found = judged(book, names if SOAK else [names[first_seed() % len(names)]])
    with capsys.disabled():
        Console().print(table(found))
    assert all(len(row) == 6 for row in found.values())
    assert too_low(found) == {}


def test_a_page_without_a_language_and_a_title_has_low_scores(tmp_path):
    (tmp_path / "bad.html").write_text("<p style='color: #ccc'>x</p><img src=y>")
    assert {
        name for _, _, name in too_low(judged(tmp_path, ["bad"], screens=["phone"]))
    } == {
        "Accessibility",
        "Best Practices",
        "SEO",
    }
