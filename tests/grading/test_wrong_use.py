"""Wrong use and full disks: one line with path and remedy, and no partial output."""

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from graded_class import (
    LAB,
    ROOT,
    finish,
    in_process,
    kept,
    refused,
    start,
    write_submissions,
)
from labs import COURSE
from submission_files import content

from grading import app
from grading.classroom import STATE

COMMITTED = subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True)
COMMITTED = COMMITTED.splitlines()


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A class and its grades, with both paths given relative to the current folder."""
    folder = tmp_path_factory.mktemp("graded")
    write_submissions(folder / "in", 2)
    paths = (os.path.relpath(folder / name, ROOT) for name in ("in", "out"))
    finish(start(*paths, "--jobs", "2"))
    return folder


def test_relative_paths_are_relative_to_the_current_folder(graded):
    assert {"grades.csv", "report.html"} <= {p.name for p in (graded / "out").iterdir()}
    assert len(kept(graded / "out")) == 2


@pytest.mark.parametrize(
    ("out", "said"),
    [
        ("", "'': This path is empty."),
        (" ", "'': This path is empty."),
        ("file", "file: This is a file, not a folder. Name another folder"),
        ("file/grades", "file: This is a file, not a folder."),
        ("link", "file: This is a file, not a folder."),
        ("/dev/null", "/dev/null: This is a pipe or a device"),
        ("in", "in: The grades would be written among the submissions. Name another"),
        ("in/grades", "in/grades: The grades would be written among the submissions."),
        (
            "x/../in/grades",
            "in/grades: The grades would be written among the submissions.",
        ),
        ("/proc/grades", "/proc"),
    ],
)
def test_out_has_to_be_a_folder_to_write_to(tmp_path, monkeypatch, out, said):
    write_submissions(tmp_path / "in", 1)
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to("file")
    before, around = content(tmp_path), sorted(os.listdir(ROOT))
    if out.strip() and not out.startswith("/"):
        out = tmp_path / out
    line = in_process(monkeypatch, "grade", tmp_path / "in", "--out", out)
    assert said in line
    assert content(tmp_path) == before
    assert sorted(os.listdir(ROOT)) == around


def test_a_message_names_what_is_below_the_current_folder_as_it_was_typed(graded):
    rows = [("nowhere", "out", "course: graded/nowhere: There is no such folder")]
    rows += [("in", "in/x", "course: graded/in/x: The grades would be written among")]
    # The command takes a folder for a checkout if it contains these names.
    checkout = graded / "checkout"
    for name in ("book", "graded/in"):
        (checkout / name).mkdir(parents=True, exist_ok=True)
    (checkout / "_toc.yml").touch()
    for submissions, out, said in rows:
        line = refused(
            *("grade", f"graded/{submissions}", "--out", f"graded/{out}"), cwd=checkout
        )
        assert line.startswith(said)


@pytest.mark.parametrize(
    "out",
    [
        # All committed folders.
        *sorted({path.parts[0] for path in map(Path, COMMITTED) if path.parts[1:]}),
        *(
            "",
            ".git",
            ".git/grades",
            "_build",
            "tests/grades",
            "book/../book",
        ),
    ],
)
def test_grades_are_not_written_into_the_project(tmp_path, monkeypatch, out):
    checkout = tmp_path / "checkout"
    for name in ("book", "solutions"):
        (checkout / name).mkdir(parents=True)
    (checkout / "_toc.yml").touch()
    write_submissions(checkout / "handed-in", 1)
    before = content(checkout)
    line = in_process(
        monkeypatch, "grade", "handed-in", "--out", out or ".", cwd=checkout
    )
    assert "This is a folder of the project itself. Name another folder" in line
    assert content(checkout) == before


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "thesis.tex",
            "out: It holds files that `course grade` did not write, such as thesis.tex",
        ),
        (
            "photos/one.png",
            "did not write, such as photos. Name a new folder with --out.",
        ),
        ("report.html/x", "report.html: A folder is where the grades would be written"),
        ("grades.csv/x", "grades.csv: A folder is where the grades would be written"),
        (
            "moodle-deep_ensembles.csv/x",
            "A folder is where the grades would be written",
        ),
        (
            "moodle-feedback.zip/x",
            "feedback.zip: A folder is where the grades would be",
        ),
        ("marks-new.csv/x", "marks-new.csv: A folder is where the grades would be"),
        ("feedback", "feedback: A file is where the grades would be written. Move it"),
    ],
)
def test_out_is_looked_at_before_anything_is_graded(tmp_path, monkeypatch, name, said):
    write_submissions(tmp_path / "in", 1)
    path = tmp_path / "out" / name
    path.parent.mkdir(parents=True)
    path.write_text("mine")
    before = content(tmp_path)
    line = in_process(monkeypatch, "grade", tmp_path / "in", "--out", tmp_path / "out")
    assert said in line
    assert content(tmp_path) == before


HEADER = "student,practical,question,marks,comment"
ROW = f"{HEADER}\nstudent-00,acting_on_uncertainty,acting-on-uncertainty"


@pytest.mark.parametrize("place", ["elsewhere.csv", "out/marks.csv"])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name,marks\nann,3\n", ":1: The header has no column 'student'. Its columns"),
        (f"{ROW}/no-such-question,1,\n", ":2: There is no question of acting_on_unc"),
        (
            f"{HEADER}\nnobody,acting_on_uncertainty,x,1,\n",
            ":2: There is no student called",
        ),
        (f"{HEADER}\nstudent-00,no_such,x,1,\n", ":2: There is no practical called"),
        (f"{HEADER}\nstudent-00,warm_up,x,1,\n", ":2: There is no question of warm_up"),
        (f"{ROW}/{{question}},many,\n", ":2: The marks 'many' are not a number. Write"),
        (f"{ROW}/{{question}},99,\n", ":2: 99 marks for acting-on-uncertainty/"),
        (f'{HEADER}\n"open', ":2: It is not a table:"),
        ("\xff", ":1: It is not UTF-8. In a spreadsheet, save it as"),
    ],
)
def test_a_table_of_marks_is_checked_before_anything_is_graded(
    tmp_path, monkeypatch, place, text, said
):
    write_submissions(tmp_path / "in", 1)
    cells = COURSE.lab(LAB).released().cells
    roles = [cell.metadata.get("course", {}) for cell in cells]
    question = next(one["task"] for one in roles if one.get("role") == "written")
    text = text.replace("{question}", question.partition("/")[2])
    path = tmp_path / place
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode("latin-1" if text == "\xff" else "utf-8"))

    def never(*arguments):
        raise AssertionError("something was graded")

    monkeypatch.setattr(app, "grade_class", never)
    given = ["grade", tmp_path / "in", "--out", tmp_path / "out"]
    given += ["--manual", path] if place == "elsewhere.csv" else []
    line = in_process(monkeypatch, *given)
    assert f"{path}{said}" in line
    assert not (tmp_path / "out" / STATE).exists()


@pytest.mark.sandbox
def test_out_that_may_not_be_written_to_is_named(tmp_path):
    write_submissions(tmp_path / "in", 1)
    closed = tmp_path / "closed"
    closed.mkdir()
    # Root may write without permission, but not to a read-only mount.
    view = ["bwrap", "--dev-bind", "/", "/", "--ro-bind", closed, closed, "--"]
    out = closed / "a" / "b"
    line = refused("grade", tmp_path / "in", "--out", out, within=view)
    assert f"{closed}: You may not write to this folder. Name" in line


def test_submissions_are_not_read_where_the_grader_writes(tmp_path, monkeypatch):
    out = tmp_path / "out"
    write_submissions(out / "feedback", 1)
    line = in_process(monkeypatch, "grade", out / "feedback", "--out", out)
    assert "feedback: The grader itself writes to this folder." in line
    assert not (out / STATE).exists()


def test_submissions_beside_the_grades_in_one_folder_are_no_wrong_use(graded):
    """As in `course grade week-1/handed-in --out week-1`, with other files in the folder."""
    folder = graded / "together"
    shutil.copytree(graded / "out", folder)
    shutil.copytree(graded / "in", folder / "handed-in")
    (folder / "notes.txt").write_text("mine")
    finish(start(folder / "handed-in", folder))
    assert (folder / "notes.txt").read_text() == "mine"


def test_a_pipe_or_a_device_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    reading, writing = os.pipe()
    try:
        paths = [tmp_path / "pipe", tmp_path / "link", "/dev/zero"]
        for path in [*paths, f"/dev/fd/{reading}"]:
            line = refused(
                *("grade", path, "--out", tmp_path / "out"), pass_fds=(reading,)
            )
            assert f"{path}: This is a pipe or a device" in line
            assert "Save it as a file, and name that." in line
    finally:
        os.close(reading)
        os.close(writing)
    assert not (tmp_path / "out").exists()


@pytest.mark.sandbox
@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "3",
        "null",
        '{"seed": "x", "proven": {}}',
        '{"seed": 1}',
        '{"seed": 1, "proven": {"a": 3}}',
    ],
)
def test_what_is_kept_of_a_run_has_to_have_its_shape(tmp_path, monkeypatch, text):
    write_submissions(tmp_path / "in", 1)
    path = tmp_path / "out" / STATE / "run.json"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    line = in_process(monkeypatch, "grade", tmp_path / "in", "--out", tmp_path / "out")
    assert f"{path}: It is not in the format of this version" in line
    assert "Delete it; known grades are kept." in line
    assert path.read_text() == text


@pytest.mark.sandbox
@pytest.mark.parametrize("name", ["", "lock", "results", "run.json"])
def test_state_of_another_kind_is_named(tmp_path, monkeypatch, name):
    write_submissions(tmp_path / "in", 1)
    path = tmp_path / "out" / STATE / name
    path.parent.mkdir(parents=True)
    path.write_text("mine") if name in ("", "results") else path.mkdir()
    line = in_process(monkeypatch, "grade", tmp_path / "in", "--out", tmp_path / "out")
    assert f"{path}: " in line
    assert not (tmp_path / "out" / "grades.csv").exists()


@pytest.mark.sandbox
def test_a_disk_without_locks_is_named(tmp_path, monkeypatch):
    """As some network drives are."""

    def flock(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", flock)
    write_submissions(tmp_path / "in", 1)
    out = tmp_path / "out"
    line = in_process(monkeypatch, "grade", tmp_path / "in", "--out", out)
    assert f"{out}: The folder cannot be locked: No locks available." in line
    assert "Choose an --out on a local disk." in line


ON_A_SMALL_DISK = """
set -e
mount -t tmpfs -o size=4m tmpfs "$1"
cp -r "$2/out/." "$1"
[ "$4" = keep ] || rm -r "$1/.grading"
before=$(find "$1" -type f | sort | xargs -d '\\n' sha256sum)
dd if=/dev/zero of="$1/full" bs=4k 2>/dev/null || true
set +e
"$3" -m commands grade "$2/in" --out "$1"
echo "status $?"
rm -f "$1/full"
# What is new in the state is for the next run.
after=$(find "$1" -type f -not -name lock | sort | xargs -d '\\n' sha256sum)
echo "$before" | grep -v /lock > "$2/before"
echo "$after" > "$2/after"
"$3" -m commands grade "$2/in" --out "$1" >/dev/null
echo "status $?"
"""


@pytest.mark.long
@pytest.mark.sandbox
@pytest.mark.parametrize("state", ["keep", "lose"])
def test_a_full_disk_is_said_and_changes_nothing(graded, tmp_path, state):
    """A small disk is mounted in a separate namespace, and filled to the last block."""
    mounting = ["unshare", "--user", "--map-root-user", "--mount"]
    script = ["/bin/sh", "-c", ON_A_SMALL_DISK, "sh", tmp_path, graded]
    done = subprocess.run(
        [*mounting, *script, sys.executable, state],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    said, first, second = done.stderr.strip(), *done.stdout.splitlines()[-2:]
    assert (first, second) == ("status 2", "status 0"), done.stdout + done.stderr
    assert len(said.splitlines()) == 1, said
    assert said.startswith(f"course: {tmp_path}")
    assert "No space left on device. Free some space, then run the same" in said
    before, after = ((graded / name).read_text() for name in ("before", "after"))
    assert before == after


def test_output_that_nobody_takes_does_not_look_like_a_grade(graded):
    command = [sys.executable, "-m", "commands", "grade"]
    command += [graded / "in", "--out", graded / "out"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, cwd=ROOT, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 2
    assert b"No space left on device" in done.stderr
    assert b"Traceback" not in done.stderr
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(command, cwd=ROOT, stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")
