"""Finding submissions in all layouts of learning platforms, and under hostile names."""

import os
import re
from pathlib import Path

import pytest
from submission_files import BACKPROP, DEEP, codes, found_in, notebook, tree, zipped

from grading.submissions.cells import MAX_BYTES, NotGradable
from grading.submissions.intake import take_in
from grading.submissions.names import read_name, shown
from grading.submissions.submission import Submission, with_unique_names
from grading.worker import blank
from project.errors import CourseError


def told(found):
    return [(one.student, one.identifier, one.practical, one.notebook) for one in found]


LAYOUTS = {
    "folders": (
        {
            "Bo Ek/deep.ipynb": notebook(),
            "Bo Ek/more/backprop.ipynb": notebook(BACKPROP),
            "ann/01a-deep-ensembles.ipynb": notebook(),
        },
        [
            ("Bo Ek", "", BACKPROP, "backprop.ipynb"),
            ("Bo Ek", "", DEEP, "deep.ipynb"),
            ("ann", "", DEEP, "01a-deep-ensembles.ipynb"),
        ],
    ),
    "moodle, flat": (
        {
            "Ek Bo_12345_assignsubmission_file_01-deep_ensembles.ipynb": notebook(),
            "Ek_Å Ann_7_assignsubmission_file_x.ipynb": notebook(),
            "Ek_Å Ann_7_assignsubmission_onlinetext_onlinetext.html": b"text",
        },
        [
            ("Ek Bo", "12345", DEEP, "01-deep_ensembles.ipynb"),
            ("Ek_Å Ann", "7", DEEP, "x.ipynb"),
        ],
    ),
    "moodle, folders": (
        {
            "Ek Bo_12345_assignsubmission_file_/x.ipynb": notebook(),
            "Ek Bo_12345_assignsubmission_file_/more/y.ipynb": notebook(BACKPROP),
            "Li Su_7_assignsubmission_file/z.ipynb": notebook(),
        },
        [
            ("Ek Bo", "12345", BACKPROP, "y.ipynb"),
            ("Ek Bo", "12345", DEEP, "x.ipynb"),
            ("Li Su", "7", DEEP, "z.ipynb"),
        ],
    ),
    "canvas": (
        {
            "ekbo_12345_67890_01a-deep-ensembles.ipynb": notebook(),
            "lisu_LATE_7_8_x_y.ipynb": notebook(),
        },
        [
            ("ekbo", "12345", DEEP, "01a-deep-ensembles.ipynb"),
            ("lisu", "7", DEEP, "x_y.ipynb"),
        ],
    ),
    "plain, flat": (
        {
            "ann_x.ipynb": notebook(),
            "mary_jane_01a-deep-ensembles.ipynb": notebook(),
            "bo.ipynb": notebook(),
        },
        [
            ("ann", "", DEEP, "x.ipynb"),
            ("bo", "", DEEP, "bo.ipynb"),
            ("mary_jane", "", DEEP, "01a-deep-ensembles.ipynb"),
        ],
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("form", ["folder", "zip", "wrapped zip"])
def test_layouts_of_platforms_are_read(layout, form, tmp_path):
    files, right = LAYOUTS[layout]
    if form == "folder":
        path = tree(tmp_path / "class", files)
    elif form == "zip":
        path = zipped(tmp_path / "class.zip", files)
    else:
        wrapped = {f"class/{name}": data for name, data in files.items()}
        path = zipped(tmp_path / "class.zip", wrapped)
    found = found_in(path)
    assert told(found) == right
    for one in found:
        assert one.read().startswith(b"{")
        assert one.size == len(one.read())
        assert len(one.digest) == 64
        assert one.problem == ""
        assert codes(one) == (["late"] if one.student == "lisu" else [])


def test_one_students_own_notebooks_are_that_students(tmp_path):
    files = {
        "01a-deep-ensembles.ipynb": notebook(),
        "bayes_by_backprop (1).ipynb": notebook(BACKPROP),
    }
    folder = tree(tmp_path / "Ann", files)
    assert {one.student for one in found_in(folder)} == {"Ann"}
    single = folder / "01a-deep-ensembles.ipynb"
    assert told(found_in(single)) == [("Ann", "", DEEP, single.name)]


def test_the_last_of_several_is_taken_and_flagged(tmp_path):
    cases = {
        "canvas": (
            {
                "ekbo_1_100_x.ipynb": notebook(note="first"),
                "ekbo_1_100_x-2.ipynb": notebook(note="third"),
                "ekbo_1_100_x-1.ipynb": notebook(note="second"),
                "ekbo_1_99_z.ipynb": notebook(note="older"),
                "ekbo_1_101_backprop.ipynb": notebook(BACKPROP),
            },
            {DEEP: "third", BACKPROP: ""},
        ),
        "browser": (
            {f"ann/x{n}.ipynb": notebook(note=n) for n in ("", " (2)", " (10)")},
            {DEEP: " (10)"},
        ),
        "names": (
            {f"ann/{n}.ipynb": notebook(note=n) for n in ("first", "second")},
            {DEEP: "second"},
        ),
        "too-large": (
            {"ann/deep-ensembles.ipynb": notebook(note="fits")}
            | {"ann/deep-ensembles-1.ipynb": b" " * (MAX_BYTES + 1)},
            {DEEP: "fits"},
        ),
    }
    for name, (files, right) in cases.items():
        found = found_in(tree(tmp_path / name, files))
        assert {one.practical for one in found} == set(right)
        for one in found:
            assert f'"note": "{right[one.practical]}"'.encode() in one.read()
            if one.practical == DEEP:
                assert codes(one) == ["resubmitted"]
                (flag,) = one.flags
                assert f"(of {len(files) - (name == 'canvas')})" in flag.message
            else:
                assert codes(one) == []


def test_the_same_file_twice_is_no_resubmission(tmp_path):
    files = {"ann/x.ipynb": notebook(), "ann/copy/x.ipynb": notebook()}
    (one,) = found_in(tree(tmp_path, files))
    assert one.flags == ()


def test_two_students_of_one_name_stay_two(tmp_path):
    files = {
        "Ek Bo_1_assignsubmission_file_/x.ipynb": notebook(note=1),
        "Ek Bo_2_assignsubmission_file_/x.ipynb": notebook(note=2),
        "Ek Bo_3_assignsubmission_file_/report.pdf": b"",
    }
    found = found_in(tree(tmp_path, files))
    names = [blank(one).student for one in found]
    assert names == ["Ek Bo_1", "Ek Bo_2", "Ek Bo_3"]
    assert [one.problem == "" for one in found] == [True, True, False]


def test_a_namesake_renames_nobody_and_notes_have_the_numbers(tmp_path):
    """Tables that somebody has filled in still name the first student."""
    folder = "Anna M_{}_assignsubmission_file_"
    own = {f"{folder.format(123)}/{n}.ipynb": notebook(note=n) for n in "xy"}
    (before,) = take_in(tree(tmp_path, own)).submissions
    again = {f"{folder.format(45)}/{n}.ipynb": notebook(note=2 * n) for n in "xy"}
    intake = take_in(tree(tmp_path, again))
    assert blank(before).student == "Anna M_123"
    assert [blank(one).student for one in intake.submissions] == [
        "Anna M_123",
        "Anna M_45",
    ]
    assert [one.notebook for one in intake.submissions] == [before.notebook] * 2
    starts = [note.partition(" · ")[0] for note in intake.notes]
    assert starts == ["Anna M (123)", "Anna M (45)"]


def test_notebooks_of_one_name_get_names_of_their_own(tmp_path):
    files = {
        "ann/a/x.ipynb": notebook(DEEP),
        "ann/b/X.ipynb": notebook(BACKPROP),
    }
    found = found_in(tree(tmp_path, files))
    assert {one.notebook for one in found} == {"X.ipynb", "x (2).ipynb"}


def test_names_without_a_suffix_get_a_number_at_their_end():
    blank = Submission("ann", "", "", "solution", Path("solution"))
    names = [one.notebook for one in with_unique_names([blank, blank])]
    assert names == ["solution", "solution (2)"]


def test_what_is_no_notebook_is_counted(tmp_path):
    files = {
        "ann/x.ipynb": notebook(),
        "ann/.ipynb_checkpoints/x-checkpoint.ipynb": notebook(note="old"),
        "ann/report.pdf": b"%PDF",
        "__MACOSX/ann/._x.ipynb": b"\x00",
        ".DS_Store": b"",
        "ann/._x.ipynb": b"\x00",
        "Ek Bo_5_assignsubmission_file_/report.pdf": b"",
        "Ek Bo_5_assignsubmission_file_/figure.png": b"",
    }
    for path in (tree(tmp_path / "a", files), zipped(tmp_path / "a.zip", files)):
        found = take_in(path)
        assert len(found.skipped) == 7
        assert found.skipped[:2] == (
            "Ek Bo_5_assignsubmission_file_/figure.png",
            "Ek Bo_5_assignsubmission_file_/report.pdf",
        )
        bo, ann = found.submissions
        assert codes(ann) == []
        assert codes(bo) == ["no-notebook"]
        with pytest.raises(NotGradable, match="submission contains no notebook"):
            bo.read()


def test_a_notebook_of_no_practical_is_kept_and_flagged(tmp_path):
    files = {
        "ann/Untitled.ipynb": b'{"cells": []}',
        "ann/Untitled1.ipynb": b"",
        "ann/Untitled2.ipynb": notebook()[:-9],
        "ann/Untitled3.ipynb": b" " * (MAX_BYTES + 1),
        "ann/x.ipynb": notebook(),
    }
    found = found_in(tree(tmp_path, files))
    assert [(one.practical, codes(one)) for one in found] == [
        ("", ["unknown-practical"]),
        ("", ["unknown-practical"]),
        ("", ["unknown-practical"]),
        ("", ["too-large"]),
        (DEEP, []),
    ]
    # If the file itself is at fault, the sentence says so; it is not read if it is too large.
    details = [re.findall(r"\((.*)\)", one.problem) for one in found]
    assert details == [
        ["the notebook has no cells"],
        ["the file is empty"],
        ["the file is not valid JSON from line 1 on: it may be cut off"],
        [],
        [],
    ]


def test_an_empty_or_broken_file_is_told_by_its_name(tmp_path):
    files = {"ann/01a-deep-ensembles.ipynb": b"", "bo_deep-ensembles.ipynb": b"\xff"}
    found = found_in(tree(tmp_path, files))
    assert [(one.practical, one.problem) for one in found] == [(DEEP, "")] * 2


# --- names ----------------------------------------------------------------------------

HOSTILE = [
    "../../evil/deep.ipynb",
    "/etc/deep.ipynb",
    "C:\\Windows\\deep.ipynb",
    "..\\..\\evil2\\deep.ipynb",
    "=cmd|' /C calc'!A0/deep.ipynb",
    "<script>alert(1)</script>/deep.ipynb",
    "spaces and  more/deep.ipynb",
    "emoji 🎉👩‍🔬/deep.ipynb",
    "new\nline\ttab\x1b[31m/deep.ipynb",
    "right\u202eto-left/deep.ipynb",
    "ann/../ann2/deep.ipynb",
    " /deep.ipynb",
    "x" * 500 + "/" + "y" * 500 + ".ipynb",
    "é" * 200 + "/deep.ipynb",
    "//double//deep.ipynb",
    "./dot/deep.ipynb",
    "con/deep.ipynb",
    "..._/deep.ipynb",
]


def test_hostile_names_in_a_zip_become_names_that_can_stand_in_a_path(tmp_path):
    files = {name: notebook(note=str(n)) for n, name in enumerate(HOSTILE)}
    outside = tmp_path / "outside"
    outside.mkdir()
    found = found_in(zipped(outside / "class.zip", files))
    assert len(found) == len(HOSTILE)
    assert [path.name for path in tmp_path.rglob("*")] == ["outside", "class.zip"]
    for one in found:
        for name in (one.student, one.notebook):
            assert name not in ("", ".", "..")
            assert not set(name) & set("/\\\n\t\x1b\u202e")
            assert len(name.encode()) < 200
            (tmp_path / "page" / one.student).mkdir(parents=True, exist_ok=True)
        assert one.read()
    assert len({one.student for one in found}) == len(found)
    unsafe = {one.student for one in found if "unsafe-name" in codes(one)}
    assert unsafe == {
        "evil (outside)",
        "etc (outside)",
        "C: (outside)",
        "evil2 (outside)",
        "ann (outside)",
        "double (outside)",
    }
    students = {one.student for one in found}
    assert students > {"emoji 🎉👩‍🔬", "con", "<script>alert(1)<", "=cmd|'"}


def test_a_path_out_of_a_folder_is_never_somebody_elses(tmp_path):
    files = {
        "ann/deep.ipynb": notebook(note="ann's"),
        "../ann/deep-9.ipynb": notebook(note="mine"),
        "bo/../ann/deep-9.ipynb": notebook(note="mine"),
    }
    found = {one.student: one for one in found_in(zipped(tmp_path / "a.zip", files))}
    assert b"ann's" in found["ann"].read()
    assert codes(found["ann"]) == []


def test_a_student_cannot_take_anothers_name_by_the_name_of_a_file():
    for name, student in (
        ("Ek Bo_1_assignsubmission_file_Li_2_assignsubmission_file_x.ipynb", "Ek Bo"),
        ("ekbo_1_2_lisu_3_4_x.ipynb", "ekbo"),
    ):
        assert read_name((name,)).student == student


def test_members_that_are_not_said_to_be_utf8_are_read_as_such(tmp_path):
    """macOS writes such zips."""
    path = zipped(tmp_path / "a.zip", {"Bj*rn/deep.ipynb": notebook()})
    data = path.read_bytes().replace(b"Bj*rn", "Bjö".encode() + b"r")
    path.write_bytes(data)
    (one,) = found_in(path)
    assert one.student == "Björ"


def test_long_names_keep_their_suffix():
    assert re.search(r"n….{8}\.ipynb$", shown("n" * 300 + ".ipynb"))
    assert shown("n" * 300 + ".ipynb") != shown("n" * 301 + ".ipynb")
    assert shown("\ud800.ipynb") == "\ufffd.ipynb"


@pytest.mark.skipif(os.name == "nt", reason="names there are not bytes")
def test_a_file_whose_name_is_not_utf8_is_read(tmp_path):
    folder = tmp_path / os.fsdecode(b"b\xf6")
    folder.mkdir()
    (folder / "deep.ipynb").write_bytes(notebook())
    (one,) = found_in(tmp_path)
    assert one.student == "b\ufffd"
    assert one.read()


# --- wrong use ------------------------------------------------------------------------


def test_wrong_use_names_the_path_and_the_remedy(tmp_path):
    text = tree(tmp_path, {"notes.txt": b"hello"}) / "notes.txt"
    broken = tree(tmp_path, {"broken.zip": b"PK\x03\x04 no"}) / "broken.zip"
    empty = zipped(tmp_path / "empty.zip", {})
    (tmp_path / "nothing").mkdir()
    for path, words in (
        (tmp_path / "absent", "There is no such folder or file. Give a folder"),
        (text, "neither a folder nor a zip. Give"),
        (broken, "neither a folder nor a zip. Give"),
        (empty, "There is no notebook in it. Give the folder"),
        (tmp_path / "nothing", "There is no notebook in it. Give the folder"),
    ):
        with pytest.raises(CourseError, match=words) as error:
            found_in(path)
        assert str(error.value).startswith(str(path))


def test_far_too_many_files_side_by_side_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("grading.submissions.files.MAX_FILES", 3)
    tree(tmp_path, {f"{n}_deep.ipynb": b"" for n in range(5)})
    with pytest.raises(CourseError, match="more than 3 files side by side"):
        found_in(tmp_path)


def test_the_order_is_that_of_names_alone(tmp_path):
    files = {f"s{n}/deep.ipynb": notebook(note=n) for n in range(12)}
    one = zipped(tmp_path / "one.zip", files)
    two = zipped(tmp_path / "two.zip", dict(reversed(files.items())))
    assert [(s.student, s.digest) for s in found_in(one)] == [
        (s.student, s.digest) for s in found_in(two)
    ]
