"""Chapter 5's reference solutions against independent libraries, in double precision."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
import scipy.stats
import torch
from jax.flatten_util import ravel_pytree
from matplotlib import pyplot as plt
from sklearn.metrics import roc_auc_score

from course import data, plots
from solutions import which_method as ref


@pytest.fixture
def rng():
    return np.random.default_rng(5)


@pytest.fixture
def double():
    """Use double precision in JAX for this test only."""
    with jax.enable_x64(True):
        yield


# --- comparing ------------------------------------------------------------------------


@pytest.mark.parametrize("decimals", [8, 0])
def test_the_area_under_the_roc_is_scikit_learns(rng, decimals):
    inside = np.round(rng.normal(0, 1, 400), decimals)
    outside = np.round(rng.normal(1, 2, 300), decimals)
    label = np.r_[np.zeros(400), np.ones(300)]
    theirs = roc_auc_score(label, np.r_[inside, outside])
    assert ref.ood_auroc(inside, outside) == pytest.approx(theirs, abs=1e-12)
    assert ref.ood_auroc(inside, inside) == pytest.approx(0.5, abs=1e-12)


def test_the_interval_is_scipys_and_covers_as_often_as_it_says(rng):
    """If runs share their split, the paired interval covers 95%; the unpaired is too wide."""
    hits, widths = [], []
    for _ in range(2000):
        split = rng.normal(0, 1, 5)
        method, baseline = (split + rng.normal(0, 0.1, 5) for _ in range(2))
        mean, low, high = ref.difference_interval(method, baseline, 0.95)
        hits.append(low <= 0 <= high)
        _, hurried_low, hurried_high = ref.hurried_difference_interval(
            method, baseline, 0.95
        )
        widths.append((hurried_high - hurried_low) / (high - low))
    assert abs(np.mean(hits) - 0.95) < 6 * np.sqrt(0.95 * 0.05 / 2000)
    assert np.median(widths) > 3
    theirs = scipy.stats.ttest_rel(method, baseline).confidence_interval(0.95)
    np.testing.assert_allclose((low, high), theirs, rtol=1e-12)
    assert mean == pytest.approx((low + high) / 2)


def test_the_crps_is_that_of_many_draws(rng):
    """It agrees with E|Y − y| − ½ E|Y − Y'| over draws, and is minimal at the true σ."""
    mean, std, y = rng.normal(0, 2, 4), rng.uniform(0.5, 2, 4), rng.normal(0, 2, 4)
    one, two = rng.normal(mean, std, (2, 400_000, 4))
    draws = np.abs(one - y) - 0.5 * np.abs(one - two)
    error = draws.std(0) / np.sqrt(len(draws))
    assert np.all(np.abs(ref.gaussian_crps(mean, std, y) - draws.mean(0)) < 6 * error)
    y = rng.normal(0, 1.5, 200_000)
    grid = np.linspace(0.9, 2.1, 25)
    scores = [ref.gaussian_crps(np.zeros(1), np.array([s]), y).mean() for s in grid]
    assert grid[np.argmin(scores)] == pytest.approx(1.5, abs=0.1)


# --- last-layer Laplace ---------------------------------------------------------------


@pytest.mark.usefixtures("double")
def test_last_layer_covariances_are_blocks_of_practical_2s_hessian(rng):
    from solutions.approximate_inference import softmax_laplace_covariance

    features = np.c_[rng.normal(0, 1, (60, 3)), np.ones(60)]
    weights = rng.normal(0, 1, (3, 4))
    probs = np.asarray(jax.nn.softmax(features @ weights.T))
    ours = ref.last_layer_covariances(features, probs, 0.7)
    whole = softmax_laplace_covariance(
        torch.tensor(weights), torch.tensor(features), 0.7
    )
    hessian = torch.linalg.inv(whole).numpy()
    blocks = [hessian[4 * k : 4 * k + 4, 4 * k : 4 * k + 4] for k in range(3)]
    np.testing.assert_allclose(ours, np.linalg.inv(blocks), rtol=1e-8)


