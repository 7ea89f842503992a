"""Answers that draw are refused if their noise is cut off, shared, or the same in every call."""

import importlib
import inspect
from unittest import mock

import numpy as np
import pytest
import torch
from seeds import SOAK, first_seed

from course.judge import answered, compare, expected
from course.task import find, stem_of, stems, tasks_of

# Answers that draw noise of another kind or none of their own: which, and who draws.
OTHERS = {
    "approximate-inference/dropout-mlp": "masks of units, which are 0 or 1",
    "approximate-inference/variational-mlp": "its layers draw: linear-variational",
    "calibration-and-flows/predict": "the check's model draws uniform noise",
    "which-method/mimo-inputs": "orders of rows",
}
RANDN = torch.randn


def reference(id_):
    stem = stem_of(id_)
    return getattr(importlib.import_module(f"solutions.{stem}"), find(id_).name)


def draws(answer):
    """Does a function, or a method of a class, take a generator or a key?"""
    of_class = [answer.forward] if isinstance(answer, type) else []
    names = {
        name
        for each in (answer, *of_class)
        for name in inspect.signature(each).parameters
    }
    return bool(names & {"generator", "key"})


DRAWING = [id_ for stem in stems() for id_ in tasks_of(stem) if draws(reference(id_))]


def cut(*shape, **options):
    return RANDN(*shape, **options).clamp(-3, 3)


def test_noise_of_another_kind_is_drawn_by_these_tasks():
    assert OTHERS.keys() <= set(DRAWING)


@pytest.mark.parametrize("id_", sorted(set(DRAWING) - OTHERS.keys()))
def test_noise_that_is_cut_off_at_three_stds_is_refused(id_):
    """On every draw: a grade draws once."""
    task, first = find(id_), first_seed()
    for seed in range(first, first + (20 if SOAK else 1)):
        cases = task.cases(np.random.default_rng(seed))
        with mock.patch.object(torch, "randn", cut):
            values = answered(task, reference(id_), cases)
        mismatch = compare(values, expected(task, cases))
        assert mismatch is not None
        assert mismatch.key == "noise_has_tails"


@pytest.mark.parametrize("id_", sorted(set(DRAWING) - OTHERS.keys()))
@pytest.mark.parametrize("axis", range(3))
def test_noise_that_is_shared_along_an_axis_is_refused(id_, axis):
    """As when all rows, all weights or all draws get the same noise."""
    several = []

    def shared(*shape, **options):
        noise = RANDN(*shape, **options)
        if noise.ndim <= axis or noise.shape[axis] == 1:
            return noise
        several.append(True)
        return noise.narrow(axis, 0, 1).expand(noise.shape).clone()

    task = find(id_)
    cases = task.cases(np.random.default_rng(first_seed()))
    with mock.patch.object(torch, "randn", shared):
        values = answered(task, reference(id_), cases)
    assert (compare(values, expected(task, cases)) is not None) == bool(several)


def antithetic(noise):
    """The second half is minus the first, so the noise is not independent either."""
    half = len(noise) // 2
    return torch.cat([noise[:half], -noise[:half], noise[2 * half :]])


@pytest.mark.parametrize("id_", sorted(set(DRAWING) - OTHERS.keys()))
@pytest.mark.parametrize(
    "change",
    [
        lambda noise: noise - noise.mean(),
        lambda noise: (noise - noise.mean()) / noise.std(),
        antithetic,
    ],
    ids=["centred", "standardised", "antithetic"],
)
def test_noise_that_is_not_independent_within_a_call_is_refused(id_, change):
    """In a large call it looks independent."""

    def changed(*shape, **options):
        noise = RANDN(*shape, **options)
        return change(noise) if noise.numel() > 1 and noise.ndim else noise

    task, first = find(id_), first_seed()
    for seed in range(first, first + (20 if SOAK else 1)):
        cases = task.cases(np.random.default_rng(seed))
        with mock.patch.object(torch, "randn", changed):
            values = answered(task, reference(id_), cases)
        assert compare(values, expected(task, cases)) is not None


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("id_", [i for i in DRAWING if isinstance(reference(i), type)])
def test_a_layer_whose_draws_are_all_alike_in_one_mode_is_refused(id_, training):
    module = reference(id_)

    def forward(self, *args, **kwargs):
        if self.training == training:
            kwargs["generator"] = torch.Generator().manual_seed(7)
        return module.forward(self, *args, **kwargs)

    alike = type(module.__name__, (module,), {"forward": forward})
    task = find(id_)
    cases = task.cases(np.random.default_rng(first_seed()))
    mismatch = compare(answered(task, alike, cases), expected(task, cases))
    assert mismatch is not None
