"""Practical 4's reference solutions for calibration and linear models against other libraries."""

from functools import cache

import numpy as np
import pytest
import torch
from generators import seeded
from peers import without_torchvision
from sklearn.datasets import make_blobs
from sklearn.metrics import brier_score_loss
from sklearn.naive_bayes import GaussianNB

from course import data
from solutions import calibration_and_flows as s

SEEDS = range(12)


def random_probs(seed, n=400, k=4):
    rng = np.random.default_rng(seed)
    probs = torch.as_tensor(rng.dirichlet(np.full(k, 0.4), n))
    return probs, torch.as_tensor(rng.integers(0, k, n))


def two_class(confidence, right):
    """Return probabilities of two classes with the given top confidence, and labels."""
    confidence = torch.as_tensor(confidence, dtype=torch.float64)
    labels = torch.where(torch.as_tensor(right), 0, 1)
    return torch.stack([confidence, 1 - confidence], 1), labels


# --- Calibration ---------------------------------------------------------------------


@cache
def calibration_error():
    """Import torchmetrics' function, with a mock of torchvision if that cannot be imported.

    torchmetrics imports torchvision, whose wheel may not match torch's CPU build. Nothing of
    torchvision is used here.
    """
    with without_torchvision():
        from torchmetrics.functional.classification import multiclass_calibration_error
    return multiclass_calibration_error


def torchmetrics_ece(probs, labels, n_bins=15, norm="l1"):
    classes = probs.shape[1]
    return calibration_error()(
        probs, labels, classes, n_bins, norm, validate_args=False
    ).double()


def netcal_ece(probs, labels, n_bins=15):
    from netcal.metrics import ECE

    # For two classes netcal uses p(y = 1) instead of the top label's confidence. An empty third
    # class, and repeating the data with permuted classes, avoids that; the ECE is the same.
    three = torch.nn.functional.pad(probs, (0, max(0, 3 - probs.shape[1])))
    k = three.shape[1]
    renamed = torch.cat([three.roll(shift, dims=1) for shift in range(k)])
    names = torch.cat([(labels + shift) % k for shift in range(k)])
    return ECE(n_bins).measure(renamed.numpy(), names.numpy())


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("n_bins", [1, 10, 15])
def test_ece_is_that_of_torchmetrics_and_netcal(seed, n_bins):
    probs, labels = random_probs(seed)
    ours = s.calibration_error(probs, labels, n_bins)
    torch.testing.assert_close(
        ours, torchmetrics_ece(probs, labels, n_bins), rtol=0, atol=1e-6
    )
    assert float(ours) == pytest.approx(netcal_ece(probs, labels, n_bins), abs=1e-6)


EDGES = {
    "boundary": ([0.55, 0.625, 0.75, 0.75, 0.875, 0.9], [1, 0, 1, 0, 0, 1], 8),
    "one": ([1.0, 1.0, 1.0, 0.6], [1, 0, 0, 1], 15),
    "one, all wrong": ([1.0, 1.0], [0, 0], 15),
    "one beside the last bin": ([1.0, 0.95, 0.97, 1.0, 0.7], [1, 1, 0, 0, 1], 15),
}


@pytest.mark.parametrize("name", EDGES)
def test_ece_at_the_edges_of_bins(name):
    confidence, right, n_bins = EDGES[name]
    probs, labels = two_class(confidence, np.array(right, bool))
    ours = float(s.calibration_error(probs, labels, n_bins))
    assert ours == pytest.approx(netcal_ece(probs, labels, n_bins), abs=1e-6)
    # torchmetrics puts confidences of exactly 1 into an additional bin. Moved just below 1, they
    # share the last bin with their neighbours, as in netcal.
    below = probs.clamp(max=1 - 1e-7)
    theirs = float(torchmetrics_ece(below, labels, n_bins))
    assert ours == pytest.approx(theirs, abs=1e-6)


