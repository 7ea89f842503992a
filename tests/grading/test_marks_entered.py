"""Marks that are entered in ``marks-new.csv`` before it is renamed: the next run keeps them."""

from dataclasses import replace

import pytest
from click.testing import CliRunner
from graded_class import FILE, ROOT, write_submissions
from test_marking import ONE, STEM, result
from test_marks_kept import filled_in, rows_in

from commands import main
from grading import app
from grading.record import Result, Verdict, Written
from grading.reports.alike import version_of
from grading.reports.entered import overridden
from grading.reports.marking import read_comments, read_marks, write_marking
from grading.reports.roster import Roster
from grading.settings import STATE

OLD, LATER = "Because.", "Because of the prior."
TEXTS = {"anna": OLD, "bert": "Hence.", "cora": "Who knows?"}


def a_class(*names, **texts):
    texts = TEXTS | texts
    return [result(name, written=(Written(ONE, 3, texts[name]),)) for name in names]


def run(tmp_path, class_):
    """What a run does with the tables."""
    path, comments = tmp_path / "marks.csv", {}
    if path.exists():
        comments = read_comments(path, class_)
        class_ = read_marks(path, class_)
    return write_marking(Roster(class_), tmp_path, {}, comments)[1]


def enter(tmp_path, *changes, name="marks-new.csv"):
    """Each change is a student, and what is put in place of an entry."""
    filled_in(
        tmp_path,
        *((f"{who},{STEM},{ONE},{a}", f"{who},{STEM},{ONE},{b}") for who, a, b in changes),
        name=name,
    )  # fmt: skip


def entered(tmp_path):
    return {row[0]: row[3:] for row in rows_in(tmp_path / "marks-new.csv")}


@pytest.fixture
def marked(tmp_path):
    """Two are marked; one of them revises, and a third hands in."""
    run(tmp_path, a_class("anna", "bert"))
    enter(tmp_path, ("anna", ",", "1,Why?"), ("bert", ",", "1,"), name="marks.csv")
    class_ = a_class("anna", "bert", "cora", anna=LATER)
    assert run(tmp_path, class_).name == "marks-new.csv"
    assert entered(tmp_path)["anna"] == ("1", "Why?", "", version_of(OLD))
    return class_


def test_what_is_entered_in_the_new_table_is_kept(tmp_path, marked):
    """Marks of answers that were marked before, comments, and a version that was emptied."""
    enter(
        tmp_path,
        ("anna", f"1,Why?,,{version_of(OLD)}", "3,Well done,,"),
        ("bert", "1,", "2,"),
        ("cora", ",", "0,"),
    )
    before = entered(tmp_path)
    for _ in range(3):
        run(tmp_path, marked)
        assert entered(tmp_path) == before
    assert before["anna"] == ("3", "Well done", "", "")
    assert [key[0] for key in overridden(tmp_path)] == ["anna", "bert"]
    # An answer is revised, and another is not graded: nothing is lost.
    failed = replace(marked[1], graded=False, problem="Oh.", written=())
    cora = a_class("cora", cora="Nobody does.")
    run(tmp_path, [marked[0], failed, *cora, result("di")])
    now = entered(tmp_path)
    assert {name: now[name] for name in before} == before
    (tmp_path / "marks-new.csv").replace(tmp_path / "marks.csv")
    read = read_marks(tmp_path / "marks.csv", [*marked, result("di")])
    assert [one.written[0].marks for one in read] == [3, 2, 0, None]


def test_the_new_table_follows_the_old_one_where_nothing_was_entered(tmp_path, marked):
    enter(tmp_path, ("bert", "1,", "2,"))
    enter(tmp_path, ("anna", "1,Why?", "3,"), ("bert", "1,", "1,Yes."), name="marks.csv")  # fmt: skip
    for _ in range(2):
        run(tmp_path, marked)
        assert entered(tmp_path)["anna"] == ("3", "", "", version_of(OLD))
        assert entered(tmp_path)["bert"][:2] == ("2", "Yes.")
        assert [key[0] for key in overridden(tmp_path)] == ["bert"]
    # Both tables have changed: the new one keeps its own, and the output says so.
    enter(tmp_path, ("bert", "1,Yes.", "0,Yes."), name="marks.csv")
    run(tmp_path, marked)
    assert entered(tmp_path)["bert"][:2] == ("2", "Yes.")
    assert [key[0] for key in overridden(tmp_path)] == ["bert"]


