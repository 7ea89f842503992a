"""Practical 4's reference solutions for flows and stochastic layers."""

import math

import numpy as np
import pytest
import scipy.integrate
import scipy.stats
import torch
from generators import seeded
from torch.distributions import Normal

from course import data
from solutions import calibration_and_flows as s

# --- Flows ---------------------------------------------------------------------------


def assert_log_det(flow, z):
    """Compare a flow's log|det| with slogdet of autograd's Jacobian at each point."""
    _, log_det = flow(z)
    jacobians = torch.stack(
        [torch.autograd.functional.jacobian(lambda p: flow(p)[0], p) for p in z]
    )
    assert log_det.shape == z.shape[:-1]
    torch.testing.assert_close(
        log_det, torch.linalg.slogdet(jacobians).logabsdet, rtol=0, atol=1e-6
    )


def normal(shape, seed, scale=1.0):
    return scale * torch.randn(shape, generator=seeded(seed), dtype=torch.float64)


@pytest.mark.parametrize("dims", [1, 2, 5])
@pytest.mark.parametrize("seed", range(4))
def test_log_determinants_are_those_of_autograd(dims, seed):
    z = normal((6, dims), seed, 2)
    a, b = normal(dims, seed + 50, 2), normal(dims, seed + 99, 2)
    assert_log_det(lambda z: s.affine_flow(z, a, b), z)
    c = normal((), seed)
    assert_log_det(lambda z: s.planar_flow(z, s.invertible_u(a, b), b, c), z)
    alpha = c.exp()
    for beta in (2 * alpha, -0.9 * alpha):
        assert_log_det(lambda z, beta=beta: s.radial_flow(z, a, alpha, beta), z)
    layers = [
        s.Affine(dims).double(),
        *(s.Planar(dims, generator=seeded(seed)).double() for _ in range(3)),
    ]
    for layer in layers[1:]:
        layer.u.data, layer.w.data = 100 * layer.u.data, 100 * layer.w.data
    assert_log_det(lambda z: s.compose(layers, z), z)


def test_no_flow_at_all_is_the_identity():
    z = normal((5, 2), 0)
    points, log_det = s.compose([], z)
    assert torch.equal(points, z)
    assert torch.equal(log_det, torch.zeros(5, dtype=torch.float64))


@pytest.mark.parametrize("seed", range(40))
def test_constrained_u_is_invertible(seed):
    u, w = normal(3, seed, 5), normal(3, seed + 500, 5)
    u_hat = s.invertible_u(u, w)
    assert float(w @ u_hat) >= -1 - 1e-13
    # The constraint changes only the component along w.
    across = torch.linalg.svd(w[None]).Vh[1:]
    torch.testing.assert_close(across @ u_hat, across @ u)


def test_without_the_constraint_two_points_meet():
    """For wᵀu = −3 the map is not injective along w: it takes some values at three points."""
    w, u = torch.tensor([1.0, 0.0]), torch.tensor([-3.0, 0.0])
    line = torch.stack([torch.linspace(-5, 5, 2001), torch.zeros(2001)], 1)

    def folds(u):
        images = (line + u * torch.tanh(line @ w)[:, None])[:, 0]
        return bool((images.diff() < 0).any())

    assert folds(u)
    assert not folds(s.invertible_u(u, w))


@pytest.mark.parametrize("size", [1e-12, 1e-6, 1e-2])
def test_a_small_u_stays_small_and_the_printed_form_moves_it_far(size):
    u, w = normal(2, 0, size), normal(2, 1, size)
    assert float(s.invertible_u(u, w).norm()) <= float(u.norm()) * (1 + 1e-6)
    expected = (1 - math.log(2)) / float(w.norm())
    assert float(s.printed_u(u, w).norm()) == pytest.approx(expected, rel=0.05)
    assert torch.equal(s.invertible_u(0 * u, w), 0 * u)
    assert torch.isfinite(s.invertible_u(u, 0 * w)).all()


def test_the_density_behind_a_flow_integrates_to_one():
    """Tests the sign of log|det J| by integration in one dimension."""
    u, w, b = (torch.tensor(v, dtype=torch.float64) for v in ([1.5], [2.0], 0.3))
    z0 = torch.linspace(-8, 8, 20_001, dtype=torch.float64)[:, None]
    z, log_det = s.planar_flow(z0, u, w, b)
    log_q = Normal(0.0, 1.0).log_prob(z0).sum(-1) - log_det
    total = scipy.integrate.trapezoid(log_q.exp().numpy(), z[:, 0].numpy())
    assert total == pytest.approx(1, abs=1e-6)


