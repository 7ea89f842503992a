"""Practical 3's reference solutions against independent oracles, in double precision."""

import math

import numpy as np
import pytest
import scipy.stats
import torch
import torch.nn.functional as F
from generators import seeded
from torch import nn
from torch.distributions import Normal, kl_divergence

from solutions import bayes_by_backprop as bbb

MODEL = {"noise_std": 0.5, "prior_std": 1.0}
X, Y = torch.tensor([2.0]), torch.tensor([3.0])
SIX = torch.tensor([-2.0, -1.8, -1.0, 1.0, 1.8, 2.0])[:, None]


def start(dtype=torch.float32):
    return (
        torch.tensor([0.5], dtype=dtype, requires_grad=True),
        torch.tensor([2.0], dtype=dtype, requires_grad=True),
    )


# --- The step by hand ------------------------------------------------------------------


def test_the_step_reproduces_every_digit_that_the_source_printed():
    mu, rho = start(torch.float64)
    epsilon = torch.tensor([1.9070346], dtype=torch.float64)
    w = bbb.reparametrise(mu, rho, epsilon)
    loss = bbb.draw_loss(mu, rho, epsilon, X, Y, **MODEL)
    grad_mu, grad_rho = torch.autograd.grad(loss, (mu, rho), retain_graph=True)
    new_mu, new_rho = bbb.gradient_step(loss, mu, rho, 0.01)
    printed = {
        "4.5561": w,
        "-3.4920": bbb.log_posterior(w, mu, rho),
        "-11.2981": bbb.log_prior(w, 1.0),
        "-74.9450": bbb.log_likelihood(w * X, Y, 0.5),
        "82.7511": loss,
        "53.4541": grad_mu,
        "89.3733": grad_rho,
        "-0.0345": new_mu,
        "1.1063": new_rho,
    }
    assert [f"{value.item():.4f}" for value in printed.values()] == list(printed)


def test_the_papers_gradients_are_those_of_autograd():
    torch.manual_seed(0)
    mu, rho, epsilon = (torch.randn(5, dtype=torch.float64) for _ in range(3))
    mu.requires_grad_()
    rho.requires_grad_()
    w = bbb.reparametrise(mu, rho, epsilon)

    def f(w, mu, rho):
        fit = torch.sin(w).sum()
        return (bbb.log_posterior(w, mu, rho) - bbb.log_prior(w, 2.0)).sum() + fit

    right = torch.autograd.grad(f(w, mu, rho), (mu, rho))
    leaves = [value.detach().requires_grad_() for value in (w, mu, rho)]
    parts = torch.autograd.grad(f(*leaves), leaves)
    for got, expected in zip(
        bbb.paper_gradients(*parts, rho, epsilon), right, strict=True
    ):
        torch.testing.assert_close(got, expected, rtol=1e-12, atol=1e-12)


def test_the_printed_draw_has_the_wrong_sign():
    mu, rho = start(torch.float64)
    (exact,) = torch.autograd.grad(bbb.exact_loss(mu, rho, X, Y, **MODEL), mu)
    assert exact.item() == pytest.approx(-15.50, abs=0.005)
    assert bbb.exact_loss(mu, rho, X, Y, **MODEL).item() == pytest.approx(
        45.5486, abs=5e-5
    )

    n = 200_000
    many = torch.randn(n, generator=seeded(0), dtype=torch.float64)
    copies = mu.detach().expand(n).clone().requires_grad_()
    loss = bbb.draw_loss(
        copies, rho.detach().expand(n), many, X.double(), Y.double(), **MODEL
    )
    (draws,) = torch.autograd.grad(loss, copies)
    assert abs(draws.mean() - exact) < 6 * draws.std() / math.sqrt(n)
    assert (draws > 0).double().mean().item() == pytest.approx(
        0.334, abs=0.0005 + 6 * math.sqrt(0.334 * 0.666 / n)
    )


def test_the_negative_elbo_bounds_the_evidence_and_meets_it_at_the_posterior():
    log_evidence = scipy.stats.norm.logpdf(3.0, 0.0, math.sqrt(0.25 + 4.0))
    assert log_evidence == pytest.approx(-2.7012, abs=5e-5)
    best_rho = torch.log(torch.expm1(torch.tensor([17**-0.5], dtype=torch.float64)))
    best_mu = torch.tensor([24 / 17], dtype=torch.float64)
    x, y = X.double(), Y.double()
    best = bbb.exact_loss(best_mu, best_rho, x, y, **MODEL).item()
    assert best == pytest.approx(-log_evidence, abs=1e-12)
    for shift in (-0.3, 0.2):
        assert bbb.exact_loss(best_mu + shift, best_rho, x, y, **MODEL).item() > best
        assert bbb.exact_loss(best_mu, best_rho + shift, x, y, **MODEL).item() > best