@pytest.mark.usefixtures("double")
def test_last_layer_log_probs_come_close_to_sampling(rng):
    features = np.c_[rng.normal(0, 1, (20, 3)), np.ones(20)]
    weights = rng.normal(0, 1, (3, 4))
    roots = 0.4 * rng.normal(0, 1, (3, 4, 4))
    covariances = roots @ roots.swapaxes(1, 2)
    drawn = np.stack(
        [
            rng.multivariate_normal(w, s, 50_000)
            for w, s in zip(weights, covariances, strict=True)
        ]
    )
    logits = np.einsum("nh,ksh->snk", features, drawn)
    sampled = np.asarray(jax.nn.softmax(logits)).mean(0)
    ours = np.exp(ref.last_layer_log_probs(features, weights, covariances))
    plug_in = np.asarray(jax.nn.softmax(features @ weights.T))
    # Each logit is scaled separately, so the result is only an approximation.
    off, plug_in_off = (np.abs(p - sampled).mean() for p in (ours, plug_in))
    assert off < 0.6 * plug_in_off


# --- MIMO -----------------------------------------------------------------------------


@pytest.mark.parametrize("repetition", [0.0, 0.3, 1.0])
def test_every_member_sees_every_datum_once(repetition):
    x = jnp.arange(40.0).reshape(20, 2)
    inputs, targets = ref.mimo_inputs(x, 10 * x, 3, repetition, key=jax.random.key(0))
    assert inputs.shape == targets.shape == (20, 3, 2)
    np.testing.assert_array_equal(targets, 10 * inputs)
    for member in range(3):
        order = np.argsort(inputs[:, member, 0])
        np.testing.assert_array_equal(inputs[order, member], x)
    same = (inputs == inputs[:, :1]).all((1, 2)).sum()
    assert same >= round(20 * repetition)
    assert repetition == 1.0 or same < 20


@pytest.mark.usefixtures("double")
def test_one_member_is_a_plain_network():
    """With M = 1 the loss is PyTorch's cross-entropy and the prediction its softmax."""
    params = ref.init_network(jax.random.key(1), (2, 7, 3))
    x = np.random.default_rng(0).normal(size=(9, 2))
    labels = np.arange(9) % 3

    def network(inputs):
        return ref.mimo_network(params, inputs)

    logits = np.array(network(x[:, None])[:, 0])
    pair = torch.tensor(logits), torch.tensor(labels)
    loss = ref.mimo_loss(logits[:, None], np.eye(3)[labels][:, None])
    theirs = torch.nn.functional.cross_entropy(*pair)
    np.testing.assert_allclose(loss, theirs, rtol=1e-12)
    log_probs = ref.mimo_log_probs(network, jnp.asarray(x), 1)
    theirs = torch.log_softmax(pair[0], -1)
    np.testing.assert_allclose(log_probs, theirs, rtol=1e-12)
    np.testing.assert_allclose(
        ref.predictive_entropy(log_probs),
        scipy.stats.entropy(theirs.exp().numpy(), axis=1),
        rtol=1e-10,
    )


def test_the_heads_of_a_trained_network_listen_to_their_own_slot():
    moons = data.moons(n=300, seed=0)
    x, targets = jnp.asarray(moons.x, jnp.float32), jnp.eye(2)[moons.y]
    params, losses = ref.train_mimo(
        ref.mimo_loss,
        ref.init_network(jax.random.key(0), (4, 50, 4)),
        x,
        targets,
        members=2,
        repetition=0.0,
        weight_decay=1e-3,
        key=jax.random.key(1),
        steps=800,
        rate=0.01,
    )
    assert losses.shape == (800,)
    assert losses[-50:].mean() < 0.5 * losses[0]
    slopes = jax.vmap(
        jax.jacfwd(lambda pair: ref.mimo_network(params, pair[None])[0, :, 1])
    )(jnp.stack([x, x[::-1]], 1))
    by_slot = jnp.linalg.norm(slopes, axis=-1).mean(0)  # (head, slot)
    assert by_slot[0, 0] > 3 * by_slot[0, 1]
    assert by_slot[1, 1] > 3 * by_slot[1, 0]
    log_probs = ref.mimo_log_probs(lambda z: ref.mimo_network(params, z), x, 2)
    assert (log_probs.argmax(1) == moons.y).mean() > 0.9


