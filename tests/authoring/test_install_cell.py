"""The cell of a fork's notebooks that installs the course, and what grading makes of it."""

import json
import shutil
import subprocess
import sys

import nbformat
import pytest
from labs import COURSE
from publication_block import fill

from authoring.exercises import differences, generate, write
from grading.submissions.answers import read_answers
from project.practicals import Course
from project.publication import Publication

ROOT = COURSE.root
REPOSITORY = "https://github.com/ada/known-unknowns"


def copied(to, repository):
    """Copy what the generator reads, with the repository of a fork or none."""
    for name in ("book", "solutions", "course", "exercises"):
        ignored = shutil.ignore_patterns("__pycache__", "*.ipynb", "_static", "images")
        shutil.copytree(ROOT / name, to / name, ignore=ignored)
    for name in ("_config.yml", "_toc.yml", "README.md"):
        shutil.copy(ROOT / name, to)
    fill(to, repository=repository)
    return Course.read(to)


@pytest.fixture(scope="module")
def fork(tmp_path_factory):
    return copied(tmp_path_factory.mktemp("fork"), REPOSITORY)


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """The same course without a repository."""
    return copied(tmp_path_factory.mktemp("plain"), "")


def generated(course, name="warm_up_a"):
    return nbformat.reads(generate(course.lab(name)), as_version=4)


def test_it_is_first_and_says_what_it_does_and_changes_no_other_cell(fork, plain):
    notebook = generated(fork)
    first = next(cell for cell in notebook.cells if cell.cell_type == "code")
    assert first.id == "install"
    assert first.metadata.course == {"role": "install"}
    assert first.metadata.nbgrader.locked
    assert not first.metadata.nbgrader.grade
    assert first.source.startswith(
        "# This cell does nothing where the course is installed."
    )
    assert f"known-unknowns[jax] @ git+{REPOSITORY}@main" in first.source
    others = [cell for cell in notebook.cells if cell is not first]
    assert others == generated(plain).cells


@pytest.mark.parametrize(
    ("name", "extras"),
    [("deep_ensembles_a", "[jax]"), ("calibration_and_flows_b", "[torch]"), ("bayes_by_backprop_a", "[jax,torch]"), ("acting_on_uncertainty_a", "")],
)  # fmt: skip
def test_it_installs_the_frameworks_that_its_notebook_imports(fork, name, extras):
    assert f"known-unknowns{extras} @" in generated(fork, name).cells[2].source


def test_it_calls_pip_where_the_course_is_missing_and_not_elsewhere(fork):
    source = generated(fork).cells[2].source
    fake = "import subprocess; subprocess.run = lambda *a, **k: print(a[0][1:], k)\n"
    bare = subprocess.run(
        [sys.executable, "-I", "-S", "-c", fake + source],
        capture_output=True,
        text=True,
    )
    told, called = bare.stdout.splitlines()
    assert told.startswith(f"Installing the course from {REPOSITORY}")
    pip = ["-m", "pip", "install", "-q", f"known-unknowns[jax] @ git+{REPOSITORY}@main"]
    assert called == f"{pip} {{'check': True}}"
    here = [sys.executable, "-c", fake + source]
    done = subprocess.run(here, cwd=ROOT, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("", "")


def test_readme_shows_the_clone_command_of_the_block(tmp_path):
    fork = copied(tmp_path, REPOSITORY)
    assert "README.md (generated)" in differences(fork, ["warm_up_a"])
    assert fork.root / "README.md" in write(fork, ["warm_up_a"])
    assert differences(fork, ["warm_up_a"]) == ""
    readme = (fork.root / "README.md").read_text("utf-8")
    assert f"```sh\ngit clone {REPOSITORY}\ncd known-unknowns\n```" in readme
    fill(fork.root, repository="")
    write(fork, ["warm_up_a"])
    if Publication.read(ROOT) == Publication():
        assert (fork.root / "README.md").read_bytes() == (
            ROOT / "README.md"
        ).read_bytes()


# --- grading --------------------------------------------------------------------------


def seen(notebook, release):
    """Return what is read from a submission, without the positions of its cells."""
    answers = read_answers(json.dumps(notebook).encode(), release)
    return answers.tasks, answers.written, answers.added, answers.around, answers.flags


def test_submissions_with_and_without_it_are_read_alike(fork, plain):
    new = generated(fork)
    old = generated(plain)
    for notebook in (new, old):
        for release in (new, old):
            assert seen(notebook, release) == seen(old, old)
    assert seen(new, old)[2:] == ((), {}, ())


@pytest.mark.parametrize("keeps", ["id", "metadata", "neither"])
def test_another_forks_cell_is_recognised_without_ids_or_metadata(fork, plain, keeps):
    other = generated(fork)
    release = generated(plain)
    cell = other.cells[2]
    cell.source = cell.source.replace("ada", "grace") + "  \n"
    if keeps != "id":
        del cell["id"]
    if keeps != "metadata":
        cell.metadata.clear()
    assert seen(other, release) == seen(release, release)


def test_code_that_a_student_adds_to_it_is_theirs(fork, plain):
    """As in any other cell, and what installs is still not run."""
    notebook = generated(fork)
    release = generated(plain)
    notebook.cells[2].source += "\n\ndef helper(x):\n    return 2 * x"
    (added,) = seen(notebook, release)[2]
    assert added.source.strip().startswith("def helper")
    assert "subprocess" not in added.source
