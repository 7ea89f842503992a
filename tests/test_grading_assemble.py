"""Assembled notebooks: what stands in them, and that their numbers arrive exactly."""

import builtins
import inspect
import json
import symtable
import textwrap
from pathlib import Path

import IPython.display
import nbformat
import numpy as np
import pytest

from course.grading.answers import Added, Answer, Answers
from course.grading.assemble import (
    VALUES,
    assemble,
    cell_id,
    origin,
    probe_source,
)
from course.grading.sources import reached
from course.grading.values import Foreign, decode_values
from course.judge import as_numbers, compare, expected, recognise
from course.source import read_solutions
from course.task import Task, stems, tasks_of

ROOT = Path(__file__).parents[1]
STEMS = stems()
TASKS = [task for stem in STEMS for task in tasks_of(stem).values()]
each_task = pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
each_practical = pytest.mark.parametrize("stem", STEMS)
NOBODY = Answers({}, {})


def released(stem):
    (path,) = (ROOT / "exercises").glob(f"*-{stem.replace('_', '-')}.ipynb")
    return nbformat.read(path, as_version=4)


def reference(stem):
    module = read_solutions(ROOT, stem)
    tasks = tasks_of(stem).values()
    return {task.id: module.definitions[task.name].shown() for task in tasks}


def drawn(stem, seed=7):
    return {
        id_: task.cases(np.random.default_rng(seed))
        for id_, task in tasks_of(stem).items()
    }


def probes(stem, seed=7):
    tasks = tasks_of(stem)
    return {id_: probe_source(tasks[id_], c) for id_, c in drawn(stem, seed).items()}


def answers(sources, **rest):
    tasks = {id_: Answer(id_, source) for id_, source in sources.items()}
    return Answers(tasks, {}, **rest)


def run(notebook, monkeypatch):
    """Run a notebook's cells in one namespace; what its probes display, by task."""
    shown = {}

    def publish(data):
        payload = json.loads(json.dumps(data[VALUES], allow_nan=False))
        shown[payload["task"]] = payload

    monkeypatch.setattr(IPython.display, "publish_display_data", publish)
    namespace = {"__name__": "__main__"}
    for cell in notebook.cells:
        exec(cell.source, namespace)
    return shown


def probed(task, answer, monkeypatch, cases):
    """What the probe of one task displays for an answer."""
    shown = []
    monkeypatch.setattr(IPython.display, "publish_display_data", shown.append)
    exec(probe_source(task, cases), {task.name: answer})
    (data,) = shown
    return json.loads(json.dumps(data[VALUES], allow_nan=False))


# --- numbers arrive -------------------------------------------------------------------


@each_practical
def test_the_reference_as_answers_gets_full_marks(stem, monkeypatch):
    tasks, sources, cases = tasks_of(stem), reference(stem), drawn(stem)
    notebook = assemble(
        released(stem), answers(sources), set(tasks), reference={}, probes=probes(stem)
    )
    nbformat.validate(notebook)
    shown = run(notebook, monkeypatch)
    assert list(shown) == [id_ for id_ in order(stem) if id_ in tasks]
    for id_, task in tasks.items():
        values = decode_values(shown[id_])
        assert compare(values, expected(task, cases[id_])) is None, id_


def order(stem):
    return [
        cell.metadata.course["task"]
        for cell in released(stem).cells
        if cell.metadata.get("course", {}).get("role") == "task"
    ]


@pytest.mark.parametrize("task", TASKS[::4], ids=lambda task: task.id)
def test_a_misconception_is_recognised_from_what_arrives(task, monkeypatch):
    cases = task.cases(np.random.default_rng(3))
    right = expected(task, cases)
    for mistake in task.misconceptions[:2]:
        values = decode_values(probed(task, mistake.answer, monkeypatch, cases))
        assert compare(values, right) is not None
        assert recognise(task, values, cases, right) is mistake


def echo_task(*cases):
    return Task(
        id="echo/echo",
        name="echo",
        points=1,
        cases=lambda rng: list(cases),
        probe=_echo_probe,
        oracle=lambda **case: {},
    )


def _echo_probe(answer, **case):
    return {name: answer(value) for name, value in case.items()}


