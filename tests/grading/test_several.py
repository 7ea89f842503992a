"""The notebook that counts if a student submitted several for one practical."""

import csv
import dataclasses
import json
import os
import zipfile
from datetime import datetime
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner
from graded_class import start, table
from jsonschema import validate
from labs import COURSE
from pages import text_of
from submission_files import codes, tree, zipped

from commands import main
from grading import app, bounded
from grading.flags import flag
from grading.record import Late, Result, Verdict, Written
from grading.reports.feedback import write_feedback
from grading.reports.grades import schema
from grading.reports.late import Policy
from grading.reports.roster import Roster
from grading.reports.several import best_by_task
from grading.submissions import reading
from grading.submissions.intake import take_in

ROOT = Path(__file__).parents[2]
STEM = "bayes_by_backprop"
LAB = COURSE.lab("bayes_by_backprop_a")


def solved(*names, note=""):
    """Return the exercise with reference solutions for these tasks, and optionally a note."""
    notebook = LAB.released()
    definitions = LAB.solutions().definitions
    for cell in notebook.cells:
        name = cell["id"].rpartition("--")[2].replace("-", "_")
        if name in names:
            cell.source = definitions[name].shown()
    if note:
        notebook.cells.append(nbformat.v4.new_markdown_cell(note))
    return nbformat.writes(notebook).encode()


FULL = solved("reparametrise", "log_prior")
PART = solved("reparametrise")
COPY = solved()
SAVED = solved(note="saved again, no answers")


def write_submissions(root, files):
    """Write the files with modification times an hour apart, in this order."""
    for hour, (name, data) in enumerate(files.items()):
        path = root / "ann" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        os.utime(path, (10**9 + 3600 * hour,) * 2)
    return root


@pytest.mark.parametrize(
    ("files", "counts"),
    [
        ({"x.ipynb": FULL, "copy/x.ipynb": COPY}, FULL),
        ({"a.ipynb": FULL, "b.ipynb": COPY, "c.ipynb": SAVED}, FULL),
        ({"b.ipynb": PART, "a.ipynb": FULL}, FULL),
        ({"b.ipynb": FULL, "a.ipynb": PART}, PART),
        ({"a.ipynb": FULL, "b.ipynb": PART, "c.ipynb": FULL}, FULL),
        ({"a.ipynb": FULL, "03a-bayes-by-backprop.ipynb": FULL[:5000]}, FULL),
        ({"a.ipynb": COPY, "b.ipynb": SAVED}, SAVED),
    ],
)
def test_the_last_with_answers_counts_and_is_named(files, counts, tmp_path):
    intake = take_in(write_submissions(tmp_path, files), COURSE)
    (one,) = intake.submissions
    assert one.read() == counts
    assert codes(one) == ["resubmitted"]
    (note,) = intake.notes
    *_, name = (name for name, data in files.items() if data == counts)
    which = "the last by time" if counts == SAVED else "the last with answers by time"
    assert f"ann/{name} counts, {which}; not ann/" in note
    broken = next((name for name, data in files.items() if data == FULL[:5000]), None)
    assert note.count(" (cannot be read)") == bool(broken)
    assert broken is None or f"{broken} (cannot be read)" in note
    copies = list(files.values()).count(counts) - 1
    fates = ["aside"] * (len(files) - 1 - copies) + ["copy"] * copies
    assert sorted(intake.fates.values()) == [*fates, "submission"]


def test_of_equals_the_last_counts_whatever_their_names(tmp_path):
    names = ["zeta", "homework (2)", "homework (10)", "alpha"]
    files = {f"{name}.ipynb": solved("log_prior", note=name) for name in names}
    intake = take_in(write_submissions(tmp_path, files), COURSE, "best")
    found = [one.notebook for one in intake.submissions]
    assert found == list(files)
    results = [Result("ann", STEM, name, name) for name in found]
    (counting,) = (one for one in best_by_task(results) if not one.spare)
    assert counting.notebook == "alpha.ipynb"


