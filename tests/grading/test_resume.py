"""Killed, resumed and parallel runs give the same grades, without loss or repetition."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import nbformat
import psutil
import pytest
from graded_class import (
    FILE,
    LAB,
    ROOT,
    TASKS,
    finish,
    kept,
    start,
    table,
    write_submissions,
)
from labs import COURSE
from seeds import SOAK, first_seed

from grading.bounded import TooCostly
from grading.classroom import FAULTS, RUN, STATE, grade_class
from grading.execution.expected import failures
from grading.execution.grader import Graded
from grading.faults import read_faults
from grading.record import CHANGED, NOT_RUN, TOO_COSTLY
from grading.sandbox.provisioner import dying_with
from grading.settings import Settings
from grading.store import machinery_of
from grading.submissions.intake import take_in

pytestmark = pytest.mark.sandbox


def below(process):
    """Return all descendants of a grader's process."""
    return psutil.Process(process.pid).children(recursive=True)


def until_kept(process, out, number):
    """Wait until so many grades are kept in ``out``, or the process has ended."""
    while len(kept(out)) < number and process.poll() is None:
        time.sleep(0.1)


@pytest.fixture(scope="module")
def once(tmp_path_factory):
    """A class in ``in`` that was graded once, one notebook at a time, into ``out``."""
    folder = tmp_path_factory.mktemp("once")
    write_submissions(folder / "in", 4)
    finish(start(folder / "in", folder / "out", "--jobs", "1"))
    return folder


@pytest.fixture
def copied(once, tmp_path):
    return shutil.copytree(once, tmp_path / "copied")


@pytest.mark.long
def test_grades_do_not_depend_on_the_number_of_jobs_and_are_kept(copied):
    one, two = copied / "out", copied / "two"
    finish(start(copied / "in", two, "--jobs", "3", "--cold"))
    assert table(one) == table(two)
    data = [json.loads((out / "grades.json").read_text("utf-8")) for out in (one, two)]
    assert data[0] == data[1]
    # On other inputs, the same students have the same wrong numbers.
    pages = [(out / "unnamed.html").read_text("utf-8") for out in (one, two)]
    assert "1 group of students" in pages[0]
    assert "return 0.5 *" in pages[0]  # the code of one of them
    assert pages[0] == pages[1]
    before, sheet = kept(one), table(one)
    assert len(before) == 4
    finish(start(copied / "in", one))
    assert (kept(one), table(one)) == (before, sheet)


def test_only_what_changed_is_graded_again(copied):
    out = copied / "out"
    before = kept(out)
    path = copied / "in" / "student-01" / FILE
    path.write_text(
        path.read_text("utf-8").replace("conformal", "conformal ", 1), "utf-8"
    )
    finish(start(copied / "in", out, "--jobs", "2"))
    after = kept(out)
    assert len(after) == 5
    assert {name: after[name] for name in before} == before


def test_a_run_that_was_killed_after_its_last_grade_is_ended_by_the_next(copied):
    settings, state = Settings(ROOT, copied / "out"), copied / "out" / STATE
    lab = COURSE.lab(LAB)
    machinery = machinery_of(lab, settings.limits, settings.sandboxed)
    (state / RUN).write_text('{"seed": 7, "proven": {}}')
    expected = state / f"expected-{machinery[:16]}.msgpack"
    failures(expected).write_text(json.dumps({lab.tasks()[0]: ["A fault."]}))
    seen = []
    submissions = take_in(copied / "in", COURSE).submissions
    grade_class(submissions, settings, lambda result, new: seen.append(new))
    assert seen == [False] * 4
    assert read_faults(state / FAULTS, [LAB]) == ["A fault."]
    assert not [*state.glob("expected-*"), *state.glob(RUN)]


