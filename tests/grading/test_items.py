"""Item statistics of classes whose truth is known, and the page that shows them."""

import numpy as np
import pytest
from classroom import IMAGE, SCRIPT, classroom
from pages import assert_harmless, assert_readable, text_of
from scipy.stats import pearsonr

from authoring.questions import Question
from grading.record import Result, Verdict, Written
from grading.reports.items import (
    correlation,
    cronbach,
    lab_items,
    minutes_in,
    write_items,
)
from grading.reports.roster import Roster

SURVEY = Question("s", "Survey", "(Any honest answer gets full marks.)", "", ())


def roster_of(solved, written=()):
    """Make a class from a table of booleans, shape (students, tasks)."""
    return Roster(
        Result(
            f"s{number:03}",
            "deep_ensembles",
            "a.ipynb",
            "0" * 64,
            verdicts=tuple(
                Verdict(f"t{index}", 2, "right" if right else "wrong")
                for index, right in enumerate(row)
            ),
            written=tuple(
                Written("s", 3, text, 3) for text in written[number : number + 1]
            ),
        )
        for number, row in enumerate(solved)
    )


def drawn(slopes, students, seed=0):
    """Draw who solves what: an item with slope 0 has nothing to do with ability."""
    rng = np.random.default_rng(seed)
    ability = rng.normal(size=(students, 1))
    return rng.random((students, len(slopes))) < 1 / (1 + np.exp(-ability * slopes))


def test_the_task_that_separates_nobody_and_the_one_that_is_upside_down_are_found():
    slopes = np.array([3.0, 3.0, 3.0, 3.0, 0.0, -3.0])
    (lab,) = lab_items(roster_of(drawn(slopes, 400)))
    found = [row.correlation for row in lab.rows]
    assert min(found[:4]) > 0.2
    assert lab.rows[4].low < 0 < lab.rows[4].high
    assert lab.rows[5].high < 0
    assert lab.rows[5].review


@pytest.mark.parametrize("students", [4, 5, 40])
def test_the_interval_is_fishers(students):
    item, noise = np.random.default_rng(1).normal(size=(2, students))
    rest = 0.4 * item + noise
    wanted = pearsonr(item, rest)
    ends = wanted.confidence_interval(0.95)
    assert correlation(item, rest) == pytest.approx((wanted.statistic, *ends), 1e-6)


@pytest.mark.parametrize("slope", [2, -2])
def test_a_perfect_correlation_has_no_interval(slope):
    solved = np.array([1.0, 0.0, 0.0, 0.0, 1.0])
    assert correlation(solved, slope * solved + 1) is None


def test_alpha_is_that_of_parallel_items():
    """Items with the same true score, and noise of the same size: Spearman and Brown."""
    rng = np.random.default_rng(2)
    scores = rng.normal(size=(20_000, 1)) + rng.normal(size=(20_000, 5))
    assert cronbach(scores) == pytest.approx(5 * 0.5 / (1 + 4 * 0.5), abs=0.01)
    assert cronbach(np.ones((5, 3))) is None
    assert cronbach(scores[:, :1]) is None


def test_shares_and_review():
    solved = np.zeros((10, 2), dtype=bool)
    solved[:6, 0] = solved[:5, 1] = True
    (lab,) = lab_items(roster_of(solved))
    assert [row.share for row in lab.rows] == [0.6, 0.5]
    assert [row.review for row in lab.rows] == [False, True]
    (lab,) = lab_items(roster_of([[True, True], [False, True], [False, False]]))
    assert lab.alpha is None  # as for the correlations, the students are too few
    assert [row.correlation for row in lab.rows] == [None, None]
    assert lab_items(Roster([])) == []


def test_what_nobody_tried_is_not_for_review(tmp_path):
    def one(student, *statuses, text=""):
        verdicts = [Verdict(f"t{n}", 2, status) for n, status in enumerate(statuses)]
        written = (Written("w", 3, text),)
        return Result(
            student, "deep_ensembles", "a", "0" * 64, verdicts=verdicts, written=written
        )

    roster = Roster(
        [one("ada", "not-attempted", "wrong"), one("bo", *["not-attempted"] * 2)]
    )
    (lab,) = lab_items(roster)
    assert [(row.id, row.tried, row.review) for row in lab.rows] == [
        ("t0", False, False),
        ("t1", True, True),
        ("w", False, False),
    ]
    text = text_of(write_items(roster, tmp_path).read_text("utf-8"))
    assert (text.count("nobody tried"), text.count(" review ")) == (2, 1)


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("90", 90), ("about 75 minutes; the KL.", 75), ("1 h 30 min", 90),
        ("1.5 hours", 90), ("It took 2h", 120), ("Too long.", None), ("0", None),
        ("1.5 h (90 min)", 90), ("90 minutes (1.5 hours)", 90), ("3 hours, of which 90 minutes on task 2", 180),
        ("1h30min", 90), ("1h30m", 90), ("1h30", 90), ("1 hour 30", 90), ("2h15m (135 minutes)", 135),
        ("1:15 h", 75), ("2:15h", 135), ("2 1/2 hours", 150), ("2½ h", 150), ("1/2 hour", 30), ("½ h", 30),
        ("90 Minutes", 90), ("2 H", 120), ("3 hours 10 tasks", 180), ("3 days", None), ("1,500 minutes", None),
        ("Between 1:15 and 1:45", None), ("11/2 hours", None),
        ("99999 minutes", None), ("9" * 100_000, None), ("", None),
    ],
)  # fmt: skip
def test_minutes(text, minutes):
    assert minutes_in(text) == minutes


def test_reported_minutes_reach_the_page(tmp_path):
    roster = roster_of([[True]] * 3, ["60", "1 h 20 min", "no idea"])
    page = write_items(roster, tmp_path, asked={"deep_ensembles": [SURVEY]})
    text = text_of(page.read_text("utf-8"))
    assert "median of the time reported: 70 minutes (2 answers, from 60 to 80)" in text


@pytest.mark.browser
def test_page_is_harmless_and_readable(browser, tmp_path):
    titles = {"deep-ensembles/heads": SCRIPT + IMAGE}
    roster = Roster(classroom(48, ("deep_ensembles", "bayes_by_backprop")))
    path = write_items(roster, tmp_path, titles=titles)
    assert_harmless(browser, path, links=("#", "data:,", "report.html"))
    assert_readable(browser, path)
