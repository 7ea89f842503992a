"""The release bundle for a class: what it contains, what it must not contain, and writing it."""

import ast
import importlib.metadata
import json
import os
import re
import shutil
import sys
import tomllib
import zipfile
from functools import cache
from importlib.util import resolve_name
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner
from labs import COURSE, LABS
from secret import solution_lines

from authoring import release as module
from authoring.chapter import answers_in
from authoring.release import NAME, bundle, release
from commands import main
from course.task import find
from project.errors import CourseError
from project.practicals import Course
from project.source import read_solutions

ROOT = Path(__file__).parents[2]
each_choice = pytest.mark.parametrize(
    "practicals", [(), ("deep_ensembles",), ("bayes-by-backprop",)], ids=str
)


@cache  # to make one with all labs takes a second; tests only read it
def bundled(*names):
    return bundle(COURSE, names)


@pytest.fixture
def copy(tmp_path):
    """A temporary copy of the files that a release reads."""
    root = tmp_path / "project"
    for folder in (
        "authoring",
        "book",
        "course",
        "exercises",
        "grading",
        "project",
        "solutions",
    ):
        ignored = shutil.ignore_patterns("__pycache__", "_static")
        shutil.copytree(ROOT / folder, root / folder, ignore=ignored)
    for name in ("_config.yml", "_toc.yml", "pyproject.toml", *module.COPIED):
        shutil.copy(ROOT / name, root)
    return root


def sources(name, data):
    """Return the Python code in a file of the bundle."""
    if name.endswith(".ipynb"):
        cells = nbformat.reads(data.decode(), as_version=4).cells
        return "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    return data.decode() if name.endswith(".py") else ""


def text_of(name, data):
    """Return the text of a file as a reader sees it."""
    if name.endswith(".ipynb"):
        cells = nbformat.reads(data.decode(), as_version=4).cells
        return "\n".join(cell.source for cell in cells)
    return data.decode()


# --- contents -------------------------------------------------------------------------


@each_choice
def test_the_same_sources_give_the_same_bytes(practicals, tmp_path):
    folders = [tmp_path / "a", tmp_path / "b" / "c"]
    written = [release(COURSE, folder, practicals) for folder in folders]
    (one, one_zip), (two, two_zip) = written
    assert one_zip.read_bytes() == two_zip.read_bytes()
    files = {p.relative_to(one) for p in one.rglob("*") if p.is_file()}
    with zipfile.ZipFile(one_zip) as archive:
        names = archive.namelist()
        assert names == sorted(names)
        assert {Path(name).relative_to(NAME) for name in names} == files
        for name in names:
            data = archive.read(name)
            assert data == (two.parent / name).read_bytes()
            assert archive.getinfo(name).date_time == (1980, 1, 1, 0, 0, 0)
    assert sorted(path.name for path in one.parent.iterdir()) == [NAME, f"{NAME}.zip"]


def test_a_bundle_holds_what_a_student_needs():
    names = set(bundled())
    exercises = {f"exercises/{path.name}" for path in ROOT.glob("exercises/*.ipynb")}
    assert names >= exercises
    assert names >= {
        "README.md",
        "LICENSE",
        "constraints.txt",
        "pyproject.toml",
        "requirements.txt",
        "course/__init__.py",
        "course/feedback.py",
        "course/plots/known-unknowns.mplstyle",
        "course/checks/deep_ensembles/likelihoods.py",
    }


def test_a_bundle_of_one_practical_holds_no_other():
    files = bundled("deep_ensembles")
    assert [name for name in files if name.startswith("exercises/")] == [
        "exercises/01a-deep-ensembles.ipynb",
        "exercises/01b-deep-ensembles.ipynb",
    ]
    checks = {name.split("/")[2] for name in files if name.startswith("course/checks/")}
    shared = {
        "__init__.py",
        "concepts_of_densities.py",
        "concepts_of_members.py",
    }
    assert checks == {"deep_ensembles", *shared}
    assert {"course/probing.py", "course/side_effects.py"} < files.keys()
    assert "course/nuts.py" not in files
    readme = files["README.md"].decode()
    assert "01a-deep-ensembles.ipynb`: Deep ensembles: regression" in readme
    assert "01b-deep-ensembles.ipynb`: Deep ensembles: classification" in readme
    assert "02-" not in readme
    assert "*CPU*" not in readme  # it needs no PyTorch


def test_a_book_that_is_not_built_is_named(copy):
    with pytest.raises(CourseError, match=r"html: .* not built\. .*EDITION=class"):
        bundle(Course.read(copy), book=True)


def test_the_how_to_is_one_page():
    readme = bundled()["README.md"].decode()
    assert len(readme.splitlines()) < 70
    assert "{" not in readme
    for words in ("pip install -r requirements.txt", "check.hint", "Hand in", "*CPU*"):
        assert words in readme