@pytest.mark.parametrize("rho", [-80.0, -18.0, 89.0, 1000.0])
def test_extreme_rho_stays_finite(rho):
    mu = torch.tensor([0.1], requires_grad=True)
    rho = torch.tensor([rho], requires_grad=True)
    epsilon = torch.tensor([1.0])
    w = bbb.reparametrise(mu, rho, epsilon)
    kl = bbb.gaussian_kl(mu, rho, 1.0)
    for value in (w, kl, *torch.autograd.grad(kl, (mu, rho))):
        assert torch.isfinite(value).all()


# --- Divergences -----------------------------------------------------------------------


def test_gaussian_kl_is_torchs_and_zero_at_the_prior():
    torch.manual_seed(1)
    mu, rho = torch.randn(2, 50, dtype=torch.float64)
    right = kl_divergence(
        Normal(mu, torch.log1p(torch.exp(rho))),
        Normal(0 * mu, torch.full_like(mu, 1.7)),
    )
    assert bbb.gaussian_kl(mu, rho, 1.7).item() == pytest.approx(
        right.sum().item(), rel=1e-12
    )
    at_prior = torch.log(torch.expm1(torch.full((9,), 1.7, dtype=torch.float64)))
    assert bbb.gaussian_kl(0 * at_prior, at_prior, 1.7).item() == pytest.approx(
        0, abs=1e-12
    )


def test_the_scale_mixture_is_a_density_and_has_its_limits():
    line = torch.linspace(-12, 12, 200_001, dtype=torch.float64)
    p = bbb.log_scale_mixture(line, 0.25, 1.0, math.exp(-3)).exp()
    assert torch.trapezoid(p, line).item() == pytest.approx(1, abs=1e-6)
    same = bbb.log_scale_mixture(line, 0.3, 1.3, 1.3)
    torch.testing.assert_close(same, bbb.log_prior(line, 1.3), rtol=1e-6, atol=1e-6)


def test_the_sampled_kl_converges_to_the_closed_form_like_one_over_root_s():
    torch.manual_seed(2)
    mu, rho = torch.randn(2, 20, dtype=torch.float64)
    right = bbb.gaussian_kl(mu, rho, 1.5).item()
    spreads = []
    for draws in (16, 1600):
        estimates = torch.stack(
            [
                bbb.sampled_kl(
                    mu,
                    rho,
                    lambda w: bbb.log_prior(w, 1.5),
                    draws=draws,
                    generator=seeded(s),
                )
                for s in range(100)
            ]
        )
        error = (estimates.mean() - right).abs()
        assert error < 6 * estimates.std() / math.sqrt(len(estimates))
        spreads.append(estimates.std().item())
    # The ratio of two standard deviations from 100 estimates each is 10, to about 10%.
    assert spreads[0] / spreads[1] == pytest.approx(10, rel=0.6)


# --- Minibatches and predictions -------------------------------------------------------


@pytest.mark.parametrize("decreasing", [False, True])
@pytest.mark.parametrize("batches", [1, 2, 11, 469])
def test_the_shares_sum_to_one(batches, decreasing):
    shares = bbb.kl_weights(batches, decreasing=decreasing)
    assert shares.shape == (batches,)
    assert shares.sum().item() == pytest.approx(1, abs=1e-5)
    assert torch.isfinite(shares).all()
    if decreasing and batches > 1:
        assert (shares[:60].diff() < 0).all()
        assert shares[0] / shares[1] == pytest.approx(2)


@pytest.mark.parametrize("decreasing", [False, True])
def test_an_epoch_of_minibatches_adds_up_to_the_whole_loss(decreasing):
    torch.manual_seed(4)
    logits, targets = torch.randn(50, 4, dtype=torch.float64), torch.arange(50) % 4
    kl = torch.tensor(123.0, dtype=torch.float64)
    shares = bbb.kl_weights(5, decreasing=decreasing).double()
    parts = [
        bbb.minibatch_loss(logits[i::5], targets[i::5], kl, shares[i].item())
        for i in range(5)
    ]
    whole = F.cross_entropy(logits, targets, reduction="sum") + kl
    assert sum(parts).item() == pytest.approx(whole.item(), rel=1e-7)


def test_entropy_is_that_of_the_mixture():
    certain = torch.log(torch.eye(4, dtype=torch.float64))[
        :, None
    ]  # four draws that disagree
    assert bbb.predictive_entropy(certain).item() == pytest.approx(2.0)
    assert bbb.predictive_entropy(certain[:1]).item() == 0.0
    torch.manual_seed(5)
    log_probs = F.log_softmax(3 * torch.randn(9, 7, 5, dtype=torch.float64), dim=-1)
    right = scipy.stats.entropy(log_probs.exp().mean(0).numpy(), base=2, axis=1)
    np.testing.assert_allclose(bbb.predictive_entropy(log_probs), right, rtol=1e-12)
    assert (
        bbb.hurried_predictive_entropy(log_probs) < bbb.predictive_entropy(log_probs)
    ).all()


