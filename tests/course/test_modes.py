"""Right answers are right, and names are known, whatever a notebook has switched on or off."""

import random
import sys
from types import ModuleType

import numpy as np
import pytest
import torch
from frameworks import framework_of
from test_tasks import reference

from course import quiz, task
from course.checks import approximate_inference
from course.feedback import CheckFailed, check
from course.judge import expected, usual_modes
from course.task import UnknownTask, find, stem_of, stems, tasks_of

TASKS = [task for stem in stems() for task in tasks_of(stem).values()]
TORCH = [one for one in TASKS if framework_of(stem_of(one.id)) == "torch"]
each_task = pytest.mark.parametrize("one", TASKS, ids=lambda one: one.id)


@pytest.fixture
def odd_modes():
    """Switch off gradients, on double precision, and let NumPy raise."""
    with np.errstate(all="raise"), torch.no_grad():
        torch.set_default_dtype(torch.float64)
        try:
            yield
            assert not torch.is_grad_enabled()
            assert torch.get_default_dtype() == torch.float64
            assert set(np.geterr().values()) == {"raise"}
        finally:
            torch.set_default_dtype(torch.float32)


@each_task
def test_the_oracle_computes(one, odd_modes):
    with usual_modes():
        assert expected(one, one.cases(np.random.default_rng(3)))


@pytest.mark.parametrize("one", TORCH, ids=lambda one: one.id)
def test_the_reference_is_ticked(one, odd_modes, capsys):
    check(one.id, reference(one))
    assert capsys.readouterr().out.startswith("✓")


def test_a_mistake_is_still_the_one(odd_modes):
    """With gradients off, all mistakes about gradients would look alike."""
    one = find("bayes-by-backprop/draw-loss")
    for mistake in one.misconceptions:
        with pytest.raises(CheckFailed) as failed:
            check(one.id, mistake.answer)
        assert mistake.hint in " ".join(str(failed.value).split())


def test_an_import_within_an_answer_is_not_taken_for_a_draw(capsys):
    """Importing scikit-learn draws from Python's global generator."""

    def entropy(probs):
        if "drawing" not in sys.modules:
            sys.modules["drawing"] = ModuleType("drawing")
            random.random()
        return reference(find("deep-ensembles/entropy"))(probs)

    try:
        check("deep-ensembles/entropy", entropy)
    finally:
        sys.modules.pop("drawing", None)
    assert capsys.readouterr().out.startswith("✓")


def test_an_unknown_id_is_told_though_a_framework_is_missing(monkeypatch):
    def of(stem):
        if stem != "approximate_inference":
            raise ModuleNotFoundError("No module named 'jax'")
        return approximate_inference.TASKS

    monkeypatch.setattr(task, "tasks_of", of)
    with pytest.raises(UnknownTask, match="mean approximate-inference/gaussian-kl"):
        find("aproximate-inference/gaussian-kl")
    monkeypatch.setattr(quiz, "quizzes_of", of)
    with pytest.raises(UnknownTask, match="There is no quiz 'aproximate-inference/x'"):
        quiz.find_quiz("aproximate-inference/x")
