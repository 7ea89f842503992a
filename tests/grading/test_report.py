"""The class report: its counts, its limits, and the page itself."""

import dataclasses
import html
import re
from urllib.parse import unquote

import pytest
from browser import shown
from classroom import classroom
from labs import COURSE
from pages import assert_harmless, assert_readable, text_of

from grading.execution.examples import Example, Shown
from grading.flags import flag
from grading.record import Result, Verdict
from grading.reports.feedback import page_paths, write_feedback
from grading.reports.outcome import write_outcome
from grading.reports.pages import beginning, sentence
from grading.reports.report import (
    histogram,
    mistakes,
    report_page,
    talking_points,
    task_rows,
    write_report,
)
from grading.reports.roster import Roster
from grading.reports.unnamed import Unnamed

STEMS = (
    "deep_ensembles",
    "approximate_inference",
    "bayes_by_backprop",
    "calibration_and_flows",
)
NLL, HEADS = "deep-ensembles/gaussian-nll", "deep-ensembles/heads"
HINT = "you take the standard deviation for the variance."


def student(name, nll="right", heads="right", **changes):
    """Make a result with two tasks; ``nll`` is a status, or ``known`` for a misconception."""
    hint = HINT if nll == "known" else ""
    verdicts = (
        Verdict(HEADS, 1, heads),
        Verdict(
            NLL, 2, "wrong" if hint else nll, hint=hint, key=f"{NLL}#0" * bool(hint)
        ),
    )
    given = {"verdicts": verdicts} | changes
    return Result(name, "deep_ensembles", "a.ipynb", "0" * 64, **given)


def a_class(*kinds):
    return Roster(student(f"s{index}", kind) for index, kind in enumerate(kinds))


# --- counts -----------------------------------------------------------------------------


def test_rows_add_up():
    for roster in (Roster(classroom(50, STEMS)), Roster(classroom(1))):
        for practical in roster.practicals:
            for row in task_rows(roster, practical):
                parts = row.right + row.named + row.other + row.skipped
                parts += row.missed + row.ungraded
                assert parts == row.of == len(roster.graded(practical.stem))


def test_share_leaves_out_what_could_not_be_judged():
    kinds = "right", "known", "wrong", "not-attempted", "not-reached", "not-graded"
    roster = a_class(*kinds)
    row = task_rows(roster, roster.practicals[0])[1]
    counts = row.right, row.named, row.other, row.skipped, row.missed, row.ungraded
    assert counts == (1,) * 6
    assert row.share == 1 / 5
    assert row.tried == 4


def test_mistakes_are_counted_by_student_and_ranked():
    roster = a_class("known", "known", "right", "wrong")
    (mistake,) = mistakes(roster, {NLL: "The Gaussian NLL"})
    assert (mistake.count, mistake.of, mistake.hint) == (2, 4, HINT)
    assert mistake.students == ("s0", "s1")
    assert mistake.title == "The Gaussian NLL"
    counts = [found.count for found in mistakes(Roster(classroom(200, STEMS)))]
    assert counts == sorted(counts, reverse=True)


def test_second_notebook_is_not_a_second_student():
    twice = dataclasses.replace(student("s0", "known"), notebook="b.ipynb")
    roster = Roster([student("s0", "known"), twice])
    assert [found.count for found in mistakes(roster)] == [1]


def test_a_mistake_is_a_share_of_those_who_handed_its_lab_in():
    """Of a hundred with lab a, eight have handed lab b in so far, and four share a mistake."""
    first, second = student("", "right").verdicts, student("", "known").verdicts
    ones = [student(f"s{k}", part="a", verdicts=first[:1]) for k in range(100)]
    others = [
        student(f"s{k}", part="b", verdicts=second[1:] if k < 4 else first[1:])
        for k in range(8)
    ]
    roster = Roster(ones + others)
    (row,) = mistakes(roster)
    assert (row.count, row.of) == (4, 8)
    (point,) = talking_points(roster)
    assert (point.count, point.of) == (4, 8)
    group = Unnamed(NLL, "The loss", "Oh.", ("s1", "s2"), 8, "", "")
    assert talking_points(roster, groups=[group])[1].of == 8