def test_a_confidence_of_zero_lies_in_the_first_bin():
    probs = torch.zeros(
        3, 2, dtype=torch.float64
    )  # not a distribution, but possible input
    labels = torch.tensor([0, 1, 1])
    bins = s.calibration_bins(probs, labels)
    assert bins.share[0] == 1
    ours = s.calibration_error(probs, labels)
    theirs = torchmetrics_ece(probs, labels)
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-6)


def test_a_confidence_rounded_above_one_is_counted():
    probs, labels = two_class([1.0], np.array([False]))
    above = probs * (1 + 1e-7)
    assert s.calibration_error(above, labels) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_bins_hold_all_data_and_their_mean_confidence(seed):
    probs, labels = random_probs(seed)
    bins = s.calibration_bins(probs, labels)
    assert float(bins.share.sum()) == pytest.approx(1)
    mean = (bins.share * bins.confidence).sum()
    torch.testing.assert_close(mean, probs.max(1).values.mean())
    accuracy = (bins.share * bins.accuracy).sum()
    torch.testing.assert_close(accuracy, (probs.argmax(1) == labels).double().mean())


@pytest.mark.parametrize("seed", SEEDS)
def test_maximum_calibration_error_is_that_of_torchmetrics(seed):
    probs, labels = random_probs(seed)
    theirs = torchmetrics_ece(probs, labels, norm="max")
    ours = s.maximum_calibration_error(probs, labels)
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-6)


def test_adaptive_bins_hold_equally_many():
    probs, labels = random_probs(0, n=150)
    confidence = probs.max(1).values.numpy()
    gap = (probs.argmax(1) == labels).double().numpy() - confidence
    groups = np.argsort(confidence).reshape(15, 10)
    expected = np.abs(gap[groups].mean(1)).mean()
    assert float(s.adaptive_calibration_error(probs, labels)) == pytest.approx(expected)


def test_ece_of_a_calibrated_model_is_biased_when_data_are_few():
    """It is 0.088, 0.029 and 0.009 at 100, 1,000 and 10,000 data points, without miscalibration."""
    means = []
    for n, repeats in ((100, 100), (1_000, 40), (10_000, 10)):
        values = []
        for seed in range(repeats):
            rng = np.random.default_rng(seed)
            confidence = rng.uniform(0.5, 1, n)
            probs, labels = two_class(confidence, rng.uniform(0, 1, n) < confidence)
            values.append(float(s.calibration_error(probs, labels)))
        means.append(np.mean(values))
    np.testing.assert_allclose(means, [0.088, 0.029, 0.009], rtol=0.12)


@pytest.mark.parametrize("seed", SEEDS)
def test_brier_score_and_its_parts(seed):
    rng = np.random.default_rng(seed)
    grid = torch.as_tensor(rng.choice([0.1, 0.3, 0.55, 0.9], 200))
    outcome = torch.as_tensor((rng.uniform(0, 1, 200) < 0.4).astype(int))
    parts = s.brier_decomposition(grid, outcome)
    total = parts.reliability - parts.resolution + parts.uncertainty
    binary = brier_score_loss(outcome.numpy(), grid.numpy())
    assert float(total) == pytest.approx(binary)
    both = s.brier_score(torch.stack([1 - grid, grid], 1), outcome)
    assert float(both) == pytest.approx(2 * binary)


def test_a_perfect_forecast_has_no_reliability_left_and_resolves_everything():
    outcome = torch.tensor([0, 1, 1, 0, 1])
    parts = s.brier_decomposition(outcome.double(), outcome)
    assert float(parts.reliability) == pytest.approx(0)
    torch.testing.assert_close(parts.resolution, parts.uncertainty)


@pytest.mark.parametrize("true", [0.4, 1.0, 2.5])
def test_temperature_is_found_again(true):
    rng = np.random.default_rng(0)
    logits = torch.as_tensor(rng.normal(0, 2, (20_000, 3)))
    labels = torch.distributions.Categorical(logits=logits)
    torch.manual_seed(0)
    found = s.fit_temperature(logits * true, labels.sample())
    assert float(found) == pytest.approx(true, rel=0.05)


