"""Wrong use of ``course new-task`` changes no file; ``test_contributing.py`` follows the recipe."""

import shutil

import pytest
from click.testing import CliRunner
from conftest import ROOT

from commands import main


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
        (["deep_ensembels", "brier"], "There is no practical 'deep_ensembels'."),
        (["deep_ensembles", "Brier"], "'Brier' is not the name of a function."),
        (
            ["deep_ensembles", "heads"],
            "There is a heads already. Choose another name, or undo with git.",
        ),
        (["warm-up", "brier", "--module", "x"], "There is no module 'x'. There are"),
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
    done = CliRunner().invoke(main, ["new-task", "warm-up", "brier"])
    assert done.exit_code == 2, done.output
    assert "wrong_answers/warm_up.py" in done.stderr
    assert "Add the task by hand." in done.stderr
    assert content(copy) == before
