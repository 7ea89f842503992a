"""Practical 4's reference implementations against independent ones, in double precision."""

import math
import sys
from functools import cache
from unittest import mock

import numpy as np
import pytest
import scipy.integrate
import scipy.stats
import torch
from sklearn.datasets import make_blobs
from sklearn.metrics import brier_score_loss
from sklearn.naive_bayes import GaussianNB
from torch.distributions import Normal

from course import data
from solutions import calibration_and_flows as s

SEEDS = range(12)


def generator(seed):
    return torch.Generator().manual_seed(seed)


def random_probs(seed, n=400, k=4):
    rng = np.random.default_rng(seed)
    probs = torch.as_tensor(rng.dirichlet(np.full(k, 0.4), n))
    return probs, torch.as_tensor(rng.integers(0, k, n))


def two_class(confidence, right):
    """Probabilities of two classes with the given top confidence, and labels."""
    confidence = torch.as_tensor(confidence, dtype=torch.float64)
    labels = torch.where(torch.as_tensor(right), 0, 1)
    return torch.stack([confidence, 1 - confidence], 1), labels


# --- Calibration ---------------------------------------------------------------------


@cache
def calibration_error():
    """torchmetrics' function. It imports torchvision, whose wheel may not fit torch's CPU build.

    Nothing of torchvision is used here, so a stand-in will do where it cannot be imported.
    """
    stand_ins = {}
    try:
        import torchvision  # noqa: F401
    except (ImportError, RuntimeError):
        names = ("torchvision", "torchvision.models", "torchvision.transforms")
        stand_ins = {name: mock.MagicMock() for name in names}
    sys.modules.update(stand_ins)
    try:
        from torchmetrics.functional.classification import multiclass_calibration_error
    finally:
        for name in stand_ins:
            del sys.modules[name]
    return multiclass_calibration_error


def torchmetrics_ece(probs, labels, n_bins=15, norm="l1"):
    classes = probs.shape[1]
    return calibration_error()(
        probs, labels, classes, n_bins, norm, validate_args=False
    ).double()


def netcal_ece(probs, labels, n_bins=15):
    from netcal.metrics import ECE

    # Two classes netcal would take for p(y = 1). With an empty third one, and the data
    # repeated under other names of the classes, it takes the top label; the ECE is the same.
    three = torch.nn.functional.pad(probs, (0, max(0, 3 - probs.shape[1])))
    k = three.shape[1]
    renamed = torch.cat([three.roll(shift, dims=1) for shift in range(k)])
    names = torch.cat([(labels + shift) % k for shift in range(k)])
    return ECE(n_bins).measure(renamed.numpy(), names.numpy())


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("n_bins", [1, 10, 15])
def test_ece_is_that_of_torchmetrics_and_netcal(seed, n_bins):
    probs, labels = random_probs(seed)
    ours = s.expected_calibration_error(probs, labels, n_bins)
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
    ours = float(s.expected_calibration_error(probs, labels, n_bins))
    assert ours == pytest.approx(netcal_ece(probs, labels, n_bins), abs=1e-6)
    # torchmetrics keeps exact ones in a bin of their own, beside the n_bins asked for:
    # moved just below 1, they share the last bin with their neighbours, as in netcal.
    below = probs.clamp(max=1 - 1e-7)
    theirs = float(torchmetrics_ece(below, labels, n_bins))
    assert ours == pytest.approx(theirs, abs=1e-6)


def test_a_confidence_of_zero_lies_in_the_first_bin():
    probs = torch.zeros(3, 2, dtype=torch.float64)  # no distribution, but it may come
    labels = torch.tensor([0, 1, 1])
    bins = s.calibration_bins(probs, labels)
    assert bins.share[0] == 1
    ours = s.expected_calibration_error(probs, labels)
    theirs = torchmetrics_ece(probs, labels)
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-6)


def test_a_confidence_rounded_above_one_is_counted():
    probs, labels = two_class([1.0], np.array([False]))
    above = probs * (1 + 1e-7)
    assert s.expected_calibration_error(above, labels) == pytest.approx(1, abs=1e-6)


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
    """.088, .029 and .009 at 100, 1,000 and 10,000 data: none of it is miscalibration."""
    means = []
    for n, repeats in ((100, 100), (1_000, 40), (10_000, 10)):
        values = []
        for seed in range(repeats):
            rng = np.random.default_rng(seed)
            confidence = rng.uniform(0.5, 1, n)
            probs, labels = two_class(confidence, rng.uniform(0, 1, n) < confidence)
            values.append(float(s.expected_calibration_error(probs, labels)))
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
    """ECE .074, NLL .300; at T = 2.19 .047 and .255: reference figures, within the spread."""
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
    errors = [float(s.expected_calibration_error(p, labels)) for p in (before, after)]
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
    model = s.LogisticRegression(2, 2, generator=generator(seed)).double()
    x1 = torch.linspace(-6, 6, 50, dtype=torch.float64)
    x0 = s.boundary_line(model.weight, model.bias, x1)
    probs = model(torch.stack([x0, x1], 1)).exp()
    torch.testing.assert_close(probs, torch.full_like(probs, 0.5))