def test_a_notebook_that_could_not_be_run_is_tried_again(tmp_path, monkeypatch):
    write_submissions(tmp_path / "in", 1)
    (submission,) = take_in(tmp_path / "in", COURSE).submissions
    settings = Settings(ROOT, tmp_path / "out")
    failed = Graded((), problem=f"{NOT_RUN}: no kernel started.")
    with monkeypatch.context() as here:
        here.setattr("grading.worker.grade", lambda *given: failed)
        (result,) = grade_class([submission], settings, lambda *told: None)
    assert not result.graded
    assert kept(tmp_path / "out") == {}
    (result,) = grade_class([submission], settings, lambda *told: None)
    assert result.graded
    assert len(kept(tmp_path / "out")) == 1


def test_a_file_that_could_not_be_read_once_is_read_again(tmp_path, monkeypatch):
    write_submissions(tmp_path / "in", 1)
    (submission,) = take_in(tmp_path / "in", COURSE).submissions
    settings = Settings(ROOT, tmp_path / "out")
    with monkeypatch.context() as here:
        here.setattr("grading.submissions.submission.read_bytes", lambda *given: b"{}")
        (result,) = grade_class([submission], settings, lambda *told: None)
    assert result.problem == CHANGED
    assert kept(tmp_path / "out") == {}
    (result,) = grade_class([submission], settings, lambda *told: None)
    assert result.graded


def test_what_was_too_costly_to_read_is_read_again_on_request(tmp_path, monkeypatch):
    """It is kept: a hostile file must not make every run start kernels again."""
    write_submissions(tmp_path / "in", 1)
    (submission,) = take_in(tmp_path / "in", COURSE).submissions
    settings = Settings(ROOT, tmp_path / "out")

    def too_costly(*given):
        raise TooCostly

    with monkeypatch.context() as here:
        here.setattr("grading.worker.bounded", too_costly)
        (first,) = grade_class([submission], settings, lambda *told: None)
    (second,) = grade_class([submission], settings, lambda *told: None)
    assert first.problem == second.problem == TOO_COSTLY
    again = replace(settings, retry=True)
    (result,) = grade_class([submission], again, lambda *told: None)
    assert result.graded


@pytest.mark.long
def test_what_was_stopped_is_judged_once_more_on_request(tmp_path):
    """A kernel may also have been stopped because the machine was busy."""
    write_submissions(tmp_path / "in", 2)
    path = tmp_path / "in" / "student-01" / FILE
    notebook = nbformat.read(path, as_version=4)
    id_ = f"{LAB.removesuffix('_a')}--{TASKS[0]}".replace("_", "-")
    (task,) = [cell for cell in notebook.cells if cell.id == id_]
    task.source = "import os; os._exit(0)"
    nbformat.write(notebook, path)
    out = tmp_path / "out"
    said = finish(start(tmp_path / "in", out))
    assert "stopped: " in said
    before = kept(out)
    finish(start(tmp_path / "in", out))
    assert kept(out) == before
    finish(start(tmp_path / "in", out, "--retry"))
    after = kept(out)
    assert after.keys() == before.keys()
    assert sum(after[name] != before[name] for name in after) == 1


def test_the_seed_is_gone_when_the_run_has_ended(once):
    left = {path.name for path in (once / "out" / STATE).iterdir()}
    assert left == {"examples", "lock", "results"}


@pytest.mark.long
def test_two_runs_do_not_share_a_folder(tmp_path):
    write_submissions(tmp_path / "in", 2)
    first = start(tmp_path / "in", tmp_path / "out")
    try:
        while not (tmp_path / "out" / STATE / "run.json").exists():
            assert first.poll() is None
            time.sleep(0.1)
        first.send_signal(signal.SIGSTOP)  # it must not end before the second begins
        left = tmp_path / "out/feedback/ann/.lab.html.abcd1234.unfinished"
        left.parent.mkdir(parents=True)
        left.touch()  # as if a run had been killed
        second = start(tmp_path / "in", tmp_path / "out")
        said, _ = second.communicate()
        assert second.returncode == 2
        assert "Another run is grading into this folder" in said
        assert left.exists()  # the first run may be writing it
    finally:
        first.send_signal(signal.SIGCONT)
        finish(first)
    finish(start(tmp_path / "in", tmp_path / "out"))
    assert not left.exists()


