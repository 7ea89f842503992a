"""Where the course is published: the block ``publication`` of ``_config.yml``.

A fork fills it. While it is empty, pages and notebooks name no repository and no site.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Self
from urllib.parse import quote

import yaml

from project.errors import CourseError
from project.files import read_text

CONFIG, BLOCK = "_config.yml", "publication"
# The extra of pyproject.toml that installs each package of the frameworks.
EXTRAS = {"jax": "jax", "numpyro": "jax", "optax": "jax", "torch": "torch"}
# One statement, which the grader recognises by its beginning and never runs.
INSTALLS = "try: import course except ModuleNotFoundError: import subprocess"
INSTALL = """\
# This cell does nothing where the course is installed. Where it is missing, as on Colab, pip
# installs it from its repository, with the checks and the packages of this notebook.
try:
    import course
except ModuleNotFoundError:
    import subprocess
    import sys

    print("Installing the course from {repository}: a minute or two …")
    source = "known-unknowns{extras} @ git+{repository}@{branch}"
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", source], check=True)"""
# Between these comments README.md says how to get the course.
CLONE = re.compile(r"(<!-- clone:.*? -->).*?(<!-- end -->)", re.DOTALL)
FORMATS = {
    "repository": (
        r"https://github\.com/[\w-]+/(?!.*\.git$)[\w.-]*[\w-]",
        "https://github.com/<owner>/<name>, without a slash or .git at the end",
    ),
    "branch": (r"\w[\w./-]*", "the name of a branch, in quotes if it is a number"),
    "site": (
        r"https://[\w.-]+\w(:\d+)?(/[\w.~-]+)*",
        "an address that begins with https://, without a slash at the end",
    ),
}


@dataclass(frozen=True)
class Publication:
    """The addresses of a fork; ``repository`` and ``site`` are empty if there is none."""

    repository: str = ""
    branch: str = "main"
    site: str = ""

    @classmethod
    def read(cls, root: Path) -> Self:
        """Read the block from the checkout's ``_config.yml``.

        Raises:
            CourseError: the file is not YAML, or the block has an unknown key, or a value that
                is not such an address.
        """
        path = root / CONFIG
        try:
            config = yaml.safe_load(read_text(path)) or {}
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            problem = f"It is not YAML: {getattr(error, 'problem', error)}."
            line = mark and mark.line + 1
            raise CourseError(path, line, problem, "Correct it.") from None
        if not isinstance(config, dict):
            raise CourseError(path, None, "It has no keys.", "Restore it with git.")
        block = config.get(BLOCK) or {}
        names = [field.name for field in fields(cls)]
        if not isinstance(block, dict):
            block = {str(block): None}
        for key, value in block.items():
            if key not in names:
                problem = f"`{BLOCK}` has the unknown key {key!r}."
                raise CourseError(path, None, problem, f"Use {', '.join(names)}.")
            pattern, expected = FORMATS[key]
            if value and not (isinstance(value, str) and re.fullmatch(pattern, value)):
                problem = f"`{BLOCK}: {key}` is {value!r}."
                raise CourseError(path, None, problem, f"Write {expected}.")
        return cls(**{key: value for key, value in block.items() if value})

    @property
    def clone(self) -> list[str]:
        """The commands that clone the repository."""
        if not self.repository:
            return []
        name = self.repository.rpartition("/")[2]
        branch = "" if self.branch == "main" else f"-b {self.branch} "
        return [f"git clone {branch}{self.repository}", f"cd {name}"]

    def launchers(self, notebook: str) -> dict[str, str]:
        """Return the addresses that open a notebook of the repository, by service."""
        if not self.repository:
            return {}
        name = self.repository.removeprefix("https://github.com/")
        branch = quote(self.branch, safe="")
        return {
            "Colab": "https://colab.research.google.com/github/"
            f"{name}/blob/{self.branch}/{notebook}",
            "Binder": f"https://mybinder.org/v2/gh/{name}/{branch}"
            f"?labpath={quote(notebook, safe='')}",
            "Codespaces": f"https://codespaces.new/{name}/tree/{self.branch}",
        }

    def install_cell(self, packages: Iterable[str]) -> str:
        """Return the source of a notebook's first cell; empty if there is no repository.

        Args:
            packages: the import names of the packages that the notebook needs.
        """
        return self.repository and INSTALL.format(
            extras=bracketed(packages), repository=self.repository, branch=self.branch
        )


def extras_of(packages: Iterable[str]) -> str:
    """Return the extras that install these packages, as pip expects them: ``jax,torch``."""
    return ",".join(sorted({EXTRAS[name] for name in packages if name in EXTRAS}))


def bracketed(packages: Iterable[str]) -> str:
    """Return these extras in brackets, or the empty string if there are none."""
    extras = extras_of(packages)
    return f"[{extras}]" if extras else ""


def readme(root: Path) -> dict[Path, str]:
    """Return README.md with the commands that clone the repository; empty without README."""
    path = root / "README.md"
    if not path.is_file():
        return {}
    clone = "\n".join(Publication.read(root).clone)
    shown = f"```sh\n{clone}\n```" if clone else "Clone or download this repository."
    old = read_text(path)
    return {path: CLONE.sub(lambda found: f"{found[1]}\n\n{shown}\n\n{found[2]}", old)}
