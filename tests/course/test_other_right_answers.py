"""Right answers that are written, and rounded, differently from the reference."""

import pytest
from planted import judged
from seeds import SOAK

from course.task import stems, tasks_of

SEEDS = 5 if SOAK else 1


@pytest.mark.parametrize("stem", stems())
def test_other_right_ways_to_write_it_pass(stem):
    rows = judged(stem, "right_answers", SEEDS)
    assert {name for name, *_ in rows} == {t.name for t in tasks_of(stem).values()}
    assert [row for row in rows if row[-1] != "right"] == []
