"""The contents of assembled notebooks, and the exact transfer of their numbers."""

import ast
import builtins
import inspect
import symtable
import textwrap

import IPython.display
import nbformat
import numpy as np
import pytest
from assembled import (
    NOBODY,
    ROOT,
    STEMS,
    TASKS,
    answers,
    drawn,
    each_task,
    order,
    probes,
    reference,
    released,
    run,
)
from labs import COURSE

from course import probing, side_effects
from course.judge import compare, expected
from course.task import find, tasks_of
from grading.execution.assemble import (
    MAX_PIECES,
    assemble,
    origin,
)
from grading.execution.probe import probe_source
from grading.execution.values import VALUES, decode_values
from grading.submissions.answers import Added
from grading.submissions.sources import reached
from project.practicals import cell_id
from project.source import read_solutions

# --- probes are self-contained --------------------------------------------------------


def outside(source):
    """Return the names that a source uses but does not define."""
    tables, names = [symtable.symtable(source, "probe", "exec")], set()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        for symbol in table.get_symbols():
            top = table.get_type() == "module"
            if symbol.is_referenced() and (symbol.is_global() or top):
                names.add((symbol.get_name(), symbol.is_assigned() and top))
    return {name for name, own in names if not own}


SHARED = inspect.getsource(probing)
HELPERS = [node.name for node in ast.parse(SHARED).body[1:]]  # after the docstring


@each_task
def test_a_probe_uses_builtins_helpers_and_its_own_imports_alone(task):
    probe = textwrap.dedent(inspect.getsource(task.probe))
    names = (outside(SHARED) | outside(probe)) - set(HELPERS)
    assert {name for name in names if not hasattr(builtins, name)} == set()


@each_task
def test_no_name_in_the_source_of_a_probe_is_defined_twice(task):
    (call,) = ast.parse(probe_source(task, [])).body
    sources = [call.value.args[0].value, SHARED, inspect.getsource(side_effects)]
    body = [node for source in sources for node in ast.parse(source).body]
    names = ["answer", "cases", *(name for node in body for name in bound(node))]
    assert {*HELPERS, "watched", task.probe.__name__} < set(names)
    assert [name for name in set(names) if names.count(name) > 1] == []


def bound(node):
    """Return the names that a statement at the top level binds."""
    match node:
        case ast.FunctionDef(name=name):
            return [name]
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return [alias.asname or alias.name for alias in names]
        case ast.Assign(targets=targets):
            inside = [part for target in targets for part in ast.walk(target)]
            return [part.id for part in inside if isinstance(part, ast.Name)]
    return []


def test_a_probe_with_a_name_from_outside_would_be_found():
    assert outside("def probe(answer, x):\n    return {'y': np.abs(answer(x))}") == {
        "np"
    }


@pytest.mark.parametrize(
    "id_", ["bayes-by-backprop/sample-weights", "deep-ensembles/gaussian-nll"]
)
def test_helpers_of_a_probe_cannot_be_replaced(id_, monkeypatch):
    """Neither a student's functions of the same names nor edits of their module matter."""
    task = find(id_)
    stem = id_.partition("/")[0].replace("-", "_")
    cases = task.cases(np.random.default_rng(0))
    right, shown = expected(task, cases), []

    def lie(*args, **kwargs):
        raise AssertionError("a student's function is called in place of a helper")

    wrong = task.misconceptions[0].answer
    correct = getattr(__import__(f"solutions.{stem}", fromlist=["x"]), task.name)
    for name in HELPERS:
        monkeypatch.setattr(probing, name, lie)
        monkeypatch.setattr(builtins, name, lie, raising=False)
    monkeypatch.setattr(IPython.display, "publish_display_data", shown.append)
    for answer in (correct, wrong):
        namespace = {task.name: answer, **dict.fromkeys(HELPERS, lie)}
        exec(probe_source(task, cases), namespace)
        namespace.pop("__builtins__")
        assert namespace == {task.name: answer, **dict.fromkeys(HELPERS, lie)}
    values = [decode_values(data[VALUES]) for data in shown]
    assert compare(values[0], right) is None
    assert compare(values[1], right) is not None


def test_a_probe_leaves_the_students_names_alone_and_needs_none(monkeypatch):
    """It does not even need builtins, which a student's names may shadow."""
    task = TASKS[0]
    cases = task.cases(np.random.default_rng(0))
    shadows = dict.fromkeys(("float", "len", "dict", "list", "values", "case", "np"), 3)
    answer = getattr(__import__(f"solutions.{STEMS[0]}", fromlist=["x"]), task.name)
    namespace = {task.name: answer, **shadows}
    shown = []
    monkeypatch.setattr(IPython.display, "publish_display_data", shown.append)
    exec(probe_source(task, cases), namespace)
    namespace.pop("__builtins__")
    assert namespace == {task.name: answer, **shadows}
    values = decode_values(shown[0][VALUES])
    assert compare(values, expected(task, cases)) is None


# --- cells of an assembled notebook ---------------------------------------------------

