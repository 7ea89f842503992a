"""Right answers written otherwise than the reference, and wrong ones whose values look right.

The wrong ones have noise of another shape, a cut graph, a frozen generator and the like.
"""

import pytest
from planted import EVERY_TASK, rows_of
from planted_sources import sources

from course.task import stems


@pytest.fixture(scope="session")
def rows(request):
    """Judge the answers to the selected tasks."""
    params = (
        one.callspec.params for one in request.session.items if hasattr(one, "callspec")
    )
    ids = {task for one in params if isinstance(task := one.get("task"), str)}
    ids &= set(EVERY_TASK)
    return lambda task, folder: rows_of(task, folder, ids)


@pytest.mark.parametrize("task", EVERY_TASK)
def test_other_right_ways_to_write_it_pass(task, rows):
    found = rows(task, "right_answers")
    assert found, "plant some in tests/right_answers"
    assert [row for row in found if row[-1] != "right"] == []


@pytest.mark.parametrize("task", EVERY_TASK)
def test_an_answer_that_looks_right_is_judged_wrong(task, rows):
    """By its values, and not because the probe breaks on it."""
    found = rows(task, "wrong_answers")
    passed = [
        row for row in found if row[-1] == "right" or row[-1].startswith("raised")
    ]
    assert passed == []


@pytest.mark.parametrize("stem", stems())
def test_every_practical_has_some_wrong_ones(stem):
    assert sources(stem, "wrong_answers")
