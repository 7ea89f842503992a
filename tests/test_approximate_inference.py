"""Practical 2's reference solutions against independent libraries, a grid posterior and reference figures."""

import math
import sys
import warnings
from functools import cache
from unittest import mock

import numpy as np
import pytest
import scipy.integrate
import scipy.special
import scipy.stats
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Normal, kl_divergence

from course import data
from solutions import approximate_inference as ref

# PyTorch's own forward-mode derivatives still use a function that it has deprecated.
OWN_WARNING = "ignore:`torch.jit.script` is deprecated:DeprecationWarning"


def seeded(seed):
    return torch.Generator().manual_seed(seed)


def tensors(dataset, dtype=torch.float64):
    return torch.tensor(dataset.x, dtype=dtype), torch.tensor(dataset.y, dtype=dtype)


@pytest.fixture(scope="module")
def blobs():
    """Inputs with their column of ones, labels, and the mode with prior variance 4."""
    x, y = tensors(data.blobs(seed=0))
    x = ref.with_bias(x)
    return x, y, ref.find_mode(x, y, 4.0)


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
    loss = F.binary_cross_entropy_with_logits(x @ w, y) + decay * w @ w
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
    """The logistic model as laplace-torch wants it: logits 0 and f."""

    def __init__(self, w):
        super().__init__()
        self.w = nn.Parameter(w.clone())

    def forward(self, x):
        logit = x @ self.w
        return torch.stack([torch.zeros_like(logit), logit], dim=1)


@cache
def laplace_torch():
    """The peer. It imports torchvision, whose wheel may not fit torch's CPU build.

    Nothing of torchvision is used here, so a stand-in will do where it cannot be imported.
    """
    stand_ins = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # at import, of its own dependencies
        try:
            import torchvision  # noqa: F401
        except (ImportError, RuntimeError):
            names = ("torchvision", "torchvision.models", "torchvision.transforms")
            stand_ins = {name: mock.MagicMock() for name in names}
        sys.modules.update(stand_ins)
        try:
            import laplace
            import laplace.curvature
        finally:
            for name in stand_ins:
                del sys.modules[name]
    return laplace


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


@cache
def grid(points=57, width=6.0):
    """The exact posterior of the blobs: nodes, probabilities, log evidence."""
    x, y = tensors(data.blobs(seed=0))
    x = ref.with_bias(x)
    w = ref.find_mode(x, y, 4.0)
    spread = ref.laplace_covariance(w, x, y, 4.0).diag().sqrt()
    steps = torch.linspace(-width, width, points, dtype=torch.float64)
    nodes = w + torch.cartesian_prod(steps, steps, steps) * spread
    log_joint = torch.cat(
        [
            F.logsigmoid((2 * y - 1) * (chunk @ x.T)).sum(1)
            for chunk in nodes.split(8192)
        ]
    )
    log_joint += Normal(torch.zeros(()).double(), 2.0).log_prob(nodes).sum(1)
    log_volume = float(torch.log((steps[1] - steps[0]) * spread).sum())
    evidence = float(torch.logsumexp(log_joint, 0)) + log_volume
    return nodes, torch.exp(log_joint + log_volume - evidence), evidence


def test_laplace_is_near_the_grid(blobs):
    x, y, w = blobs
    _, probs, evidence = grid()
    assert float(probs.sum()) == pytest.approx(1, abs=1e-9)
    covariance = ref.laplace_covariance(w, x, y, 4.0)
    ours = ref.laplace_log_evidence(w, covariance, x, y, 4.0)
    assert evidence == pytest.approx(-94.4795, abs=1e-3)
    assert float(ours) == pytest.approx(-94.4999, abs=1e-3)


def test_the_evidence_of_the_separable_blobs_is_on_record():
    """With the original practical's data; the reference figure comes from another draw of it."""
    evidences = []
    for seed in range(5):
        x, y = tensors(data.blobs(seed=seed, spread=0.8))
        x = ref.with_bias(x)
        w = ref.find_mode(x, y, 4.0)
        covariance = ref.laplace_covariance(w, x, y, 4.0)
        evidences.append(float(ref.laplace_log_evidence(w, covariance, x, y, 4.0)))
    assert min(evidences) < -4.142666 < max(evidences)


