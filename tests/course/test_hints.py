"""No hint is a line of the solution, and who asks for one that is not there is told why."""

import ast
import re
from pathlib import Path

import pytest

from course import check
from course.task import UnknownTask, find, stems, tasks_of

SOLUTIONS = Path(__file__).parents[2] / "solutions"
PREFIXES = re.compile(r"\b(torch\.nn\.functional|jax\.numpy|torch|jnp|np|nn|F|self)\.")
STATEMENTS = (ast.Assign, ast.AugAssign, ast.Expr, ast.Return)
SHORT = 15  # a call such as `x.mean(0)`; naming a function is what hints are for
TASKS = [id_ for stem in stems() for id_ in tasks_of(stem)]


def bare(text):
    """Return code or a hint without blanks, backticks and the names of modules."""
    return re.sub(r"[\s`]", "", PREFIXES.sub("", text))


def expressions(id_):
    """Return what the statements of a reference solution assign, return or call."""
    stem = id_.partition("/")[0].replace("-", "_")
    name = find(id_).name
    for path in sorted((SOLUTIONS / stem).glob("*.py")) or [SOLUTIONS / f"{stem}.py"]:
        source = path.read_text("utf-8")
        for node in ast.parse(source).body:
            if getattr(node, "name", None) == name:
                return {
                    bare(ast.get_source_segment(source, one.value))
                    for one in ast.walk(node)
                    if isinstance(one, STATEMENTS) and one.value is not None
                }
    raise LookupError(id_)


@pytest.mark.parametrize("id_", TASKS)
def test_no_hint_is_a_line_of_the_solution(id_):
    long = {code for code in expressions(id_) if len(code) >= SHORT}
    given = {
        code: hint for hint in find(id_).hints for code in long if code in bare(hint)
    }
    assert given == {}


def test_a_line_in_a_hint_is_seen():
    hint = (
        "`w = w - torch.linalg.solve(logistic_hessian(w, x, prior_variance), gradient)`"
    )
    assert any(
        len(code) >= SHORT and code in bare(hint)
        for code in expressions("approximate-inference/find-mode")
    )


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("approximate-inference/find-mod", "Did you mean approximate-inference/find-"),
        ("approximate-inference/what-dropout-buys", "in words have neither a check"),
        ("find-mode", "Did you mean approximate-inference/find-mode?"),
        ("nothing/like-it", "in words have neither a check"),
    ],
)
def test_an_id_without_hints_is_explained(asked, answered):
    with pytest.raises(UnknownTask) as raised:
        check.hint(asked)
    assert answered in str(raised.value)
