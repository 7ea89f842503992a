"""Wrong answers whose values look right: noise of another shape, a cut graph, a frozen generator."""

import pytest
from planted import EVERY_TASK, judged, of_task
from seeds import SOAK

from course.task import stems

SEEDS = 5 if SOAK else 1


@pytest.mark.parametrize("task", EVERY_TASK)
def test_an_answer_that_looks_right_is_judged_wrong(task):
    """By its values, and not because the probe breaks on it."""
    rows = of_task(task, "wrong_answers", SEEDS)
    passed = [row for row in rows if row[-1] == "right" or row[-1].startswith("raised")]
    assert passed == []


@pytest.mark.parametrize("stem", stems())
def test_every_practical_has_some(stem):
    assert judged(stem, "wrong_answers", SEEDS)