def test_the_softmax_covariance_has_the_logistic_one_within(blobs):
    """Two classes with weights 0 and w, both with prior: the difference is logistic."""
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
        assert float(one) == pytest.approx(exact, abs=0.01)  # MacKay's own error
        assert float(other) == pytest.approx(exact, abs=6 * 0.5 / math.sqrt(40_000))


def test_reference_predictions(blobs):
    """At three points along the boundary: the grid and the mode."""
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


# --- variational inference ------------------------------------------------------------


def test_the_kl_agrees_with_torch_and_with_sampling():
    mu = torch.randn(40, dtype=torch.float64, generator=seeded(0))
    rho = torch.randn(40, dtype=torch.float64, generator=seeded(1)) * 4
    q, p = Normal(mu, F.softplus(rho)), Normal(torch.zeros(()).double(), 1.7)
    ours = ref.gaussian_kl(mu, rho, 1.7)
    torch.testing.assert_close(ours, kl_divergence(q, p).sum(), rtol=1e-12, atol=0)
    assert ref.gaussian_kl(torch.zeros(5), torch.full((5,), -100.0), 1.0).isfinite()
    assert ref.gaussian_kl(torch.zeros(5), torch.full((5,), 500.0), 1.0).isfinite()


def test_the_kl_of_the_prior_from_itself_is_zero():
    rho = torch.full((7,), math.log(math.expm1(2.5)), dtype=torch.float64)
    assert float(ref.gaussian_kl(torch.zeros(7).double(), rho, 2.5)) == pytest.approx(
        0, abs=1e-14
    )


def test_one_sample_gives_an_unbiased_gradient():
    """The pathwise gradient of E[w²] is 2µ, and 2σ times the slope of σ."""
    mu = torch.full((20_000,), 0.7, dtype=torch.float64, requires_grad=True)
    rho = torch.full((20_000,), 0.2, dtype=torch.float64, requires_grad=True)
    w = ref.reparametrised_sample(mu, rho, generator=seeded(0))
    to_mu, to_rho = torch.autograd.grad((w**2).sum(), (mu, rho))
    std, slope = math.log1p(math.exp(0.2)), 1 / (1 + math.exp(-0.2))
    for estimates, exact in ((to_mu, 1.4), (to_rho, 2 * std * slope)):
        error = float(estimates.std()) / math.sqrt(len(estimates))
        assert abs(float(estimates.mean()) - exact) < 6 * error


def test_the_elbo_is_a_lower_bound_and_reaches_its_reference(blobs):
    x, y, _ = blobs
    layer = ref.LinearVariational(2, 1, 2.0, generator=seeded(0)).double()
    fit(layer, x[:, :2], y, epochs=600, rate=0.05, samples=8)
    mean = torch.cat([layer.w_mu[0], layer.b_mu]).detach()
    std = F.softplus(torch.cat([layer.w_rho[0], layer.b_rho])).detach()
    # The expectation, exactly: one-dimensional Gauss–Hermite integrals of each logit.
    nodes, weights = scipy.special.roots_hermite(30)
    spread = ((x**2) @ std**2).sqrt()
    logits = (x @ mean)[:, None] + spread[:, None] * math.sqrt(2) * torch.tensor(nodes)
    terms = F.softplus((1 - 2 * y)[:, None] * logits) @ torch.tensor(weights)
    elbo = -float(terms.sum()) / math.sqrt(math.pi) - float(layer.kl().detach())
    assert elbo < grid()[2]
    assert elbo == pytest.approx(-94.5974, abs=0.05)


def fit(model, x, y, *, epochs, rate, samples=1, seed=1):
    optimiser = torch.optim.Adam(model.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, epochs)
    generator, losses = seeded(seed), []
    for _ in range(epochs):
        draws = [model(x, generator=generator) for _ in range(samples)]
        logits = torch.stack(draws).reshape(samples, -1)
        loss = ref.negative_elbo(logits, y, model.kl())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
        losses.append(float(loss.detach()))
    return losses


