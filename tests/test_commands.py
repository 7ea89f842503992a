"""Errors of all commands: one line, and an exit status by kind of error."""

import os
import shutil
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner
from graded_class import ROOT, SECONDS, in_process, refused

from project.command import Group


@pytest.mark.parametrize("command", ["exercises", "release", "nbgrader", "grade"])
def test_outside_of_a_checkout_every_command_says_so(tmp_path, monkeypatch, command):
    given = {"exercises": (), "grade": ("in", "--out", "out")}.get(command, ("out",))
    line = in_process(monkeypatch, command, *given, cwd=tmp_path)
    assert f"{tmp_path}: This folder is not in a checkout of the course" in line
    assert "Change into a checkout" in line
    assert list(tmp_path.iterdir()) == []


def test_another_checkouts_command_is_refused(tmp_path, monkeypatch):
    (tmp_path / "book").mkdir()
    (tmp_path / "_toc.yml").touch()
    other = tmp_path / "project" / "command.py"
    other.parent.mkdir()
    other.touch()
    line = in_process(monkeypatch, "exercises", "--check", cwd=tmp_path / "book")
    assert f"{tmp_path}: This checkout has its own `course`, but the one" in line
    assert f"of {ROOT} was called. Call .venv/bin/course here" in line


def test_errors_of_the_system_are_one_line_in_every_command(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("mine")
    for command in ("release", "nbgrader"):
        given = tmp_path / "file" / "x", "--practical", "warm_up"
        line = in_process(monkeypatch, command, *given)
        assert f"{tmp_path}/file" in line
        assert line.endswith(".")
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f"cd {gone} && rmdir {gone} && exec {sys.executable!r} -m commands $0"
    done = subprocess.run(
        ["/bin/sh", "-c", f"{script} exercises"],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_an_exercise_that_cannot_be_replaced_is_named(tmp_path):
    names = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True)
    for name in names.split("\0"):
        ours = name.startswith(("book/", "solutions/", "course/", "_"))
        if ours and (ROOT / name).is_file():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, tmp_path / name)
    (tmp_path / "exercises" / "00a-warm-up.ipynb").mkdir(parents=True)
    line = refused("exercises", "warm_up_a", cwd=tmp_path)
    assert line.startswith(
        "course: exercises/00a-warm-up.ipynb: Is a directory. There is a folder"
    )
    assert [p.name for p in (tmp_path / "exercises").iterdir()] == ["00a-warm-up.ipynb"]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (OSError(28, "No space left on device", "x/y"), 2),
        (OSError(5, "Input/output error"), 2),
        (TimeoutError("too late"), 2),
        (BrokenPipeError(32, "Broken pipe"), 141),
        (KeyboardInterrupt(), 130),
        (ZeroDivisionError("a fault"), 70),
        (ModuleNotFoundError("a package", name="not_installed.here"), 2),
        (ModuleNotFoundError("a fault", name="project.nothing"), 70),
        (click.ClickException("found out"), 1),
    ],
    ids=repr,
)
def test_status_one_is_only_what_a_command_found_out(error, code):
    @click.command()
    def failing():
        raise error

    done = CliRunner().invoke(Group(commands={"failing": failing}), ["failing"])
    assert done.exit_code == code
    if code == 2:
        assert done.output.startswith("course: ")
        assert done.output.count("\n") == 1
    assert ("Traceback" in done.output) == (code == 70)
