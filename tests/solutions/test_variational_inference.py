"""Practical 2's reference solutions for variational inference and dropout."""

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
from torch.distributions import Normal, kl_divergence

from course import data
from solutions import approximate_inference as ref


@pytest.fixture(scope="module")
def blobs():
    return blobs_at_mode()


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
    """The gradient of E[w²] is 2µ with respect to µ, and 2σ dσ/dρ with respect to ρ."""
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
    # Compute the expectation by one-dimensional Gauss–Hermite quadrature over each logit.
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
    """A layer whose biases are point estimates."""

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
    """With noise 0.05 and prior variance 100, −ELBO is about 76 with point biases, 156 without."""
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
    slow = torch.sigmoid(logits).reshape(4000, 5)
    error = slow.std(0) * math.sqrt(2 / 4000)
    assert bool(((fast - slow.mean(0)).abs() < 6 * error).all())


def test_nothing_dropped_is_the_deterministic_network():
    model = ref.DropoutMLP(2, 30, 0.0, generator=seeded(0))
    x = torch.randn(9, 2, generator=seeded(1))
    torch.testing.assert_close(model(x, generator=seeded(2)), model.deterministic(x))
