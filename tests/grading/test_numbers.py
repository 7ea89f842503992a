"""Transfer of numbers: the checks receive exactly the values that probes display."""

import nbformat
import numpy as np
import pytest
from assembled import (
    TASKS,
    answers,
    drawn,
    each_name,
    order,
    probed,
    probes,
    reference,
    released,
    run,
    tasks_in,
)

from course.judge import Draw, as_numbers, compare, expected
from course.task import Task, tasks_of
from grading.execution.assemble import assemble
from grading.execution.probe import probe_source
from grading.execution.values import Foreign, decode_values


@each_name
def test_the_reference_as_answers_gets_full_marks(name, monkeypatch):
    tasks, sources, cases = tasks_in(name), reference(name), drawn(name)
    notebook = assemble(
        released(name), answers(sources), set(tasks), reference={}, probes=probes(name)
    )
    nbformat.validate(notebook)
    shown = run(notebook, monkeypatch)
    assert tuple(shown) == order(name)
    for id_, task in tasks.items():
        values = decode_values(shown[id_])
        assert compare(values, expected(task, cases[id_])) is None, id_


@pytest.mark.parametrize("task", TASKS[::4], ids=lambda task: task.id)
def test_a_misconception_is_recognised_from_what_arrives(task, monkeypatch):
    cases = task.cases(np.random.default_rng(3))
    draw = Draw(task, cases)
    for mistake in task.misconceptions[:2]:
        values = decode_values(probed(task, mistake.answer, monkeypatch, cases))
        assert compare(values, draw.right) is not None
        assert draw.recognise(values) is mistake


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
        (lambda probs: np.full(probs.shape[:-1], np.nan), "nan"),
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
