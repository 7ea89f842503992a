"""The graders that are compared: their input, their commands, and their scores.

To add a row to the table, add a line to ``GRADERS``.
"""

from __future__ import annotations

import csv
import json
import os
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Protocol

from authoring.nbgrader import write_course
from course.task import find
from project.practicals import Course
from project.threads import ONE_THREAD
from studies.grading.material import Material
from studies.grading.measure import Command, run

CELL_TIMEOUT = 120


class Grader(Protocol):
    """A row of the table.

    ``needs`` is the virtual environment that it needs besides .venv, or the empty string.
    """

    name: str
    needs: str

    def lanes(self, material: Material, folder: Path, jobs: int) -> list[list[Command]]:
        """Prepare a folder; return the commands to measure, in lanes that run in parallel."""

    def scores(self, material: Material, folder: Path) -> list[float]:
        """Return the score of each submission, after the commands have run."""


def environment(material: Material, folder: Path, needs: str) -> dict[str, str]:
    """Return the environment of every command: one thread per job, no settings of the user."""
    own = {
        f"JUPYTER_{name}_DIR": str(folder / ".jupyter" / name)
        for name in ("CONFIG", "DATA", "RUNTIME")
    }
    own |= ONE_THREAD
    if needs:
        bin_ = material.root / needs / "bin"
        own["PATH"] = f"{bin_}{os.pathsep}{os.environ['PATH']}"
    return os.environ | own


def round_robin(things: list, lanes: int) -> list[list]:
    """Distribute things over lanes; lanes that would be empty are left out."""
    return [share for share in (things[k::lanes] for k in range(lanes)) if share]


class Ours:
    """``course grade`` as an instructor runs it: in the sandbox, with sheets and pages."""

    needs = ""

    def __init__(self, name: str, *options: str) -> None:
        self.name, self.options = name, options

    def lanes(self, material: Material, folder: Path, jobs: int) -> list[list[Command]]:
        """Return one command; ``--jobs`` makes it parallel."""
        submissions = folder / "submissions"
        material.write_submissions(
            submissions, "{student}/{name}.ipynb", material.students
        )
        course = [sys.executable, "-c", _OURS, str(material.root), "grade"]
        paths = [submissions, "--out", folder / "out", "--jobs", str(jobs)]
        return [[[*course, *paths, *self.options]]]

    def scores(self, material: Material, folder: Path) -> list[float]:
        """Read the scores from ``grades.json``."""
        sheet = json.loads((folder / "out" / "grades.json").read_text("utf-8"))
        return [student["points"] for student in sheet["students"]]


# `course` looks for its checkout in the current folder and above.
_OURS = "import os, sys; os.chdir(sys.argv.pop(1)); from commands import main; main()"


class Nbval:
    """One pytest run for the whole class: no sandbox, verdicts from within the kernel."""

    name, needs = "plain nbval", ""

    def lanes(self, material: Material, folder: Path, jobs: int) -> list[list[Command]]:
        """Return one command; pytest-xdist makes it parallel."""
        material.write_submissions(
            folder, "submissions/{student}.ipynb", material.students
        )
        options = ["--nbval-lax", "--nbval-current-env", "-q", "--junitxml=report.xml"]
        options += [f"--nbval-cell-timeout={CELL_TIMEOUT}", "-p", "no:cacheprovider"]
        options += ["-n", str(jobs), "--dist", "loadfile"] if jobs > 1 else []
        own = ["-c", os.devnull, "--rootdir", str(folder), *options, "submissions"]
        return [[[sys.executable, "-m", "pytest", *own]]]

    def scores(self, material: Material, folder: Path) -> list[float]:
        """Give full marks to notebooks whose cells all passed, else 0: nbval counts cells."""
        failed, seen = set(), set()
        for case in ElementTree.parse(folder / "report.xml").iter("testcase"):
            student = case.attrib["classname"]
            seen.add(student)
            if len(case):
                failed.add(student)
        return [0 if student in failed else material.points for student in sorted(seen)]


