"""Analysis of students' sources: syntax, used names, definitions, additions."""

import ast
import copy
import re
import time

import nbformat
import pytest
from student_notebook import ONE, RELEASED

from grading.flags import LOOK
from grading.submissions import sources
from grading.submissions.answers import read_answers
from grading.submissions.effects import Effects
from grading.submissions.excerpts import additions, definitions
from grading.submissions.forms import parsed
from grading.submissions.sources import (
    MAX_SOURCE,
    free,
    problem_of,
)


@pytest.mark.parametrize(
    "source",
    [
        "x = 1",
        "%matplotlib inline\nx = 1",
        "%%time\nx = 1",
        "!ls\nfiles = !ls",
        "x = %timeit -o 1\nint?",
        "    x = 1",
        ">>> x = 1\n>>> y = 2",
        "await something()",
        "'\\d'",
        "def f():\n    return '%' % 1",
        "ls = [1\n, 2]",
        "%pwd\n" * 300 + "(",
    ],
)
def test_what_compiles_in_jupyter_has_no_problem(source):
    assert problem_of(source) == ""


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("", "empty"),
        ("def f(:\n    pass", "not valid Python: .* in line 1"),
        ("x = (1", "never closed"),
        ("if x:\ny", "expected an indented block"),
        ("x = 1\x00", ""),
        ("\ud800", ""),
        ("x" * (MAX_SOURCE + 1), "longer"),
        ("a" + ".b" * 40_000, "nested too deeply"),
        ("-" * 90_000 + "1", "nested too deeply"),
        ("(" * 90_000, "too many nested parentheses"),
        ("lambda:" * 14_000 + "1", "nested too deeply"),
        ("1" + "+1" * 49_000, "nested too deeply"),
        ("f" + "()" * 49_000, "nested too deeply"),
        ("\t" * 50_000 + "x\n x", ""),
        ("\n".join(" " * n + "if x:" for n in range(200)), ""),
        ("%%time\n(", ""),
        ("=%\\", "not valid Python"),  # IPython raises IndexError
    ],
    ids=lambda value: value[:12],
)
def test_what_does_not_compile_has_one(source, words):
    problem = problem_of(source)
    if source.startswith("%%"):  # IPython passes the body on as text
        assert problem == ""
        return
    assert problem.endswith(".")
    assert re.search(words, problem)


