"""A class with one practical, and the real command that grades it."""

import os
import random
import subprocess
import sys
from pathlib import Path

import nbformat
from click.testing import CliRunner
from labs import COURSE

from commands import main
from grading.classroom import STATE

ROOT = Path(__file__).parents[2]
LAB = "acting_on_uncertainty_a"  # which imports no framework: a run starts sooner
FILE = "06a-acting-on-uncertainty.ipynb"
SECONDS = 300  # in which a command detects wrong use, however busy the machine is
TASKS = ("conformal_quantile", "pinball_loss", "coverage_by_group")


def write_submissions(folder, count, seed=0):
    """Write the notebooks of a class: three tasks are right, wrong or unwritten, at random."""
    lab = COURSE.lab(LAB)
    definitions = lab.solutions().definitions
    draw = random.Random(seed)
    for number in range(count):
        notebook = lab.released()
        for cell in notebook.cells:
            name = cell["id"].rpartition("--")[2].replace("-", "_")
            if cell.metadata.get("course", {}).get("role") == "task" and name in TASKS:
                source = definitions[name].shown()
                kind = draw.choice(["right", "right", "wrong", "unwritten"])
                if kind == "wrong":
                    source = source.replace("return ", "return 0.5 * ", 1)
                if kind != "unwritten":
                    cell.source = source
        path = folder / f"student-{number:02}" / FILE
        path.parent.mkdir(parents=True)
        nbformat.write(notebook, path)


def start(submissions, out, *options):
    return subprocess.Popen(
        [
            # Processes that a shell starts in the background ignore interrupts, unless told.
            "env",
            "--default-signal=INT",
            sys.executable,
            "-m",
            "commands",
            "grade",
            submissions,
            "--out",
            out,
            *options,
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def finish(process):
    said, _ = process.communicate()
    assert process.returncode == 0, said
    return said


def kept(out):
    """Return the modification time of each result on disk, by file name."""
    folder = out / STATE / "results"
    return {
        path.name: path.stat().st_mtime_ns for path in folder.glob("[0-9a-f]*.json")
    }


def table(out):
    return (out / "grades.csv").read_text("utf-8")


def refused(*arguments, cwd=ROOT, within=(), **options):
    """Run the command, which must fail with status 2; return the one line that it prints."""
    done = subprocess.run(
        [*within, sys.executable, "-m", "commands", *map(str, arguments)],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        **options,
    )
    lines = (done.stdout + done.stderr).splitlines()
    assert (done.returncode, len(lines)) == (2, 1), lines
    assert lines[0].startswith("course: ")
    assert lines[0].endswith(".")
    return lines[0]


def in_process(monkeypatch, *arguments, cwd=ROOT):
    """Do the same as ``refused`` in this process, which is faster."""
    monkeypatch.chdir(cwd)
    done = CliRunner().invoke(main, [str(one) for one in arguments])
    assert done.exit_code == 2, done.output
    # A bar of progress may leave an empty line.
    (line,) = done.output.strip().splitlines()
    assert line.startswith("course: ")
    return line
