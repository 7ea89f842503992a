"""Answers are first judged without code that acts at top level; answers that need it are flagged."""

# ruff: noqa: F811 - fixtures are imported

import pytest
from test_passes import (  # noqa: F401
    FIRST,
    SECOND,
    THIRD,
    WRONG,
    environment,
    graded,
    practical,
    statuses,
)

from grading.execution import grader, runner
from grading.execution.passes import PassResult
from grading.submissions.forms import without_shows

pytestmark = pytest.mark.sandbox
TRICK = """
import builtins
real = builtins.exec

def fake(source, names=None, *rest):
    if isinstance(names, dict) and "cases" in names:
        names["answer"] = right
    return real(source, names, *rest)

def right(mu, rho, epsilon):
    return mu + F.softplus(rho) * epsilon

builtins.exec = fake
"""
NOTHING = "def reparametrise(mu, rho, epsilon):\n    return None"


def test_an_answer_that_is_right_only_with_acting_code_is_to_be_looked_at(graded):
    result, verdicts = graded({FIRST: NOTHING}, added=[(FIRST, TRICK)])
    assert statuses(verdicts) == ["right", "right", "right"]
    assert [(f.code, f.where) for f in result.flags] == [("acting-code", FIRST)]
    assert result.flags[0].message.endswith("(own cell 1).")
    assert {(v.attempt, v.reason) for v in verdicts.values()} == {(1, "")}


def test_nobody_loses_what_acting_code_prepares_and_only_that_is_flagged(
    practical, graded
):
    """A loop fills and prints a table; other cells print, and one answer has a mistake."""
    table = "table = {}\nfor key in 'ab':\n    table[key] = float(ord(key) - ord('a'))"
    table += "\n    print(key)"
    needing = practical.reference[SECOND].replace("return ", "return table['b'] * (", 1)
    wrong = practical.reference[THIRD].replace("return", "1 / 0\n    return")
    added = [(FIRST, "print('begin')"), (SECOND, table), (THIRD, "print(table)")]
    result, verdicts = graded({SECOND: needing + ")", THIRD: wrong}, added=added)
    assert statuses(verdicts) == ["right", "right", "wrong"]
    assert [(f.code, f.where) for f in result.flags] == [("acting-code", SECOND)]
    assert result.flags[0].message.endswith("(own cell 2).")
    assert verdicts[THIRD].reason == "Calling it raised ZeroDivisionError."


def test_a_table_that_a_loop_fills_is_no_reason_to_look(practical, graded):
    table = "table = {}\nfor key in 'ab':\n    table[key] = float(ord(key) - ord('a'))"
    needing = practical.reference[SECOND].replace("return ", "return table['b'] * (", 1)
    added = [(FIRST, "print('begin')"), (SECOND, table + "\nprint(table)")]
    result, verdicts = graded({SECOND: needing + ")"}, added=added)
    assert statuses(verdicts) == ["right", "right", "right"]
    assert result.flags == ()


def passes(monkeypatch, graded, *arguments, **options):
    """Grade; return the cell sources of each pass, and the result."""
    seen = []

    def counted(notebook, *rest, **how):
        seen.append([cell.source for cell in notebook.cells])
        return runner.run_pass(notebook, *rest, **how)

    monkeypatch.setattr(grader, "run_pass", counted)
    return seen, graded(*arguments, **options)


def test_an_honest_notebook_takes_one_pass_and_its_trials_are_not_run(
    graded, monkeypatch
):
    """Added cells may be absent, only define things, or try things out."""
    for own in ("", "import math\nhalf = math.sqrt(0.25)", "print(1)\n1 / 0"):
        added = [(SECOND, own)] if own else []
        seen, (result, verdicts) = passes(monkeypatch, graded, added=added)
        assert statuses(verdicts) == ["right", "right", "right"]
        assert result.flags == ()
        assert len(seen) == 1
        assert ("half" in own) == any("half" in source for source in seen[0])
        assert not any("1 / 0" in source for source in seen[0])