# --- excluded and refused contents ----------------------------------------------------


@each_choice
def test_nothing_but_what_is_for_students(practicals):
    names = bundled(*practicals)
    folders = {name.partition("/")[0] for name in names if "/" in name}
    assert folders == {"course", "exercises"}
    assert {name for name in names if "/" not in name} == {
        *("README.md", "LICENSE", "LICENSE-text"),
        *("constraints.txt", "pyproject.toml", "requirements.txt"),
    }
    assert not any("__pycache__" in name for name in names)


@each_choice
def test_what_is_imported_is_in_the_bundle(practicals):
    """Imports of the course are in the bundle; all others are among its requirements."""
    files = bundled(*practicals)
    project = tomllib.loads(files["pyproject.toml"].decode())["project"]
    required = sum(project["optional-dependencies"].values(), project["dependencies"])
    required = {re.match(r"[\w-]+", line)[0].lower() for line in required}
    owners = importlib.metadata.packages_distributions()
    for name, data in files.items():
        source = sources(name, data)
        package = ".".join(Path(name).parts[:-1])
        for node in ast.walk(ast.parse(source)):
            modules = []
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                relative = "." * node.level + (node.module or "")
                modules = [resolve_name(relative, package)]
            for wanted in modules:
                top = wanted.partition(".")[0]
                if top == "course":
                    path = wanted.replace(".", "/")
                    here = {f"{path}.py", f"{path}/__init__.py"}
                    assert here & set(files), f"{name}: {wanted}"
                elif top not in sys.stdlib_module_names:
                    assert top != "solutions", name
                    known = {owner.lower() for owner in owners[top]}
                    assert required & known, (name, top)


def leaks(files):
    """Return the lines of solutions that are in a bundle, with their files.

    A lab may hold those of the earlier tasks on which it builds.
    """
    texts = {name: text_of(name, data) for name, data in files.items()}
    given = {f"exercises/{lab.exercise.name}": given_answers(lab) for lab in LABS}
    return {
        (name, line)
        for line in solution_lines()
        for name, text in texts.items()
        if line in text and line not in given.get(name, "")
    }


@cache
def given_answers(lab):
    """Return the code of the answers that a lab gives."""
    definitions = lab.solutions().definitions
    return "\n".join(definitions[find(task).name].source for task in answers_in(lab))


@each_choice
def test_no_line_of_a_solution_is_in_a_bundle(practicals):
    assert leaks(bundled(*practicals)) == set()


def test_a_planted_line_would_be_found():
    files = bundled()
    assert "with torch.no_grad():" not in solution_lines()  # it is in every chapter
    line = "return 1 / (n * weight_decay)"
    assert line in solution_lines()
    for name in (
        "course/data.py",
        "README.md",
        "exercises/04a-calibration-and-flows.ipynb",
        "exercises/04b-calibration-and-flows.ipynb",
    ):
        data = files[name]
        if name.endswith(".ipynb"):
            planted = json.loads(data)
            planted["cells"][3]["source"] = ["x = 1\n", f"    {line}\n"]
            data = json.dumps(planted).encode()
        else:
            data += f"\n    {line}\n".encode()
        assert leaks({name: data}) == {(name, line)}


def test_an_exercise_that_holds_an_answer_is_refused(copy, tmp_path):
    path = copy / "exercises/01a-deep-ensembles.ipynb"
    notebook = nbformat.read(path, as_version=4)
    definition = read_solutions(copy, "deep_ensembles").definitions["heads"]
    (cell,) = [c for c in notebook.cells if c["id"] == "deep-ensembles--heads"]
    cell.source = definition.shown()
    nbformat.write(notebook, path)
    number = notebook.cells.index(cell) + 1
    other = rf"Cell {number} is not the one .* `course exercises`"
    with pytest.raises(CourseError, match=other):
        release(Course.read(copy), tmp_path / "out")
    assert not (tmp_path / "out").exists()
    cell.source = definition.stub()
    output = nbformat.v4.new_output("stream", text="an answer")
    cell.outputs = [output]
    nbformat.write(notebook, path)
    with pytest.raises(CourseError, match=f"Cell {number} has outputs"):
        release(Course.read(copy), tmp_path / "out")


@pytest.mark.parametrize("place", ["written", "new", "end"])
def test_an_answer_in_another_cell_is_refused_too(copy, tmp_path, place):
    path = copy / "exercises/01a-deep-ensembles.ipynb"
    notebook = nbformat.read(path, as_version=4)
    if place == "written":
        roles = [one.metadata.get("course", {}).get("role") for one in notebook.cells]
        notebook.cells[roles.index("written")].source = "An answer in words."
    else:
        at = 5 if place == "new" else len(notebook.cells)
        notebook.cells.insert(at, nbformat.v4.new_code_cell("heads = print"))
    nbformat.write(notebook, path)
    with pytest.raises(CourseError, match=r"Cell \d+ is not the one"):
        release(Course.read(copy), tmp_path / "out")