def test_where_none_has_answers_the_note_says_so(tmp_path):
    """Cells of a student's own are more than nothing, but no answers."""
    notebook = nbformat.reads(COPY.decode(), as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell("x = 1"))
    one = nbformat.writes(notebook).encode()
    files = {"a.ipynb": one, "b.ipynb": one + b"\n", "c.ipynb": COPY}
    intake = take_in(write_submissions(tmp_path, files), COURSE)
    (note,) = intake.notes
    assert "ann/b.ipynb counts, the last by time; not ann/" in note


def test_times_in_a_zip_tell_the_last_if_they_differ(tmp_path):
    path = tmp_path / "class.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, day, data in (("b", 2, PART), ("a", 3, FULL)):
            info = zipfile.ZipInfo(f"ann/{name}.ipynb", (2024, 5, day, 12, 0, 0))
            archive.writestr(info, data)
        archive.writestr("bo/x.ipynb", FULL)
    ann, _ = take_in(path, COURSE).submissions
    assert ann.read() == FULL
    same = zipped(tmp_path / "same.zip", {"ann/b.ipynb": PART, "ann/a.ipynb": FULL})
    (ann,) = take_in(same, COURSE).submissions
    assert ann.read() == PART


def test_best_takes_all_with_answers(tmp_path):
    files = {"a.ipynb": FULL, "b.ipynb": COPY, "c.ipynb": PART}
    intake = take_in(write_submissions(tmp_path, files), COURSE, "best")
    assert [one.notebook for one in intake.submissions] == ["a.ipynb", "c.ipynb"]
    assert [codes(one) for one in intake.submissions] == [["best-of-several"]] * 2


def test_notebooks_of_labs_that_were_not_chosen_are_left_out(tmp_path):
    other = nbformat.writes(COURSE.lab("bayes_by_backprop_b").released()).encode()
    files = {"ann/a.ipynb": FULL, "ann/b.ipynb": other, "bo/b.ipynb": other}
    chosen = {"bayes_by_backprop_a"}
    intake = take_in(zipped(tmp_path / "class.zip", files), COURSE, labs=chosen)
    ann, bo = intake.submissions
    assert (ann.notebook, ann.lab, codes(ann)) == ("a.ipynb", *chosen, [])
    assert (bo.notebook, bo.lab, codes(bo)) == ("b.ipynb", "", ["not-chosen"])
    assert bo.problem.endswith("that was not graded this time (bayes_by_backprop_b).")
    left_out = "was left out, because --practical names other labs."
    assert intake.notes == (
        f"ann · bayes_by_backprop_b: ann/b.ipynb {left_out}",
        f"bo · bayes_by_backprop_b: bo/b.ipynb {left_out}",
    )


def test_each_task_counts_where_it_is_right():
    def result(name, right, text):
        verdicts = [Verdict(t, 2, "right" if t in right else "wrong") for t in "abc"]
        return Result(
            "ann",
            STEM,
            name,
            name,
            verdicts=tuple(verdicts),
            written=(Written("q", 3, text),),
            flags=(flag("best-of-several", name, detail="of 2"),),
        )

    one, two = result("1.ipynb", "ab", ""), result("2.ipynb", "bc", "Because.")
    joined = best_by_task([two, one])
    roster = Roster(joined)
    counting = roster.counting("ann", STEM)
    assert (counting.notebook, counting.earned) == ("1.ipynb", 6)
    assert counting.written[0].text == "Because."
    assert "(of 2); c from 2.ipynb; q from 2.ipynb." in counting.flags[0].message
    assert roster.spare == [dataclasses.replace(two, spare=True)]


