"""The labs of this checkout, and tests for each of them."""

from pathlib import Path

import pytest

from project.practicals import Course

COURSE = Course.read(Path(__file__).parents[2])
LABS = COURSE.labs()
each_lab = pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.exercise.stem)
