"""Reading the reference solutions: regions, stubs, and errors with file and line."""

import pytest

from project.errors import CourseError
from project.source import read_solutions

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
        path = tmp_path / "solutions" / "practical.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return read_solutions(tmp_path, "practical")

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
    assert str(error.value).startswith(
        f"{tmp_path / 'solutions/practical.py'}:{line}: "
    )
    assert words in str(error.value)


@pytest.mark.parametrize("line", ["jax.config.update('x', 1)", "if LIMIT:\n    pass"])
def test_another_statement_is_an_error(read, line):
    with pytest.raises(CourseError, match=r"practical\.py:8: An exercise has no place"):
        read(MODULE.replace("LIMIT = 3", f"LIMIT = 3\n{line}"))


def test_a_comment_or_blank_line_before_a_marker_changes_nothing(read):
    end = "        ### END SOLUTION\n"
    text = MODULE.replace(end, f"        # why\n\n{end}") + "\n\n# a note\nA = 1\n"
    model = read(text).definitions["Model"]
    assert model.source.count("END SOLUTION") == 2
    assert "a note" not in model.source
    assert model.stub() == read(MODULE).definitions["Model"].stub()


def test_a_region_ends_in_the_definition_where_it_begins(read):
    text = MODULE.replace("        ### END SOLUTION\n", "", 2)
    text = text.replace("        ### BEGIN SOLUTION\n        return", "        return")
    with pytest.raises(CourseError, match=r"py:15: A solution region of Model does"):
        read(f"{text}\n\ndef last():\n    ### END SOLUTION\n    pass\n")


def test_parameters_and_variables_are_not_needed(read):
    functions = """
def scale(model: Model, y=LIMIT): return [helper for helper in model]
def shift(x: helper): model = Model = x; return model(Model)
def both(x): return lambda scale: helper(scale)
class Own:
    scale = 1
    def go(self): return shift(self.scale)
"""
    needs = {k: v.needs for k, v in read(MODULE + functions).definitions.items()}
    assert needs["scale"] == {"Model"}
    assert needs["shift"] == needs["both"] == {"helper"}
    assert needs["Own"] == {"shift"}


def test_a_file_that_is_not_utf_8_is_named_with_its_line(read, tmp_path):
    read(MODULE)
    path = tmp_path / "solutions" / "practical.py"
    path.write_bytes(path.read_bytes() + "# ü".encode("latin-1"))
    with pytest.raises(CourseError, match=r"practical\.py:28: It is not UTF-8"):
        read_solutions(tmp_path, "practical")


def test_a_task_without_a_solution_is_an_error(read):
    with pytest.raises(CourseError, match="no solution region"):
        read(MODULE).definitions["helper"].stub()


def test_a_missing_module_is_an_error(tmp_path):
    with pytest.raises(CourseError, match="There is no such module"):
        read_solutions(tmp_path, "nothing")


@pytest.fixture
def package(tmp_path):
    """A practical in two files; ``package(name=text)`` changes some and reads it."""
    folder = tmp_path / "solutions" / "practical"
    folder.mkdir(parents=True)
    files = {
        "__init__": "from solutions.practical.second import helper, LIMIT\n"
        "from solutions.practical.first import Model\n",
        "first": MODULE.replace("def helper", "def other").replace(
            "import math",
            "import math\nimport jax\nfrom typing import Any, NamedTuple\n"
            "from solutions.practical.second import LIMIT, helper",
        ),
        "second": "import math\nimport jax.numpy as jnp\nfrom typing import Any as A\n"
        "from typing import Any, IO, cast\n\nLIMIT = 3\n\ndef helper(x): ...\n",
    }
    files["first"] = files["first"].replace("LIMIT = 3", "SIZE = 4")

    def write(**changed):
        for name, text in {**files, **changed}.items():
            (folder / f"{name}.py").write_text(text, encoding="utf-8")
        return read_solutions(tmp_path, "practical")

    return write


def test_a_package_reads_as_one_module_in_the_order_of_its_init(package):
    module = package()
    assert list(module.definitions) == ["helper", "other", "Model"]
    assert module.definitions["Model"].needs == {"helper"}
    assert module.setup == (
        "import math\nfrom typing import IO, Any, NamedTuple, cast\n"
        "from typing import Any as A\nimport jax\nimport jax.numpy as jnp\n\n"
        "LIMIT = 3\nSIZE = 4"
    )
    assert module.imports["jnp"] == "import jax.numpy as jnp"
    assert module.imports["cast"] == "from typing import cast"
    compile(module.setup, "setup", "exec")


@pytest.mark.parametrize(
    ("file", "text", "line", "words"),
    [
        ("second", "def other(): ...", 13, "is defined in"),
        ("second", "import solutions.another", 1, "another practical's"),
        ("second", "from solutions import another", 1, "another practical's"),
        ("second", "SIZE = Model()", 1, "uses Model"),
        ("second", "from .first import Model", 1, "imports relatively"),
        ("second", "from . import first", 1, "imports relatively"),
        ("__init__", "from .first import Model", 1, "imports relatively"),
        ("second", "def helper(:", 1, "syntax"),
        ("__init__", "from solutions.practical.third import x", None, "no such module"),
    ],
)
def test_a_broken_package_is_named_with_file_and_line(
    package, tmp_path, file, text, line, words
):
    with pytest.raises(CourseError) as error:
        package(**{file: text})
    name = "third" if line is None else "first" if "is defined" in words else file
    place = tmp_path / "solutions" / "practical" / f"{name}.py"
    assert str(error.value).startswith(f"{place}:{line}: " if line else f"{place}: ")
    assert words in str(error.value)
