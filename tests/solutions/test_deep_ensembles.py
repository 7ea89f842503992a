"""Practical 1's reference solutions against independent libraries, in double precision."""

import os
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
import scipy.special
import scipy.stats
import torch
from small_ensemble import fit, problem

from course import data
from solutions import deep_ensembles as ref


@pytest.fixture
def rng():
    return np.random.default_rng(11)


@pytest.fixture
def double():
    """Use double precision in JAX for this test only."""
    with jax.enable_x64(True):
        yield


# --- likelihoods ----------------------------------------------------------------------


@pytest.mark.usefixtures("double")
def test_likelihoods_agree_with_scipy(rng):
    location, spread, y = (
        rng.normal(0, 3, 500),
        rng.uniform(0.01, 5, 500),
        rng.normal(0, 9, 500),
    )
    for ours, theirs in (
        (
            ref.gaussian_nll(location, spread, y),
            scipy.stats.norm.logpdf(y, location, spread),
        ),
        (
            ref.laplace_nll(location, spread, y),
            scipy.stats.laplace.logpdf(y, location, spread),
        ),
        (
            ref.student_t_nll(location, spread, 2.5, y),
            scipy.stats.t.logpdf(y, 2.5, location, spread),
        ),
    ):
        np.testing.assert_allclose(ours, -theirs, rtol=1e-11, atol=1e-11)


@pytest.mark.usefixtures("double")
def test_the_student_t_tends_to_the_gaussian(rng):
    y = rng.normal(0, 1, 50)
    zeros, ones = np.zeros(50), np.ones(50)
    np.testing.assert_allclose(
        ref.student_t_nll(zeros, ones, 1e6, y),
        ref.gaussian_nll(zeros, ones, y),
        atol=1e-4,
    )


@pytest.mark.usefixtures("double")
def test_the_categorical_nll_agrees_with_torch(rng):
    logits, labels = rng.normal(0, 5, (200, 4)), rng.integers(0, 4, 200)
    theirs = torch.nn.functional.cross_entropy(
        torch.tensor(logits), torch.tensor(labels), reduction="none"
    )
    np.testing.assert_allclose(
        ref.categorical_nll(logits, np.eye(4)[labels]), theirs, rtol=1e-11
    )


def test_the_categorical_nll_survives_huge_logits():
    logits = jnp.array([[1e4, 0.0], [-1e4, 0.0]])
    nll = ref.categorical_nll(logits, jnp.array([[0.0, 1.0], [1.0, 0.0]]))
    np.testing.assert_allclose(nll, [1e4, 1e4])


def test_the_spread_is_positive_and_finite_everywhere():
    outputs = jnp.column_stack([jnp.zeros(5), jnp.array([-1e4, -90.0, 0.0, 90.0, 1e4])])
    _, spread = ref.heads(outputs)
    assert np.all(np.isfinite(spread))
    assert np.all(spread >= ref.MIN_SPREAD)


# --- mixtures and uncertainty ---------------------------------------------------------


@pytest.mark.usefixtures("double")
@pytest.mark.parametrize(
    ("moments", "component"),
    [
        (ref.gaussian_mixture_moments, torch.distributions.Normal),
        (ref.laplace_mixture_moments, torch.distributions.Laplace),
    ],
)
def test_mixture_moments_agree_with_torch(rng, moments, component):
    means, spreads = rng.normal(0, 3, (5, 200)), rng.uniform(0.01, 4, (5, 200))
    weights = torch.distributions.Categorical(torch.ones(200, 5, dtype=torch.float64))
    members = component(torch.tensor(means.T), torch.tensor(spreads.T))
    mixture = torch.distributions.MixtureSameFamily(weights, members)
    mean, variance = moments(means, spreads)
    np.testing.assert_allclose(mean, mixture.mean, atol=1e-10)
    np.testing.assert_allclose(variance, mixture.variance, atol=1e-10)


