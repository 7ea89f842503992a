"""The parts that all commands share: their errors, their paths, and the checkout."""

from __future__ import annotations

import sys
import traceback
from importlib.util import find_spec
from pathlib import Path

import click

from project.errors import CourseError
from project.files import absolute

# 1 is kept for what a command found out: notebooks that could not be graded, exercises
# that are out of date.
WRONG_USE, FAULT, INTERRUPTED, CLOSED = 2, 70, 130, 141


class Group(click.Group):
    """Reports each error that a user can fix in one line, and exits with status 2."""

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
        except ModuleNotFoundError as error:
            if find_spec((error.name or "project").partition(".")[0]):
                traceback.print_exc()
                ctx.exit(FAULT)
            _say(
                CourseError(
                    sys.prefix,
                    None,
                    f"The package {error.name} is not installed here.",
                    "Install what teaching needs: "
                    ".venv/bin/pip install -c constraints.txt -e '.[instructor]'.",
                )
            )
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


some_practicals = click.option(
    "--practical",
    "practicals",
    multiple=True,
    metavar="STEM",
    help="Only this practical or lab, such as deep_ensembles or deep_ensembles_a; may be given "
    "several times.",
)


def _say(error: CourseError) -> None:
    """Print an error in one line."""
    named = CourseError(shown(error.path), error.line, error.problem, error.remedy)
    text = " ".join(f"course: {named}".split("\n"))
    click.echo(text.encode("utf-8", "replace").decode("utf-8"), err=True)


def shown(path: Path | str) -> str:
    """Return a path as it is printed: relative to the current folder if it is below it."""
    try:
        here = Path.cwd()
    except OSError:  # it was removed
        return str(path)
    below = here in Path(path).parents
    text = str(Path(path).relative_to(here)) if below else str(path)
    return text.encode("utf-8", "replace").decode("utf-8")


def project_root() -> Path:
    """Return the folder that holds the project: this one or one above it.

    Raises:
        CourseError: there is none, it is another checkout than the command's own, or this folder
            has been removed.
    """
    try:
        here = Path.cwd()
    except FileNotFoundError:
        problem = "This folder does not exist any more."
        raise CourseError(".", None, problem, "Change into a checkout.") from None
    for folder in (here, *here.parents):
        if (folder / "_toc.yml").exists() and (folder / "book").is_dir():
            _require_own(folder)
            return folder
    raise CourseError(
        str(here),
        None,
        "This folder is not in a checkout of the course: no _toc.yml here or above.",
        "Change into a checkout, then run the command there.",
    )


def _require_own(root: Path) -> None:
    """Refuse a checkout whose own code would not be used."""
    own = Path(__file__).resolve().parents[1]
    if (root / "project" / "command.py").is_file() and root.resolve() != own:
        problem = (
            f"This checkout has its own `course`, but the one of {own} was called."
        )
        remedy = "Call .venv/bin/course here, or python -m commands."
        raise CourseError(root, None, problem, remedy)