FIRST, SECOND, THIRD = (
    "bayes-by-backprop/reparametrise",
    "bayes-by-backprop/log-posterior",
    "bayes-by-backprop/log-prior",
)
STEM = "bayes_by_backprop"


def parts(notebook):
    return [(cell["id"], cell.metadata.course["role"]) for cell in notebook.cells]


def test_one_pass_holds_just_what_it_needs():
    student = answers(
        {FIRST: "def reparametrise(): ...", SECOND: "def log_posterior(): ..."},
        added=(
            Added("added--0000", cell_id(SECOND), "helper = 1"),
            Added("added--0001", cell_id(SECOND, "check"), "between = 1"),
            Added("added--0002", cell_id(THIRD), "too_late = 1"),
            Added("added--0003", "", "at_the_end = 1"),
        ),
    )
    sources, sent = reference(STEM), probes(STEM)
    notebook = assemble(released(STEM), student, {SECOND}, sources, sent)
    assert parts(notebook) == [
        ("given--imports", "given"),
        ("given--history", "given"),
        (cell_id(FIRST), "reference"),
        ("added--0000", "added"),
        (cell_id(SECOND), "task"),
        ("added--0001", "added"),
        (cell_id(SECOND, "probe"), "probe"),
    ]
    assert notebook.cells[2].source == sources[FIRST]
    assert notebook.cells[4].source == "def log_posterior(): ..."
    for cell in notebook.cells:
        assert cell.cell_type == "code"
        assert cell.outputs == []
        assert cell.execution_count is None
        assert set(cell.metadata) == {"course"}
        assert set(cell.metadata.course) <= {"task", "role"}
    nbformat.validate(notebook)
    text = nbformat.writes(notebook)
    assert "from course" not in text
    assert "solutions" not in text
    assert "matplotlib" not in text


def test_cells_can_be_left_out():
    added = (Added("added--0000", cell_id(FIRST), "while True: pass"),)
    student = answers({FIRST: "x = 1"}, added=added)
    notebook = assemble(
        released(STEM), student, {FIRST}, {}, probes(STEM), {"added--0000"}
    )
    assert [id_ for id_, _ in parts(notebook)] == [
        "given--imports",
        "given--history",
        cell_id(FIRST),
        cell_id(FIRST, "probe"),
    ]


def test_of_a_cell_that_is_not_run_whole_definitions_remain():
    loud = "def mine(x): return x\nhalf = partial(mine, 2)\nfit(mine)\nwhile True: pass"
    added = (
        Added("added--0000", cell_id(FIRST), loud),
        Added("added--0001", cell_id(FIRST), "print(half)"),
    )
    notebook = assemble(
        released(STEM),
        answers({FIRST: "x = 1"}, added=added),
        {FIRST},
        {},
        probes(STEM),
        reduced={"added--0000"},
    )
    sources = {cell.id: cell.source for cell in notebook.cells}
    assert sources["added--0000"] == "def mine(x):\n    return x"
    assert sources["added--0000__1"] == "half = partial(mine, 2)"
    assert sources["added--0001"] == "print(half)"
    assert origin("added--0000__1") == "added--0000"
    nbformat.validate(notebook)


def test_given_code_that_trains_is_not_called_for_an_answer():
    student = answers(
        {FIRST: "def reparametrise(mu, rho, epsilon):\n    return rate, quick"},
        around={"c003": "quick = torch.tensor(1.0)\nrate = predictive_moments(quick)"},
    )
    notebook = assemble(released(STEM), student, {FIRST}, {}, probes(STEM))
    (borrowed,) = [cell for cell in notebook.cells if cell["id"] == "c003"]
    assert borrowed.source == "quick = torch.tensor(1.0)"


def test_training_behind_a_function_of_the_release_is_not_called_either():
    """``gradient_noise`` calls given functions that train, which would take seconds."""
    use = Added("added--0000", cell_id(SECOND), "print(noise_of_weights, X)")
    notebook = assemble(
        released(STEM),
        answers({"bayes-by-backprop/predictive-moments": "x = 1"}, added=(use,)),
        {"bayes-by-backprop/predictive-moments"},
        {},
        probes(STEM),
    )
    borrowed = "\n".join(c.source for c in notebook.cells if c.id.startswith("c0"))
    assert "X = " in borrowed
    assert "gradient_noise(" not in borrowed


def test_a_judged_task_without_a_cell_still_has_its_probe():
    notebook = assemble(released(STEM), NOBODY, {FIRST}, {}, probes(STEM))
    assert parts(notebook)[-1] == (cell_id(FIRST, "probe"), "probe")
    assert cell_id(FIRST) not in dict(parts(notebook))


def test_nothing_judged_is_an_empty_notebook():
    assert assemble(released(STEM), NOBODY, set(), {}, {}).cells == []