@pytest.mark.parametrize("right", [("a", "a"), ("ab", "a"), ("a", "ab")])
def test_the_last_version_of_an_answer_in_words_counts(right):
    def result(name, right, text):
        verdicts = [Verdict(t, 2, "right" if t in right else "wrong") for t in "ab"]
        words = Written("q", 3, text), Written("r", 3, f"{name} wrote this.")
        given = Result("ann", STEM, name, name, verdicts=tuple(verdicts), written=words)
        return dataclasses.replace(given, flags=(flag("best-of-several", name),))

    first, second = map(result, ("z", "b"), right, ("A draft.", "Revised."))
    blank = result("a", "", "")
    results = best_by_task([first, second, blank])
    (counting,) = (one for one in results if not one.spare)
    assert counting.notebook == ("z" if right[0] > right[1] else "b")
    assert [one.text for one in counting.written] == ["Revised.", "a wrote this."]
    told = counting.flags[0].message
    assert ("q from b" in told) == (counting.notebook == "z")
    assert "r from a" in told


@pytest.mark.parametrize(
    ("early", "late", "days", "final", "deducted"),
    [
        (range(6), range(6, 10), 7, "6", "0"),  # 4 points more, 7 less
        (range(9), range(10), 7, "9", "0"),
        (range(6), range(6, 10), 2, "8", "2"),  # worth its lateness
        (range(4), range(10), 2, "8", "2"),  # the late one is the better one
        (range(9), range(1), 7, "9", "0"),  # nothing is taken from it
        (range(8), range(10), 2, "8", "0"),  # no gain
    ],
)
def test_a_late_notebook_joins_only_if_the_final_points_rise(
    early, late, days, final, deducted, tmp_path, monkeypatch
):
    """Grades of 10 points stand in for those of kernels."""
    right = {"a.ipynb": early, "b.ipynb": late}

    def grade(submissions, *_):
        return [
            Result(
                one.student,
                STEM,
                one.notebook,
                one.digest,
                part="a",
                verdicts=tuple(
                    Verdict(
                        f"{STEM}/{n}",
                        1,
                        "right" if n in right[one.notebook] else "wrong",
                    )
                    for n in range(10)
                ),
            )
            for one in submissions
        ], 0

    monkeypatch.setattr(app, "_grade", grade)
    monkeypatch.setattr(app, "examples", lambda *_: {})
    monkeypatch.chdir(COURSE.root)
    root = write_submissions(tmp_path / "in", {"a.ipynb": FULL, "b.ipynb": PART})
    times, out = tmp_path / "times.csv", tmp_path / "out"
    times.write_text(
        "submission,when\nann/a.ipynb,2026-10-01T11:00\n"
        f"ann/b.ipynb,2026-10-0{1 + days}T11:00\n"
    )
    given = ["grade", root, "--out", out, "--several", "best", "--times", times]
    given += ["--due", "2026-10-01T12:00", "--late", "10%/day"]
    done = CliRunner().invoke(main, [str(one) for one in given])
    assert done.exit_code == 0, done.output
    lines = (out / "grades.csv").read_text("utf-8-sig").splitlines()
    (ann,) = csv.DictReader(lines)
    assert (ann["final"], ann["deducted"]) == (final, deducted)
    flags = (out / "report.html").read_text("utf-8")
    assert ("b.ipynb is left out" in flags) == (deducted == "0")


def test_a_join_is_as_late_as_the_latest_answer_in_it():
    def result(name, right, seconds):
        verdicts = [Verdict(t, 9, "right" if t in right else "wrong") for t in "abc"]
        given = Result("ann", STEM, name, name, verdicts=tuple(verdicts))
        return dataclasses.replace(given, late=Late(seconds, 0.0))

    rule = Policy(datetime(2026, 10, 1, 12), Path(), 0.01, 86_400, grace=600)
    group = [result("1", "a", 0), result("2", "b", 90_000), result("3", "c", 9)]
    *others, last = best_by_task(group, rule)
    assert (last.earned, last.late.seconds) == (27, 90_000)
    assert [one.spare for one in others] == [True, True]
    _, third, _ = best_by_task([*group[::2], result("2", "", 90_000)], rule)
    assert (third.earned, third.late.seconds) == (18, 9)


