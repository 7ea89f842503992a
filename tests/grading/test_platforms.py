"""File and folder names of learning platforms identify the student, at any depth."""

import pytest
from generated_classes import FORMS, laid_out
from submission_files import BACKPROP, codes, notebook

from grading.submissions.intake import take_in

TABLE, PDF = b"1,2", b"%PDF"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "name",
    ["Manifest M", "README R", "Index I", ".htaccess H", "Thumbs T", "Desktop.ini D"],
)
def test_a_platforms_name_counts_before_any_other_rule(form, name, tmp_path):
    """This includes students named like a stray file, and students who submit a table."""
    files = {
        f"{name}_4_assignsubmission_file_/report.pdf": PDF,
        "Bo_5_assignsubmission_file_values.csv": TABLE,
        "cy_6_66_values.xlsx": TABLE,
        f"{name}_7_assignsubmission_file_manifest.json": b"{}",
        f"{name.replace('_', '')}_8_88_deep.pdf": PDF,
        ".dora/report.pdf": PDF,
        "Emil_9_assignsubmission_file_/deep.ipynb": notebook(),
        "grades.csv": TABLE,
    }
    intake = take_in(laid_out(files, form, tmp_path))
    rows = {one.identifier or one.student for one in intake.submissions}
    assert rows == {*"456789", ".dora"}
    assert "Files that belong to no student: grades.csv." in intake.notes


@pytest.mark.parametrize("form", FORMS)
def test_in_the_folder_of_a_section_platforms_names_tell_the_student(form, tmp_path):
    files = {
        "Section A/Anna A_1_assignsubmission_file/x.ipynb": notebook(),
        "Section A/Bo B_2_assignsubmission_file_y.ipynb": notebook(BACKPROP),
        "Section A/readme.txt": b"",
        "Section A/.DS_Store": b"",
        "Section B/Term/Cy_3_assignsubmission_file_/Bo B_2_assignsubmission_file_/z.ipynb": (
            notebook()
        ),
        "Section B/Anna A_1_assignsubmission_file/y.ipynb": notebook(BACKPROP),
        "Section C/di_4_444_x.ipynb": notebook(),
        "Section C/emil_LATE_5_555_x.ipynb": notebook(BACKPROP),
        "Section D/fay_6_666_x.ipynb": notebook(),
    }
    intake = take_in(laid_out(files, form, tmp_path))
    found = {(one.student, one.identifier) for one in intake.submissions}
    assert {identifier for _, identifier in found} == set("123456")
    assert len(found) == 6
    anna = [one for one in intake.submissions if one.identifier == "1"]
    assert [codes(one) for one in anna] == [["same-name"]] * 2
    (note,) = intake.notes
    assert "'Anna A' (moodle, in Section A), 'Anna A' (moodle, in Section B)" in note


@pytest.mark.parametrize("form", ["folder", "zip"])
def test_files_that_only_look_like_canvass_stay_with_their_folder(form, tmp_path):
    names = ("ann/hw_1_2_x", "ann/ex_2_2_y", "bo/hw_1_2_x", "bo/ex_2_3_y")
    files = {f"{name}.ipynb": notebook(note=name) for name in names}
    intake = take_in(laid_out(files, form, tmp_path))
    assert {one.student for one in intake.submissions} == {"ann", "bo"}


@pytest.mark.parametrize("form", ["folder", "zip"])
@pytest.mark.parametrize("begin", ["2026_10_01", "hw_3_1", "hw_3_12"])
def test_dates_and_numbers_in_files_of_a_class_are_not_canvass(begin, form, tmp_path):
    files = {f"{begin}_{name}.ipynb": notebook(note=name) for name in ("ann", "bo")}
    intake = take_in(laid_out(files, form, tmp_path))
    found = sorted(one.student for one in intake.submissions)
    assert found in (["ann", "bo"], [f"{begin}_ann", f"{begin}_bo"])


def test_what_systems_add_beside_files_is_no_submission(tmp_path):
    added = ("ann_x.ipynb:Zone.Identifier", "~$notes.docx", "Icon\r")
    folders = ("lost+found", "@eaDir", "System Volume Information")
    files = {f"{name}_x.ipynb": notebook(note=name) for name in ("ann", "bo")}
    files |= dict.fromkeys(added, b"1") | {f"{name}/1": b"1" for name in folders}
    intake = take_in(laid_out(files, "folder", tmp_path))
    assert {one.student for one in intake.submissions} == {"ann", "bo"}


@pytest.mark.parametrize("form", ["folder", "zip"])
def test_a_platforms_name_in_one_students_folder_is_said(form, tmp_path):
    files = {
        "ann/Bo_7_assignsubmission_file_/x.ipynb": notebook(),
        "cy/x.ipynb": notebook(),
    }
    intake = take_in(laid_out(files, form, tmp_path))
    found = {one.student: codes(one) for one in intake.submissions}
    assert found == {"Bo": ["same-name"], "cy": []}
    said = "Bo: taken as one student: 'Bo' (moodle, in ann), 'ann' (folder)."
    assert intake.notes == (said,)
