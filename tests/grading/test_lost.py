"""A line that cannot run while grading takes nothing with it that an answer needs."""

# ruff: noqa: F811 - fixtures are imported

import pytest
from test_acting import passes
from test_passes import (  # noqa: F401
    FIFTH,
    FIRST,
    FOURTH,
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


def test_a_helper_in_another_tasks_cell_stays_for_own_cells(practical, graded):
    wrong = practical.reference[FIRST].replace("return", "return 2 *")
    own = (FIFTH, "def same(x):\n    return 2 * halved(x)")
    fifth = practical.reference[FIFTH].replace("return ", "return same(1.0) * ", 1)
    changes = {FIRST: f"{HELPER}\n\n{wrong}", FIFTH: fifth}
    tasks = (FIRST, SECOND, THIRD, FOURTH, FIFTH)
    _, verdicts = graded(changes, added=[own], tasks=tasks)
    assert statuses(verdicts) == ["wrong", "right", "right", "right", "right"]
    assert verdicts[FIFTH].attempt == 2


def test_what_a_stood_in_cell_binds_anew_is_not_run(practical, graded):
    wrong = practical.reference[FIRST].replace("return", "return 2 *")
    fifth = practical.reference[FIFTH].replace(
        "return ", "return F.relu(torch.ones(())) * ", 1
    )
    changes = {FIRST: f"F = None\n\n\n{wrong}", FIFTH: fifth}
    tasks = (FIRST, SECOND, THIRD, FOURTH, FIFTH)
    _, verdicts = graded(changes, tasks=tasks)
    assert (verdicts[FIRST].status, verdicts[FIFTH].status) == ("wrong", "right")


LATER = (FIRST, SECOND, THIRD, FOURTH, FIFTH)
SAME = (FIFTH, "def same(x):\n    return 2 * halved(x)")


def with_same(practical, above, helper=HELPER):
    """Answers of which FIRST is wrong, below some code, and FIFTH uses ``same``."""
    wrong = practical.reference[FIRST].replace("return", "return 2 *")
    fifth = practical.reference[FIFTH].replace("return ", "return same(1.0) * ", 1)
    return {FIRST: f"{above}\n\n{helper}\n\n{wrong}", FIFTH: fifth}


@pytest.mark.parametrize(
    ("above", "helper"),
    [
        ("sum = torch.sum", HELPER),
        ("from torch import *", HELPER),
        ("F = None", HELPER.replace("\n", "\n    F\n")),
    ],
    ids=["built-in", "star", "F"],
)
def test_what_a_stood_in_cell_changes_for_all_is_not_run(
    practical, graded, above, helper
):
    own = (FIFTH, f"{SAME[1]} * sum([1.0]) * F.relu(torch.ones(()))")
    changes = with_same(practical, above, helper)
    _, verdicts = graded(changes, added=[own], tasks=LATER)
    assert (verdicts[FIRST].status, verdicts[FIFTH].status) == ("wrong", "right")


def test_what_is_lent_and_ends_the_kernel_costs_no_other_task(practical, graded):
    above = """\
def grow():
    rows = []
    while True:
        rows.append(torch.ones(10_000_000))


TABLE = grow()"""
    own = (FIFTH, "def tabled(x):\n    return x + TABLE")
    changes = with_same(practical, above)
    _, verdicts = graded(changes, added=[SAME, own], tasks=LATER)
    found = {task: verdict.status for task, verdict in verdicts.items()}
    assert found == dict.fromkeys(LATER, "right") | {FIRST: "wrong"}


def test_a_helper_stays_in_the_cell_of_a_task_that_is_not_used(practical, graded):
    kl, sample, weights = (
        f"bayes-by-backprop/{n}"
        for n in ("gaussian-kl", "sampled-kl", "sample-weights")
    )
    own = (sample, "def same(x):\n    return 2 * halved(x)")
    using = practical.reference[sample].replace("return ", "return same(1.0) * ", 1)
    changes = {
        kl: f"{HELPER}\n\n{practical.reference[kl]}",
        sample: using,
        weights: practical.reference[weights].replace("return ", "return 2 * ", 1),
    }
    tasks = (*LATER, kl, weights, sample)
    _, verdicts = graded(changes, added=[own], tasks=tasks)
    assert (verdicts[weights].status, verdicts[sample].status) == ("wrong", "right")