@pytest.mark.long
def test_a_file_that_costs_too_much_costs_its_own_students_row(tmp_path, monkeypatch):
    costly = b'{"cells":[' + b'{"source":""},' * 1_400_000 + b"{}]}"
    honest = json.loads(COPY)
    files = {"ann/x.ipynb": costly, "bo/x.ipynb": json.dumps(honest).encode()}
    monkeypatch.setattr(reading, "SECONDS", 1.0)
    monkeypatch.setattr(
        bounded.bounded, "__kwdefaults__", {"seconds": 1.0, "memory": 2**32}
    )
    ann, bo = take_in(zipped(tmp_path / "class.zip", files), COURSE).submissions
    assert codes(ann) == ["too-costly"]
    assert "could not be read within the limits" in ann.problem
    assert not bo.problem


# --- the whole command ----------------------------------------------------------------


@pytest.mark.sandbox
def test_the_sheet_says_why_there_is_nothing_to_grade(tmp_path):
    root = tree(tmp_path / "in", {"cy/homework.pdf": b"%PDF"})
    (root / "dora").mkdir()
    process = start(root, tmp_path / "out")
    said, _ = process.communicate()
    assert process.returncode == 1, said
    assert "not graded: dora · dora: The folder is empty" in said
    one_line = "not graded: cy · homework.pdf: The submission contains no notebook (1 file: .pdf)."
    assert one_line in said.splitlines()
    cy, dora = table(tmp_path / "out").splitlines()[1:]
    assert "homework.pdf: The submission contains no notebook (1 file: .pdf)." in cy
    assert "dora: The folder is empty: there is no notebook in it." in dora


def test_the_page_of_a_notebook_that_does_not_count_says_which_one_does(tmp_path):
    question = "bayes-by-backprop/survey"
    verdict = Verdict("bayes-by-backprop/log-prior", 2, "wrong", reason="It is off.")
    made = {"verdicts": (verdict,), "written": (Written(question, 3, "Mine.", 2),)}
    best = Result("ann", STEM, "b.ipynb", "1" * 64, **made)
    spare = Result("ann", STEM, "a.ipynb", "0" * 64, spare=True, **made)
    comments = {("ann", STEM, question): "Well put."}
    write_feedback([spare, best], tmp_path, comments=comments)
    one, other = (
        text_of((tmp_path / "feedback" / "ann" / name).read_text("utf-8"))
        for name in ("a.html", "b.html")
    )
    assert "Another notebook of yours counts" in one
    assert "on the page of b.ipynb" in one
    assert "It is off." in one
    own = ("0 of 1 task right", "2 / 5", "Well put.")
    assert [said for said in own if said in one.replace("\u202f", " ")] == []
    assert [said for said in own if said not in other.replace("\u202f", " ")] == []
    assert "Another notebook" not in other


@pytest.mark.long
@pytest.mark.sandbox
def test_best_of_several_in_the_sheets_the_summary_and_the_pages(tmp_path):
    other = solved("log_prior")
    root = write_submissions(
        tmp_path / "in", {"a.ipynb": PART, "b.ipynb": other, "c.ipynb": COPY}
    )
    tree(
        root,
        {"Jose\u0301/x.ipynb": FULL, "Jos\xe9/x.ipynb": PART, "jose/x.ipynb": FULL},
    )
    process = start(root, tmp_path / "out", "--several", "best", "--jobs", "2")
    said, _ = process.communicate()
    assert process.returncode == 0, said
    assert "look: José: taken as one student: 'Jos\\xe9' (folder)" in said
    assert "names that are nearly the same: José, jose." in said
    assert "each task counts where it is right, of ann/a.ipynb, ann/b.ipynb" in said
    grades = json.loads((tmp_path / "out/grades.json").read_text("utf-8"))
    validate(grades, schema())
    points = {one["student"]: one["points"] for one in grades["students"]}
    assert points["ann"] == points["jose"] == points["José"] > 1
    pages = [
        path.read_text("utf-8") for path in (tmp_path / "out/feedback").rglob("*.html")
    ]
    assert sum("reparametrise from a.ipynb" in page for page in pages) == 1
    assert not any("nearly the same" in page for page in pages)
    assert "nearly the same" in (tmp_path / "out/report.html").read_text("utf-8")
