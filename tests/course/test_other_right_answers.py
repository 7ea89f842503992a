"""Right answers written otherwise than the reference, and rounded otherwise."""

import pytest
from planted import EVERY_TASK, of_task
from seeds import SOAK

SEEDS = 5 if SOAK else 1


@pytest.mark.parametrize("task", EVERY_TASK)
def test_other_right_ways_to_write_it_pass(task):
    rows = of_task(task, "right_answers", SEEDS)
    assert rows, "plant some in tests/right_answers"
    assert [row for row in rows if row[-1] != "right"] == []
