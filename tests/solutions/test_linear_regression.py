"""Lab 0b's reference solutions and statements of its page, against scikit-learn and SciPy."""

import re
from pathlib import Path

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
import pytest
import scipy.integrate
import scipy.stats
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.linear_model import BayesianRidge

from course.plots import views
from solutions import warm_up as ref

BOOK = Path(__file__).parents[2] / "book"
CODE = re.compile(
    r"^```\{code-cell\} ipython3\n(?:---\n.*?^---\n|:tags.*?\n)?(.*?)^```$", re.M | re.S
)


@pytest.fixture(autouse=True)
def double():
    """Use double precision in JAX for these tests only."""
    with jax.enable_x64(True):
        yield


@pytest.fixture
def rng():
    return np.random.default_rng(20)


@pytest.fixture
def data(rng):
    """Features, targets and new features, with weights that the data determine."""
    features = rng.normal(0, 1, (40, 5))
    y = features @ rng.normal(0, 2, 5) + rng.normal(0, 0.5, 40)
    return features, y, rng.normal(0, 1, (7, 5))


def ridge(features, y):
    """Return scikit-learn's fit, without hyperpriors, and its hyperparameters."""
    flat = dict.fromkeys(("alpha_1", "alpha_2", "lambda_1", "lambda_2"), 0.0)
    fit = BayesianRidge(
        fit_intercept=False, compute_score=True, tol=1e-12, max_iter=5000, **flat
    ).fit(features, y)
    return fit, (fit.alpha_**-0.5, 1 / fit.lambda_)


def test_posterior_and_predictive_agree_with_bayesian_ridge(data):
    features, y, new = data
    fit, (noise_std, prior_variance) = ridge(features, y)
    mean, precision = ref.weight_posterior(features, y, noise_std, prior_variance)
    np.testing.assert_allclose(mean, fit.coef_, rtol=1e-6)
    np.testing.assert_allclose(np.linalg.inv(precision), fit.sigma_, rtol=1e-6)
    theirs, std = fit.predict(new, return_std=True)
    ours, variance = ref.linear_predictive(mean, precision, new, noise_std)
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)
    np.testing.assert_allclose(jnp.sqrt(variance), std, rtol=1e-6)


def test_the_evidence_is_that_of_bayesian_ridge_which_maximises_it(data):
    features, y, _ = data
    fit, at = ridge(features, y)
    ours = ref.log_evidence(features, y, *at)
    np.testing.assert_allclose(ours, fit.scores_[-1], rtol=1e-6)
    slopes = jax.grad(ref.log_evidence, argnums=(2, 3))(features, y, *at)
    np.testing.assert_allclose(slopes, 0, atol=1e-4)
    for factor in (0.8, 1.25):
        assert ref.log_evidence(features, y, at[0] * factor, at[1]) < ours
        assert ref.log_evidence(features, y, at[0], at[1] * factor) < ours


def test_the_evidence_is_the_product_of_forecasts_in_turn(data):
    features, y, _ = data
    total = 0.0
    for n in range(len(y)):
        posterior = ref.weight_posterior(features[:n], y[:n], 0.5, 2.0)
        mean, variance = ref.linear_predictive(*posterior, features[n : n + 1], 0.5)
        total += scipy.stats.norm.logpdf(y[n], mean[0], variance[0] ** 0.5)
    np.testing.assert_allclose(ref.log_evidence(features, y, 0.5, 2.0), total)


def test_no_log_evidence_exceeds_that_of_noise_at_zero(rng):
    for _ in range(20):
        features, noise_std = rng.normal(0, 1, (6, 3)), rng.uniform(0.1, 2)
        y = features @ rng.normal(0, 1, 3) * rng.uniform(0, 1)
        bound = -len(y) / 2 * np.log(2 * np.pi * noise_std**2)
        assert ref.log_evidence(features, y, noise_std, 1.0) < bound
        gram = features @ features.T
        ours = ref.gp_log_evidence(gram, y, noise_std)
        np.testing.assert_allclose(
            ours, ref.log_evidence(features, y, noise_std, 1.0), rtol=1e-9
        )
    assert ref.forgetful_log_evidence(gram, 0 * y, noise_std) > bound


