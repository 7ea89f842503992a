"""Print the graders side by side, or one grader's time and memory by class size.

Example:
    make bench-grading
    make bench-grading ARGS='--students 40 --jobs 1 --only nbval'
    make bench-grading ARGS=--growth
    make bench-grading ARGS='--growth --save'
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path

import click
import psutil
from rich.console import Console
from rich.table import Table

from project.files import write_whole
from studies.grading.graders import GRADERS, Grader, Ours, environment
from studies.grading.material import Material, Mixed
from studies.grading.measure import Failed, Measured, measure

ROOT = Path(__file__).parents[2]
RESULTS = Path(__file__).with_name("results.json")
GROWTH = (50, 100, 200)
SAID = """{count} copies of one solved submission of {practical}, with {tasks} tasks. The cells \
that train and draw are removed for every grader, so that the comparison covers the start of \
a kernel, its imports and the checks. Figures are reported only if all copies get full marks.

course grade judges on inputs drawn for the run, outside the kernel and behind bubblewrap; \
its time includes grading the reference first and writing sheets, feedback and report. The \
others run the notebook's own checks within its kernel, two draws each, without a sandbox. \
The time of each further submission is the additional time of the class over one submission \
for each job, divided by the number of additional submissions; it excludes what a grader does \
once. For a grader without jobs of its own, two jobs are two of its processes. Memory is the \
largest sum of the resident memory of all its processes."""
BUSY = """The machine was busy with other work when this began (load {load:.1f} on {cores} \
cores): do not quote these figures."""


def graded(grader: Grader, material: Material, jobs: int) -> Measured:
    """Measure one grader on a class in a fresh folder.

    Raises:
        Failed: a command failed, or the scores are not those expected for the class.
    """
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        given = environment(material, folder, grader.needs)
        measured = measure(grader.lanes(material, folder, jobs), folder, given)
        scores = grader.scores(material, folder)
    if problem := material.problem_with(scores):
        raise Failed(problem)
    return measured


def side_by_side(
    rows: list[Grader], material: Material, jobs: tuple[int, ...], console: Console
) -> list[dict] | None:
    """Print the table of all graders; return its figures, or ``None`` if one failed."""
    table = Table("grader")
    for number in jobs:
        word = "job" if number == 1 else "jobs"
        for what in ("s per submission", "s, each further", "peak, MiB"):
            table.add_column(f"{what}\n{number} {word}", justify="right")
    problems, figures = [], []
    for grader in rows:
        cells = []
        for number in jobs:
            with console.status(f"{grader.name}, jobs: {number}"):
                few = replace(material, count=number)
                try:
                    begun = graded(grader, few, number)
                    found = graded(grader, material, number)
                except Failed as problem:
                    problems.append(f"{grader.name}, jobs: {number}: {problem}")
                    cells += ["failed", "", ""]
                else:
                    each = found.seconds / material.count
                    further = found.seconds - begun.seconds
                    further /= material.count - few.count
                    cells += [f"{each:.2f}", f"{further:.2f}", f"{found.tree:.0f}"]
                    row = {"grader": grader.name, "jobs": number, "seconds": each}
                    figures.append(row | {"further": further, "memory": found.tree})
        table.add_row(grader.name, *cells)
    console.print(table)
    for problem in problems:
        console.print(problem, markup=False)
    return None if problems else figures


def growth(
    rows: list[Grader],
    practical: str,
    jobs: int,
    sizes: tuple[int, ...],
    console: Console,
) -> list[dict] | None:
    """Print time and memory by size of a mixed class; return them, or ``None`` if one failed."""
    table = Table("grader", title=f"jobs: {jobs}")
    names = ("submissions", "seconds", "s per submission", "grader, MiB", "all, MiB")
    for name in names:
        table.add_column(name, justify="right")
    problems, figures = [], []
    for grader in rows:
        for size in sizes:
            with console.status(f"{grader.name}, {size} submissions"):
                try:
                    found = graded(grader, Mixed(ROOT, practical, size), jobs)
                except Failed as problem:
                    problems.append(f"{grader.name}, {size}: {problem}")
                    continue
            each = f"{found.seconds / size:.2f}"
            memory = f"{found.grader:.0f}", f"{found.tree:.0f}"
            table.add_row(grader.name, str(size), f"{found.seconds:.0f}", each, *memory)
            row = {"grader": grader.name, "jobs": jobs, "size": size}
            row |= {"seconds": found.seconds, "memory": found.grader}
            figures.append(row | {"all": found.tree})
    console.print(table)
    for problem in problems:
        console.print(problem, markup=False)
    return None if problems else figures


def keep(path: Path, name: str, figures: list[dict], about: dict) -> None:
    """Write a table's figures into the file that the book reads.

    Rows of graders that were not measured this time are kept if the material and the number
    of cores are the same.
    """
    tables = json.loads(path.read_text("utf-8")) if path.exists() else {}
    about = about | {"cores": psutil.cpu_count()}
    old = tables.get(name, {})
    if about.items() <= old.items():
        again = {row["grader"] for row in figures}
        rows = [row for row in old["figures"] if row["grader"] not in again] + figures
        order = [grader.name for grader in GRADERS]
        figures = sorted(rows, key=lambda row: order.index(row["grader"]))
    tables[name] = about | {"figures": figures}
    write_whole(path, json.dumps(tables, indent=1) + "\n")


@click.command()
@click.option("--students", default=20, type=click.IntRange(2), help="How many.")
@click.option(
    "--jobs",
    "jobs",
    multiple=True,
    type=click.IntRange(1),
    default=(1, 2),
    help="How many at a time; may be given several times.",
)
@click.option("--practical", default="bayes_by_backprop_a", help="The name of a lab.")
@click.option("--only", multiple=True, help="Rows whose name contains this.")
@click.option("--growth", "grow", is_flag=True, help="Time and memory by class size.")
@click.option(
    "--size",
    "sizes",
    multiple=True,
    type=click.IntRange(1),
    default=GROWTH,
    help="With --growth: how large a class; may be given several times.",
)
@click.option("--save", is_flag=True, help="Keep the figures for the book to show.")
def main(
    students: int,
    jobs: tuple[int, ...],
    practical: str,
    only: tuple[str, ...],
    grow: bool,
    sizes: tuple[int, ...],
    save: bool,
) -> None:
    """Time the graders on the same notebooks and checks. Run it on an idle machine."""
    console = Console()
    load, cores = psutil.getloadavg()[0], psutil.cpu_count()
    busy = load > cores / 4
    if not grow and students <= max(jobs):
        raise click.UsageError("--students must be more than --jobs.")
    if busy and save:
        raise click.UsageError(BUSY.format(load=load, cores=cores))
    # By default, growth is measured for this grader only, as instructors run it.
    wanted = only or (("course grade, warm",) if grow else ("",))
    rows = [row for row in GRADERS if any(part in row.name for part in wanted)]
    if grow and not all(isinstance(row, Ours) for row in rows):
        raise click.UsageError("--growth measures course grade alone.")
    about = {"practical": practical}
    if grow:
        figures = growth(rows, practical, max(jobs), sizes, console)
    else:
        material = Material(ROOT, practical, students)
        figures = side_by_side(rows, material, jobs, console)
        about |= {"count": students, "tasks": len(material.tasks)}
        console.print(SAID.format(**about), soft_wrap=True)
    if busy:
        console.print(BUSY.format(load=load, cores=cores), style="bold")
    if figures is None:
        raise SystemExit(1)
    if save:
        keep(RESULTS, "growth" if grow else "side by side", figures, about)


if __name__ == "__main__":
    main()
