"""What a check says of an exception: where it was raised, and what it means."""

import functools
import inspect
import re
import traceback
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from course import errors, exceptions
from course.errors import CELLS_ABOVE
from course.feedback import CheckFailed, check
from solutions import calibration_and_flows as flows
from solutions.acting_on_uncertainty import diverse_batch
from solutions.deep_ensembles import gaussian_nll_expression


def said_of(id_, answer):
    with pytest.raises(CheckFailed) as failed:
        check(id_, answer)
    return " ".join(str(failed.value).split())


def test_an_operation_that_a_library_lacks_is_no_stub():
    def gaussian_kl(mu, rho, prior_std):
        return torch.arange(3).softmax(0)

    said = said_of("approximate-inference/gaussian-kl", gaussian_kl)
    assert "raised NotImplementedError: " in said
    assert "in line" in said
    assert "return torch.arange(3).softmax(0)" in said
    assert "not written yet" not in said


@pytest.mark.parametrize(
    ("id_", "returned", "said"),
    [
        ("calibration-and-flows/predict", 3, "does not return 2 values, as a tuple."),
        ("bayes-by-backprop/gradient-step", 3, "does not return 2 values, as a tuple"),
        ("which-method/mimo-inputs", 3, "does not return 2 values, as a tuple."),
        ("calibration-and-flows/radial-flow", 3, "does not return 2 values, as a tup"),
    ],
)
def test_the_number_of_values_is_that_of_the_task(id_, returned, said):
    """The check compares more of them than the answer returns."""
    zeros = jnp.zeros if id_.startswith("which-method") else torch.zeros
    value = (zeros(2),) * returned
    assert said in said_of(id_, lambda *args, **options: value)


@pytest.mark.parametrize("folder", ["site-packages", "dist-packages", "stdlib"])
def test_lines_of_libraries_are_not_the_students(folder):
    path = f"/usr/lib/{folder}/jax/numpy.py"
    if folder == "stdlib":
        path = inspect.getsourcefile(functools)
    assert not exceptions._theirs(traceback.FrameSummary(path, 1, "sum"))
    cell = traceback.FrameSummary("/tmp/ipykernel_1/2.py", 1, "entropy")
    assert exceptions._theirs(cell)


def entropy(probs):
    raise ValueError("of mine")


class Callable:
    def __call__(self, probs):
        raise ValueError("of mine")


@functools.wraps(entropy)
def wrapped(*args):
    return entropy(*args)


@pytest.mark.parametrize(
    "answer",
    [entropy, jax.jit(entropy), Callable(), functools.partial(entropy), wrapped],
    ids=["plain", "jitted", "object", "partial", "wrapped"],
)
def test_the_line_of_the_answer_is_found(answer):
    said = said_of("deep-ensembles/entropy", answer)
    assert 'of your cell: raise ValueError("of mine")' in said


def test_an_old_ipython_says_below_the_error_what_notes_would(monkeypatch, capsys):
    """Colab's does not show notes."""
    monkeypatch.setattr(inspect, "getsource", lambda module: "")
    error, shown = NameError("x"), []
    shell = SimpleNamespace(showtraceback=lambda *args, **options: shown.append(args))
    errors._show_with_advice(shell, NameError, error, None)
    assert len(shown) == 1
    assert capsys.readouterr().out == f"{CELLS_ABOVE}\n"
    assert not hasattr(error, "__notes__")


def test_an_expression_in_an_array_is_told_so():
    def answer(y, mu, sigma):
        return np.asarray(gaussian_nll_expression(y, mu, sigma))

    said = said_of("deep-ensembles/gaussian-nll-expression", answer)
    assert "a SymPy expression is asked for, not ndarray" in said


def test_a_bfloat16_is_a_floating_point_number_but_too_coarse():
    said = said_of(
        "deep-ensembles/entropy",
        lambda probs: jnp.zeros(probs.shape[:-1], jnp.bfloat16),
    )
    assert "has the dtype bfloat16" in said
    assert "in single precision" in said


def test_a_property_is_not_called_a_value():
    def answer(*args, **options):
        return diverse_batch(*args, **options) * np.nan

    said = said_of("acting-on-uncertainty/diverse-batch", answer)
    assert "integer_array" not in said


def test_a_leading_axis_is_a_matter_of_shape():
    """The probe once asked for a thousand terabytes."""

    def reparametrised_sample(mu, rho, *, generator):
        noise = torch.randn(1, *mu.shape, generator=generator)
        return mu + torch.nn.functional.softplus(rho) * noise

    said = said_of("approximate-inference/reparametrised-sample", reparametrised_sample)
    assert "is an array of shape" in said
    assert "memory" not in said


def test_a_gradient_that_cannot_be_computed_is_told_so():
    def negative_elbo(log_probs, labels, kl):
        labels = labels.expand(log_probs.shape[:-1])
        if log_probs.dim() > 2:
            log_probs = log_probs.movedim(-1, 1)
        nll = torch.nn.functional.nll_loss(log_probs, labels, reduction="none")
        return (nll + kl).mean(-1)

    said = said_of("calibration-and-flows/negative-elbo", negative_elbo)
    assert "returns a value, but its gradient cannot be computed" in said
    assert "kind of value" not in said


def test_a_change_of_what_needs_gradients_is_advised_on():
    def affine_flow(z, shift, log_scale):
        z *= log_scale.exp()
        return z + shift, log_scale.sum().expand(z.shape[:-1])

    said = said_of("calibration-and-flows/affine-flow", affine_flow)
    assert "is changed in place, as by +=" in said


def test_a_dictionary_for_a_tuple_is_told_so():
    def affine_flow(z, shift, log_scale):
        points, log_det = flows.affine_flow(z, shift, log_scale)
        return {"points": points, "log_det": log_det}

    said = said_of("calibration-and-flows/affine-flow", affine_flow)
    assert "If `affine_flow` returns a dictionary, return a tuple instead." in said


def test_a_return_is_asked_for_only_where_all_is_none():
    def compose(layers, z):
        points, log_det = flows.compose(layers, z)
        return points, log_det if layers else None

    said = said_of("calibration-and-flows/compose", compose)
    assert "`compose` returns no `log_det`: it is None." in said
    assert "missing" not in said
    said = said_of("calibration-and-flows/compose", lambda layers, z: None)
    assert "Is a `return` missing?" in said


def test_inputs_that_differ_little_are_told_apart():
    def with_a_tolerance(scores, weights, new_weights, alpha):
        order = np.argsort(scores)
        below = np.cumsum(weights[order])
        needed = (1 - alpha) * (below[-1] + new_weights)
        index = (below < needed[:, None] * (1 - 1e-6)).sum(1)
        return np.append(scores[order], np.inf)[index]

    said = said_of("acting-on-uncertainty/weighted-quantile", with_a_tolerance)
    (weights,) = re.findall(r" weights = \[(.*?)\]", said)
    assert len({*weights.split()}) == 2