def test_talk_about_the_commonest_mistake():
    roster = a_class(*["known"] * 14, *["right"] * 26)
    (point,) = talking_points(roster, {NLL: "The Gaussian NLL"})
    assert (point.count, point.of, point.title) == (14, 40, "The Gaussian NLL")
    assert point.text == "Y" + HINT[1:]
    page = text_of(report_page(roster))
    assert page.index("14 of 40") < page.index("Task by task")


def test_a_topic_is_one_sentence_and_a_share_of_the_class():
    hint = "you sum over `n`, as e.g. lab 1 does. np.mean divides by n. So do we."
    verdict = Verdict(NLL, 2, "wrong", hint=hint, key=f"{NLL}#0")
    held = [student(f"t{k}", verdicts=(verdict,)) for k in range(14)]
    roster = Roster([*held, *(student(f"s{k}") for k in range(26))])
    example = Example(shown={hint: Shown("    y = <1>", "    nll = 0.5")})
    page = report_page(roster, examples={NLL: example})
    talk = text_of(page[: page.index('id="mistakes"')])
    assert "14 of 40 35% of attempts" in talk
    assert "You sum over n , as e.g. lab 1 does. A question" in talk
    assert "what comes out if you sum over n , as e.g. lab 1 does?" in talk
    assert "np.mean" not in talk
    assert "np.mean divides by n. So do we." in text_of(page)
    few = report_page(a_class("wrong", "wrong", "right", "not-attempted"))
    assert "2 of 3 67% of attempts" in text_of(few)


@pytest.mark.parametrize(
    ("hint", "asked"),
    [
        ("you average the KL; it is a sum. So do some.", "you average the KL"),
        ("you add ½: it is subtracted.", "you add ½"),
        ("you square `x[1:]` (as in 1: twice). Do not.", None),
        ("you write `lambda x: x`; square it.", "you write lambda x: x"),
    ],
)
def test_a_question_does_not_say_what_is_right(hint, asked):
    verdict = Verdict(NLL, 2, "wrong", hint=hint, key=f"{NLL}#0")
    roster = Roster([student("ada", verdicts=(verdict,))])
    example = Example(shown={hint: Shown("    y = 1", "    nll = 0.5", "    nll = 1")})
    page = text_of(report_page(roster, examples={NLL: example}))
    question, _, answer = page.partition("comes out if ")[2].partition("? y = 1")
    first = beginning(hint).replace("`", "")
    assert question.strip() == (asked or first[:-1])
    assert f"nll = 1 {sentence(first)}" in answer.replace(" ;", ";")


def test_a_mistake_without_a_name_is_a_topic_if_several_share_it():
    reason = (
        "The value `nll` is not right. `nll` is exactly twice what is expected. More."
    )
    group = Unnamed(NLL, "The NLL", reason, ("s0", "s1", "s2", "s3"), 9, "x", "")
    pair = dataclasses.replace(group, task=HEADS, students=("s0", "s1"))
    roster = a_class("known", "known", "known", *["wrong"] * 4, *["right"] * 33)
    (first,) = talking_points(roster, None, [group, pair])  # 3 of 40 are too few
    assert (first.count, first.of, first.group, first.title) == (4, 9, 1, "The NLL")
    assert first.text == (
        "A mistake that has no name yet. The value `nll` is not right. "
        "`nll` is exactly twice what is expected."
    )
    page = report_page(roster, unnamed=[group, pair])
    assert 'href="unnamed.html#group-1"' in page
    assert 'href="unnamed.html#group-2"' not in page


def test_one_of_forty_is_no_lecture():
    assert talking_points(a_class("known", *["right"] * 39)) == []
    assert "No mistake stands out" in report_page(a_class("known", *["right"] * 39))
    assert len(talking_points(a_class("known"))) == 1


def test_talk_about_what_few_solved():
    (point,) = talking_points(a_class("wrong", "wrong", "not-reached", "right"))
    assert (point.count, point.of, point.task) == (3, 4, NLL)
    assert point.text == "Not solved. 1 of them were not reached."
    assert len(talking_points(Roster(classroom(200, STEMS)))) <= 4


def test_a_task_that_nobody_attempted_is_no_talking_point():
    assert talking_points(a_class(*["not-attempted"] * 9, "right")) == []
    (point,) = talking_points(a_class(*["not-attempted"] * 8, "wrong", "wrong"))
    assert (point.count, point.of) == (2, 2)
    assert point.text == "Not solved. Not attempted by 8 more."