@pytest.mark.parametrize("dims", [2, 3, 7])
def test_the_boundary_is_a_plane_in_more_dimensions(dims):
    model = s.LogisticRegression(dims, 2, generator=generator(dims)).double()
    point, directions = s.boundary_plane(model.weight.detach(), model.bias.detach())
    assert directions.shape == (dims - 1, dims)
    torch.testing.assert_close(
        directions @ directions.T, torch.eye(dims - 1, dtype=torch.float64)
    )
    coordinates = torch.randn(40, dims - 1, generator=generator(0), dtype=torch.float64)
    probs = model(point + 5 * coordinates @ directions).exp()
    torch.testing.assert_close(probs, torch.full_like(probs, 0.5))


# --- Flows ---------------------------------------------------------------------------


def assert_log_det(flow, z):
    """The flow's log|det| against autograd's slogdet, point by point."""
    _, log_det = flow(z)
    jacobians = torch.stack(
        [torch.autograd.functional.jacobian(lambda p: flow(p)[0], p) for p in z]
    )
    assert log_det.shape == z.shape[:-1]
    torch.testing.assert_close(
        log_det, torch.linalg.slogdet(jacobians).logabsdet, rtol=0, atol=1e-6
    )


def normal(shape, seed, scale=1.0):
    return scale * torch.randn(shape, generator=generator(seed), dtype=torch.float64)


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
        *(s.Planar(dims, generator=generator(seed)).double() for _ in range(3)),
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
    # Only the component along w moves.
    across = torch.linalg.svd(w[None]).Vh[1:]
    torch.testing.assert_close(across @ u_hat, across @ u)


def test_without_the_constraint_two_points_meet():
    """wᵀu = −3: along w the map folds, and a value is taken at three points."""
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
    """The sign of log|det J|, in one dimension, where it can be integrated."""
    u, w, b = (torch.tensor(v, dtype=torch.float64) for v in ([1.5], [2.0], 0.3))
    z0 = torch.linspace(-8, 8, 20_001, dtype=torch.float64)[:, None]
    z, log_det = s.planar_flow(z0, u, w, b)
    log_q = Normal(0.0, 1.0).log_prob(z0).sum(-1) - log_det
    total = scipy.integrate.trapezoid(log_q.exp().numpy(), z[:, 0].numpy())
    assert total == pytest.approx(1, abs=1e-6)


# --- A stochastic layer --------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_the_kl_of_an_affine_flow_is_the_closed_form(seed):
    """The pushforward of a Gaussian by an affine map is a Gaussian: torch knows its KL."""
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
    labels = torch.randint(4, (2, 1, 3), generator=generator(0))
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
    model = s.StochasticLogisticRegression(2, classes, 4, generator=generator(0))
    x = torch.randn(10, 2, generator=generator(1))
    mean, variance = s.predict(model, x, draws=30, generator=generator(2))
    assert mean.shape == variance.shape == (10, classes)
    assert not mean.requires_grad
    assert not variance.requires_grad
    assert mean.grad_fn is None
    z0 = model.draw((30, 10, 2), generator=generator(2))
    each = torch.stack([model(x, noise)[0].exp() for noise in z0]).detach()
    torch.testing.assert_close(mean, each.mean(0))
    torch.testing.assert_close(variance, each.var(0, correction=0))
    torch.testing.assert_close(mean.sum(1), torch.ones(10))


@pytest.mark.parametrize("multiply", [True, False])
def test_prediction_approaches_the_predictive_integral(multiply):
    """At the identity the noise is Gaussian, and so is the difference of the logits."""
    model = s.StochasticLogisticRegression(
        2, 2, 0, multiply=multiply, base=Normal(1.0, 0.5), generator=generator(0)
    )
    x = torch.tensor([[1.5, -2.0]])
    draws = 20_000
    mean, variance = s.predict(model, x, draws=draws, generator=generator(1))
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
        g = generator(0)
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


def trained(constrain, kl, seed=0, runs=8, depth=16, frozen=()):
    """Runs on two blobs as the source trains, with one choice of the KL."""
    part = data.two_blobs(n=100, seed=0)
    x, y = torch.tensor(part.x, dtype=torch.float32), torch.as_tensor(part.y)
    base, g = Normal(1.0, 0.1), generator(seed)
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
    """The source's loss reports 4.8 to 6.3 nats at first, where hundreds are true in the end."""
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
