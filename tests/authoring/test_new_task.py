"""The skeleton fits into every practical; wrong use of ``course new-task`` changes no file; ``test_contributing.py`` follows the recipe."""

import ast
import shutil
import subprocess
import sys

import pytest
from click.testing import CliRunner
from conftest import ROOT
from labs import COURSE, each_lab

from commands import main
from course.task import stems
from project.source import files_of


@pytest.fixture
def copy(tmp_path, monkeypatch):
    for name in ("book", "course", "solutions", "tests"):
        ignored = shutil.ignore_patterns("__pycache__", "_static", "hostile")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    shutil.copy(ROOT / "_toc.yml", tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def content(root):
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["deep_ensembels", "brier"], "deep_ensembels: There is no such practical"),
        (["deep_ensembles_b", "Brier"], "'Brier' is not the name of a function."),
        (["deep_ensembles_b", "lambda"], "'lambda' is not the name of a function."),
        (
            ["deep_ensembles_b", "heads"],
            "There is a heads already. Choose another name, or undo with git.",
        ),
        (["warm-up-a", "brier", "--module", "x"], "There is no module 'x'. There are"),
        # Another way to write the id of a class, a name that solutions import, Python's own.
        (["bayes_by_backprop_a", "bayesian_linear"], "There is a BayesianLinear alre"),
        (["acting_on_uncertainty_a", "norm"], "There is a norm already."),
        (["deep_ensembles_b", "print"], "There is a print already."),
        (["deep_ensembles_b", "check"], "There is a check already."),
        # A constant of the checks.
        (
            ["acting_on_uncertainty_a", "mistakes", "--module", "detectors"],
            "detectors.py: There is a MISTAKES already",
        ),
    ],
)
def test_wrong_use_changes_nothing(copy, arguments, said):
    before = content(copy)
    done = CliRunner().invoke(main, ["new-task", *arguments])
    assert done.exit_code == 2, done.output
    assert said in done.stderr
    assert content(copy) == before


def test_a_file_of_another_form_changes_nothing(copy):
    """The last file that is written to does not end in a dictionary."""
    path = copy / "tests/wrong_answers/warm_up.py"
    path.write_text("ANSWERS = dict()\n", "utf-8")
    before = content(copy)
    done = CliRunner().invoke(main, ["new-task", "warm-up-a", "brier"])
    assert done.exit_code == 2, done.output
    assert "wrong_answers/warm_up.py" in done.stderr
    assert "Add the task by hand." in done.stderr
    assert content(copy) == before


def test_the_first_task_of_a_chapter_needs_no_files_of_answers(copy):
    for kind in ("right", "wrong"):
        (copy / f"tests/{kind}_answers/warm_up.py").unlink()
    done = CliRunner().invoke(main, ["new-task", "warm-up-a", "brier"])
    assert done.exit_code == 0, done.output
    for kind in ("right", "wrong"):
        text = (copy / f"tests/{kind}_answers/warm_up.py").read_text("utf-8")
        assert text.startswith('"""Warm up."""\n')
        namespace = {}
        exec(text, namespace)
        assert namespace["ANSWERS"] == {"brier": {}}


def names_in(tree, target):
    (found,) = (
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets) == target
    )
    return {node.id for node in ast.walk(found) if isinstance(node, ast.Name)}


@each_lab
def test_the_skeleton_fits_into_the_files_of_each_lab(copy, lab):
    before, stem = content(copy), lab.stem
    done = CliRunner().invoke(main, ["new-task", lab.name, "brier"])
    assert done.exit_code == 0, done.output
    changed = [path for path, was in content(copy).items() if before.get(path) != was]
    trees = {
        path: ast.parse(path.read_text("utf-8"))
        for path in changed
        if path.suffix == ".py"
    }
    checks = trees[copy / "course" / "checks" / stem / "__init__.py"]
    assert "BRIER" in names_in(checks, "TASKS")
    assert "BRIER" not in names_in(checks, "QUIZZES")
    for name, init in (
        ("BRIER", copy / "course" / "checks" / stem / "__init__.py"),
        ("brier", copy / "solutions" / stem / "__init__.py"),
    ):
        imports = [
            node for node in trees[init].body if isinstance(node, ast.ImportFrom)
        ]
        modules = [node.module for node in imports]
        assert len(set(modules)) == len(modules)  # each module is imported from once
        assert sum(alias.name == name for node in imports for alias in node.names) == 1


@pytest.mark.parametrize("stem", stems())
def test_the_skeleton_uses_no_name_that_is_not_imported(copy, stem):
    lab = COURSE.labs(stem)[0].name
    for number, path in enumerate(files_of(ROOT, stem)):
        arguments = ["new-task", lab, f"brier_{number}", "--module", path.stem]
        done = CliRunner().invoke(main, arguments)
        assert done.exit_code == 0, done.output
    folders = copy / "solutions" / stem, copy / "course" / "checks" / stem
    command = [sys.executable, "-m", "ruff", "check", "--select=F821,F811", *folders]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
