"""Unnamed mistakes: groups of a class whose truth is known, and the page that shows them."""

import ast
import dataclasses
import random

import numpy as np
import pytest
from classroom import IMAGE, SCRIPT
from pages import assert_harmless, assert_readable, text_of

from course.task import Close, tasks_of
from grading.execution.expected import Key, key_of, mistakes_of
from grading.execution.sketch import groups, sketch
from grading.execution.values import VALUES
from grading.execution.verdicts import judge
from grading.record import Code, Result, Verdict
from grading.reports.report import mistakes, report_page, talking_points
from grading.reports.roster import Roster
from grading.reports.unnamed import draft, unnamed, write_unnamed

KEYS = [
    dataclasses.replace(key := key_of(task, 5), mistakes=mistakes_of(task, key.cases))
    for task in tasks_of("acting_on_uncertainty").values()
]
KEY = Key(
    "x/moments",
    "moments",
    2,
    "probe",
    [{"mean": Close([1.0, 2.0, 0.0], atol=1e-6, because="a test")}],
    [],
)
CODE = "import numpy as np\n\ndef moments(x):\n    return 3 * np.mean(x)"


def rounded(values, rng):
    """Disturb numbers as another processor, or single precision, would."""
    return [
        {
            name: np.asarray(got, float) * (1 + 1e-6 * rng.standard_normal(np.shape(got)))
            for name, got in row.items()
        }
        for row in values
    ]  # fmt: skip


def judged(*data, key=KEY):
    numbers = [float(x) if np.isfinite(x) else str(x) for x in data]
    value = {"dtype": "float64", "shape": [len(data)], "data": numbers}
    payload = {"task": key.task, "values": [{"mean": value}]}
    output = {"output_type": "display_data", "data": {VALUES: payload}}
    return judge(key, [output], pass_number=1)


def student(name, *verdicts, code=CODE):
    kept = (Code("x/moments", code),)
    return Result(name, "x", "a.ipynb", "0" * 64, verdicts=verdicts, code=kept)


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.task)
def test_equal_mistakes_are_together_and_others_apart(key):
    """Each known mistake is made by three students with different rounding, in any order."""
    rng, truth, sketches = np.random.default_rng(0), [], []
    for number, mistake in enumerate(key.mistakes):
        for _ in range(3):
            truth.append(number)
            sketches.append(sketch(rounded(mistake.values, rng), key.right, key.probe))
    order = list(range(len(truth)))
    random.Random(1).shuffle(order)
    found = groups([sketches[k] for k in order])
    assert {frozenset(truth[order[k]] for k in group) for group in found} == {
        frozenset([number]) for number in set(truth)
    }
    assert all(len(group) == 3 for group in found)


def test_only_wrong_numbers_without_a_name_have_a_sketch():
    assert judged(1.0, 2.0, 0.0).sketch == ""
    assert judged(3.0, 6.0, 0.0).sketch
    assert judged(3.0, 6.0).sketch != judged(3.0, 6.0, 0.0).sketch != ""
    assert judge(KEY, [], pass_number=1).sketch == ""
    assert sketch([{}], KEY.right, "") == sketch([{"mean": [1.0]}], KEY.right, "") == ""


def test_infinite_numbers_and_other_inputs_are_kept_apart():
    one = judged(np.inf, 2.0, 5.0).sketch
    assert groups([one, judged(np.nan, 2.0, 5.0).sketch]) == [[0], [1]]
    assert groups([one, judged(2.0, np.inf, 5.0).sketch]) == [[0], [1]]
    assert groups([one, judged(np.inf, 2.0, 5.0).sketch]) == [[0, 1]]
    other = dataclasses.replace(KEY, probe="other inputs")
    assert groups([one, judged(np.inf, 2.0, 5.0, key=other).sketch]) == [[0], [1]]