def test_what_is_entered_is_kept_after_the_new_table_itself_was_merged(
    tmp_path, marked
):
    enter(tmp_path, ("anna", "1,Why?", "3,Good."), ("cora", ",", "2,"))
    before, path = entered(tmp_path), tmp_path / "marks-new.csv"
    given = read_marks(path, marked), tmp_path, {}, read_comments(path, marked)
    write_marking(Roster(given[0]), *given[1:])  # --manual marks-new.csv
    for _ in range(2):
        assert entered(tmp_path) == before
        run(tmp_path, marked)


def test_nothing_entered_is_lost_without_the_copy(tmp_path, marked):
    """Of an earlier version of this program, or after the hidden folder was deleted."""
    enter(tmp_path, ("anna", "1,Why?", "3,Good."), ("cora", ",", "2,"))
    before = entered(tmp_path)
    (tmp_path / STATE / "marks-new.csv").unlink()
    for _ in range(2):
        run(tmp_path, marked)
        assert entered(tmp_path) == before
        assert [key[0] for key in overridden(tmp_path)] == ["anna"]


def test_a_cell_of_same_as_that_was_emptied_stays_empty(tmp_path):
    run(tmp_path, a_class("anna"))
    enter(tmp_path, ("anna", ",", "1,"), name="marks.csv")
    class_ = a_class("anna", "bert", "cora", bert=OLD, cora=OLD)
    run(tmp_path, class_)
    enter(tmp_path, ("bert", ",,anna", ",,"))
    run(tmp_path, class_)
    assert entered(tmp_path)["bert"][:3] == ("", "", "")
    assert entered(tmp_path)["cora"][:3] == ("", "", "anna")
    marks = [
        one.written[0].marks
        for one in read_marks(tmp_path / "marks-new.csv", class_)
    ]  # fmt: skip
    assert marks == [1, None, 1]


def test_a_new_table_that_cannot_be_read_is_not_written_over(tmp_path, marked):
    path = tmp_path / "marks-new.csv"
    path.write_bytes(path.read_bytes().replace(b"Why?", b"Sch\xf6n."))
    before = path.read_bytes()
    run(tmp_path, marked)
    assert path.read_bytes() == before


def test_the_command_says_what_was_entered_in_the_new_table(tmp_path, monkeypatch):
    """Made-up grades stand in for those of kernels."""
    asked = "acting-on-uncertainty/q"

    def grade(submissions, *_):
        made = {"verdicts": (Verdict("acting-on-uncertainty/pinball-loss", 2, "right"),), "part": "a"}  # fmt: skip
        return [Result(one.student, "acting_on_uncertainty", FILE, "0" * 64, written=(Written(asked, 3, one.student),), **made) for one in submissions], 1  # fmt: skip

    monkeypatch.setattr(app, "_grade", grade)
    monkeypatch.setattr(app, "examples", lambda *_: {})
    monkeypatch.setattr(app, "asked_in", lambda _: {"acting_on_uncertainty": [asked]})
    monkeypatch.setattr("grading.reports.outcome.asked_in", app.asked_in)
    monkeypatch.chdir(ROOT)
    write_submissions(tmp_path / "in", 2)
    out = tmp_path / "out"
    out.mkdir()
    (out / "grades.json").write_text("{}")
    row = f"student-00,acting_on_uncertainty,{asked},1,"
    (out / "marks.csv").write_text(f"student,practical,question,marks,comment\n{row}\n")
    given = ["grade", str(tmp_path / "in"), "--out", str(out)]
    done = CliRunner().invoke(main, given)
    assert done.exit_code == 0, done.output
    assert "has other entries" not in done.output
    filled_in(out, (row, row.replace(",1,", ",2,")), name="marks-new.csv")
    done = CliRunner().invoke(main, given)
    said = "look: marks-new.csv has other entries than marks.csv for student-00 · q;"
    assert said in done.output
    assert row.replace(",1,", ",2,") in (out / "marks-new.csv").read_text("utf-8-sig")
    (out / "marks-new.csv").write_bytes(b"\xff")
    done = CliRunner().invoke(main, given)
    assert done.exit_code != 0
    assert "marks-new.csv:1: It is not UTF-8" in done.output
