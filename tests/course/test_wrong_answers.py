"""Wrong answers that look right: noise of another shape, a cut graph, a frozen generator."""

import pytest
from planted import judged
from seeds import SOAK

from course.task import stems

SEEDS = 5 if SOAK else 1


@pytest.mark.parametrize("stem", stems())
def test_an_answer_that_looks_right_is_judged_wrong(stem):
    """It is wrong by its values, not because the probe raises an exception."""
    rows = judged(stem, "wrong_answers", SEEDS)
    assert len(rows) > 10 * SEEDS
    passed = [row for row in rows if row[-1] == "right" or row[-1].startswith("raised")]
    assert passed == []