def test_local_noise_has_the_moments_of_drawn_weights():
    x = torch.randn(1, 4, generator=seeded(0)).repeat(20_000, 1)
    local = ref.LocalLinearVariational(4, 2, 1.0, rho=0.3, generator=seeded(1))
    drawn = ref.LinearVariational(4, 2, 1.0, rho=0.3, generator=seeded(1))
    y = local(x, generator=seeded(2)).detach()
    z = torch.cat([drawn(x[:1], generator=seeded(s)) for s in range(4000)]).detach()
    error = float(z.std()) * 6 / math.sqrt(4000)
    torch.testing.assert_close(y.mean(0), z.mean(0), rtol=0, atol=error)
    torch.testing.assert_close(y.std(0), z.std(0), rtol=6 / math.sqrt(8000), atol=0)


class PointBias(ref.LocalLinearVariational):
    """The layer of the original practical, whose biases are point estimates."""

    def kl(self):
        return ref.gaussian_kl(self.w_mu, self.w_rho, self.prior_std)

    def forward(self, x, *, generator):
        mean = F.linear(x, self.w_mu, self.b_mu)
        variance = F.linear(x**2, F.softplus(self.w_rho) ** 2)
        noise = torch.randn(mean.shape, generator=generator)
        return mean + torch.sqrt(variance + 1e-12) * noise


@pytest.mark.long
@pytest.mark.parametrize(
    ("layer", "low", "high"),
    [(PointBias, 60, 110), (ref.LocalLinearVariational, 130, 180)],
)
def test_the_variational_network_trains_to_its_reference(layer, low, high):
    """Thin moons, prior variance 100: −ELBO about 76 with point biases, 156 with a posterior for them too."""
    x, y = tensors(data.moons(seed=0, noise=0.05), torch.float32)
    model = ref.VariationalMLP(2, 50, 10.0, layer=layer, generator=seeded(0))
    losses = fit(model, x, y, epochs=2000, rate=0.3)
    assert low < np.mean(losses[-50:]) < high
    x, y = tensors(data.moons(seed=1, noise=0.05), torch.float32)
    with torch.no_grad():
        draws = [model(x, generator=seeded(s)) for s in range(100)]
    probs = torch.sigmoid(torch.stack(draws)).mean(0)
    assert float(F.binary_cross_entropy(probs, y)) < 0.002


# --- dropout --------------------------------------------------------------------------


def test_one_mask_per_draw_gives_the_predictive_of_one_mask_per_datum():
    model = ref.DropoutMLP(2, 30, 0.4, generator=seeded(0))
    x = torch.randn(5, 2, generator=seeded(1)) * 2
    fast = ref.dropout_predictive(model, x, 4000, generator=seeded(2), chunk=2)
    model.eval()
    with torch.no_grad():
        logits = model(x.repeat(4000, 1), generator=seeded(3))
    slow = torch.sigmoid(logits).reshape(4000, 5).mean(0)
    torch.testing.assert_close(fast, slow, rtol=0, atol=6 * 0.5 * math.sqrt(2 / 4000))


def test_nothing_dropped_is_the_deterministic_network():
    model = ref.DropoutMLP(2, 30, 0.0, generator=seeded(0))
    x = torch.randn(9, 2, generator=seeded(1))
    torch.testing.assert_close(model(x, generator=seeded(2)), model.deterministic(x))


# --- HMC ------------------------------------------------------------------------------


def test_hmc_finds_a_gaussian():
    root = torch.tensor([[1.0, 0.0], [0.8, 0.5]], dtype=torch.float64)
    precision = torch.linalg.inv(root @ root.T)
    draws, acceptance = ref.hmc(
        lambda q: 0.5 * ((q @ precision) * q).sum(1),
        torch.zeros(50, 2, dtype=torch.float64),
        step_size=0.35,
        leapfrog_steps=6,
        draws=250,
        generator=seeded(0),
    )
    assert draws.shape == (250, 50, 2)
    assert 0.6 < float(acceptance.mean()) < 1
    # Fifty independent chains: the error of their means needs no autocorrelation time.
    means = draws[50:].mean(0)
    error = means.std(0) / math.sqrt(50)
    assert bool((means.mean(0).abs() < 6 * error).all())
    squares = (draws[50:] ** 2).mean(0)
    error = squares.std(0) / math.sqrt(50)
    exact = (root @ root.T).diag()
    assert bool(((squares.mean(0) - exact).abs() < 6 * error).all())


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
