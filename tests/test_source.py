"""Reading the reference solutions: regions, stubs, and errors that say where."""

import pytest

from course.errors import CourseError
from course.source import read_module

MODULE = '''"""A practical."""

from __future__ import annotations

import math

LIMIT = 3


def helper(x):
    """Given."""
    return x + LIMIT


class Model:
    """A class with two regions."""

    def __init__(self):
        # Keep the limit.
        ### BEGIN SOLUTION
        self.limit = LIMIT
        ### END SOLUTION

    def __call__(self, x):
        ### BEGIN SOLUTION
        return helper(x)
        ### END SOLUTION
'''


@pytest.fixture
def read(tmp_path):
    def read(text):
        path = tmp_path / "practical.py"
        path.write_text(text, encoding="utf-8")
        return read_module(path)

    return read


def test_a_module_falls_into_setup_and_definitions(read):
    module = read(MODULE)
    assert module.setup == "import math\n\nLIMIT = 3"
    assert list(module.definitions) == ["helper", "Model"]
    assert module.definitions["Model"].needs == {"helper"}


def test_a_stub_keeps_the_scaffolding_and_its_hint(read):
    stub = read(MODULE).definitions["Model"].stub()
    assert "# Keep the limit.\n        # YOUR CODE HERE\n" in stub
    assert stub.count("        raise NotImplementedError()") == 2
    assert "self.limit" not in stub
    assert "SOLUTION" not in stub
    compile(stub, "stub", "exec")


def test_what_is_shown_has_no_markers(read):
    shown = read(MODULE).definitions["Model"].shown()
    assert "SOLUTION" not in shown
    assert "self.limit = LIMIT" in shown


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        (
            "    def __call__",
            "    ### END SOLUTION\n    def __call__",
            24,
            "closes nothing",
        ),
        (
            "        return helper(x)\n        ### END SOLUTION\n",
            "        return 1\n",
            25,
            "never closed",
        ),
        (
            "        return helper",
            "        ### BEGIN SOLUTION\n        return helper",
            26,
            "inside the region",
        ),
        ("LIMIT = 3", "LIMIT = helper(3)", 7, "uses helper"),
        ("LIMIT = 3", "LIMIT = = 3", 7, "syntax"),
    ],
)
def test_a_broken_module_is_named_with_its_line(read, tmp_path, old, new, line, words):
    assert old in MODULE
    with pytest.raises(CourseError) as error:
        read(MODULE.replace(old, new))
    assert str(error.value).startswith(f"{tmp_path / 'practical.py'}:{line}: ")
    assert words in str(error.value)


def test_a_task_without_a_solution_is_an_error(read):
    with pytest.raises(CourseError, match="no solution region"):
        read(MODULE).definitions["helper"].stub()


def test_a_missing_module_is_an_error(tmp_path):
    with pytest.raises(CourseError, match="There is no such module"):
        read_module(tmp_path / "nothing.py")