def test_a_task_that_few_solved_names_its_most_common_mistake():
    (point,) = talking_points(a_class("known", *["wrong"] * 6, *["right"] * 3))
    assert (point.count, point.of) == (7, 10)
    assert point.text == f"Not solved. 1 of them: {sentence(HINT)}"


def test_the_map_tells_not_attempted_from_wrong():
    page = report_page(a_class("not-attempted", "not-reached"))
    assert page.count('<td class="x">○') == 1
    assert page.count('<td class="n">–') == 1
    assert '<td class="m">' not in page
    assert "0 wrong otherwise, 1 not attempted, 1 not reached" in page


def test_the_map_tells_a_lab_that_is_missing_from_one_that_could_not_be_graded():
    rest = Verdict(NLL, 2, "right")
    whole = [student("ada", verdicts=(rest,), part="b"), student("ada", part="a")]
    ungraded = {"graded": False, "problem": "Unreadable.", "verdicts": ()}
    first = student("bo", verdicts=(Verdict(HEADS, 1, "right"),), part="a")
    for others, symbol in (((), "·"), ([student("bo", part="b", **ungraded)], "?")):
        page = report_page(Roster([*whole, first, *others]))
        row = page.partition('<bdi title="bo">')[2].partition("<tr>")[0]
        assert re.findall(r"<td[^>]*>\s*(\S)", row)[:3] == ["✓", symbol, "1"]


def test_a_task_that_nobody_attempted_is_not_said_to_be_solved_by_no_one():
    page = text_of(report_page(a_class("not-attempted", "not-attempted")))
    told = "Each task that anybody attempted was solved by 100% of the class or more"
    assert told in page
    nothing = Roster([student("s0", "not-attempted", "not-attempted")])
    assert "Nobody attempted a task." in text_of(report_page(nothing))


def test_a_talking_point_has_a_place_and_a_question():
    shown = Shown("    y = <1>", "    nll = 0.5", "    nll = 0.7")
    other = Shown("    y = <2>", "    nll = 1.5")
    example = Example(shown={"": other, HINT: shown})
    page = report_page(
        a_class(*["known"] * 4), places={NLL: "lab 1a, “NLL”"}, examples={NLL: example}
    )
    text = text_of(page)
    assert "See lab 1a, “NLL”." in text
    assert f"and what comes out if {HINT[:-1]}?" in text
    assert "y = &lt;1&gt; Both answers Expected nll = 0.5" in html.escape(text)
    assert "nll = 0.5 With this mistake nll = 0.7" in text
    assert "y = &lt;2&gt;" not in page
    few = text_of(report_page(a_class("wrong", "wrong"), examples={NLL: example}))
    assert "return on this input? y = <2> Expected nll = 1.5" in few
    assert "to ask the class" not in report_page(a_class(*["known"] * 4))


def test_histogram():
    roster = Roster(
        student(str(k), verdicts=tuple(Verdict(f"t{i}", 1, "right" if i < k else "wrong")
        for i in range(10)))
        for k in range(11)
    )  # fmt: skip
    found = histogram(roster, roster.practicals[0])
    assert found.counts == (1, 1, 1, 1, 1, 1, 1, 1, 1, 2)
    assert found.median == 0.5
    assert "11 notebooks, the median has 50% of the points" in found.label


# --- the page ---------------------------------------------------------------------------


def test_times_are_of_notebooks_that_were_graded():
    graded = [
        dataclasses.replace(student(f"s{number}", "right"), seconds=10.0 * number)
        for number in (1, 2, 3)
    ]
    empty, stopped = (
        Result(
            name, graded[0].practical, "b.ipynb", "0" * 64, graded=False, seconds=took
        )
        for name, took in (("empty", 0.01), ("stopped", 40.0))
    )
    page = text_of(report_page(Roster([*graded, empty])))
    assert "over 3 notebooks; half of them took 20 s or less" in page
    page = text_of(report_page(Roster([*graded, stopped])))
    assert "over 4 notebooks; half of them took 25 s or less" in page


def test_classes_of_all_kinds():
    broken = student("s", graded=False, problem="It is empty.", verdicts=())
    lost = dataclasses.replace(broken, practical="")
    page = text_of(report_page(Roster([broken, lost])))
    assert "No notebook could be graded" in page
    assert page.count("It is empty.") == 2
    assert "No notebook was submitted" in report_page(Roster([]))
    assert "Everybody solved every task" in report_page(a_class("right", "right"))
    bare = student("s", verdicts=())
    assert "Talk about" not in report_page(Roster([bare]))


