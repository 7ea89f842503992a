"""References and known mistakes of every lab in a real kernel: right, or wrong and named."""

import pytest
from assembled import NAMES, tasks_in
from environments import material_of, prepared
from seeds import SOAK, first_seed

from grading.execution.canary import canary
from grading.execution.grader import grade
from grading.sandbox.bubblewrap import Limits
from grading.submissions.answers import Answer, Answers
from studies.submissions import planted

pytestmark = pytest.mark.sandbox
# Every commit draws a fifth of the labs.
LABS = NAMES if SOAK else NAMES[first_seed() % 5 :: 5]


@pytest.fixture
def warm_environment(name, tmp_path):
    """With a zygote for this lab."""
    with prepared(tmp_path, name, Limits(task=20.0, submission=120.0)) as environment:
        yield environment


@pytest.mark.long
@pytest.mark.parametrize("name", LABS)
def test_every_known_mistake_goes_the_same_way_and_is_named(
    name, warm_environment, tmp_path
):
    """The reference gets full marks first.

    Each submission has one misconception of every task; a commit draws one submission.

    ``SOAK`` grades all misconceptions. ``test_draws.py`` judges the values of all of them, in
    the practicals that a commit draws.
    """
    practical, tasks = material_of(name, tmp_path), tasks_in(name)
    canary(practical, warm_environment)
    most = max(len(task.misconceptions) for task in tasks.values())
    for number in range(most) if SOAK else [first_seed()]:
        made = {
            id_: planted(task, number % len(task.misconceptions))
            for id_, task in tasks.items()
            if task.misconceptions
        }
        sources = dict(practical.reference) | made
        answers = Answers({t: Answer(t, s) for t, s in sources.items()}, {})
        for verdict in grade(answers, practical, warm_environment).verdicts:
            if verdict.task in made:
                assert verdict.status == "wrong", (verdict, number)
                assert verdict.key.startswith(verdict.task), (verdict, number)
            else:
                assert verdict.status == "right", (verdict, number)