def test_a_difference_within_the_tolerance_is_none():
    """Averages of random draws differ, even if the mistake is the same."""
    right = [{"mean": Close([1.0], atol=0.1, because="six standard errors")}]
    one, near, far = (
        sketch([{"mean": np.array([x])}], right, "") for x in (3.0, 3.05, 3.3)
    )
    assert groups([one, near]) == [[0, 1]]
    assert groups([one, far]) == [[0], [1]]


def test_groups_of_a_class():
    triple, shifted = judged(3.0, 6.0, 0.0), judged(2.0, 3.0, 1.0)
    right = judged(1.0, 2.0, 0.0)
    named = dataclasses.replace(triple, hint="you sum.")
    skipped = Verdict("x/moments", 2, "not-attempted")
    longer = CODE + "  # at last"
    results = [
        student("ada", triple, code=longer), student("bob", triple), student("cy", triple),
        student("di", shifted), student("ed", shifted), student("fay", judged(9.0, 9.0, 9.0)),
        student("gil", right), student("hal", named), student("ida", skipped),
    ]  # fmt: skip
    three, two = unnamed(Roster(results), {"x/moments": "Moments"})
    assert (three.students, three.attempted) == (("ada", "bob", "cy"), 8)
    assert (three.title, three.code) == ("Moments", CODE)
    assert "three times" in three.reason  # the relation that the checks find
    assert two.students == ("di", "ed")
    assert unnamed(Roster(results[::-1])) == unnamed(Roster(results))


def test_the_draft_is_python_and_has_the_task_s_code():
    tree = ast.parse(f"[\n{draft('x/moments', CODE).partition('Misconception')[2]}]")
    assert "_wrong_moments" in ast.unparse(tree)
    text = draft("x/moments", CODE)
    assert "def _wrong_moments(x):" in text
    assert "def moments" not in text
    assert text.endswith("),")
    assert "Misconception" in draft("x/moments", "not python (")


def test_the_draft_says_what_else_it_needs():
    code = "def moments(x):\n    return earlier(np.sort(x), len(x)), moments"
    assert draft("x/moments", code).startswith("# TODO: this needs earlier, np.\n")
    assert "needs" not in draft("x/moments", CODE)


def test_the_report_counts_the_same_students():
    """Whether a mistake is common depends on the class; its share is of those who attempted the task."""
    wrong = Verdict("x/moments", 2, "wrong")
    known = dataclasses.replace(wrong, hint="you err.", key="x/moments#1")
    kinds = {
        "known": known,
        "wrong": dataclasses.replace(wrong, sketch="ab 1.0"),
        "right": dataclasses.replace(wrong, status="right"),
        "none": dataclasses.replace(wrong, status="not-attempted"),
        "lost": dataclasses.replace(wrong, status="not-graded"),
    }

    def a_class(*names):
        return Roster(student(f"s{k}", kinds[name]) for k, name in enumerate(names))

    roster = a_class(
        *["known"] * 2, *["wrong"] * 2, "right", *["none"] * 4, *["lost"] * 2
    )
    found = unnamed(roster)
    assert [one.attempted for one in found] == [one.of for one in mistakes(roster)]
    assert [one.of for one in talking_points(roster, groups=found)] == [5, 5]
    page = text_of(report_page(roster, unnamed=found))
    assert page.count("2 of 5 40% of attempts") == 2
    roster = a_class("known", *["none"] * 8)  # one of nine is no topic
    assert not any(point.mistake for point in talking_points(roster))


@pytest.mark.browser
def test_page_is_harmless_and_readable(browser, tmp_path):
    hostile = f"{CODE}  # {SCRIPT}{IMAGE}{'x' * 500}"
    verdict = dataclasses.replace(judged(3.0, 6.0, 0.0), reason=SCRIPT + IMAGE)
    results = [student(f"{SCRIPT} {n}", verdict, code=hostile) for n in range(3)]
    found = unnamed(Roster(results), {"x/moments": IMAGE})
    assert len(found) == 1
    path = write_unnamed(found, tmp_path)
    assert "3 of 3 students who attempted it" in text_of(path.read_text("utf-8"))
    assert_harmless(browser, path, links=("#", "data:,", "report.html"))
    assert_readable(browser, path)