def test_an_answer_may_use_what_untagged_cells_import(monkeypatch):
    """``np`` is imported in a plotting cell; the check accepts this, so grading must, too."""
    source = reference(STEM)[FIRST].replace(
        "    return mu", "    np.log(1.0)\n    seeded(3)\n    return mu"
    )
    assert "np.log" in source
    notebook = assemble(
        released(STEM), answers({FIRST: source}), {FIRST}, {}, probes(STEM)
    )
    borrowed = [c.source for c in notebook.cells if origin(c.id) == "c003"]
    assert borrowed[0] == "import numpy as np"
    assert borrowed[-1].startswith("def seeded")
    assert not any("matplotlib" in one or "ndimage" in one for one in borrowed)
    (payload,) = run(notebook, monkeypatch).values()
    task = tasks_of(STEM)[FIRST]
    right = expected(task, drawn(STEM)[FIRST])
    assert compare(decode_values(payload), right) is None


def test_an_edited_untagged_cell_gives_its_functions(monkeypatch):
    student = answers(
        {
            FIRST: "def reparametrise(mu, rho, epsilon):\n    return mine(mu, rho, epsilon)"
        },
        around={
            "c003": "import torch.nn.functional as G\nprint(1)\n"
            "def mine(mu, rho, epsilon):\n    return mu + G.softplus(rho) * epsilon\n"
            "plots.use_style()"
        },
    )
    notebook = assemble(released(STEM), student, {FIRST}, {}, probes(STEM))
    (borrowed,) = [cell for cell in notebook.cells if cell["id"] == "c003"]
    assert "print" not in borrowed.source
    assert "plots" not in borrowed.source
    (payload,) = run(notebook, monkeypatch).values()
    right = expected(tasks_of(STEM)[FIRST], drawn(STEM)[FIRST])
    assert compare(decode_values(payload), right) is None


@pytest.mark.parametrize("place", ["c003", "ready"])
@pytest.mark.parametrize(
    "line",
    ["import torch.nn.functional as G", "from torch.nn.functional import *"],
    ids=["one", "all"],
)
def test_an_import_counts_in_any_cell_of_the_release(monkeypatch, place, line):
    """Students add theirs to the first cell, which says whether all is there."""
    plus = "softplus" if "*" in line else "G.softplus"
    source = (
        f"def reparametrise(mu, rho, epsilon):\n    return mu + {plus}(rho) * epsilon"
    )
    cell = next(cell for cell in released(STEM).cells if cell["id"] == place)
    assert cell.metadata.get("course", {}).get("role") in (None, "ready")
    student = answers({FIRST: source}, around={place: f"{cell.source}\n{line}"})
    notebook = assemble(released(STEM), student, {FIRST}, {}, probes(STEM))
    (payload,) = run(notebook, monkeypatch).values()
    right = expected(tasks_of(STEM)[FIRST], drawn(STEM)[FIRST])
    assert compare(decode_values(payload), right) is None


# --- dependencies ---------------------------------------------------------------------


def test_dependencies_are_transitive_and_go_through_given_code():
    def needs(stem):
        definitions = read_solutions(ROOT, stem).definitions
        sources = {name: found.source for name, found in definitions.items()}
        ids = {task.name: task.id for task in tasks_of(stem).values()}
        return {
            id_: {ids[other] for other in reached(name, sources) & ids.keys()}
            for name, id_ in ids.items()
        }

    backprop = needs("bayes_by_backprop")
    assert set(backprop) == set(tasks_of("bayes_by_backprop"))
    assert backprop[FIRST] == set()
    assert backprop["bayes-by-backprop/bayesian-linear"] == {
        FIRST,
        "bayes-by-backprop/sample-weights",
        "bayes-by-backprop/gaussian-kl",
    }
    # The parameter log_prior of this task is not the task of the same name.
    assert THIRD not in backprop["bayes-by-backprop/sampled-kl"]
    assert needs("deep_ensembles")["deep-ensembles/adversarial-loss"] == {
        "deep-ensembles/fgsm"
    }
    for practical in COURSE.practicals:
        tasks = [id_ for lab in practical.labs for id_ in order(lab.name)]
        place = {id_: index for index, id_ in enumerate(tasks)}
        for id_, others in needs(practical.stem).items():
            assert all(place[other] < place[id_] for other in others), id_


def test_cells_of_many_statements_do_not_become_as_many_cells():
    """Each statement of this chain may fail, so it gets its own cell, up to a maximum."""
    chain = [f"a{n} = a{n + 1}.b" for n in reversed(range(MAX_PIECES + 100))]
    cells = [chain[:20], chain[20:]]
    added = tuple(
        Added(f"added--{n:04}", cell_id(FIRST), "\n".join(lines))
        for n, lines in enumerate(cells)
    )
    notebook = assemble(
        released(STEM),
        answers({FIRST: "x = a0"}, added=added),
        {FIRST},
        {},
        probes(STEM),
        reduced={cell.id for cell in added},
    )
    assert len(notebook.cells) < 10
    few = assemble(
        released(STEM),
        answers({FIRST: f"x = a{MAX_PIECES + 90}"}, added=added[:1]),
        {FIRST},
        {},
        probes(STEM),
        reduced={"added--0000"},
    )
    assert len(few.cells) > 10
