"""A line that cannot run while grading takes nothing with it that an answer needs."""

# ruff: noqa: F811 - fixtures are imported

import pytest
from test_acting import passes
from test_passes import (  # noqa: F401
    FIRST,
    SECOND,
    THIRD,
    environment,
    graded,
    practical,
    statuses,
)

pytestmark = pytest.mark.sandbox
SAMPLE = "sample = TRAIN[:5]"  # of a cell that is not run
HELPER = "def halved(x):\n    return x / 2"


@pytest.mark.parametrize(
    "own",
    [
        f"{SAMPLE}\n\n{HELPER}",
        f"{SAMPLE}\nprint(sample)\n\n{HELPER}",
        f"import no_such_package\n\n{HELPER}",
    ],
    ids=["data", "shown", "import"],
)
def test_a_helper_below_such_a_line_is_defined(practical, graded, own):
    source = practical.reference[SECOND].replace("return ", "return 2 * halved(", 1)
    result, verdicts = graded({SECOND: source + ")"}, added=[(FIRST, own)])
    assert statuses(verdicts) == ["right", "right", "right"]
    assert not {f.code for f in result.flags} & {"acting-code", "stood-in"}


@pytest.mark.parametrize("line", [SAMPLE, "import no_such_package"])
def test_an_answer_below_such_a_line_is_right(practical, graded, line):
    source = f"{line}\n\n{practical.reference[SECOND]}"
    _, verdicts = graded({SECOND: source})
    assert statuses(verdicts) == ["right", "right", "right"]


def test_a_name_that_nothing_defines_is_still_wrong_and_named(
    practical, graded, monkeypatch
):
    source = practical.reference[SECOND].replace("return ", "return halved(", 1) + ")"
    seen, (_, verdicts) = passes(monkeypatch, graded, {SECOND: source})
    assert statuses(verdicts) == ["right", "wrong", "right"]
    assert "raised NameError about `halved`" in verdicts[SECOND].reason
    assert len(seen) == 1  # there is nothing to leave out
    source = practical.reference[SECOND].replace("return ", "return 2 * (", 1) + ")"
    seen, (_, verdicts) = passes(monkeypatch, graded, {SECOND: source})
    assert statuses(verdicts) == ["right", "wrong", "right"]
    assert len(seen) == 1  # nothing raised
