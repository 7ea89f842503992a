"""The graders that are compared: what each is given, how it is called, what it found.

Adding a row is one line in ``GRADERS``.
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
from studies.grading.material import Material
from studies.grading.measure import Command, run

CELL_TIMEOUT = 120


class Grader(Protocol):
    """A row of the table.

    ``needs`` is an environment beside .venv, or nothing.
    """

    name: str
    needs: str

    def lanes(self, material: Material, folder: Path, jobs: int) -> list[list[Command]]:
        """Prepare a folder; the commands to measure, in lanes that run side by side."""

    def scores(self, material: Material, folder: Path) -> list[float]:
        """What each submission got, once the commands have run."""


def environment(material: Material, folder: Path, needs: str) -> dict[str, str]:
    """What every command is given: one thread for each job, no settings of this machine's user."""
    own = {
        f"JUPYTER_{name}_DIR": str(folder / ".jupyter" / name)
        for name in ("CONFIG", "DATA", "RUNTIME")
    }
    own["OMP_NUM_THREADS"] = "1"
    if needs:
        bin_ = material.root / needs / "bin"
        own["PATH"] = f"{bin_}{os.pathsep}{os.environ['PATH']}"
    return os.environ | own


def dealt(things: list, lanes: int) -> list[list]:
    """The things, dealt out to so many lanes."""
    return [hand for hand in (things[k::lanes] for k in range(lanes)) if hand]


class Ours:
    """``course grade``, as an instructor calls it: behind bubblewrap, with sheets and pages."""

    needs = ""

    def __init__(self, name: str, *options: str) -> None:
        self.name, self.options = name, options

    def lanes(self, material: Material, folder: Path, jobs: int) -> list[list[Command]]:
        """One command; it has jobs of its own."""
        handed_in = folder / "submissions"
        material.hand_in(handed_in, "{student}/{name}.ipynb", material.students)
        course = [sys.executable, "-c", _OURS, str(material.root), "grade"]
        paths = [handed_in, "--out", folder / "out", "--jobs", str(jobs)]
        return [[[*course, *paths, *self.options]]]

    def scores(self, material: Material, folder: Path) -> list[float]:
        """From the grade sheet for programs."""
        sheet = json.loads((folder / "out" / "grades.json").read_text("utf-8"))
        return [student["points"] for student in sheet["students"]]


# `course` looks for its checkout around the folder that it is called in.
_OURS = "import os, sys; os.chdir(sys.argv.pop(1)); from commands import main; main()"


class Nbval:
    """One pytest for the whole class: no sandbox, verdicts from within the kernel."""

    name, needs = "plain nbval", ""

    def lanes(self, material: Material, folder: Path, jobs: int) -> list[list[Command]]:
        """One command; pytest-xdist has the jobs."""
        material.hand_in(folder, "submissions/{student}.ipynb", material.students)
        options = ["--nbval-lax", "--nbval-current-env", "-q", "--junitxml=report.xml"]
        options += [f"--nbval-cell-timeout={CELL_TIMEOUT}", "-p", "no:cacheprovider"]
        options += ["-n", str(jobs), "--dist", "loadfile"] if jobs > 1 else []
        own = ["-c", os.devnull, "--rootdir", str(folder), *options, "submissions"]
        return [[[sys.executable, "-m", "pytest", *own]]]

    def scores(self, material: Material, folder: Path) -> list[float]:
        """nbval counts cells: all of a notebook's passed, or it gets nothing."""
        failed, seen = set(), set()
        for case in ElementTree.parse(folder / "report.xml").iter("testcase"):
            student = case.attrib["classname"]
            seen.add(student)
            if len(case):
                failed.add(student)
        return [0 if student in failed else material.points for student in sorted(seen)]


class Nbgrader:
    """``nbgrader autograde`` for the whole class in one batch; it has no jobs.

    Two jobs are two halves of the class, each with a gradebook of its own.
    """

    name, needs = "nbgrader autograde", ".venv-nbgrader"

    def lanes(self, material: Material, folder: Path, jobs: int) -> list[list[Command]]:
        """One command for each half of the class."""
        nbgrader = material.root / self.needs / "bin" / "nbgrader"
        lanes = []
        for number, students in enumerate(dealt(material.students, jobs)):
            half = folder / f"half{number}"
            write_course(material.root, half, (material.practical,))
            prepared = environment(material, folder, self.needs)
            run([nbgrader, "generate_assignment", material.name], half, prepared)
            material.hand_in(half, "submitted/{student}/{name}/{name}.ipynb", students)
            own = [f"--course-dir={half}", f"--db=sqlite:///{half / 'gradebook.db'}"]
            lanes.append([[nbgrader, "autograde", material.name, *own]])
        return lanes

    def scores(self, material: Material, folder: Path) -> list[float]:
        """From what nbgrader exports."""
        nbgrader = material.root / self.needs / "bin" / "nbgrader"
        prepared = environment(material, folder, self.needs)
        found = []
        for half in sorted(folder.glob("half*")):
            run([nbgrader, "export"], half, prepared)
            with open(half / "grades.csv", encoding="utf-8", newline="") as file:
                found += [float(row["score"]) for row in csv.DictReader(file)]
        return found


class Otter:
    """Otter without Docker: ``otter run``, or in one process for all submissions."""

    needs = ".venv-otter"

    def __init__(self, name: str, *, batch: bool) -> None:
        self.name, self.batch = name, batch

    def lanes(self, material: Material, folder: Path, jobs: int) -> list[list[Command]]:
        """Otter has no jobs without Docker: each lane grades its part of the class."""
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
        # The checks stand in the tests: in the notebook they would run twice.
        paths = material.hand_in(
            folder, "submissions/{student}.ipynb", material.students, checks=False
        )
        for path in paths:
            (folder / "results" / path.stem).mkdir(parents=True)
        if self.batch:
            return [
                [[bin_ / "python", "-c", _OTTER_BATCH, *hand]]
                for hand in dealt(paths, jobs)
            ]
        otter = [bin_ / "otter", "run", "-a", "autograder.zip", "--no-logo"]
        commands = [[*otter, "-o", f"results/{path.stem}", path] for path in paths]
        return dealt(commands, jobs)

    def scores(self, material: Material, folder: Path) -> list[float]:
        """From what Otter writes for Gradescope."""
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
