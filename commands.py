"""The command ``course``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grading.command import grade, gradebook
from project.command import Group, Place, project_root, shown, some_practicals

if TYPE_CHECKING:
    from project.practicals import Course


def read_course() -> Course:
    """Read the checkout's practicals.

    Raises:
        CourseError: the current folder is in no checkout.
    """
    from project.practicals import Course

    return Course.read(project_root())


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Known Unknowns: hand out exercises, grade them, and keep them in step with the solutions."""


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
      course exercises --check            are they up to date?
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
        click.echo(f"{shown(edit.path)}: {edit.left}")
    click.echo("Replace every TODO, then follow the recipe in CONTRIBUTING.md.")


@main.command("check-notebooks")
@click.argument("practicals", nargs=-1, metavar="[PRACTICAL]…")
def check_notebooks(practicals: tuple[str, ...]) -> None:
    """Run every exercise with the reference solutions inserted; see that each check is ticked.

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
        what = "1 exercise fails" if failed == 1 else f"{failed} exercises fail"
        raise click.ClickException(f"{what} with the reference solutions.")


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
        click.echo(f"wrote {shown(path)}")
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
        click.echo(f"wrote {shown(path)}")


main.add_command(grade)
main.add_command(gradebook)


if __name__ == "__main__":
    sys.exit(main())
