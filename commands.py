"""The command ``course``."""

from __future__ import annotations

import sys
import traceback
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from project.errors import CourseError
from project.files import absolute

if TYPE_CHECKING:
    from project.practicals import Course

# 1 is kept for what a command found out: notebooks that could not be graded, exercises
# that are out of date.
WRONG_USE, FAULT, INTERRUPTED, CLOSED = 2, 70, 130, 141


class Group(click.Group):
    """Reports errors that a user can fix in one line, with exit status 2."""

    def invoke(self, ctx: click.Context):
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.Abort, click.exceptions.Exit):
            raise
        except CourseError as error:
            _say(error)
            ctx.exit(WRONG_USE)
        except BrokenPipeError:
            ctx.exit(CLOSED)
        except OSError as error:
            _say(CourseError.of_system(error))
            ctx.exit(WRONG_USE)
        except KeyboardInterrupt:
            click.echo("course: interrupted", err=True)
            ctx.exit(INTERRUPTED)
        except Exception:
            traceback.print_exc()
            ctx.exit(FAULT)


class Place(click.ParamType):
    """A path, made absolute; pipes, devices and the empty path are refused."""

    name = "path"

    def convert(self, value, param, ctx) -> Path:
        return absolute(value)


def _say(error: CourseError) -> None:
    """Print an error in one line."""
    shown = CourseError(_shown(error.path), error.line, error.problem, error.remedy)
    text = " ".join(f"course: {shown}".split("\n"))
    click.echo(text.encode("utf-8", "replace").decode("utf-8"), err=True)


def _shown(path: Path | str) -> str:
    """A path as it is printed: below the current folder without the way to there."""
    try:
        here = Path.cwd()
    except OSError:  # it was removed
        return str(path)
    below = here in Path(path).parents
    text = str(Path(path).relative_to(here)) if below else str(path)
    return text.encode("utf-8", "replace").decode("utf-8")


def project_root() -> Path:
    """The folder that holds the project: this one or one above it.

    Raises:
        CourseError: there is none.
    """
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / "_toc.yml").exists() and (folder / "book").is_dir():
            return folder
    raise CourseError(
        str(here),
        None,
        "This folder is not in a checkout of the course: no _toc.yml here or above.",
        "Change into a checkout, then run the command there.",
    )


def read_course() -> Course:
    """Read the checkout's practicals.

    Raises:
        CourseError: the current folder is in no checkout.
    """
    from project.practicals import Course

    return Course.read(project_root())


some_practicals = click.option(
    "--practical",
    "practicals",
    multiple=True,
    metavar="STEM",
    help="Only this practical or lab, such as deep_ensembles or deep_ensembles_a; may be given several times.",
)


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Known Unknowns: keep the course's exercises in step with its solutions."""


@main.command()
@click.argument("practicals", nargs=-1, metavar="[PRACTICAL]…")
@click.option(
    "--check",
    is_flag=True,
    help="Write nothing; fail with a diff if an exercise is out of date.",
)
def exercises(practicals: tuple[str, ...], check: bool) -> None:
    """Generate the exercise notebooks, and the clone command in README.md.

    \b
    Example:
      course exercises                    all of them
      course exercises deep_ensembles     one
      course exercises --check            what CI does
    """
    from authoring.exercises import differences, write

    course = read_course()
    if check:
        diff = differences(course, practicals)
        if diff:
            click.echo(diff, nl=False)
            raise click.ClickException(
                "The exercises are out of date. Update them with `course exercises`."
            )
        click.echo("The exercises are up to date.")
        return
    for path in write(course, practicals):
        click.echo(f"wrote {path.relative_to(course.root)}")


@main.command("new-task")
@click.argument("lab", metavar="LAB")
@click.argument("name", metavar="NAME")
@click.option(
    "--module",
    default="",
    metavar="MODULE",
    help="The module of the solutions that it belongs to; by default the last one that the package in solutions imports.",
)
def new_task(lab: str, name: str, module: str) -> None:
    """Write the skeleton of a new task: solution, check, prompt, right and wrong answers.

    \b
    Example:
      course new-task deep_ensembles_b brier_score
      course new-task deep_ensembles_b brier_score --module likelihoods

    LAB is the stem of its practical, with the letter of the lab if there are several, as in
    approximate_inference_a. It says what is left to do in each file.
    """
    from authoring.new_task import new_task as write_task

    for edit in write_task(read_course(), lab, name, module):
        click.echo(f"{_shown(edit.path)}: {edit.left}")
    click.echo("Replace every TODO, then follow the recipe in CONTRIBUTING.md.")