@pytest.mark.parametrize(
    ("moments", "factor"),
    [(ref.gaussian_mixture_moments, 1), (ref.laplace_mixture_moments, 2)],
)
def test_mixture_moments_stay_right_in_single_precision(rng, moments, factor):
    means = np.float32(1000 + rng.normal(0, 0.01, (5, 100)))
    spreads = np.float32(rng.uniform(0.005, 0.02, (5, 100)))
    mean, variance = moments(jnp.asarray(means), jnp.asarray(spreads))
    exact_means, exact_spreads = means.astype(float), spreads.astype(float)
    right = factor * (exact_spreads**2).mean(0) + exact_means.var(0)
    assert variance.dtype == jnp.float32
    np.testing.assert_allclose(variance, right, rtol=1e-3)
    np.testing.assert_allclose(mean, exact_means.mean(0), rtol=1e-7)
    unstable = (factor * spreads**2 + means**2).mean(0) - means.mean(0) ** 2
    assert (
        np.median(np.abs(unstable / right - 1)) > 1
    )  # E[x²] − E[x]² loses all digits here


@pytest.mark.usefixtures("double")
def test_the_ensemble_averages_probabilities(rng):
    logits = rng.normal(0, 4, (6, 50, 3))
    probs = scipy.special.softmax(logits, -1).mean(0)
    ours = ref.ensemble_log_probs(jnp.asarray(logits))
    np.testing.assert_allclose(np.exp(ours), probs, rtol=1e-12)
    np.testing.assert_allclose(scipy.special.logsumexp(ours, -1), 0, atol=1e-12)


@pytest.mark.usefixtures("double")
def test_total_is_data_plus_knowledge_uncertainty(rng):
    probs = rng.dirichlet(np.full(4, 0.4), (7, 60))
    data_part = scipy.stats.entropy(probs, axis=-1).mean(0)
    total = scipy.stats.entropy(probs.mean(0), axis=-1)
    np.testing.assert_allclose(
        ref.entropy(jnp.asarray(probs)).mean(0), data_part, rtol=1e-12
    )
    knowledge = ref.knowledge_uncertainty(jnp.asarray(probs))
    np.testing.assert_allclose(knowledge, total - data_part, atol=1e-12)
    assert np.all(knowledge >= -1e-12)
    agreeing = jnp.asarray(np.repeat(probs[:1], 7, 0))
    np.testing.assert_allclose(ref.knowledge_uncertainty(agreeing), 0, atol=1e-12)


# --- losses ---------------------------------------------------------------------------


def test_the_adversary_raises_the_loss_as_far_as_a_small_step_can(rng):
    params = ref.init_mlp(jax.random.key(0), (2, 20, 2))
    x, y = jnp.asarray(rng.normal(0, 1, (30, 2))), jnp.asarray(rng.normal(0, 1, 30))
    epsilon = 1e-3
    moved = ref.fgsm(ref.gaussian_loss, params, x, y, epsilon)
    assert np.max(np.abs(moved - x)) <= epsilon * 1.001
    clean, worst = ref.gaussian_loss(params, x, y), ref.gaussian_loss(params, moved, y)
    for seed in range(20):
        step = epsilon * np.random.default_rng(seed).choice([-1.0, 1.0], x.shape)
        assert clean < worst
        assert ref.gaussian_loss(params, x + step, y) <= worst
    half = ref.adversarial_loss(ref.gaussian_loss, params, x, y, epsilon)
    np.testing.assert_allclose(half, (clean + worst) / 2, rtol=1e-6)


@pytest.mark.usefixtures("double")
def test_the_quick_adversarial_loss_is_the_adversarial_loss(rng):
    """Value and gradient agree, with and without weight decay in the loss."""
    params = jax.tree.map(
        lambda leaf: leaf + rng.normal(0, 0.1, leaf.shape),
        ref.init_mlp(jax.random.key(0), (2, 30, 30, 3)),
    )
    x, y = jnp.asarray(rng.normal(0, 1, (50, 2))), jnp.eye(3)[rng.integers(0, 3, 50)]
    for loss in (ref.categorical_loss, spiral_loss):
        quick = ref.quick_adversarial_loss(loss, 0.02)
        value, gradient = jax.value_and_grad(quick)(params, x, y)
        slow, expected = jax.value_and_grad(
            lambda p, loss=loss: ref.adversarial_loss(loss, p, x, y, 0.02)
        )(params)
        np.testing.assert_allclose(value, slow, rtol=1e-12)
        np.testing.assert_allclose(quick(params, x, y), slow, rtol=1e-12)
        assert_same(gradient, expected, 1e-12)
        twice = jax.grad(lambda p, quick=quick: 2 * quick(p, x, y))(params)
        assert_same(twice, jax.tree.map(lambda leaf: 2 * leaf, expected), 1e-12)


