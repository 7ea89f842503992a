"""Mutants: how they are made, and that the checks refuse all that are mistakes."""

import json
import random
import tomllib
from pathlib import Path

import numpy as np
import pytest
from frameworks import by_framework, said
from seeds import SOAK, first_seed

from course.task import Close, Task, find, stem_of, stems, tasks_of
from project.source import Definition, read_solutions
from studies.mutants import EQUIVALENT, RESULTS, ROOT, equivalents, mutants, survives

TASKS = [id_ for stem in stems() for id_ in tasks_of(stem)]
DRAWN = TASKS if SOAK else random.Random(first_seed()).sample(TASKS, 6)
SOURCE = '''def f(x, n):
    """The sum of squares, over n."""
    half = 0.5
    ### BEGIN SOLUTION
    total = np.sum(x**2, axis=-1)
    ### END SOLUTION
    return total / n
'''


@pytest.fixture(scope="module")
def results():
    return json.loads(RESULTS.read_text("utf-8"))


def definition(source):
    return Definition("f", Path("f.py"), 1, source, frozenset())


def task(oracle):
    return Task(
        "f",
        1,
        cases=lambda rng: [{"x": rng.normal(size=(3, 2)), "n": 2.0}],
        probe=lambda answer, x, n: {"value": answer(x, n)},
        oracle=lambda x, n: {"value": Close(oracle(x, n), atol=1e-9, because="exact")},
    )


def test_only_what_students_write_is_mutated():
    made = mutants(definition(SOURCE))
    assert made.keys() == {
        "function: np.sum(x ** 2, axis=-1) -> np.mean(x ** 2, axis=-1)",
        "dropped call: np.sum(x ** 2, axis=-1) -> x ** 2",
        "dropped argument: np.sum(x ** 2, axis=-1) -> np.sum(x ** 2)",
        "operator: x ** 2 -> x * 2",
        "dropped right operand: x ** 2 -> x",
        "dropped left operand: x ** 2 -> 2",
        "constant: 2 -> 3",
        "constant: 2 -> 1.0",
        "dropped sign: -1 -> 1",
        "constant: 1 -> 2",
    }
    assert all("half = 0.5" in source for source in made.values())
    assert all("return total / n" in source for source in made.values())


@pytest.mark.parametrize(
    ("line", "change"),
    [
        ("y = a @ b", "swapped operands: a @ b -> b @ a"),
        ("y = -a", "dropped sign: -a -> a"),
        ("y = a < b", "comparison: a < b -> a >= b"),
        ("y = g(a, b)", "swapped arguments: g(a, b) -> g(b, a)"),
        ("y = a.log()", "function: a.log() -> a.log1p()"),
        ("y += a", "operator: y += a -> y -= a"),
        ("a.backward()", "dropped statement: a.backward() ->"),
        ("y = a if b else c", "condition: a if b else c -> c"),
        ("y = g(keepdims=True)", "constant: True -> False"),
        ("y = g(reduction='sum')", "constant: 'sum' -> 'mean'"),
    ],
)
def test_kinds_of_changes(line, change):
    source = f"def f():\n    ### BEGIN SOLUTION\n    {line}\n    ### END SOLUTION\n"
    assert change in mutants(definition(source))


def test_a_mutant_survives_where_no_case_tells_it_apart():
    def mean_of_squares(x, n):
        return (x**2).sum(-1) / n

    made = mutants(definition(SOURCE))
    alive = {
        what
        for what, source in made.items()
        if survives(task(mean_of_squares), source, {"np": np})
    }
    assert alive == {"dropped sign: -1 -> 1"}  # for two dimensions


def test_an_endless_mutant_and_one_that_changes_its_input_are_refused(monkeypatch):
    right = "def f(x, n):\n    return (x**2).sum(-1) / n"
    judged = task(lambda x, n: (x**2).sum(-1) / n)
    assert survives(judged, right, {})
    spoilt = right.replace("return", "y = (x**2).sum(-1) / n; x += 1; return y #")
    assert not survives(judged, spoilt, {})
    monkeypatch.setattr("studies.mutants.SECONDS", 1)
    assert not survives(judged, "def f(x, n):\n    while True: pass", {})


def test_the_results_are_those_of_these_solutions(results):
    assert list(results) == TASKS
    for stem in stems():
        solutions = read_solutions(ROOT, stem).definitions
        for id_, one in tasks_of(stem).items():
            assert results[id_]["mutants"] == len(mutants(solutions[one.name])), (
                f"{id_} changed: run `python -m studies.mutants`"
            )


def test_each_equivalent_mutant_exists_and_has_a_reason(results):
    listed = {id_: equivalents(id_) for id_ in TASKS}
    assert tomllib.loads(EQUIVALENT.read_text("utf-8")).keys() <= set(TASKS)
    for id_, reasons in listed.items():
        definitions = read_solutions(ROOT, stem_of(id_)).definitions
        assert reasons.keys() <= mutants(definitions[find(id_).name]).keys(), id_
        assert all(reason.endswith(".") for reason in reasons.values())
        assert results[id_]["equivalent"] == len(reasons)


def test_no_mutant_passed(results):
    assert {id_: row["passed"] for id_, row in results.items() if row["passed"]} == {}


@pytest.mark.long
def test_the_checks_refuse_the_mutants_of_the_tasks_that_this_commit_draws():
    """``SOAK`` judges those of all tasks."""
    imports = "import json, sys; from studies.mutants import judged"
    body = "print(json.dumps(judged(*sys.argv[1:])))"
    for stems_ in by_framework(map(stem_of, DRAWN)):
        ids = [id_ for id_ in DRAWN if stem_of(id_) in stems_]
        found = said(imports, body, *ids)
        assert found.keys() == set(ids)
        for id_, row in found.items():
            assert row["passed"] == [], id_
            assert row["obsolete"] == [], id_