def test_wrong_use_has_status_two_and_writes_nothing(tmp_path):
    process = start(tmp_path / "nowhere", tmp_path / "out")
    said, _ = process.communicate()
    assert process.returncode == 2
    assert "nowhere" in said
    assert "Traceback" not in said
    assert not (tmp_path / "out").exists()


def test_an_interrupted_run_ends_its_kernels(tmp_path):
    write_submissions(tmp_path / "in", 30)  # far more than are graded here
    process = start(tmp_path / "in", tmp_path / "out", "--jobs", "2")
    while not kept(tmp_path / "out"):
        assert process.poll() is None
        time.sleep(0.05)
    started = below(process)
    assert started
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "Traceback" not in said
    assert psutil.wait_procs(started, timeout=10)[1] == []
    assert list(Path("/tmp").glob(f"ku-{process.pid}-*")) == []


def test_a_kernel_never_outlives_what_started_it():
    """This holds if the starter is killed before the kernel's process begins, or after."""
    with subprocess.Popen(["true"]) as gone:
        gone.wait()
    sleep = ["sleep", "1000"]
    with subprocess.Popen(dying_with(gone.pid, sleep)) as orphan:
        assert orphan.wait(timeout=20) == 1
    text = (
        "import os, subprocess, time\n"
        "from grading.sandbox.provisioner import dying_with\n"
        f"one = subprocess.Popen(dying_with(os.getpid(), {sleep}))\n"
        "print(one.pid, flush=True)\n"
        "time.sleep(1000)"
    )
    parent = [sys.executable, "-c", text]
    with subprocess.Popen(parent, stdout=subprocess.PIPE, text=True) as starter:
        kernel = psutil.Process(int(starter.stdout.readline()))
        assert kernel.is_running()
        starter.kill()
    assert psutil.wait_procs([kernel], timeout=20)[1] == []


@pytest.mark.long
def test_kills_lose_nothing_and_grade_nothing_twice(tmp_path):
    """At moments that each commit draws anew: 2 of them, or 50 where ``SOAK`` is set.

    Every second kill comes after a grade was kept, however slow the machine is.
    """
    write_submissions(tmp_path / "in", 12)
    undisturbed, out = tmp_path / "undisturbed", tmp_path / "out"
    began = time.monotonic()
    process = start(tmp_path / "in", undisturbed, "--jobs", "2")
    until_kept(process, undisturbed, 1)
    first = time.monotonic() - began  # depends on how busy the machine is
    finish(process)
    draw, kills, seen, most = random.Random(first_seed()), 0, {}, 0
    started = []
    while kills < (50 if SOAK else 2):
        process = start(tmp_path / "in", out, "--jobs", "2")
        if kills % 2:
            until_kept(process, out, len(seen) + 1)
            time.sleep(draw.uniform(0, 0.2 * first))
        else:
            time.sleep(draw.uniform(0.2, 1.2 * first))
        if process.poll() is not None:  # too late to kill it: start in a new folder
            finish(process)
            assert table(out) == table(undisturbed)
            out, seen = tmp_path / f"out-{kills}", {}
            continue
        started += below(process)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        kills += 1
        now = kept(out)
        assert {name: now.get(name) for name in seen} == seen
        seen, most = now, max(most, len(now))
    assert most, "no run lived long enough to grade anything"
    finish(start(tmp_path / "in", out, "--jobs", "2"))
    now = kept(out)
    assert len(now) == 12
    assert {name: now[name] for name in seen} == seen
    assert table(out) == table(undisturbed)
    assert psutil.wait_procs(started, timeout=10)[1] == []