@pytest.mark.parametrize(
    "line",
    [
        "import grading.record",
        "from grading import record",
        "from authoring import exercises",
        "import project.source",
        "def late():\n    from grading import record",
    ],
)
def test_a_module_that_needs_the_machinery_is_refused(copy, tmp_path, line):
    path = copy / "course/data.py"
    path.write_text(
        path.read_text(encoding="utf-8") + f"\n\n{line}\n", encoding="utf-8"
    )
    with pytest.raises(CourseError, match="not for students"):
        release(Course.read(copy), tmp_path / "out", ["deep_ensembles"])


# --- writing --------------------------------------------------------------------------


def test_an_older_bundle_is_replaced(tmp_path):
    release(COURSE, tmp_path)
    folder, archive = release(COURSE, tmp_path, ["deep_ensembles"])
    assert len(list((folder / "exercises").iterdir())) == 2
    with zipfile.ZipFile(archive) as opened:
        for lab in COURSE.labs("calibration_and_flows"):
            name = f"{NAME}/exercises/{lab.exercise.name}"
            assert name not in opened.namelist()
    assert sorted(path.name for path in tmp_path.iterdir()) == [NAME, f"{NAME}.zip"]


def test_an_empty_folder_is_taken(tmp_path):
    (tmp_path / NAME).mkdir()
    release(COURSE, tmp_path, ["deep_ensembles"])
    assert (tmp_path / NAME / "README.md").is_file()


@pytest.mark.parametrize("kind", ["folder", "project", "file", "zip", "text", "link"])
def test_what_is_no_bundle_is_left_alone(kind, tmp_path):
    target, archive = tmp_path / NAME, tmp_path / f"{NAME}.zip"
    if kind in ("folder", "project"):
        target.mkdir()
        name = "pyproject.toml" if kind == "project" else "thesis.txt"
        (target / name).write_text("mine")
    elif kind == "file":
        target.write_text("mine")
    elif kind == "zip":
        with zipfile.ZipFile(archive, "w") as opened:
            opened.writestr("thesis.txt", "mine")
    elif kind == "text":
        archive.write_text("mine")
    else:
        elsewhere = tmp_path / "elsewhere"
        release(COURSE, elsewhere, ["deep_ensembles"])
        target.symlink_to(elsewhere / NAME)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(CourseError, match=r"is not a bundle\. Move it away"):
        release(COURSE, tmp_path, ["warm_up"])
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("older", [True, False])
def test_a_bundle_is_written_whole_or_not_at_all(tmp_path, monkeypatch, older):
    if older:
        release(COURSE, tmp_path, ["deep_ensembles"])
    files = lambda: {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}  # noqa: E731
    before, replace, calls = files(), os.replace, []

    def fails(number):
        calls.clear()

        def patched(*paths):
            calls.append(paths)
            if len(calls) == number:
                raise OSError(28, "No space left on device")
            return replace(*paths)

        return patched

    for number in range(1, 4 if older else 3):
        monkeypatch.setattr(os, "replace", fails(number))
        with pytest.raises(CourseError, match="No space left on device"):
            release(COURSE, tmp_path, ["warm_up"])
        assert files() == before


def run(*arguments, monkeypatch, root=ROOT):
    monkeypatch.chdir(root)
    return CliRunner().invoke(main, ["release", *map(str, arguments)])


def test_the_command_writes_and_says_what(tmp_path, monkeypatch):
    done = run(tmp_path, "--practical", "deep-ensembles", monkeypatch=monkeypatch)
    assert done.exit_code == 0
    wrote, zipped, said, pages = done.output.splitlines()
    assert (wrote, zipped) == (
        f"wrote {tmp_path / NAME}",
        f"wrote {tmp_path / NAME}.zip",
    )
    assert said.startswith("01b-deep-ensembles.ipynb gives the answers to ")
    assert pages.startswith("Notebooks name pages of the book")
    assert "--book" in pages


def test_wrong_use_exits_with_two(tmp_path, monkeypatch):
    unknown = run(tmp_path, "--practical", "poetry", monkeypatch=monkeypatch)
    assert unknown.exit_code == 2
    assert (
        "poetry: There is no such practical or lab. There are warm_up (warm_up_a, warm_up_b),"
        in unknown.output
    )
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("")
    one = ("--practical", "warm_up")
    nowhere = run(tmp_path / "file", *one, monkeypatch=monkeypatch)
    assert nowhere.exit_code == 2
    assert "cannot be written" in nowhere.output
    outside = run(tmp_path, monkeypatch=monkeypatch, root=tmp_path)
    assert outside.exit_code == 2
    assert "not in a checkout" in outside.output