@main.command("check-notebooks")
@click.argument("practicals", nargs=-1, metavar="[PRACTICAL]…")
def check_notebooks(practicals: tuple[str, ...]) -> None:
    """Run every exercise with the reference solutions put in, whole, and see that each check is ticked.

    \b
    Example:
      course check-notebooks                   all of them
      course check-notebooks deep_ensembles    one
    """
    from authoring.running import run_solved

    failed = 0
    for lab in read_course().labs(*practicals):
        problem = run_solved(lab)
        failed += problem is not None
        click.echo(
            f"{'✗' if problem else '✓'} {lab.exercise.stem}"
            + (f"\n{problem}" if problem else "")
        )
    if failed:
        raise click.ClickException(
            f"{failed} exercises fail with the reference solutions."
        )


@main.command()
@click.argument("folder", type=Place(), metavar="DIR")
@some_practicals
@click.option("--book", is_flag=True, help="Include the class edition of the book.")
def release(folder: Path, practicals: tuple[str, ...], book: bool) -> None:
    """Write the bundle for a class, without solutions: DIR/known-unknowns and a zip of it.

    \b
    Example:
      course release handout/                               all practicals
      course release handout/ --practical deep_ensembles    one
      course release handout/ --book                        with the book to read

    An older bundle in DIR is replaced, with whatever was changed in it; anything else of
    that name is left alone.
    """
    from authoring.chapter import answers_in
    from authoring.release import release as write_bundle
    from project.publication import Publication

    course = read_course()
    for path in write_bundle(course, folder, practicals, book=book):
        click.echo(f"wrote {_shown(path)}")
    for lab in course.labs(*practicals):
        if answers := answers_in(lab):
            click.echo(
                f"{lab.exercise.name} gives the answers to {', '.join(answers)}, which it builds "
                "on: hand it out when the earlier lab is due."
            )
    if not book and not Publication.read(course.root).site:
        click.echo(
            "Notebooks name pages of the book, which this bundle does not hold: add them with "
            "--book, or give the site's address in _config.yml."
        )


@main.command()
@click.argument("folder", type=Place(), metavar="DIR")
@some_practicals
def nbgrader(folder: Path, practicals: tuple[str, ...]) -> None:
    """Write a course folder for nbgrader: DIR/source, with the solutions, and its settings.

    \b
    Example:
      course nbgrader my-course/
      cd my-course && nbgrader generate_assignment 03a-bayes-by-backprop

    Notebooks in DIR/source are replaced; an nbgrader_config.py that is there is kept.
    """
    from authoring.nbgrader import write_course

    for path in write_course(read_course(), folder, practicals):
        click.echo(f"wrote {_shown(path)}")


@main.command()
@click.argument("submissions", type=Place())
@click.option(
    "--out",
    type=Place(),
    metavar="DIR",
    required=True,
    help="The folder for the grade sheets, the feedback and the report.",
)
@click.option(
    "--jobs", type=click.IntRange(1, 256), default=1, help="How many at a time."
)
@click.option(
    "--manual",
    type=Place(),
    metavar="FILE",
    help="marks.csv, filled in: the marks for the answers in words.",
)
@click.option(
    "--answers-from",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="DATE",
    help="From this day on, such as 2027-01-31, the feedback shows the model answers.",
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
    help="What counts of several notebooks of one student and practical: the last one with "
    "answers (by the platform's upload number, else by time, else by name), or each task "
    "if it is right in any of them.",
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
    jobs: int,
    manual: Path | None,
    answers_from: datetime | None,
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
      course grade moodle.zip --out grades/ --jobs 4
      course grade handed-in/ --out grades/ --manual grades/marks.csv
      course grade handed-in/ --out grades/ --dask tcp://10.0.0.1:8786

    Earlier grades are kept; a run that was killed resumes where it stopped. The exit
    status is 0 if all notebooks were graded, 1 if some could not be, 2 for wrong use or a
    disk that is full.
    """
    from grading.app import Screen, grade_folder
    from grading.settings import Settings

    root = project_root()
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
    )
    answers = answers_from is not None and answers_from <= datetime.now()
    results = grade_folder(
        submissions, settings, manual, Screen(), several, answers=answers, diff=diff
    )
    if not all(result.graded for result in results):
        ctx.exit(1)


@main.command()
@click.argument("grades", type=Place(), nargs=-1, required=True)
@click.option("--out", type=Place(), metavar="DIR", required=True, help="The folder.")
def gradebook(grades: tuple[Path, ...], out: Path) -> None:
    """Merge the grades of a term: gradebook.csv and gradebook.html, with all labs.

    \b
    Example:
      course gradebook practical-1/grades.json practical-2/grades.json --out term/
    """
    from grading.reports.gradebook import write_gradebook

    for path in write_gradebook(grades, out):
        click.echo(path)


if __name__ == "__main__":
    sys.exit(main())