def test_inputs_and_values_arrive_bit_by_bit(monkeypatch):
    rng = np.random.default_rng(0)
    floats = np.concatenate(
        [rng.normal(0, 1, 50) * 10.0 ** rng.integers(-300, 300, 50), [0.0, -0.0]]
    )
    case = {
        "floats": floats.reshape(4, 13),
        "single": rng.normal(0, 1, 9).astype(np.float32),
        "odd": np.array([np.nan, np.inf, -np.inf, 5e-324]),
        "ints": np.array([[1, 2**62]]),
        "flags": np.array([True, False]),
        "none_of": np.zeros((0, 3)),
        "number": 0.1,
        "infinite": float("inf"),
        "count": 3,
        "seed": int(rng.integers(1, 10**9)),
        "name": 'a "quoted"\n\\ {name} ☃',
    }
    got = []

    def echo(value):
        got.append(value)
        return value

    payload = probed(echo_task(case), echo, monkeypatch, [case])
    for value, original in zip(got, case.values(), strict=True):
        assert type(value) is type(original)
        np.testing.assert_array_equal(value, original)
        if isinstance(original, np.ndarray):
            assert (value.dtype, value.shape) == (original.dtype, original.shape)
            assert value.tobytes() == original.tobytes()
    (values,) = decode_values(payload)
    for name in ("floats", "single", "odd", "none_of", "number", "infinite"):
        right = np.asarray(case[name], dtype=np.float64)
        assert values[name].dtype == np.float64
        assert values[name].shape == right.shape
        assert values[name].tobytes() == right.tobytes()
    assert values["ints"] == Foreign("int64", (1, 2))
    assert values["flags"].dtype == "bool"
    assert values["name"].dtype.startswith("<U")


def test_what_is_a_number_is_decided_as_in_the_students_check(monkeypatch):
    import jax.numpy as jnp
    import torch

    class Raises:
        def __array__(self, *args, **kwargs):
            raise RuntimeError("no")

    things = [
        None,
        1,
        1.5,
        True,
        1 + 2j,
        "a",
        [1.0, 2.0],
        [1.0, [2.0]],
        (1, 2),
        {"a": 1.0},
        np.float32(0.1),
        np.arange(3),
        torch.tensor([1.0, 2.0], requires_grad=True),
        torch.tensor(0.3, dtype=torch.float16),
        torch.tensor(0.3, dtype=torch.bfloat16),
        torch.ones(2).to_sparse(),
        jnp.ones((2, 1)),
        jnp.ones(2, dtype=jnp.bfloat16),
        Raises(),
        object(),
        lambda: 1.0,
    ]
    case = {f"k{index}": index for index in range(len(things))}
    payload = probed(echo_task(case), lambda index: things[index], monkeypatch, [case])
    (values,) = decode_values(payload)
    for thing, value in zip(things, values.values(), strict=True):
        right = as_numbers(thing)
        if thing is None:
            assert value is None
        elif right is None:
            assert isinstance(value, Foreign), thing
            assert as_numbers(value) is None
        else:
            np.testing.assert_array_equal(as_numbers(value), right, strict=True)


def test_a_wrong_dtype_or_none_is_reported_as_in_the_students_check(monkeypatch):
    task = tasks_of("deep_ensembles")["deep-ensembles/entropy"]
    cases = task.cases(np.random.default_rng(0))
    right = expected(task, cases)
    for answer, kind in (
        (lambda probs: np.ones(len(probs), dtype=int), "dtype"),
        (lambda probs: None, "none"),
        (lambda probs: np.zeros((2, 2, 2)), "shape"),
        (lambda probs: np.full(len(probs), np.nan), "nan"),
        (lambda probs: np.zeros(2_000_000), "dtype"),
    ):
        values = decode_values(probed(task, answer, monkeypatch, cases))
        assert compare(values, right).kind == kind


def test_what_an_answer_raises_is_raised(monkeypatch):
    task = TASKS[0]
    with pytest.raises(NotImplementedError):
        probed(
            task,
            lambda *a, **k: (_ for _ in ()).throw(NotImplementedError),
            monkeypatch,
            task.cases(np.random.default_rng(0)),
        )
    with pytest.raises(NameError, match=task.name):
        exec(probe_source(task, []), {})


GOOD = {"dtype": "float64", "shape": [2], "data": [1.0, "inf"]}