# --- A stochastic layer --------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_the_kl_of_an_affine_flow_is_the_closed_form(seed):
    """An affine map of a Gaussian is a Gaussian, whose KL PyTorch has in closed form."""
    base, prior = Normal(1.0, 0.1), Normal(0.5, 0.7)
    shift, log_scale = normal(2, seed, 0.3), normal(2, seed + 9, 0.5)
    draws = 40_000
    z0 = base.mean + base.stddev * normal((draws, 2), seed + 20)
    z, log_det = s.affine_flow(z0, shift, log_scale)
    summands = s.flow_kl(base, prior, z0, z, log_det)
    q = Normal(shift + log_scale.exp() * base.mean, log_scale.exp() * base.stddev)
    exact = float(torch.distributions.kl_divergence(q, prior).sum())
    error = float(summands.std()) / math.sqrt(draws)
    assert float(summands.mean()) == pytest.approx(exact, abs=6 * error)


def test_the_kl_of_the_identity_is_zero_draw_by_draw():
    base = Normal(1.0, 0.1)
    z0 = normal((50, 2), 0)
    zero = s.flow_kl(base, base, z0, z0, torch.zeros(50))
    torch.testing.assert_close(zero, torch.zeros(50, dtype=torch.float64))


def test_negative_elbo_broadcasts_labels_over_draws():
    log_probs = normal((2, 5, 3, 4), 0).log_softmax(-1)
    labels = torch.randint(4, (2, 1, 3), generator=seeded(0))
    kl = normal((2, 5, 3), 1).abs()
    loss = s.negative_elbo(log_probs, labels, kl)
    assert loss.shape == (2, 5)
    by_hand = torch.stack(
        [
            kl[i, j].mean()
            + torch.nn.functional.nll_loss(log_probs[i, j], labels[i, 0])
            for i in range(2)
            for j in range(5)
        ]
    )
    torch.testing.assert_close(loss.flatten(), by_hand)


@pytest.mark.parametrize("classes", [2, 3])
def test_prediction_agrees_with_a_loop_and_has_no_graph(classes):
    model = s.StochasticLogisticRegression(2, classes, 4, generator=seeded(0))
    x = torch.randn(10, 2, generator=seeded(1))
    mean, variance = s.predict(model, x, draws=30, generator=seeded(2))
    assert mean.shape == variance.shape == (10, classes)
    assert not mean.requires_grad
    assert not variance.requires_grad
    assert mean.grad_fn is None
    z0 = model.draw((30, 10, 2), generator=seeded(2))
    each = torch.stack([model(x, noise)[0].exp() for noise in z0]).detach()
    torch.testing.assert_close(mean, each.mean(0))
    torch.testing.assert_close(variance, each.var(0, correction=0))
    torch.testing.assert_close(mean.sum(1), torch.ones(10))


@pytest.mark.parametrize("multiply", [True, False])
def test_prediction_approaches_the_predictive_integral(multiply):
    """Without flows the noise is Gaussian, and so is the difference of the logits."""
    model = s.StochasticLogisticRegression(
        2, 2, 0, multiply=multiply, base=Normal(1.0, 0.5), generator=seeded(0)
    )
    x = torch.tensor([[1.5, -2.0]])
    draws = 20_000
    mean, variance = s.predict(model, x, draws=draws, generator=seeded(1))
    c = (model.weight[0] - model.weight[1]).detach()
    d = float((model.bias[0] - model.bias[1]).detach())
    centre = float(c @ (x[0] if multiply else x[0] + 1)) + d
    spread = 0.5 * float((c * x[0] if multiply else c).norm())
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    p = 1 / (1 + np.exp(-(centre + spread * nodes)))
    exact = np.average(p, weights=weights)
    error = math.sqrt(float(variance[0, 0]) / draws)
    assert float(mean[0, 0]) == pytest.approx(exact, abs=6 * error)


