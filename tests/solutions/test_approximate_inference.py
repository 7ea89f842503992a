"""Practical 2's reference solutions against other libraries, a grid posterior and known values."""

import math

import numpy as np
import pytest
import scipy.integrate
import scipy.special
import scipy.stats
import torch
import torch.nn.functional as F
from blobs import blobs_at_mode, grid, tensors
from generators import seeded
from peers import OWN_WARNING, laplace_torch
from torch import nn
from torch.distributions import Normal

from course import data
from solutions import approximate_inference as ref


@pytest.fixture(scope="module")
def blobs():
    return blobs_at_mode()


# --- mode and curvature ---------------------------------------------------------------


def test_the_objective_is_a_sum_of_log_densities(blobs):
    x, y, w = blobs
    likelihood = torch.distributions.Bernoulli(logits=x @ w).log_prob(y).sum()
    prior = Normal(torch.zeros(()).double(), 2.0).log_prob(w).sum()
    torch.testing.assert_close(
        ref.negative_log_joint(w, x, y, 4.0), -likelihood - prior, rtol=1e-12, atol=0
    )


def test_the_gradient_vanishes_at_the_mode(blobs):
    x, y, w = blobs
    w = w.clone().requires_grad_()
    ref.negative_log_joint(w, x, y, 4.0).backward()
    assert float(w.grad.norm()) < 1e-10


@pytest.mark.parametrize("spread", [0.8, 2.0])
@pytest.mark.parametrize("variance", [0.025, 4.0, 1e4])
def test_newton_arrives_from_the_origin(spread, variance):
    x, y = tensors(data.blobs(seed=3, spread=spread))
    x = ref.with_bias(x)
    w = ref.find_mode(x, y, variance).requires_grad_()
    ref.negative_log_joint(w, x, y, variance).backward()
    assert float(w.grad.norm()) < 1e-8


def test_weight_decay_and_prior_variance_have_the_same_mode(blobs):
    x, y, _ = blobs
    decay = 0.05
    w = ref.find_mode(x, y, ref.prior_variance_of(decay, len(x))).requires_grad_()
    loss = F.binary_cross_entropy_with_logits(x @ w, y) + decay / 2 * w @ w
    (gradient,) = torch.autograd.grad(loss, w)
    assert float(gradient.norm()) < 1e-12


@pytest.mark.filterwarnings(OWN_WARNING)
def test_three_routes_to_the_hessian(blobs):
    x, y, w = blobs

    def energy(w):
        return ref.negative_log_joint(w, x, y, 4.0)

    closed = ref.logistic_hessian(w, x, 4.0)
    for route in (ref.hessian_by_backward(energy, w), torch.func.hessian(energy)(w)):
        torch.testing.assert_close(route, closed, rtol=1e-6, atol=1e-9)


# --- Laplace --------------------------------------------------------------------------


class TwoLogits(nn.Module):
    """The logistic model in the form that laplace-torch needs: logits 0 and f."""

    def __init__(self, w):
        super().__init__()
        self.w = nn.Parameter(w.clone())

    def forward(self, x):
        logit = x @ self.w
        return torch.stack([torch.zeros_like(logit), logit], dim=1)


@pytest.mark.filterwarnings(OWN_WARNING)
@pytest.mark.parametrize("backend", ["CurvlinopsHessian", "CurvlinopsGGN"])
def test_laplace_agrees_with_laplace_torch(blobs, backend):
    peer = laplace_torch()
    x, y, w = blobs
    theirs = peer.Laplace(
        TwoLogits(w),
        "classification",
        subset_of_weights="all",
        hessian_structure="full",
        prior_precision=torch.tensor(0.25, dtype=torch.float64),
        backend=getattr(peer.curvature, backend),
    )
    dataset = torch.utils.data.TensorDataset(x, y.long())
    theirs.fit(torch.utils.data.DataLoader(dataset, batch_size=len(x)))
    covariance = ref.laplace_covariance(w, x, y, 4.0)
    evidence = ref.laplace_log_evidence(w, covariance, x, y, 4.0)
    difference = theirs.posterior_covariance.detach() - covariance
    assert float(difference.abs().max()) < 1e-6 * float(covariance.abs().max())
    assert float(theirs.log_marginal_likelihood()) == pytest.approx(
        float(evidence), abs=1e-6
    )


def test_the_hurried_covariance_is_n_times_too_large(blobs):
    x, y, w = blobs
    right = ref.laplace_covariance(w, x, y, 4.0)
    wrong = ref.hurried_laplace_covariance(w, x, y, 4.0)
    torch.testing.assert_close(wrong, len(x) * right, rtol=1e-9, atol=0)


def test_laplace_is_near_the_grid(blobs):
    x, y, w = blobs
    _, probs, evidence = grid()
    assert float(probs.sum()) == pytest.approx(1, abs=1e-9)
    covariance = ref.laplace_covariance(w, x, y, 4.0)
    ours = ref.laplace_log_evidence(w, covariance, x, y, 4.0)
    assert evidence == pytest.approx(-94.4795, abs=1e-3)
    assert float(ours) == pytest.approx(-94.4999, abs=1e-3)


