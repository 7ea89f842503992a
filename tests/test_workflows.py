"""The files that pip, GitHub, Binder and Codespaces read: valid, and in step with the pages."""

import json
import re
import shlex
import subprocess
import sys
import tomllib
from itertools import chain
from pathlib import Path

import pytest
import yaml
from documented import PAGES, commands
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
DEVCONTAINER = ROOT / ".devcontainer" / "devcontainer.json"
BINDER = ROOT / ".binder"
# Commands that no page prints, with the reason.
THEIRS = {
    "sudo apt-get update": "the runner's package lists are old",
    "sudo apt-get install --yes bubblewrap": "README.md: apt install bubblewrap",
    "sudo sysctl --write kernel.apparmor_restrict_unprivileged_userns=0": "Ubuntu 24.04",
    ".venv/bin/playwright install --with-deps chromium": "README.md: Chromium",
    "zip --quiet --recurse-paths ../../../class-edition.zip .": "packs what make built",
    "python -m pip install --no-deps -e .": "conda has installed the packages",
}


def schema_errors(name, *paths):
    """Return what check-jsonschema says about files; empty if they are valid."""
    done = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", name, *paths],
        capture_output=True,
        text=True,
    )
    return "" if done.returncode == 0 else done.stdout + done.stderr


def test_the_workflows_and_the_citation_follow_their_schemas():
    assert {path.stem for path in WORKFLOWS} == {"tests", "pages", "release"}
    assert schema_errors("vendor.github-workflows", *WORKFLOWS) == ""
    assert schema_errors("vendor.citation-file-format", ROOT / "CITATION.cff") == ""


def test_a_misspelt_key_is_noticed(tmp_path):
    text = WORKFLOWS[0].read_text("utf-8")
    wrong = tmp_path / "wrong.yml"
    wrong.write_text(text.replace("runs-on:", "run-on:", 1), "utf-8")
    assert "run-on" in schema_errors("vendor.github-workflows", wrong)


def steps(path):
    """Return the steps of all jobs of a workflow."""
    jobs = yaml.safe_load(path.read_text("utf-8"))["jobs"].values()
    return [step for job in jobs for step in job["steps"]]


def run_by_machines():
    """Return every command in these files."""
    found = [line for path in WORKFLOWS for step in steps(path) for line in lines(step)]
    found += json.loads(DEVCONTAINER.read_text("utf-8"))["postCreateCommand"].split(
        " && "
    )
    script = (BINDER / "postBuild").read_text("utf-8").splitlines()
    return found + [line for line in script if not re.match(r"#|set |$", line)]


def lines(step):
    """Return the commands of a step, for each value of the matrix."""
    matrix = "${{ matrix.target }}"
    for line in step.get("run", "").splitlines():
        for target in ("test", "test-long") if matrix in line else ("",):
            yield line.replace(matrix, target)


def unknown(found, printed):
    """Return the commands that neither a page prints nor ``THEIRS`` explains."""
    plain = {line.removeprefix(".venv/bin/") for line in printed}
    return {
        line
        for line in found
        if line.removeprefix(".venv/bin/") not in plain
        and line not in THEIRS
        and not line.startswith("gh release create ")
    }


def test_they_run_the_commands_that_the_pages_print():
    printed = {command.line for page in PAGES for command in commands(page)}
    found = run_by_machines()
    assert {"make test", "make test-long", "make book", "make pdf"} <= {*found}
    assert unknown(found, printed) == set()
    assert {*THEIRS} <= {*found}
    assert unknown(["make tset"], printed) == {"make tset"}


def test_what_they_publish_is_what_the_commands_write():
    uploaded = [step["with"]["path"] for step in steps(ROOT / ".github/workflows/pages.yml") if "upload" in step.get("uses", "")]  # fmt: skip
    assert uploaded == ["_build/html"]
    release = steps(ROOT / ".github/workflows/release.yml")
    attached = [word for word in shlex.split(release[-1]["run"]) if "/" in word]
    assert attached == [
        "handout/known-unknowns.zip",  # course release handout/
        "_build/known-unknowns.pdf",  # make pdf
        "_build/class-edition.zip",
    ]
    assert release[-2]["working-directory"] == "_build/class/_build/html"


def test_only_actions_of_github_with_a_version_are_used():
    used = [
        step["uses"] for path in WORKFLOWS for step in steps(path) if "uses" in step
    ]
    assert len(used) >= 6
    assert [one for one in used if not re.fullmatch(r"actions/[\w-]+@v\d+", one)] == []


@pytest.mark.parametrize(
    "path", [*WORKFLOWS, DEVCONTAINER, *sorted(BINDER.iterdir())], ids=lambda p: p.name
)
def test_none_names_an_address(path):
    """They install from wherever pip and conda are set up to."""
    assert "://" not in path.read_text("utf-8")


def test_binder_installs_what_the_student_extra_does():
    environment = yaml.safe_load((BINDER / "environment.yml").read_text("utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    needed = [*project["dependencies"], *extras["jax"], *extras["torch"]]
    needed += [one for one in extras["student"] if not one.startswith(project["name"])]
    wanted = {
        re.sub("^torch$", "pytorch-cpu", one.name): str(one.specifier)
        for one in map(Requirement, needed)
    }
    listed = [one for one in environment["dependencies"] if ">=" in one]
    assert {one.name: str(one.specifier) for one in map(Requirement, listed)} == wanted
    assert (BINDER / "postBuild").stat().st_mode & 0o111


def test_what_the_project_requires_is_pinned():
    """make installs what is pinned; it asks pip for no more unless something is missing."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    lists = [project["dependencies"], *project["optional-dependencies"].values()]
    required = {one.name: one for one in map(Requirement, chain(*lists))}
    del required["known-unknowns"]
    pins = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    wrong = set(required)
    for pin in map(Requirement, pins):
        here = pin.marker is None or pin.marker.evaluate()
        if here and pin.name in required:
            (version,) = pin.specifier
            if version.version in required[pin.name].specifier:
                wrong.remove(pin.name)
    assert wrong == set()
