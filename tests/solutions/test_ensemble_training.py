"""Initialisation, training options and scores of a deep ensemble, as a new user meets them."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
import torch
from jax.tree_util import Partial
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import StandardScaler

from course import data
from solutions import deep_ensembles as ref


def problem(members=4, n=40, **options):
    train = data.cubic(seed=0, n=n)
    x, y = (train.x - train.x.mean()) / train.x.std(), train.y / train.y.std()
    params = ref.init_ensemble(jax.random.key(0), [1, 20, 2], members, **options)
    return params, jnp.asarray(x), jnp.asarray(y)


def fit(params, x, y, loss=ref.gaussian_loss, steps=40, rate=0.01, **options):
    key = jax.random.key(1)
    return ref.train_ensemble(
        loss, params, x, y, key=key, steps=steps, rate=rate, **options
    )


# --- initialisation -------------------------------------------------------------------


def test_spreads_start_near_the_spread_of_standardised_targets():
    """He's scale in the last layer makes first losses of thousands; a tenth of it none."""
    losses = {}
    for scale in (1.0, 0.1):
        found = []
        for seed in range(10):
            train = data.cubic(seed=seed)
            x = (train.x - train.x.mean()) / train.x.std()
            y = (train.y - train.y.mean()) / train.y.std()
            key = jax.random.key(seed)
            params = ref.init_ensemble(key, (1, 50, 2), 20, output_scale=scale)
            found.append(jax.vmap(ref.gaussian_loss, (0, None, None))(params, x, y))
            _, std = jax.vmap(lambda p, x=x: ref.heads(ref.mlp(p, x)))(params)
            assert (scale == 1) == (std.min() < 0.2)
        losses[scale] = np.ravel(found)
    assert np.quantile(losses[1.0], 0.9) > 100
    assert losses[0.1].max() < 10
    default = ref.init_ensemble(jax.random.key(0), (1, 50, 2), 20)
    small = ref.init_ensemble(jax.random.key(0), [1, 50, 2], 20, 0.1)
    jax.tree.map(np.testing.assert_array_equal, default, small)


def test_each_output_may_have_a_scale_of_its_own():
    one, other = (
        ref.init_mlp(jax.random.key(0), (3, 9, 2), scale)[-1][0]
        for scale in (1.0, (1.0, 0.1))
    )
    np.testing.assert_allclose(other, one * np.array([1.0, 0.1]), rtol=1e-6)


# --- training -------------------------------------------------------------------------


def test_new_data_rates_and_epsilons_do_not_compile_again():
    def loss(strength, params, x, y):
        return ref.gaussian_loss(params, x, y) + ref.weight_decay(params, strength)

    params, x, y = problem()
    for make in (
        lambda v: Partial(loss, v),
        lambda v: ref.quick_adversarial_loss(loss_, v),
    ):
        loss_ = ref.gaussian_loss
        fit(params, x, y, make(0.1))
        before = ref.train_members._cache_size()
        first = fit(params, x, y, make(0.1))
        other = fit(params, x, y, make(0.2))
        assert np.all(first.losses[:, 1:] != other.losses[:, 1:])
        fit(params, x + 1, y, make(0.1), rate=0.02, b1=0.8, b2=0.9, eps=1e-6)
        assert ref.train_members._cache_size() == before


def test_adam_and_its_schedule_are_arguments():
    params, x, y = problem(members=1)

    def schedule(step):
        return 0.02 / (1 + step)

    trained = fit(params, x, y, rate=schedule, b1=0.8, b2=0.9, eps=1e-3)
    optimiser = optax.adam(schedule, 0.8, 0.9, 1e-3)
    own = jax.tree.map(lambda leaf: leaf[0], params)
    state = optimiser.init(own)
    for _ in range(40):
        gradient = jax.grad(ref.gaussian_loss)(own, x, y)
        update, state = optimiser.update(gradient, state)
        own = optax.apply_updates(own, update)
    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(a[0], b, rtol=1e-3, atol=1e-4),
        trained.params,
        own,
    )


@pytest.mark.parametrize("size", [1, 7, 40])
def test_without_replacement_each_row_comes_once_an_epoch(size):
    rows = ref.draw_batches(jax.random.key(0), 40, 80, size, replace=False)
    assert rows.shape == (80, size)
    whole = np.ravel(rows)[: 80 * size // 40 * 40].reshape(-1, 40)
    np.testing.assert_array_equal(np.sort(whole, axis=1), [np.arange(40)] * len(whole))
    assert size == 1 or not np.array_equal(whole[0], whole[1])
    drawn = ref.draw_batches(jax.random.key(0), 40, 80, size, replace=True)
    assert drawn.shape == (80, size)
    counts = np.bincount(np.ravel(drawn)[:40], minlength=40)
    assert counts.max() > 1


@pytest.mark.parametrize("options", [{"batch_size": 8}, {"bootstrap": True}])
def test_each_member_sees_random_rows_with_their_targets(options):
    """A member's loss is the mean of its inputs, unless a target is not that of its input."""

    def loss(params, x, y):
        return x.mean() + 1e6 * jnp.abs(y - x[:, 0]).max()

    params, x, _ = problem(members=200)
    means = fit(params, x, x[:, 0], loss, steps=1, **options).losses
    error = float(x.std()) / options.get("batch_size", len(x)) ** 0.5
    assert abs(means.mean() - x.mean()) < 6 * error / 200**0.5
    assert abs(means.std() / error - 1) < 6 / 400**0.5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": "column"}, r"shape \(40, 1\).*pass y\[:, 0\]"),
        ({"y": "short"}, "x has 40 rows, y has 39"),
        ({"batch_size": 41}, "batch_size = 41 is not from 1 to N = 40"),
        ({"batch_size": 0}, "batch_size = 0"),
        ({"validation": "column"}, r"shape \(40, 1\)"),
    ],
)
def test_bad_arguments_are_refused(change, message):
    params, x, y = problem()
    targets = {"column": y[:, None], "short": y[1:]}
    y = targets.get(change.get("y"), y)
    options = {k: v for k, v in change.items() if k != "y"}
    if "validation" in options:
        options |= {"validation": (x, targets["column"]), "every": 10}
    with pytest.raises(ValueError, match=message):
        fit(params, x, y, **options)