@pytest.mark.parametrize(
    "line", ["%pwd", "x = !ls", "int?", ",f a b", "/f x", "!" * 300, "=%" * 500]
)
def test_many_magics_take_seconds_at_most(line):
    start = time.process_time()
    problem_of(f"{line}\n" * (MAX_SOURCE // (len(line) + 1)) + "(")
    problem_of(f"{line}\n" * 20 + "x = 1\n" * 16_000 + "(")
    assert time.process_time() - start < 30


@pytest.mark.parametrize(
    "code",
    [
        "def f(a, b):\n    return (\n        a\n        / b\n    )",
        "def f(a):\n    return 'alpha=%s' % a",
        "def f(a):\n    return a  # why=%s?",
    ],
    ids=["a line with /", "% in a text", "a comment"],
)
def test_a_magic_changes_no_other_line(code):
    alone = ast.unparse(parsed(code))
    for magic in ("%matplotlib inline", "!ls", "int?"):
        assert ast.unparse(parsed(f"{magic}\n{code}")).endswith(alone)
        assert free(f"{magic}\n{code}") <= free(code) | {"int"}
    assigned = ast.unparse(parsed(f"files = !ls\n{code}"))
    assert assigned.split() == ["files", *alone.split()]


def test_a_long_line_takes_a_second_at_most():
    start = time.process_time()
    for source in ("x" * 29_990 + " y?", "%" + "x" * 29_990 + " y?"):
        assert problem_of(source) == ""  # left to the kernel to report
    assert time.process_time() - start < 1


def test_what_a_source_uses():
    source = """
import numpy as np
%timeit f(1)
def g(h, k=default):
    own = h + other
    def inner():
        return own, deep
    return [item for item in items], np, g
class C(Base):
    field = early
    def method(self):
        return later(self.attribute)
lambda x: x + anywhere
before = before + 1
def k(): return own_too
own_too = 1
"""
    right = {"default", "other", "deep", "items", "Base", "early", "later", "anywhere"}
    right |= {"before"}
    own = {"f", "h", "k", "own", "item", "np", "g", "field", "attribute", "x", "C"}
    assert free(source) & (right | own | {"own_too"}) == right
    assert free("x = (") == set()
    assert free("%%time\nf(x)") == {"f", "x"}
    assert free("a" + ".b" * 40_000) == set()
    assert free("a;" * MAX_SOURCE) == set()


def test_definitions_are_whatever_runs_quickly():
    source = """
import os.path, sys, matplotlib.pyplot as plt
from course import check
from . import local
from functools import cache
SIZE, OTHER = 3, 4
rate = train()
@cache
def quick(): ...
@train
def slow(): ...
def helper(x, n=SIZE): return sys, second(x), train()
def second(x): return x
half: object = partial(second, 2)
drawn = plt.figure(1)
shown = check.hint(1)
class Plain(Base):
    def method(self): return train()
class Trained(Base):
    field = train()
helper(1)
%magic
"""
    names = {"os", "plt", "check", "local", "rate", "quick", "slow", "half", "helper"}
    names |= {"drawn", "shown", "Plain", "Trained"}
    assert definitions(source, names, barred={"train"}) == [
        "import os.path",
        "import sys",
        "from functools import cache",
        "SIZE, OTHER = (3, 4)",
        "@cache\ndef quick():\n    ...",
        "def helper(x, n=SIZE):\n    return (sys, second(x), train())",
        "def second(x):\n    return x",
        "half: object = partial(second, 2)",
        "class Plain(Base):\n\n    def method(self):\n        return train()",
    ]
    assert definitions("import sys\n(", {"sys"}) == []


@pytest.mark.parametrize(
    ("edited", "new", "whole"),
    [
        ("import os, sys\nK = 2  # two\ndef f(): ...", "", True),
        ("import os\n%pylab\nimport sys, re\nK = 2\ndef f(): ...", "import re", True),
        ("import os, sys\nK = 2\ndef f(): ...\ng = f()", "g = f()", True),
        ("import os\nK = 2\ndef f(): ...", "", False),  # one is missing
        ("import os, sys\nK = 3\ndef f(): ...\nL = 4", "L = 4", False),
        ("import os, sys, re as f\nK = 2\ndef f(): ...", "", False),
        ("import (", "", False),
    ],
)
def test_what_was_added_to_given_code_is_found(edited, new, whole):
    released = "import os, sys\nK = 2\n\ndef f():\n    ..."
    assert additions(edited, released) == (new, whole)


def test_an_import_added_to_the_given_ones_is_run_and_looks_honest():
    notebook = copy.deepcopy(RELEASED)
    (imports,) = [cell for cell in notebook.cells if cell.id == "given--imports"]
    imports.source += "\nimport scipy.stats as st"
    place = next(n for n, cell in enumerate(notebook.cells) if cell.id == ONE)
    notebook.cells.insert(place, nbformat.v4.new_code_cell("own = 1"))
    answers = read_answers(nbformat.writes(notebook).encode(), RELEASED)
    ids = [cell.id for cell in RELEASED.cells]
    after = ids[ids.index("given--imports") + 1]
    assert {(a.before, a.source) for a in answers.added} == {
        (after, "import scipy.stats as st"),
        (ONE, "own = 1"),
    }
    assert len({a.id for a in answers.added}) == 2
    (extended,) = answers.flags
    assert extended.code == "given-extended"
    assert extended.code not in LOOK


def test_definitions_in_a_long_chain_take_seconds():
    chain = [f"def f{n}(): f{n + 1}" for n in reversed(range(4_000))]
    start = time.process_time()
    (piece,) = definitions("\n".join(chain), {"f0"})
    assert piece.count("def ") == 4_000
    assert time.process_time() - start < 30


def test_what_is_kept_is_as_long_as_allowed_and_the_oldest_goes_first(monkeypatch):
    monkeypatch.setattr(sources, "KEPT", 10)
    asked = []
    length = sources.kept(lambda source: asked.append(source) or len(source))
    for source in ("a" * 6, "b" * 4, "a" * 6, "c" * 4, "b" * 4, "a" * 6, "d" * 11):
        assert length(source) == len(source)
    # The b was asked for longer ago than the a when the c came; the d is too long.
    assert [source[0] for source in asked] == ["a", "b", "c", "b", "a", "d"]
    assert length("d" * 11) == 11
    assert len(asked) == 7
    monkeypatch.setattr(sources, "MANY", 2)
    for source in "efge":
        length(source)
    assert asked[7:] == ["e", "f", "g", "e"]  # two are kept: the first is read again


def test_tables_that_loops_fill_are_definitions():
    """An answer can use a table filled in any of these ways, even if its cell also acts."""
    fills = {
        "items": "t = {}\nfor k in range(3):\n    t[k] = k",
        "rows": "t = []\nfor k in range(3):\n    if k:\n        t.append(k)",
        "sum": "t = 0\nfor k in range(3): t += k",
        "tuple": "t = {}\nfor k, v in enumerate('abc'): t[k] = v",
        "with": "with torch.no_grad():\n    t = torch.ones(2)",
        "one": "t = []\nt.append(1)",
        "assert": "t = {}\nfor k in range(3):\n    assert k >= 0\n    t[k] = k",
    }
    for kind, source in fills.items():
        source += "\nprint(t)"
        effects = Effects(["import torch", source])
        assert not effects.quiet(source)
        found = "\n".join(definitions(source, ["t"], effects=effects))
        assert found == "\n".join(map(ast.unparse, ast.parse(source).body[:-1])), kind
    train = "for k in range(3):\n    t = step(k)\n    torch.manual_seed(k)"
    assert definitions(train, ["t"], effects=Effects(["import torch", train])) == []
