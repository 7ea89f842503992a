"""The command ``course``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from course.errors import CourseError


class Group(click.Group):
    """Turns the project's own errors into one line and exit status 2."""

    def invoke(self, ctx: click.Context):
        try:
            return super().invoke(ctx)
        except CourseError as error:
            click.echo(f"course: {error}", err=True)
            ctx.exit(2)


def project_root() -> Path:
    """The folder that holds the project: this one or one above it.

    Raises:
        click.UsageError: there is none.
    """
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / "_toc.yml").exists() and (folder / "book").is_dir():
            return folder
    raise click.UsageError(
        f"{here} is not in a checkout of the course: no _toc.yml here or above. Change into one."
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
    """Generate the exercise notebooks from the chapters and the solutions.

    \b
    Example:
      course exercises                    all of them
      course exercises deep_ensembles     one
      course exercises --check            what CI does
    """
    from course.exercises import differences, write

    root = project_root()
    if check:
        diff = differences(root, practicals)
        if diff:
            click.echo(diff, nl=False)
            raise click.ClickException(
                "The exercises are out of date. Mend them with `course exercises`."
            )
        click.echo("The exercises are up to date.")
        return
    for path in write(root, practicals):
        click.echo(f"wrote {path.relative_to(root)}")


@main.command("check-notebooks")
@click.argument("practicals", nargs=-1, metavar="[PRACTICAL]…")
def check_notebooks(practicals: tuple[str, ...]) -> None:
    """Run every exercise with the reference solutions put in, whole, and see that each check is ticked.

    \b
    Example:
      course check-notebooks                   all of them
      course check-notebooks deep_ensembles    one
    """
    from course.exercises import chosen
    from course.running import run_solved

    root = project_root()
    failed = 0
    for chapter in chosen(root, practicals):
        problem = run_solved(root, chapter)
        failed += problem is not None
        click.echo(
            f"{'✗' if problem else '✓'} {chapter.stem}"
            + (f"\n{problem}" if problem else "")
        )
    if failed:
        raise click.ClickException(
            f"{failed} exercises fail with the reference solutions."
        )


if __name__ == "__main__":
    sys.exit(main())