def test_four_hundred_students():
    roster = Roster(classroom(400, STEMS), STEMS)
    page = report_page(roster)
    assert len(page) < 4_000_000
    assert page.count('<th class="name"') == 400


def test_before_sending():
    roster = Roster(classroom(100))
    page = text_of(report_page(roster))
    assert (
        f"{len([r for r in roster.results if not r.graded])} notebooks could not"
        in page
    )
    assert f"{len([r for r in roster.results if r.flags])} submissions are" in page
    small = Roster([student("ada", flags=(flag("no-ids"),))])
    assert "flagged" not in text_of(report_page(small))  # nothing to look at
    again = Roster(
        [student("ada"), dataclasses.replace(student("ada"), digest="1" * 64)]
    )
    told = (
        "1 further notebook of the same students and labs was graded: each task counts"
    )
    assert told in text_of(report_page(again))
    assert "answers in words wait for your marks" in page


def test_links_lead_to_the_feedback(tmp_path):
    roster = Roster(classroom(40))
    written = write_feedback(roster.results, tmp_path)
    path = write_report(roster, tmp_path, pages=page_paths(roster.results))
    page = path.read_text(encoding="utf-8")
    links = set(re.findall(r'href="(feedback/[^"]*)"', page))
    assert {tmp_path / unquote(link) for link in links} == set(written)


def test_pages_that_the_report_links_to_link_back(tmp_path):
    roster = Roster(classroom(12))
    write_outcome(roster.results, tmp_path, course=COURSE)
    page = (tmp_path / "report.html").read_text("utf-8")
    for path in sorted(tmp_path.glob("*.html")):
        back = 'href="report.html"' in path.read_text("utf-8")
        assert back == (path.name != "report.html"), path.name
    assert set(re.findall(r'href="(\w+\.html)"', page)) <= {p.name for p in tmp_path.glob("*.html")}  # fmt: skip
    for path in tmp_path.glob("feedback/*/*.html"):
        assert "report.html" not in path.read_text("utf-8")


@pytest.mark.browser
def test_hostile_class_does_nothing(browser, tmp_path):
    roster = Roster(classroom(48, STEMS[:2]), STEMS)
    path = write_report(roster, tmp_path, pages=page_paths(roster.results))
    assert_harmless(
        browser,
        path,
        links=(
            "#",
            "data:,",
            "feedback/",
            "marking.html",
            "items.html",
            "similar.html",
            "unnamed.html",
        ),
    )


@pytest.mark.browser
@pytest.mark.parametrize("count", [1, 48])
def test_report_is_readable(browser, tmp_path, count):
    assert_readable(browser, write_report(Roster(classroom(count)), tmp_path))


@pytest.mark.browser
def test_map_scrolls_in_its_own_box_and_keeps_its_heads(browser, tmp_path):
    path = write_report(Roster(classroom(200, STEMS), STEMS), tmp_path)
    with shown(browser, path, width=390) as page:
        box = page.locator(".grid")
        assert box.evaluate("box => box.scrollWidth > box.clientWidth")
        assert box.evaluate("box => box.scrollHeight > box.clientHeight")
        box.evaluate("box => box.scrollTo(400, 900)")
        at = box.bounding_box()
        head = page.locator(".grid .corner").first.bounding_box()
        assert abs(head["y"] - at["y"]) < 6
        name = page.locator(".grid .name").nth(40).bounding_box()
        assert abs(name["x"] - at["x"]) < 6
        assert page.evaluate("document.documentElement.scrollWidth") == 390


@pytest.mark.browser
def test_report_prints(browser, tmp_path):
    path = write_report(Roster(classroom(60, STEMS), STEMS), tmp_path)
    paper = 1032  # pixels: A4 across, without its margins
    with shown(browser, path, width=paper, scheme="dark") as page:
        page.emulate_media(media="print", color_scheme="light")
        assert page.evaluate("document.documentElement.scrollWidth") <= paper
        heights = "box => [box.scrollHeight, box.clientHeight]"
        whole, seen = page.locator(".grid").evaluate(heights)
        assert whole <= seen
        assert page.pdf(prefer_css_page_size=True)[:4] == b"%PDF"