class Nbgrader:
    """``nbgrader autograde`` for the whole class in one batch; it cannot run in parallel.

    For two jobs the class is split in halves, each with its own gradebook.
    """

    name, needs = "nbgrader autograde", ".venv-nbgrader"

    def lanes(self, material: Material, folder: Path, jobs: int) -> list[list[Command]]:
        """Return one command for each part of the class."""
        nbgrader = material.root / self.needs / "bin" / "nbgrader"
        lanes = []
        for number, students in enumerate(round_robin(material.students, jobs)):
            half = folder / f"half{number}"
            write_course(Course.read(material.root), half, [material.practical])
            prepared = environment(material, folder, self.needs)
            run([nbgrader, "generate_assignment", material.name], half, prepared)
            material.write_submissions(
                half, "submitted/{student}/{name}/{name}.ipynb", students
            )
            own = [f"--course-dir={half}", f"--db=sqlite:///{half / 'gradebook.db'}"]
            lanes.append([[nbgrader, "autograde", material.name, *own]])
        return lanes

    def scores(self, material: Material, folder: Path) -> list[float]:
        """Read the scores from nbgrader's export."""
        nbgrader = material.root / self.needs / "bin" / "nbgrader"
        prepared = environment(material, folder, self.needs)
        found = []
        for half in sorted(folder.glob("half*")):
            run([nbgrader, "export"], half, prepared)
            with open(half / "grades.csv", encoding="utf-8", newline="") as file:
                found += [float(row["score"]) for row in csv.DictReader(file)]
        return found


class Otter:
    """Otter without Docker: one ``otter run`` per submission, or one process for all."""

    needs = ".venv-otter"

    def __init__(self, name: str, *, batch: bool) -> None:
        self.name, self.batch = name, batch

    def lanes(self, material: Material, folder: Path, jobs: int) -> list[list[Command]]:
        """Return one lane for each job: without Docker, Otter cannot run in parallel."""
        bin_ = material.root / self.needs / "bin"
        tests = folder / "tests"
        tests.mkdir()
        for number, (task, name) in enumerate(material.tasks.items()):
            text = _OTTER_TEST.format(
                number=number, points=find(task).points, task=task, name=name
            )
            (tests / f"q{number:02d}.py").write_text(text, encoding="utf-8")
        bare = ["--no-config", "--no-requirements", "--no-environment"]
        prepared = environment(material, folder, self.needs)
        make = [bin_ / "otter", "generate", "-t", "tests", "-o", "autograder.zip"]
        run([*make, *bare], folder, prepared)
        # Otter's tests run the checks; in the notebook they would run a second time.
        paths = material.write_submissions(
            folder, "submissions/{student}.ipynb", material.students, checks=False
        )
        for path in paths:
            (folder / "results" / path.stem).mkdir(parents=True)
        if self.batch:
            return [
                [[bin_ / "python", "-c", _OTTER_BATCH, *share]]
                for share in round_robin(paths, jobs)
            ]
        otter = [bin_ / "otter", "run", "-a", "autograder.zip", "--no-logo"]
        commands = [[*otter, "-o", f"results/{path.stem}", path] for path in paths]
        return round_robin(commands, jobs)

    def scores(self, material: Material, folder: Path) -> list[float]:
        """Read the scores from Otter's results for Gradescope."""
        return [
            sum(test.get("score", 0) for test in json.loads(path.read_text())["tests"])
            for path in sorted((folder / "results").glob("*/results.json"))
        ]


_OTTER_TEST = """from otter.test_files import test_case

OK_FORMAT = False
name = "q{number:02d}"
points = {points}


@test_case()
def test(env):
    env["check"]("{task}", env["{name}"])
"""
_OTTER_BATCH = """
import sys
from pathlib import Path
from otter.run import main
for path in map(Path, sys.argv[1:]):
    main(str(path), autograder="autograder.zip", output_dir=f"results/{path.stem}", no_logo=True)
"""

GRADERS: tuple[Grader, ...] = (
    Ours("course grade, cold", "--cold"),
    Ours("course grade, warm", "--warm"),
    Nbval(),
    Nbgrader(),
    Otter("otter run", batch=False),
    Otter("otter, in one process", batch=True),
)