def test_training_of_mimo_agrees_with_a_plain_loop():
    """Of all of it but for the draws, which ``mimo_inputs`` makes with one key per step."""
    moons = data.moons(n=40, seed=0)
    x, targets = jnp.asarray(moons.x, jnp.float32), jnp.eye(2)[moons.y]
    own = start = ref.init_network(jax.random.key(0), (4, 6, 4))
    key, steps = jax.random.key(1), 30
    params, losses = ref.train_mimo(
        ref.mimo_loss,
        start,
        x,
        targets,
        members=2,
        repetition=0.5,
        weight_decay=0.1,
        key=key,
        steps=steps,
        rate=0.05,
    )

    optimiser = optax.adam(optax.cosine_decay_schedule(0.05, steps))

    @jax.jit
    def step(own, state, key):
        inputs, wanted = ref.mimo_inputs(x, targets, 2, 0.5, key=key)

        def objective(own):
            flat, _ = ravel_pytree(own)
            fit = ref.mimo_loss(ref.mimo_network(own, inputs), wanted)
            return fit + 0.1 / 2 * flat @ flat

        value, gradient = jax.value_and_grad(objective)(own)
        update, state = optimiser.update(gradient, state)
        return optax.apply_updates(own, update), state, value

    state, values = optimiser.init(own), []
    for one in jax.random.split(key, steps):
        own, state, value = step(own, state, one)
        values.append(value)
    np.testing.assert_allclose(losses, values, rtol=1e-4)
    np.testing.assert_allclose(ravel_pytree(params)[0], ravel_pytree(own)[0], atol=1e-3)


def test_labels_of_mimo_that_are_not_one_hot_are_refused():
    with pytest.raises(ValueError, match=r"one-hot labels, shape \(N, K\)"):
        ref.train_mimo(
            ref.mimo_loss,
            ref.init_network(jax.random.key(0), (4, 5, 4)),
            jnp.zeros((6, 2)),
            jnp.zeros(6, int),
            members=2,
            repetition=0.0,
            weight_decay=0.0,
            key=jax.random.key(1),
            steps=2,
            rate=0.01,
        )


# --- figures --------------------------------------------------------------------------


def test_every_method_has_a_colour_and_a_marker_of_its_own():
    from studies.which_method.methods import METHODS

    assert list(plots.METHODS) == list(METHODS)
    colours, markers = zip(*plots.METHODS.values(), strict=True)
    assert len(set(colours)) == len(set(markers)) == len(METHODS)


def test_a_method_without_numbers_keeps_an_empty_row():
    fig, ax = plt.subplots()
    values = {"MAP": (0.1, 0.0, 0.2), "MIMO": (np.nan, np.nan, np.nan)}
    assert plots.method_intervals(values, xlabel="x", reference=0.0, ax=ax) is ax
    assert [text.get_text() for text in ax.get_yticklabels()] == ["MAP", "MIMO"]
    assert len(ax.lines) == 3  # an interval, a dot and the reference
    plt.close(fig)


@pytest.mark.parametrize(("middle", "text"), [(3.0, "3.00 →"), (-3.0, "← −3.00")])
def test_a_method_that_is_far_outside_does_not_widen_the_axis(middle, text):
    fig, ax = plt.subplots()
    far = (middle, middle - 1, middle + 1)
    values = {"MAP": (0.1, 0.0, 0.2), "MIMO": far}
    plots.method_intervals(values, xlabel="x", outside="MIMO", ax=ax)
    assert [found.get_text() for found in ax.texts] == [text]
    assert ax.get_xlim()[1] - ax.get_xlim()[0] < 1
    plots.method_intervals(
        {"MAP": (0.1, 0.0, 4.0), "MIMO": (abs(middle), 0, 5)},
        xlabel="x",
        outside="MIMO",
        ax=ax,
    )
    assert len(ax.texts) == 1
    plt.close(fig)
