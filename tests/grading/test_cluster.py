"""Grading on a real Dask cluster on this machine, with two workers of which one is killed."""

import contextlib
import json
import os
import subprocess
import sys
import time

import psutil
import pytest
from click.testing import CliRunner
from graded_class import ROOT, finish, kept, start, table, write_submissions
from test_hostile import SOON, compare, compare_class, graded_class

from commands import main
from grading.cluster import cluster
from grading.settings import Settings
from project.errors import CourseError

pytestmark = pytest.mark.sandbox
OPTIONS = {"DASK_DISTRIBUTED__DIAGNOSTICS__NVML": "False"}


@contextlib.contextmanager
def dask(folder, *command):
    """Start a scheduler or a worker from the command line, and end it at the end."""
    with open(folder / f"{command[0]}.log", "a") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", *command, "--no-dashboard"],
            cwd=folder,
            env=os.environ | OPTIONS | {"PYTHONPATH": str(ROOT)},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        yield process
    finally:
        end(process)


def end(process):
    """Kill a process and all its descendants."""
    with contextlib.suppress(psutil.NoSuchProcess):
        top = psutil.Process(process.pid)
        for one in [top, *top.children(recursive=True)]:
            with contextlib.suppress(psutil.NoSuchProcess):
                one.kill()
    process.wait()


def until(holds, seconds=120):
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.fixture(scope="module")
def two_workers(tmp_path_factory):
    """Start a scheduler with two workers; yields its address and the first worker."""
    folder = tmp_path_factory.mktemp("cluster")
    file = folder / "scheduler.json"
    by_file = ("--scheduler-file", str(file))
    work = ("worker", *by_file, "--nthreads", "1")
    with (
        dask(folder, "scheduler", *by_file, "--port", "0", "--host", "127.0.0.1"),
        dask(folder, *work) as first,
        dask(folder, *work),
    ):
        until(file.exists)
        yield json.loads(file.read_text("utf-8"))["address"], first


@pytest.mark.long
def test_attacks_get_their_rows_there_too(two_workers, tmp_path):
    """This is first, as the other test kills a worker."""
    address, _ = two_workers
    graded = graded_class(tmp_path / "class", SOON, "--dask", address)
    compare_class(graded)
    for name in SOON:
        compare(name, graded)


@pytest.mark.long
def test_a_cluster_that_loses_a_worker_gives_the_same_grade_sheet(
    two_workers, tmp_path
):
    write_submissions(tmp_path / "in", 9)
    here, there = tmp_path / "here", tmp_path / "there"
    finish(start(tmp_path / "in", here, "--jobs", "2"))
    address, first = two_workers
    process = start(tmp_path / "in", there, "--dask", address)
    until(lambda: len(kept(there)) >= 3 or process.poll() is not None)
    # The workers are among these; temporary folders are named after their processes.
    marks = [f"/ku-{one.pid}-" for one in psutil.Process().children(recursive=True)]
    end(first)
    at_its_death = len(kept(there))
    said = finish(process)
    assert at_its_death < 9, "it had been killed too late to be missed"
    assert "9 of 9 notebooks graded" in said
    assert len(kept(there)) == 9
    assert table(there) == table(here)
    left = [
        other
        for other in psutil.process_iter(["cmdline"])
        if any(mark in " ".join(other.info["cmdline"] or []) for mark in marks)
    ]
    assert psutil.wait_procs(left, timeout=20)[1] == []


def test_where_no_scheduler_answers_it_says_so_and_how_to_start_one(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("grading.cluster.WAIT", 1.0)
    monkeypatch.chdir(ROOT)
    write_submissions(tmp_path / "in", 1)
    given = ["grade", str(tmp_path / "in"), "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(main, [*given, "--dask", "tcp://127.0.0.1:9"])
    assert done.exit_code == 2
    assert "dask scheduler" in done.output
    assert not (tmp_path / "out" / "grades.csv").exists()
    settings = Settings(ROOT, tmp_path / "out", dask="nonsense://x")
    with pytest.raises(CourseError, match="dask scheduler"), cluster({}, settings):
        pass