def test_the_gaussian_process_agrees_with_scikit_learn(rng):
    x, new = rng.uniform(-3, 3, 25), rng.uniform(-4, 4, 60)
    y = np.sin(2 * x) + rng.normal(0, 0.2, 25)
    theirs = GaussianProcessRegressor(
        ConstantKernel(1.7) * RBF(0.8), alpha=0.2**2, optimizer=None
    ).fit(x[:, None], y)

    def kernel(a, b):
        return ref.squared_exponential(a, b, 0.8, 1.7)

    mean, variance = ref.gp_predictive(
        kernel, *map(jnp.asarray, (x, y, new)), noise_std=0.2
    )
    wanted, std = theirs.predict(new[:, None], return_std=True)
    np.testing.assert_allclose(mean, wanted, atol=1e-6)
    np.testing.assert_allclose(variance, std**2 + 0.2**2, atol=1e-6)
    gram = kernel(jnp.asarray(x), jnp.asarray(x))
    evidence = theirs.log_marginal_likelihood_value_
    np.testing.assert_allclose(ref.gp_log_evidence(gram, y, 0.2), evidence, rtol=1e-6)


def test_the_process_of_the_features_inner_products_is_the_linear_model(data):
    features, y, new = data

    def kernel(a, b):
        rows = np.concatenate([features, new])
        return 2.0 * rows[np.asarray(a)] @ rows[np.asarray(b)].T

    seen, unseen = jnp.arange(40), jnp.arange(40, 47)
    by_kernel = ref.gp_predictive(kernel, seen, y, unseen, 0.5)
    posterior = ref.weight_posterior(features, y, 0.5, 2.0)
    by_weights = ref.linear_predictive(*posterior, new, 0.5)
    for one, other in zip(by_kernel, by_weights, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)


def test_inner_products_of_many_features_tend_to_the_kernel(rng):
    x = np.linspace(-2, 2, 9)
    wanted = ref.squared_exponential(x, x, 0.7, 1.0)
    errors = []
    for count in (100, 10_000, 1_000_000):
        draws = rng.normal(0, 1, count), rng.uniform(0, 2 * np.pi, count)
        phi = ref.fourier_features(x, *draws, 0.7)
        errors.append(np.abs(phi @ phi.T - wanted).max())
    assert errors[2] < 0.01
    assert errors[2] < errors[1] < errors[0]


def test_the_student_t_averages_gaussian_forecasts_over_the_noise(data):
    """By numerical integration over the noise's posterior, from evidence times prior."""
    features, y, new = (part[:4] for part in data)
    ratio, shape, rate = 3.0, 2.0, 0.4
    stds = np.geomspace(0.02, 200, 4001)

    @jax.jit
    @jax.vmap
    def forecast(std):
        posterior = ref.weight_posterior(features, y, std, ratio * std**2)
        mean, variance = ref.linear_predictive(*posterior, new[:1], std)
        evidence = ref.log_evidence(features, y, std, ratio * std**2)
        return evidence, mean[0], variance[0]

    evidence, means, variances = forecast(stds)
    prior = scipy.stats.gamma.logpdf(stds**-2, shape, scale=1 / rate)
    log_weights = evidence + prior + np.log(2 * stds**-3)
    weights = np.exp(log_weights - np.max(log_weights))
    total = scipy.integrate.trapezoid(weights, stds)
    df, location, scale = ref.student_t_predictive(
        features, y, new[:1], ratio=ratio, shape=shape, rate=rate
    )
    for at in (-3.0, 0.5, 2.0):
        density = scipy.stats.norm.pdf(at, means, np.sqrt(variances))
        mixed = scipy.integrate.trapezoid(weights * density, stds) / total
        ours = scipy.stats.t.pdf(at, df, location[0], scale[0])
        np.testing.assert_allclose(ours, mixed, rtol=1e-4)


# --- the figure of the first page ------------------------------------------------------


def first_page():
    """Run the first cell of the front page; return its names."""
    code = CODE.search((BOOK / "intro.md").read_text("utf-8"))[1]
    names = {}
    exec(compile(code, "intro.md", "exec"), names)
    return names


def test_the_lab_builds_the_figure_of_the_first_page(monkeypatch):
    """It draws the mean and the standard deviation that lab 0b's ``gp_predictive`` returns."""
    taken = {}

    def live(view, draw, controls, *rest, **more):
        taken.update({one.name: one.start for one in controls if hasattr(one, "stops")})
        taken["draw"] = draw

    monkeypatch.setattr(views, "live", live)
    with plt.rc_context():  # it sets the course's style
        first = first_page()
    length, noise = taken["length"], taken["noise"]
    fig, ax = plt.subplots()
    taken["draw"](ax, length=length, noise=noise)
    grid, mean = ax.lines[0].get_data()
    top = ax.collections[0].get_paths()[0].vertices[:, 1].max()
    plt.close(fig)
    expected, variance = ref.gp_predictive(
        lambda a, b: jnp.exp(-((a[:, None] - b) ** 2) / (2 * length**2)),
        jnp.asarray(first["x"]),
        jnp.asarray(first["y"]),
        jnp.asarray(grid),
        noise,
    )
    np.testing.assert_allclose(mean, expected, atol=1e-3)
    assert abs(top - np.max(expected + 2 * np.sqrt(variance))) < 1e-3