def test_runs_side_by_side_are_the_runs_one_by_one():
    part = data.two_blobs(n=40, seed=0)
    x, y = torch.tensor(part.x, dtype=torch.float32), torch.as_tensor(part.y)
    base = Normal(1.0, 0.1)
    noise = normal((5, 3, 40, 2), 0).float() * 0.1 + 1

    def objective(outputs, z0):
        log_probs, z, log_det = outputs
        kl = s.flow_kl(base, base, z0, z, log_det)
        return s.negative_elbo(log_probs, y, kl)[:, None]

    def models():
        g = seeded(0)
        return [s.StochasticLogisticRegression(2, 2, 2, generator=g) for _ in range(3)]

    together, alone = models(), models()
    draws = iter(noise)
    fit = s.fit(together, objective, x, steps=5, rate=0.03, draw=lambda: next(draws))
    for run, model in enumerate(alone):
        draws = iter(noise[:, run : run + 1])
        one = s.fit([model], objective, x, steps=5, rate=0.03, draw=lambda: next(draws))
        torch.testing.assert_close(one.terms[0], fit.terms[run])
        for a, b in zip(model.parameters(), together[run].parameters(), strict=True):
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)


def test_a_run_agrees_with_a_plain_loop():
    part = data.two_blobs(n=40, seed=0)
    x, y = torch.tensor(part.x, dtype=torch.float32), torch.as_tensor(part.y)
    model, own = (s.LogisticRegression(2, 2, generator=seeded(0)) for _ in range(2))

    def objective(log_probs):
        return torch.nn.functional.nll_loss(log_probs[0], y)[None, None]

    watch = ["weight", "bias"]
    fit = s.fit([model], objective, x, steps=20, rate=0.03, watch=watch)
    optimiser = torch.optim.Adam(own.parameters(), lr=0.03)
    for step in range(20):
        loss = torch.nn.functional.nll_loss(own(x), y)
        optimiser.zero_grad()
        loss.backward()
        assert fit.terms[0, step, 0] == pytest.approx(loss.item(), rel=1e-4)
        for name in watch:
            norm = getattr(own, name).grad.norm().item()
            assert fit.gradients[name][0, step] == pytest.approx(norm, rel=1e-4)
        optimiser.step()
    for a, b in zip(model.parameters(), own.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)


def trained(constrain, kl, seed=0, runs=8, depth=16, frozen=()):
    """Train on two blobs with one choice of constraint and KL; return the loss terms."""
    part = data.two_blobs(n=100, seed=0)
    x, y = torch.tensor(part.x, dtype=torch.float32), torch.as_tensor(part.y)
    base, g = Normal(1.0, 0.1), seeded(seed)
    models = [
        s.StochasticLogisticRegression(2, 2, depth, constrain=constrain, generator=g)
        for _ in range(runs)
    ]

    def objective(outputs, z0):
        log_probs, z, log_det = outputs
        right = s.flow_kl(base, base, z0, z, log_det)
        wrong = s.hurried_flow_kl(base, base, z0, z, log_det)
        nll = s.negative_elbo(log_probs, y, torch.zeros(()))
        loss = s.negative_elbo(log_probs, y, right) if kl == "right" else nll
        loss = nll + wrong.mean(-1) / 25_000 if kl == "wrong" else loss
        return torch.stack([loss, nll, right.mean(-1), wrong.mean(-1)], -1)

    return s.fit(
        models,
        objective,
        x,
        steps=50,
        rate=0.03,
        draw=lambda: models[0].draw((runs, *x.shape), generator=g),
        frozen=frozen,
    ).terms


def test_the_hurried_kl_is_far_from_the_right_one():
    """The hurried KL reports 4.8 to 6.3 nats at first; the true KL ends above 100."""
    terms = trained(s.printed_u, "wrong")
    assert (terms[:, 0, 3] > 4.8).all()
    assert (terms[:, 0, 3] < 6.3).all()
    expected = -16 * math.log(math.log(2))
    assert float(terms[:, 0, 3].median()) == pytest.approx(expected, abs=0.05)
    assert float(terms[:, -1, 2].median()) > 100


def test_the_right_kl_settles_near_zero():
    terms = trained(s.invertible_u, "right", depth=4)
    assert float(terms[:, -10:, 2].mean()) < 0.05


def test_jumps_come_from_the_printed_constraint():
    def jumps(*args, **kwargs):
        return trained(*args, **kwargs)[:, :, 0].diff(dim=1).max(1).values.clamp(min=0)

    as_written = jumps(s.printed_u, "wrong")
    assert float(as_written.median()) > 0.1
    assert float(jumps(s.printed_u, "none").max()) > 0.1
    assert float(jumps(s.printed_u, "wrong", frozen=[".w"]).max()) < 0.05
    assert float(jumps(s.invertible_u, "wrong").max()) < 0.05