@pytest.mark.parametrize("shape", [(8,), (8, 2)])
def test_labels_that_are_not_one_hot_are_refused(shape):
    """Eight of eight classes as well, which would broadcast."""
    params = ref.init_ensemble(jax.random.key(0), (1, 5, 8), members=2)
    with pytest.raises(ValueError, match=r"one-hot labels, shape \(N, 8\)"):
        ref.train_ensemble(
            ref.categorical_loss,
            params,
            jnp.zeros((8, 1)),
            jnp.zeros(shape, int),
            key=jax.random.key(0),
            steps=2,
            rate=0.01,
        )


def test_early_stopping_keeps_the_best_of_the_validation_curve():
    params, x, y = problem()
    new = data.cubic(seed=1)
    validation = new.x / new.x.std(), jnp.asarray(new.y / new.y.std())
    options = {"steps": 600, "every": 20, "validation": validation}
    stopped = fit(params, x, y, **options)
    curve = np.asarray(stopped.validation)
    assert curve.shape == (4, 30)
    best = curve.argmin(1)
    assert np.all(best < 29)  # they overfit
    for member, at in enumerate(best):
        jax.tree.map(
            lambda kept, all_, m=member, at=at: np.testing.assert_array_equal(
                kept[m], all_[m, at]
            ),
            stopped.params,
            stopped.history,
        )
        own = jax.tree.map(lambda leaf, m=member: leaf[m], stopped.params)
        loss = ref.gaussian_loss(own, *validation)
        np.testing.assert_allclose(loss, curve[member, at], rtol=1e-4)
    plain = fit(params, x, y, steps=600, every=20)
    np.testing.assert_allclose(plain.losses, stopped.losses, rtol=1e-3, atol=1e-4)


def test_a_stochastic_loss_gets_a_new_key_in_every_step_and_member():
    def loss(params, x, y, key):
        return jax.random.uniform(key) + 0 * ref.gaussian_loss(params, x, y)

    drawn = fit(*problem(), loss, stochastic=True, every=10).losses
    assert len(np.unique(drawn)) == 4 * 40


# --- predictions and scores -----------------------------------------------------------


def test_scores_agree_with_torch():
    rng = np.random.default_rng(0)
    means, stds = rng.normal(0, 3, (5, 300)), rng.uniform(0.5, 4, (5, 300))
    y = rng.normal(0, 4, 300)
    weights = torch.distributions.Categorical(torch.ones(300, 5, dtype=torch.float64))
    members = torch.distributions.Normal(torch.tensor(means.T), torch.tensor(stds.T))
    mixture = torch.distributions.MixtureSameFamily(weights, members)
    target = torch.tensor(y)
    scores = ref.regression_scores(means, stds, y, level=0.5)
    np.testing.assert_allclose(scores.nll, -mixture.log_prob(target).mean(), rtol=1e-12)
    squares = (mixture.mean - target).square().mean()
    np.testing.assert_allclose(scores.rmse, squares.sqrt(), rtol=1e-12)
    at = mixture.cdf(target)
    inside = ((at >= 0.25) & (at <= 0.75)).double().mean()
    np.testing.assert_allclose(scores.coverage, inside)
    with pytest.raises(ValueError, match=r"\(300, 1\)"):
        ref.regression_scores(means, stds, y[:, None])


def test_a_new_user_fits_the_diabetes_data():
    """From the docstrings alone; predictions and scores are in the unit of the targets."""
    x, y = load_diabetes(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(x))
    train, test = order[:342], order[342:]
    x_scaler = StandardScaler().fit(x[train])
    y_scaler = StandardScaler().fit(y[train, None])
    fitted = ref.train_ensemble(
        ref.gaussian_loss,
        ref.init_ensemble(jax.random.key(0), [10, 50, 2], 5),
        x_scaler.transform(x[train]),
        y_scaler.transform(y[train, None])[:, 0],
        key=jax.random.key(1),
        steps=140,
        rate=0.003,
        batch_size=100,
    )
    means, stds = ref.predict_ensemble(fitted.params, x[test], x_scaler, y_scaler)
    assert means.shape == stds.shape == (5, 100)
    scores = ref.regression_scores(means, stds, y[test])
    assert scores.rmse < 0.8 * y[test].std()
    assert scores.nll < 5.6
    assert 0.78 < scores.coverage < 1
    raw = ref.predict_ensemble(fitted.params, x_scaler.transform(x[test]))
    for part, own, shift in zip((means, stds), raw, (y_scaler.mean_, 0), strict=True):
        np.testing.assert_allclose(part, own * y_scaler.scale_ + shift, rtol=1e-5)


def test_the_outputs_of_a_classification_are_no_means_and_spreads():
    params = ref.init_ensemble(jax.random.key(0), (4, 8, 3), members=2)
    with pytest.raises(ValueError, match="3 outputs"):
        ref.predict_ensemble(params, np.zeros((5, 4)))