def test_a_pass_whose_kernel_does_not_start_is_not_counted(graded, monkeypatch):
    left = [PassResult(because="no kernel started")]

    def fails_once(*given, **how):
        return left.pop() if left else runner.run_pass(*given, **how)

    monkeypatch.setattr(grader, "run_pass", fails_once)
    result, verdicts = graded()
    assert not left
    assert {(v.status, v.attempt, v.reason) for v in verdicts.values()} == {
        ("right", 1, "")
    }
    assert result.flags == ()


def test_a_mistake_beside_cells_that_do_nothing_but_define_takes_no_pass_more(
    graded, monkeypatch
):
    added = [(SECOND, "def helper(x): return x")]
    seen, (_, verdicts) = passes(monkeypatch, graded, WRONG, added)
    assert statuses(verdicts) == ["wrong", "right", "right"]
    assert len(seen) == 1
    acting = [(SECOND, "import torch\ntorch.manual_seed(1)")]
    seen, (_, verdicts) = passes(monkeypatch, graded, WRONG, acting)
    assert statuses(verdicts) == ["wrong", "right", "right"]
    assert len(seen) == 2


def test_what_only_shows_takes_no_pass_more_and_its_cell_still_defines(
    practical, graded, monkeypatch
):
    added = [(SECOND, "factor = sum([1.0])\nprint(factor, len(factor))\nfactor")]
    needing = practical.reference[SECOND].replace("return ", "return factor * (", 1)
    changes = WRONG | {SECOND: needing + ")"}
    seen, (result, verdicts) = passes(monkeypatch, graded, changes, added)
    assert statuses(verdicts) == ["wrong", "right", "right"]
    assert result.flags == ()
    assert len(seen) == 1
    assert "factor = sum([1.0])\n\n" in seen[0]


def test_an_answer_that_only_shows_is_judged_once_more_alone(graded, monkeypatch):
    """Its exception says what is wrong with it."""
    broken = {SECOND: "print(undefined)", **WRONG}
    seen, (_, verdicts) = passes(monkeypatch, graded, broken)
    assert statuses(verdicts) == ["wrong", "wrong", "right"]
    assert "NameError in line 1 about `undefined`" in verdicts[SECOND].reason
    probes = [sum("publish_display_data" in cell for cell in one) for one in seen]
    assert probes == [3, 1]


@pytest.mark.parametrize(
    ("source", "rest"),
    [
        ("x = 1\nprint(x)\ny = 2", "x = 1\n\ny = 2"),
        ("print(\n    x.mean(),\n    f'{x.std():.2f}',\n)\nx", "\n\n\n\n"),
        ("# only a comment", "# only a comment"),
        ("", ""),
        ("x.shape\nlen(x[0]) + abs(y)", "\n"),
        *(
            (source, source)
            for source in (
                "x = 1; print(x)",  # on one line
                "print(helper(x))",
                "print(x.zero_())",
                "print(a := 3)",
                "print([y for y in x])",
                "print(max(x, key=helper))",
                "round(x)",  # the notebook's own
                "print(x.var())",  # it may be the notebook's own
                "x.append(1)",
                "'text'",
                "print(x",
                "print(x)\r\ny = 1",
            )
        ),
    ],
)
def test_statements_that_only_show_are_left_out(source, rest):
    assert without_shows(source, {"helper", "x", "y", "round", "var"}) == rest


def test_only_references_that_an_answer_uses_stand_in(practical, graded, monkeypatch):
    weights = "bayes-by-backprop/sample-weights"  # uses the first task, not the second
    tasks = (FIRST, SECOND, weights)
    seen, (_, verdicts) = passes(monkeypatch, graded, WRONG, tasks=tasks)
    assert statuses(verdicts) == ["wrong", "right", "right"]
    assert len(seen) == 2
    assert practical.reference[FIRST] in seen[1]
    assert practical.reference[SECOND] not in seen[1]
    # Code that acts may use names that are not seen in it.
    reaching = practical.reference[weights] + "\nimport inspect"
    seen, _ = passes(monkeypatch, graded, WRONG | {weights: reaching}, tasks=tasks)
    assert practical.reference[SECOND] in seen[1]