def test_the_evidence_of_the_separable_blobs_is_on_record():
    """The value on record is from another draw of these data, so it lies within the range."""
    evidences = []
    for seed in range(5):
        x, y = tensors(data.blobs(seed=seed, spread=0.8))
        x = ref.with_bias(x)
        w = ref.find_mode(x, y, 4.0)
        covariance = ref.laplace_covariance(w, x, y, 4.0)
        evidences.append(float(ref.laplace_log_evidence(w, covariance, x, y, 4.0)))
    assert min(evidences) < -4.142666 < max(evidences)


def test_the_softmax_covariance_has_the_logistic_one_within(blobs):
    """For two classes with the weights ∓w/2 and a prior on each, the difference is logistic."""
    x, _, w = blobs
    weights = torch.stack([-w / 2, w / 2])
    covariance = ref.softmax_laplace_covariance(weights, x, 2.0)
    d = len(w)
    difference = torch.cat([-torch.eye(d), torch.eye(d)], dim=1).double()
    torch.testing.assert_close(
        difference @ covariance @ difference.T,
        torch.linalg.inv(ref.logistic_hessian(w, x, 4.0)),
        rtol=1e-9,
        atol=1e-12,
    )


# --- predictions ----------------------------------------------------------------------


def test_probit_and_sampling_agree_with_quadrature(blobs):
    x, y, w = blobs
    covariance = ref.laplace_covariance(w, x, y, 4.0)
    inputs = torch.tensor([[3, -2, 1], [10, -9, 1], [30, -29, 1]]).double()
    probit = ref.probit_predictive(inputs, w, covariance)
    draws = torch.distributions.MultivariateNormal(w, covariance)
    torch.manual_seed(0)
    sampled = ref.sampled_predictive(inputs, draws.sample((40_000,)))
    for row, one, other in zip(inputs, probit, sampled, strict=True):
        mean, std = float(row @ w), math.sqrt(float(row @ covariance @ row))
        exact = scipy.integrate.quad(
            lambda a: scipy.special.expit(a) * scipy.stats.norm.pdf(a, mean, std),
            mean - 12 * std,
            mean + 12 * std,
        )[0]
        assert float(one) == pytest.approx(
            exact, abs=0.01
        )  # error of the probit approximation
        assert float(other) == pytest.approx(exact, abs=6 * 0.5 / math.sqrt(40_000))


def test_reference_predictions(blobs):
    """Predictions of the grid posterior and of the mode, at three points along the boundary."""
    _, _, w = blobs
    nodes, probs, _ = grid()
    inputs = torch.tensor([[3, -2, 1], [10, -9, 1], [30, -29, 1]]).double()
    exact = (torch.sigmoid(inputs @ nodes.T) * probs).sum(1)
    np.testing.assert_allclose(exact, [0.800, 0.780, 0.697], atol=1e-3)
    np.testing.assert_allclose(
        torch.sigmoid(inputs @ w), [0.802, 0.831, 0.896], atol=1e-3
    )


def test_chunks_do_not_matter():
    x = torch.randn(1000, 3, generator=seeded(0))
    weights = torch.randn(50, 3, generator=seeded(1))
    torch.testing.assert_close(
        ref.sampled_predictive(x, weights, chunk=7),
        ref.sampled_predictive(x, weights, chunk=5000),
    )


# --- HMC ------------------------------------------------------------------------------


def test_hmc_finds_a_gaussian():
    root = torch.tensor([[1.0, 0.0], [0.8, 0.5]], dtype=torch.float64)
    precision = torch.linalg.inv(root @ root.T)
    draws, acceptance = ref.hmc(
        lambda q: 0.5 * ((q @ precision) * q).sum(1),
        torch.zeros(50, 2, dtype=torch.float64),
        step_size=0.45,
        leapfrog_steps=6,
        draws=250,
        generator=seeded(0),
    )
    assert draws.shape == (250, 50, 2)
    assert 0.6 < float(acceptance.mean()) < 1
    # The chains are independent, so the error of their means needs no autocorrelation time.
    means = draws[50:].mean(0)
    error = means.std(0) / math.sqrt(50)
    assert bool((means.mean(0).abs() < 6 * error).all())
    # Along the principal axes: without rejections, the steps inflate the shortest.
    curvatures, axes = torch.linalg.eigh(precision)
    squares = ((draws[50:] @ axes) ** 2 * curvatures).mean(0)
    error = squares.std(0) / math.sqrt(50)
    assert bool(((squares.mean(0) - 1).abs() < 6 * error).all())
    assert bool((6 * error < 0.2).all())


def test_hmc_agrees_with_the_grid(blobs):
    x, y, w = blobs
    root = torch.linalg.cholesky(ref.laplace_covariance(w, x, y, 4.0))

    def potential(z):
        weights = w + z @ root.T
        nll = F.softplus((1 - 2 * y) * (weights @ x.T)).sum(1)
        return nll + (weights**2).sum(1) / 8

    z, _ = ref.hmc(
        potential,
        torch.randn(30, 3, dtype=torch.float64, generator=seeded(1)),
        step_size=0.8,
        leapfrog_steps=3,
        draws=150,
        generator=seeded(2),
    )
    means = (w + z[30:] @ root.T).mean(0)
    nodes, probs, _ = grid()
    error = means.std(0) / math.sqrt(30)
    assert bool(((means.mean(0) - probs @ nodes).abs() < 6 * error).all())