def test_the_gradient_vanishes_at_the_temperature():
    _, labels = random_probs(3)
    logits = torch.as_tensor(np.random.default_rng(0).normal(0, 3, (400, 4)))
    logits[torch.arange(400), labels] += 2
    temperature = s.fit_temperature(logits, labels).requires_grad_()
    loss = torch.nn.functional.cross_entropy(logits / temperature, labels)
    (gradient,) = torch.autograd.grad(loss, temperature)
    assert abs(float(gradient)) < 1e-6


def test_naive_bayes_on_three_blobs_is_overconfident_until_it_is_tempered():
    """ECE 0.074 and NLL 0.300, at T = 2.19 0.047 and 0.255, within the spread over draws."""
    train, held, test = (data.three_blobs(n=8_000, seed=seed) for seed in range(3))
    model = GaussianNB().fit(train.x, train.y)

    def scored(part):
        return s.Scored(
            torch.as_tensor(model.predict_log_proba(part.x)), torch.as_tensor(part.y)
        )

    logits, labels = scored(test)
    before, after = (
        logits.softmax(1),
        s.calibrated_probs(scored(train), scored(held), logits),
    )
    temperature = float(s.fit_temperature(*scored(held)))
    nll = [-p[torch.arange(len(labels)), labels].log().mean() for p in (before, after)]
    assert temperature == pytest.approx(2.19, abs=0.15)
    errors = [float(s.calibration_error(p, labels)) for p in (before, after)]
    assert errors == pytest.approx([0.074, 0.047], abs=0.012)
    assert [float(v) for v in nll] == pytest.approx([0.300, 0.255], abs=0.02)


def test_separable_data_have_no_best_temperature():
    logits = torch.tensor([[2.0, -2.0], [-1.0, 1.0]], dtype=torch.float64)
    labels = torch.tensor([0, 1])
    losses = [
        float(torch.nn.functional.cross_entropy(logits / t, labels))
        for t in (1, 0.3, 0.1, 0.03)
    ]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < 1e-9


# --- Linear models -------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_both_classes_are_equally_probable_on_the_boundary(seed):
    model = s.LogisticRegression(2, 2, generator=seeded(seed)).double()
    x1 = torch.linspace(-6, 6, 50, dtype=torch.float64)
    x0 = s.boundary_line(model.weight, model.bias, x1)
    probs = model(torch.stack([x0, x1], 1)).exp()
    torch.testing.assert_close(probs, torch.full_like(probs, 0.5))


@pytest.mark.parametrize("dims", [2, 3, 7])
def test_the_boundary_is_a_plane_in_more_dimensions(dims):
    model = s.LogisticRegression(dims, 2, generator=seeded(dims)).double()
    point, directions = s.boundary_plane(model.weight.detach(), model.bias.detach())
    assert directions.shape == (dims - 1, dims)
    torch.testing.assert_close(
        directions @ directions.T, torch.eye(dims - 1, dtype=torch.float64)
    )
    coordinates = torch.randn(40, dims - 1, generator=seeded(0), dtype=torch.float64)
    probs = model(point + 5 * coordinates @ directions).exp()
    torch.testing.assert_close(probs, torch.full_like(probs, 0.5))


# --- Data ----------------------------------------------------------------------------


def test_blobs_are_those_of_scikit_learn():
    x, _ = make_blobs(
        20_000, centers=[(-5, -5), (0, 0), (5, 5)], random_state=0, shuffle=False
    )
    ours = data.three_blobs(n=20_000, seed=0)
    np.testing.assert_allclose(np.cov(ours.x.T), np.cov(x.T), rtol=0.03)
    middle = np.abs(ours.x).max(1) < 2
    assert np.mean(ours.y[middle]) == pytest.approx(0.5, abs=0.02)
    two = data.two_blobs(seed=0)
    assert len(two.x) == 1000
    assert two.y.mean() == 0.5
    spread = two.x[two.y == 1].std(0)
    np.testing.assert_allclose(spread, 0.6, rtol=0.1)