@pytest.mark.parametrize("removed", [0.0, 0.5, 0.75, 0.95, 0.98, 1.0])
def test_pruning_removes_just_the_smallest_ratios(removed):
    torch.manual_seed(6)
    mu, rho = torch.randn(2, 1000)
    keep = bbb.keep_mask(mu, rho, removed)
    ratio = mu.abs() / F.softplus(rho)
    assert (~keep).sum().item() == round(removed * 1000)
    if 0 < removed < 1:
        assert ratio[keep].min() >= ratio[~keep].max()


# --- Training --------------------------------------------------------------------------


def toy_nll(outputs, targets):
    return -bbb.log_likelihood(outputs, targets, 0.1).sum()


def toy(prior_std, seed):
    model = bbb.BayesianMLP(
        (1, 32, 1),
        prior_std=prior_std,
        initial_rho=-3,
        activation=torch.sigmoid,
        generator=seeded(seed),
    )
    y = -(SIX**4) + 3 * SIX**2 + 1
    history = bbb.train(
        model, toy_nll, SIX, y, steps=1500, rate=0.1, draws=16, generator=seeded(seed)
    )
    return model, history


@pytest.mark.parametrize(("variance", "exact_at_0"), [(10, 2.43), (100, 14.1)])
def test_mean_field_is_over_confident_between_the_data(variance, exact_at_0):
    model, history = toy(math.sqrt(variance), 0)
    assert 190 < (history.nll + history.kl)[-200:].mean() < 330
    at = torch.tensor([[0.0], [100.0]])
    sd = bbb.predict(model, at, draws=1000, generator=seeded(1)).std(0)[:, 0]
    assert sd[0] < exact_at_0 / 5  # 0.12–0.25 over seeds
    assert sd[1] > 5 * sd[0]  # far outside the data it is uncertain


@pytest.mark.parametrize(
    ("temperature", "options"),
    [(1.0, {"draws": 3}), (0.25, {"local": False, "batch_size": 8})],
)
def test_training_ends_at_the_best_gaussians(temperature, options):
    """For a linear model with orthogonal columns of ±1, they are known."""
    columns = torch.tensor([[a, b, 1.0] for a in (-1, 1) for b in (-1, 1)] * 4)
    y = columns @ torch.tensor([1.0, -2.0, 0.5]) + torch.tensor([0.3, -0.1]).repeat(8)
    precision = len(y) / temperature + 1 / 0.5**2
    model = bbb.BayesianMLP((2, 1), prior_std=0.5, initial_rho=-1, generator=seeded(0))
    history = bbb.train(
        model,
        lambda outputs, y: -Normal(outputs[:, 0], 1.0).log_prob(y).sum(),
        columns[:, :2],
        y,
        steps=400,
        rate=0.1,
        temperature=temperature,
        generator=seeded(1),
        **options,
    )
    (layer,) = model.layers
    mean = torch.cat([layer.weight_mu[0], layer.bias_mu]).detach()
    rho = torch.cat([layer.weight_rho[0], layer.bias_rho]).detach()
    best = columns.T @ y / temperature / precision
    torch.testing.assert_close(mean, best, rtol=0, atol=0.05)
    std = torch.full_like(rho, precision**-0.5)
    torch.testing.assert_close(F.softplus(rho), std, rtol=0.1, atol=0)
    nll = -Normal(columns @ best, 1.0).log_prob(y).sum() + len(y) * 3 / precision / 2
    assert history.nll[-100:].mean() == pytest.approx(float(nll), rel=0.05)
    assert history.kl[-1] == pytest.approx(float(model.kl().detach()), rel=0.01)


def test_training_is_repeatable_and_leaves_the_global_state_alone():
    state = torch.random.get_rng_state()
    x, y = torch.randn(64, 5, generator=seeded(0)), torch.arange(64) % 3
    runs = []
    for _ in range(2):
        model = bbb.BayesianMLP((5, 8, 3), prior_std=1.0, generator=seeded(1))
        runs.append(
            bbb.train(
                model,
                lambda o, t: F.cross_entropy(o, t, reduction="sum"),
                x,
                y,
                steps=20,
                rate=0.01,
                batch_size=16,
                generator=seeded(2),
            )
        )
    assert torch.equal(runs[0].nll, runs[1].nll)
    assert torch.equal(runs[0].kl, runs[1].kl)
    assert torch.equal(state, torch.random.get_rng_state())


def test_a_plain_network_trains_too():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
    y = torch.sin(SIX)
    history = bbb.train(
        net,
        lambda o, t: ((o - t) ** 2).sum(),
        SIX,
        y,
        steps=500,
        rate=0.03,
        generator=seeded(0),
    )
    assert history.nll[-1] < 0.01 * history.nll[0]
    assert (history.kl == 0).all()