def test_weight_decay_pulls_each_weight_in_proportion():
    params = ref.init_mlp(jax.random.key(0), (3, 4, 2))
    gradient = jax.grad(ref.weight_decay)(params, 0.1)
    jax.tree.map(
        lambda g, p: np.testing.assert_allclose(g, 0.1 * p, rtol=1e-6), gradient, params
    )


@pytest.mark.parametrize("step_rule", [ref.adam_step, ref.hurried_adam_step])
def test_only_the_mended_adam_agrees_with_optax(rng, step_rule):
    optimiser = optax.adam(0.05)
    state = optimiser.init(jnp.zeros(3))
    ours = ref.AdamState(jnp.zeros(3), jnp.zeros(3))
    differences = []
    for step in range(50):
        gradient = jnp.asarray(rng.normal(0, 1, 3))
        theirs, state = optimiser.update(gradient, state)
        update, ours = step_rule(gradient, ours, step, 0.05)
        differences.append(float(jnp.max(jnp.abs(update - theirs))))
    assert (max(differences) < 1e-5) == (step_rule is ref.adam_step)


# --- training -------------------------------------------------------------------------


def assert_same(one, other, rtol):
    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol), one, other
    )


def test_training_agrees_with_a_plain_loop():
    params, x, y = problem()
    trained = fit(params, x, y)
    optimiser = optax.adam(optax.cosine_decay_schedule(0.01, 40))

    @jax.jit
    def step(own, state):
        value, gradient = jax.value_and_grad(ref.gaussian_loss)(own, x, y)
        update, state = optimiser.update(gradient, state)
        return optax.apply_updates(own, update), state, value

    for member in range(4):
        own = jax.tree.map(lambda leaf, m=member: leaf[m], params)
        state, losses = optimiser.init(own), []
        for _ in range(40):
            own, state, value = step(own, state)
            losses.append(value)
        np.testing.assert_allclose(trained.losses[member], losses, rtol=1e-3)
        assert_same(
            jax.tree.map(lambda leaf, m=member: leaf[m], trained.params), own, 1e-3
        )


@pytest.mark.parametrize("options", [{}, {"batch_size": 8}, {"bootstrap": True}])
def test_side_by_side_and_in_turn_are_the_same(options):
    problem_ = problem()
    assert_same(
        fit(*problem_, **options), fit(*problem_, in_turn=True, **options), 1e-3
    )


def test_history_records_every_so_many_steps():
    problem_ = problem()
    trained = fit(*problem_, every=10)
    assert trained.history[0][0].shape[:2] == (4, 4)
    assert trained.losses.shape == (4, 40)
    assert_same(
        jax.tree.map(lambda leaf: leaf[:, -1], trained.history), trained.params, 0
    )
    with pytest.raises(ValueError, match="every"):
        fit(*problem_, every=7)


def test_minibatches_and_bootstrap_make_members_differ():
    params, x, y = problem(members=1)
    same = jax.tree.map(lambda leaf: jnp.repeat(leaf, 4, 0), params)
    for options in ({"batch_size": 8}, {"bootstrap": True}):
        weight = fit(same, x, y, **options).params[0][0]
        assert np.all(np.std(weight, axis=0) > 0)
    assert np.all(np.std(fit(same, x, y).params[0][0], axis=0) < 1e-6)


