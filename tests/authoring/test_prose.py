"""Words that STYLE.md asks for, in the pages and in what the checks say."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Single data are data points: "200 data" is not idiomatic.
COUNTED = re.compile(
    r"(?:\$[NB]\$|(?<![\w.{])\d+(?:,\d{3})*|\b(?:two|three|four|five|six|seven|eight|nine|ten"
    r"|twenty|thirty|forty|fifty|hundred|how many|few|number of))\s+data\b"
    r"(?!\s+(?:points?|sets?|types?)\b|-)|\bdatum\b",
    re.IGNORECASE,
)
SOURCES = sorted(
    path
    for place in ("book/*.md", "course/**/*.py", "solutions/**/*.py")
    for path in ROOT.glob(place)
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("the same 200 data", True),
        ("all $N$ data and", True),
        ("there are few data: the KL wins", True),
        ("How many\ndata does it take?", True),
        ("one value per datum", True),
        ("the same 200 data points", False),
        ("four data sets", False),
        ("all data, and much data", False),
    ],
)
def test_counted_data_are_found(text, found):
    assert bool(COUNTED.search(text)) == found


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: "/".join(path.parts[-2:]))
def test_data_are_counted_as_data_points(path):
    assert COUNTED.findall(path.read_text("utf-8")) == []
