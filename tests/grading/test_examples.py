"""Public examples: inputs of the notebook's own check, kept from run to run."""

import numpy as np
from labs import COURSE

from course.task import Close, Task, tasks_of
from grading.execution.examples import example_of, examples


def test_examples_are_those_of_the_check_and_kept(tmp_path, monkeypatch):
    lab = COURSE.lab("acting_on_uncertainty_a")
    found = examples([lab], tmp_path)
    assert set(found) == set(tasks_of(lab.stem))
    for id_, task in tasks_of(lab.stem).items():
        assert found[id_] == example_of(task)
        assert found[id_].inputs
    monkeypatch.setattr("grading.execution.examples._computed", None)
    assert examples([lab], tmp_path) == found


def test_a_check_that_cannot_run_costs_only_the_examples(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.executable", "/bin/false")
    assert examples([COURSE.lab("acting_on_uncertainty_a")], tmp_path) == {}
    assert not list(tmp_path.iterdir())


def test_small_expected_values_keep_their_digits():
    task = Task(
        "f",
        1,
        lambda rng: [{"x": np.array([1.5])}],
        lambda answer, x: {"value": answer(x)},
        lambda x: {"value": Close(x * [1e-7, 0.00025316789], because="exact")},
    )
    assert "[1.50000e-07 3.79752e-04]" in example_of(task).expected