def test_members_may_live_on_several_devices():
    """Two CPU devices give the same numbers as one.

    It runs in a separate process, as the number of devices is fixed at start.
    """
    script = """
import jax, numpy as np
from small_ensemble import fit, problem
mesh = jax.sharding.Mesh(jax.devices(), ("member",))
for in_turn in (False, True):
    one, two = fit(*problem(), in_turn=in_turn), fit(*problem(), in_turn=in_turn, mesh=mesh)
    assert len(two.params[0][0].sharding.device_set) == 2
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-3), one, two)
print("same numbers")
"""
    tests = Path(__file__).parents[1]
    flags = os.environ["XLA_FLAGS"], "--xla_force_host_platform_device_count=2"
    env = os.environ | {
        "XLA_FLAGS": " ".join(flags),
        "PYTHONPATH": os.pathsep.join(map(str, (tests / "support", tests.parent))),
    }
    run = subprocess.run(
        [sys.executable, "-c", script], env=env, capture_output=True, text=True
    )
    assert run.stdout.strip() == "same numbers", run.stderr[-2000:]


# --- reference results ----------------------------------------------------------------


def cubic_scores(seed, members, rate=0.01):
    train, test = data.cubic(seed=seed), data.cubic(n=2000, seed=500)
    x_mean, x_std = train.x.mean(), train.x.std()
    y_mean, y_std = train.y.mean(), train.y.std()
    trained = ref.train_ensemble(
        ref.gaussian_loss,
        ref.init_ensemble(jax.random.key(seed), (1, 50, 2), members, (1.0, 0.1)),
        jnp.asarray((train.x - x_mean) / x_std),
        jnp.asarray((train.y - y_mean) / y_std),
        key=jax.random.key(seed),
        steps=200,
        rate=rate,
    )
    outputs = jax.vmap(ref.mlp, (0, None))(
        trained.params, jnp.asarray((test.x - x_mean) / x_std)
    )
    means, stds = jax.vmap(ref.heads)(outputs)
    means, stds = means * y_std + y_mean, stds * y_std
    nll = np.asarray(ref.gaussian_nll(means, stds, jnp.asarray(test.y)), float)
    mixture = -scipy.special.logsumexp(-nll, axis=0, b=1 / members)
    mean, variance = ref.gaussian_mixture_moments(means, stds)
    z = np.abs(test.y - mean) / np.sqrt(variance)
    rmse = np.sqrt(np.mean((mean - test.y) ** 2))
    return mixture.mean(), nll.mean(), rmse, np.mean(z < 1), np.mean(z < 2)


def test_the_cubic_reaches_the_reference_figures():
    """Medians over ten training sets: NLL 2.9 (members 3.3), coverage 0.8 and 0.98."""
    rows = np.array([cubic_scores(seed, 6) for seed in range(10)])
    mixture, member, rmse, one, two = np.median(rows, axis=0)
    assert 2.75 < mixture < 3.15
    assert 3.0 < member < 3.7
    assert 3.4 < rmse < 4.8
    assert 0.7 < one < 0.88
    assert 0.93 < two < 1.0
    assert np.all(rows[:, 0] < rows[:, 1])  # Jensen


@pytest.mark.long
def test_the_spirals_reach_the_reference_figures():
    """Four members have test accuracy 0.95, NLL 0.12 to 0.18, and are overconfident far out."""
    train, test = data.spirals(seed=0), data.spirals(seed=1)
    trained = ref.train_ensemble(
        spiral_loss,
        ref.init_ensemble(jax.random.key(0), (2, 150, 150, 3), 4),
        jnp.asarray(train.x),
        jax.nn.one_hot(train.y, 3),
        key=jax.random.key(1),
        steps=300,
        rate=0.01,
        in_turn=True,
    )

    def probs(x):
        return jax.nn.softmax(
            jax.vmap(ref.mlp, (0, None))(trained.params, jnp.asarray(x))
        )

    mixture = np.asarray(probs(test.x).mean(0), float)
    assert 0.94 < np.mean(mixture.argmax(1) == test.y) < 0.97
    assert 0.12 < -np.log(mixture[np.arange(len(test.y)), test.y]).mean() < 0.18
    angle = np.linspace(0, 2 * np.pi, 300)
    ring = 3 * np.column_stack([np.cos(angle), np.sin(angle)])
    far, near = (
        ref.entropy(probs(ring).mean(0)).mean(),
        ref.entropy(jnp.asarray(mixture)).mean(),
    )
    assert far < near


def spiral_loss(params, x, y):
    return ref.categorical_loss(params, x, y) + ref.weight_decay(params, 1e-4)
