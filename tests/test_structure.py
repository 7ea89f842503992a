"""Packages import one another in one direction only; checks are named as the solutions are.

A bundle ships one whole folder.
"""

import ast
from pathlib import Path

import pytest
from conftest import ROOT, in_order
from labs import COURSE

from authoring.release import bundle
from course.task import stems
from project.source import read_solutions

PACKAGES = {"authoring", "commands", "course", "grading", "project", "solutions"}
PACKAGES |= {"studies", "tests"}
MAY_IMPORT = {
    "course": set(),
    "solutions": set(),
    "project": {"course"},
    "authoring": {"course", "project"},
    "grading": {"course", "project", "authoring.questions"},
}


def imported(path):
    """Return the modules that a file imports from other packages of the project."""
    own = path.relative_to(ROOT).parts[0]
    names = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        match node:
            case ast.Import(names=aliases):
                names |= {alias.name for alias in aliases}
            case ast.ImportFrom(module=str(module), names=aliases, level=0):
                names |= {f"{module}.{alias.name}" for alias in aliases}
            case ast.ImportFrom():
                pytest.fail(f"{path}: a relative import", pytrace=False)
    return {
        name
        for name in names
        if (top := name.partition(".")[0]) in PACKAGES and top != own
    }


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_imports_go_one_way(package):
    for path in (ROOT / package).rglob("*.py"):
        for name in imported(path):
            parts = name.split(".")
            prefixes = {".".join(parts[:end]) for end in range(1, len(parts) + 1)}
            assert prefixes & MAY_IMPORT[package], f"{path}: {name}"


def test_an_import_against_the_direction_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr("test_structure.ROOT", tmp_path)
    path = tmp_path / "course" / "data.py"
    path.parent.mkdir()
    for line in ("import grading.record", "from project import errors"):
        path.write_text(f"def late():\n    {line}\n")
        with pytest.raises(AssertionError, match=r"data\.py"):
            test_imports_go_one_way("course")


def test_every_package_is_one_of_these():
    folders = {path.parent.name for path in ROOT.glob("[!.]*/__init__.py")}
    assert folders == PACKAGES - {"commands", "tests"}


def module_of_each_task(folder):
    """Return the name of the module in which each task of a practical is defined, by its name."""
    return {
        keyword.value.value: folder.name if path.stem == "__init__" else path.stem
        for path in folder.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Task"
        for keyword in node.keywords
        if keyword.arg == "name"
    }


@pytest.mark.parametrize("stem", stems())
def test_a_check_is_in_the_module_named_as_that_of_its_function(stem):
    functions = {
        name: definition.path.stem
        for name, definition in read_solutions(ROOT, stem).definitions.items()
        if definition.has_solution
    }
    assert module_of_each_task(ROOT / "course" / "checks" / stem) == functions


def test_a_check_in_another_module_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr("test_structure.ROOT", tmp_path)
    for name, text in {
        "solutions/halves/__init__.py": "from solutions.halves.parts import halved\n",
        "solutions/halves/parts.py": "def halved(x):\n"
        "    ### BEGIN SOLUTION\n    return x / 2\n    ### END SOLUTION\n",
        "course/checks/halves/parts.py": 'HALVED = Task(name="halved")\n',
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    test_a_check_is_in_the_module_named_as_that_of_its_function("halves")
    check = tmp_path / "course/checks/halves/parts.py"
    check.rename(check.with_stem("pieces"))
    with pytest.raises(AssertionError, match="pieces"):
        test_a_check_is_in_the_module_named_as_that_of_its_function("halves")


def test_a_bundle_of_all_practicals_ships_the_whole_course_and_nothing_else():
    shipped = {name for name in bundle(COURSE) if Path(name).parts[0] == "course"}
    folder = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "course").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert shipped == folder


def files(*packages):
    return [path for name in packages for path in (ROOT / name).rglob("*.py")]


def test_no_two_classes_share_a_name():
    """Checks and solutions aside, where a wrong answer has the name of the right one."""
    places = {}
    for path in files("course", "project", "authoring", "grading", "studies"):
        if path.is_relative_to(ROOT / "course" / "checks"):
            continue
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(path)
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_workers_take_the_test_files_in_one_order():
    """The one that builds the book first, its other readers last, else by duration."""
    seconds = dict.fromkeys("dcbae", 0) | {"slow": 9, "page": 5, "pages": 5, "quick": 1}
    for names in (list(seconds), sorted(seconds), sorted(seconds, reverse=True)):
        shuffled = {name: seconds[name] for name in names}
        order = in_order(shuffled, {"page", "pages"})
        assert order == ["pages", "slow", "quick", *"abcde", "page"]
