"""Right answers written otherwise than the reference, and wrong ones whose values look right.

The wrong ones have noise of another shape, a cut graph, a frozen generator and the like.
"""

import pytest
from planted import EVERY_TASK, judged, rows_of

from course.task import stems


@pytest.mark.parametrize("task", EVERY_TASK)
def test_other_right_ways_to_write_it_pass(task):
    rows = rows_of(task, "right_answers")
    assert rows, "plant some in tests/right_answers"
    assert [row for row in rows if row[-1] != "right"] == []


@pytest.mark.parametrize("task", EVERY_TASK)
def test_an_answer_that_looks_right_is_judged_wrong(task):
    """By its values, and not because the probe breaks on it."""
    rows = rows_of(task, "wrong_answers")
    passed = [row for row in rows if row[-1] == "right" or row[-1].startswith("raised")]
    assert passed == []


@pytest.mark.parametrize("stem", stems())
def test_every_practical_has_some_wrong_ones(stem):
    assert [row for row in judged(stem) if row[0] == "wrong_answers"]
