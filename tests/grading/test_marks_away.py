"""Rows of students who are not in the class: they stay, unless a name seems to be misspelt."""

import pytest
from click.testing import CliRunner
from graded_class import FILE, ROOT, write_submissions
from test_marking import ONE, STEM, TWO, result, written
from test_marks_kept import filled_in, rows_in

from commands import main
from grading import app
from grading.record import Result, Verdict, Written
from grading.reports.marking import read_comments, read_marks, write_marking
from grading.reports.marks import absent_students
from grading.reports.roster import Roster
from project.errors import CourseError

LEFT = "José García_12373"


def marks_of(results):
    return {one.student: one.written[0].marks for one in results}


def test_marks_of_a_student_who_has_left_count_when_the_student_is_back(tmp_path):
    path, present = tmp_path / "marks.csv", [result("ada"), result("bob")]
    write_marking(Roster([*present, result(LEFT)]), tmp_path, {})
    row = f"{LEFT},{STEM},{ONE},,,ada"
    filled_in(tmp_path, (row, row.replace(",,,", ",3,Good.,")))
    assert marks_of(read_marks(path, present)) == {"ada": None, "bob": None}
    assert absent_students(path, present) == [LEFT]
    assert absent_students(path, [*present, result(LEFT)]) == []
    # They are also in the table with rows for new answers.
    class_ = [*present, result("cy")]
    marked, comments = read_marks(path, class_), read_comments(path, class_)
    new = write_marking(Roster(marked), tmp_path, {}, comments)[1]
    assert new.name == "marks-new.csv"
    assert [row[2:5] for row in rows_in(new) if row[0] == LEFT] == [(ONE, "3", "Good.")]
    again = read_marks(new, [*class_, result(LEFT)])
    assert marks_of(again) == {"ada": None, "bob": None, "cy": None, LEFT: 3}


def test_others_refer_to_the_row_of_a_student_who_has_left(tmp_path):
    rows = f"{LEFT},{STEM},{ONE},2,", f"ada,{STEM},{ONE},,,{LEFT}"
    path = written(tmp_path, *rows, header="student,practical,question,marks,comment,same as")  # fmt: skip
    assert marks_of(read_marks(path, [result("ada")])) == {"ada": 2}


@pytest.mark.parametrize(
    ("present", "lines"),
    [
        ("ada", [f"zoe,{STEM},{ONE},1,", f"ada,{STEM},{TWO},1,"]),  # another name
        ("ada", [f"adda,{STEM},{ONE},,", f"ada,{STEM},{TWO},1,"]),  # no marks
        ("ada", [f"adda,{STEM},{ONE},,"]),
        ("ada", [f"adda,{STEM},{ONE},1,", f"ada,{STEM},{ONE},,"]),  # both are there
        ("s-07", [f"s-08,{STEM},{ONE},1,", f"s-07,{STEM},{TWO},,"]),  # other numbers
        ("Al Bo_21", [f"Al Bo_12,{STEM},{ONE},1,", f"Al Bo_21,{STEM},{TWO},,"]),
    ],
)
def test_a_student_who_is_not_in_the_class_is_no_mistake(tmp_path, present, lines):
    path = written(tmp_path, *lines)
    assert marks_of(read_marks(path, [result(present)])) == {present: None}
    assert len(absent_students(path, [result(present)])) == 1


@pytest.mark.parametrize("name", ["Anna Maier_12", "Anna_12", "anna meier_12"])
def test_a_name_that_seems_to_be_misspelt_is_a_mistake(tmp_path, name):
    """The student who seems to be meant has no row for the question."""
    who = "Anna_12" if name == "Anna_12" else "Anna Meier_12"
    class_ = [result(who.replace("Anna_", "anna_")), result("bob")]
    lines = f"bob,{STEM},{ONE},1,", f"{name},{STEM},{ONE},1,"
    with pytest.raises(CourseError, match=r"csv:3: There is no student .* mean '") as e:
        read_marks(written(tmp_path, *lines), class_)
    assert f"If not, add a row for {class_[0].student!r}" in str(e.value)
    added = f"{class_[0].student},{STEM},{ONE},,"
    read_marks(written(tmp_path, *lines, added), class_)


def test_the_command_names_students_who_are_not_in_the_class(tmp_path, monkeypatch):
    """Made-up grades stand in for those of kernels."""
    asked = "acting-on-uncertainty/my-interval"

    def grade(submissions, *_):
        made = {"verdicts": (Verdict("acting-on-uncertainty/pinball-loss", 2, "right"),), "part": "a"}  # fmt: skip
        return [Result(one.student, "acting_on_uncertainty", FILE, "0" * 64, written=(Written(asked, 1, "Hence."),), **made) for one in submissions], 1  # fmt: skip

    monkeypatch.setattr(app, "_grade", grade)
    monkeypatch.setattr(app, "examples", lambda *_: {})
    monkeypatch.chdir(ROOT)
    write_submissions(tmp_path / "in", 1)
    names = ["student-00", LEFT, *(f"who-{number}" for number in range(6))]
    rows = [f"{name},acting_on_uncertainty,{asked},1," for name in names]
    marks = tmp_path / "given.csv"
    marks.write_text("\n".join(["student,practical,question,marks,comment", *rows]))
    given = ["grade", str(tmp_path / "in"), "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(main, [*given, "--manual", str(marks)])
    assert done.exit_code == 0, done.output
    assert f"1 mark of {marks} was merged. 7 marks of answers that" in done.output
    said = f"look: {marks} has rows of {LEFT!r}, 'who-0', 'who-1', 'who-2', 'who-3' and 2 more"
    assert f"{said}, not in this class:" in done.output
