"""The commands ``course grade`` and ``course gradebook``."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from project.command import Place, project_root, some_practicals

if TYPE_CHECKING:
    from grading.reports.late import Policy


class Read(click.ParamType):
    """A value that a function of ``grading.reports.late`` reads."""

    name = "text"

    def __init__(self, read: str) -> None:
        self.read = read

    def convert(self, value, param, ctx):
        from grading.reports import late

        try:
            return getattr(late, self.read)(value)
        except ValueError as error:
            self.fail(f"{value!r} is not understood: {error}.", param, ctx)


class Day(click.DateTime):
    """A day, such as 2027-01-31."""

    def convert(self, value, param, ctx):
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"{value!r} is no day: write it as 2027-01-31.", param, ctx)


@click.command()
@click.argument("submissions", type=Place())
@click.option(
    "--out",
    type=Place(),
    metavar="DIR",
    required=True,
    help="The folder for the grade sheets, the feedback and the report.",
)
@some_practicals
@click.option(
    "--jobs",
    type=click.IntRange(1, 256),
    default=1,
    show_default=True,
    help="How many notebooks are graded at a time.",
)
@click.option(
    "--manual",
    type=Place(),
    metavar="FILE",
    help="marks.csv, filled in: the marks for the answers in words.",
)
@click.option(
    "--answers-from",
    type=Day(["%Y-%m-%d"]),
    metavar="DATE",
    help="From this day on, such as 2027-01-31, the feedback shows the model answers.",
)
@click.option(
    "--due",
    type=Read("moment"),
    metavar="TIME",
    help="When the submissions were due, such as 2026-10-01T12:00.",
)
@click.option(
    "--times",
    type=Place(),
    metavar="FILE",
    help="When each submission was made: a table with the columns submission,when, or "
    "Moodle's grading worksheet.",
)
@click.option(
    "--late",
    type=Read("rate_of"),
    metavar="RATE",
    help="Deduct this share of a lab's points for each begun day, hour or week after the due "
    "time, such as 10%/day.",
)
@click.option(
    "--grace",
    type=Read("seconds_of"),
    metavar="TIME",
    help="Deduct nothing up to so long after the due time, such as 15min.",
)
@click.option(
    "--late-most",
    type=click.FloatRange(0, 100),
    metavar="PERCENT",
    help="Deduct at most this percentage of a lab's points.",
)
@click.option(
    "--diff",
    is_flag=True,
    help="Only say whose points would move since the last run, and why: difference.csv and "
    "difference.html. Nothing else is written; what has been graded is kept.",
)
@click.option(
    "--retry",
    is_flag=True,
    help="Grade again the notebooks whose code a time limit or another limit stopped.",
)
@click.option(
    "--several",
    type=click.Choice(["last", "best"]),
    default="last",
    show_default=True,
    help="Which of several notebooks of one student and lab counts: the last one with "
    "answers (by the platform's upload number, else by time, else by name), or the best, where "
    "each task counts if it is right in any of them. That grade is as late as the latest notebook "
    "that it takes an answer from.",
)
@click.option(
    "--warm/--cold",
    default=True,
    help="Fork each kernel from a process that has imported the frameworks (the default; it "
    "falls back to cold starts where forking is not safe), or start each on its own.",
)
@click.option(
    "--dask",
    metavar="ADDRESS",
    default="",
    help="Grade on a Dask cluster, such as tcp://10.0.0.1:8786. The number of submissions at a "
    "time depends on its workers, not on --jobs.",
)
@click.option(
    "--no-sandbox",
    is_flag=True,
    help="Grade without bubblewrap. Then nothing keeps a submission from reading and "
    "changing your files, other submissions and the grades, or from using the network; "
    "only its time, memory, processes and output are limited. For work that you trust.",
)
@click.pass_context
def grade(
    ctx: click.Context,
    submissions: Path,
    out: Path,
    practicals: tuple[str, ...],
    jobs: int,
    manual: Path | None,
    answers_from: datetime | None,
    due: datetime | None,
    times: Path | None,
    late: tuple[float, float] | None,
    grace: float | None,
    late_most: float | None,
    diff: bool,
    retry: bool,
    several: str,
    warm: bool,
    dask: str,
    no_sandbox: bool,
) -> None:
    """Grade a class: a folder of notebooks, or a zip, as a learning platform gives it.

    \b
    Example:
      course grade handed-in/ --out grades/
      course grade moodle.zip --out grades/ --jobs 4 --practical deep_ensembles_a
      course grade handed-in/ --out grades/ --manual grades/marks.csv
      course grade handed-in/ --out grades/ --due 2026-10-01T12:00 --times times.csv --late 10%/day
      course grade handed-in/ --out grades/ --dask tcp://10.0.0.1:8786

    Earlier grades are kept; a run that was killed resumes where it stopped. The exit
    status is 0 if all notebooks were graded, 1 if some could not be, 2 for wrong use or a
    disk that is full.
    """
    from grading.app import Screen, grade_folder
    from grading.settings import Settings

    root = project_root()
    policy = _policy(due, times, late, grace, late_most)
    if no_sandbox:
        click.echo(
            "Without the sandbox a submission can read and change whatever you can: your "
            "files, other submissions, the grades. Its verdict is not guarded.",
            err=True,
        )
    settings = Settings(
        root,
        out,
        jobs,
        sandboxed=not no_sandbox,
        retry=retry,
        warm=warm,
        dask=dask,
        submissions=submissions,
    )
    answers = answers_from is not None and answers_from <= datetime.now()
    results = grade_folder(
        submissions,
        settings,
        manual,
        Screen(),
        several,
        practicals=practicals,
        answers=answers,
        diff=diff,
        policy=policy,
    )
    if not all(result.graded for result in results):
        ctx.exit(1)


def _policy(
    due: datetime | None,
    times: Path | None,
    late: tuple[float, float] | None,
    grace: float | None,
    most: float | None,
) -> Policy | None:
    """The late policy, or None if no option asks for one."""
    from grading.reports.late import Policy

    if due is None or times is None or late is None:
        if {due, times, late, grace, most} != {None}:
            given = {"--late": late, "--due": due, "--times": times}
            missing = [name for name, value in given.items() if value is None]
            raise click.UsageError(
                "--late, --due and --times belong together: "
                f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing."
            )
        return None
    return Policy(due, times, *late, grace or 0.0, 1.0 if most is None else most / 100)


@click.command()
@click.argument("grades", type=Place(), nargs=-1, required=True)
@click.option(
    "--out",
    type=Place(),
    metavar="DIR",
    required=True,
    help="The folder for gradebook.csv and gradebook.html.",
)
def gradebook(grades: tuple[Path, ...], out: Path) -> None:
    """Merge the grades of a term: gradebook.csv and gradebook.html, with all labs.

    \b
    Example:
      course gradebook practical-1/grades.json practical-2/grades.json --out term/
    """
    from grading.reports import gradebook as module

    book = module.gradebook(grades)
    for path in module.write_gradebook(book, out):
        click.echo(path)
    if book.note:
        click.echo(f"look: {book.note}")