@pytest.mark.parametrize(
    "payload",
    [
        None,
        [],
        "text",
        {},
        {"task": 1, "values": []},
        {"task": "a", "values": {}},
        {"task": "a", "values": [], "more": 1},
        {"task": "a", "values": [[]]},
        {"task": "a", "values": [{}] * 5_000},
        {"task": "a", "values": [{str(i): None for i in range(500)}]},
        {"task": "a", "values": [{"k" * 5_000: None}]},
        *(
            {"task": "a", "values": [{"key": value}]}
            for value in (
                1.0,
                "inf",
                [1.0],
                True,
                {},
                {"dtype": "float64"},
                GOOD | {"shape": [3]},
                GOOD | {"shape": [-1, -2]},
                GOOD | {"shape": [True, 2]},
                GOOD | {"shape": [2.0]},
                GOOD | {"shape": "2"},
                GOOD | {"shape": [2] + [1] * 60},
                GOOD | {"dtype": ["float64"]},
                GOOD | {"data": [1.0, True]},
                GOOD | {"data": [1.0, None]},
                GOOD | {"data": [1.0, "1.0"]},
                GOOD | {"data": [1.0, [1.0]]},
                GOOD | {"data": [1.0, 10**400]},
                GOOD | {"data": {"0": 1.0, "1": 2.0}},
                GOOD | {"data": "ab"},
                GOOD | {"more": 1},
            )
        ),
    ],
    ids=lambda payload: repr(payload)[:60],
)
def test_values_of_another_form_are_refused(payload):
    with pytest.raises(ValueError, match="value"):
        decode_values(payload)


def test_values_are_counted_over_all_cases():
    three = {"dtype": "float64", "shape": [3], "data": [1.0, 2.0, 3.0]}
    payload = {"task": "a", "values": [{"x": three}, {"x": three, "y": three}]}
    assert len(decode_values(payload, limit=9)) == 2
    with pytest.raises(ValueError, match="too long"):
        decode_values(payload, limit=8)


def test_a_forged_dtype_is_no_text_to_show():
    forged = {"dtype": "<script>alert(1)</script>☃", "shape": []}
    (values,) = decode_values({"task": "a", "values": [{"x": forged}]})
    assert values["x"].dtype == "object"


# --- probes stand alone ---------------------------------------------------------------


def outside(source):
    """The names that a source takes from outside."""
    tables, names = [symtable.symtable(source, "probe", "exec")], set()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        for symbol in table.get_symbols():
            top = table.get_type() == "module"
            if symbol.is_referenced() and (symbol.is_global() or top):
                names.add((symbol.get_name(), symbol.is_assigned() and top))
    return {name for name, own in names if not own}


@each_task
def test_a_probe_uses_builtins_and_its_own_imports_alone(task):
    names = outside(textwrap.dedent(inspect.getsource(task.probe)))
    assert {name for name in names if not hasattr(builtins, name)} == set()


def test_a_probe_with_a_name_from_outside_would_be_found():
    assert outside("def probe(answer, x):\n    return {'y': np.abs(answer(x))}") == {
        "np"
    }


def test_a_probe_leaves_the_students_names_alone_and_needs_none(monkeypatch):
    """Not even builtins that a student has used as names of their own."""
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


# --- what stands in a notebook --------------------------------------------------------

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
            Added("added--0001", cell_id(SECOND, "--check"), "between = 1"),
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
        (cell_id(SECOND, "--probe"), "probe"),
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
        cell_id(FIRST, "--probe"),
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


def test_a_judged_task_without_a_cell_still_has_its_probe():
    notebook = assemble(released(STEM), NOBODY, {FIRST}, {}, probes(STEM))
    assert parts(notebook)[-1] == (cell_id(FIRST, "--probe"), "probe")
    assert cell_id(FIRST) not in dict(parts(notebook))


def test_nothing_judged_is_an_empty_notebook():
    assert assemble(released(STEM), NOBODY, set(), {}, {}).cells == []


def test_an_answer_may_use_what_untagged_cells_import(monkeypatch):
    """``np`` comes from a cell that draws; the check ticks such an answer, so must the grade."""
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


# --- what needs what ------------------------------------------------------------------


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
    # Its parameter log_prior is not the task of that name.
    assert THIRD not in backprop["bayes-by-backprop/sampled-kl"]
    assert needs("deep_ensembles")["deep-ensembles/adversarial-loss"] == {
        "deep-ensembles/fgsm"
    }
    for stem in STEMS:
        place = {id_: index for index, id_ in enumerate(order(stem))}
        for id_, others in needs(stem).items():
            assert all(place[other] < place[id_] for other in others), id_
