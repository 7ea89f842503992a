"""The warm-up's reference solutions, and statements of its pages, against other libraries."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.integrate
import scipy.special
import scipy.stats
import torch

from solutions import warm_up as ref

# Raised by torch.func's own code on first use.
OWN_WARNING = "ignore:`torch.jit.script` is deprecated:DeprecationWarning"


@pytest.fixture
def rng():
    return np.random.default_rng(12)


@pytest.fixture
def double():
    """Use double precision in JAX for this test only."""
    with jax.enable_x64(True):
        yield


# --- the solutions --------------------------------------------------------------------


@pytest.mark.usefixtures("double")
def test_the_divergence_agrees_with_torch_and_is_zero_only_for_equals(rng):
    p, q = rng.dirichlet(np.ones(5), (2, 200))
    theirs = torch.distributions.kl_divergence(
        torch.distributions.Categorical(torch.tensor(p)),
        torch.distributions.Categorical(torch.tensor(q)),
    )
    ours = ref.kl_categorical(jnp.log(p), jnp.log(q))
    np.testing.assert_allclose(ours, theirs, rtol=1e-10)
    assert np.all(ours > 0)
    np.testing.assert_allclose(ref.kl_categorical(jnp.log(p), jnp.log(p)), 0, atol=0)


@pytest.mark.usefixtures("double")
def test_the_log_normal_is_a_density_and_agrees_with_torch(rng):
    y, mean = rng.uniform(0.01, 20, 300), rng.normal(0, 2, 300)
    std = rng.uniform(0.1, 3, 300)
    theirs = torch.distributions.LogNormal(torch.tensor(mean), torch.tensor(std))
    ours = ref.log_normal_log_density(jnp.asarray(y), mean, std)
    np.testing.assert_allclose(ours, theirs.log_prob(torch.tensor(y)), rtol=1e-10)
    area, _ = scipy.integrate.quad(
        lambda at: float(jnp.exp(ref.log_normal_log_density(at, 0.3, 0.8))), 0, 60
    )
    assert abs(area - 1) < 1e-4


@pytest.mark.usefixtures("double")
def test_the_curvature_is_the_hessian_of_the_nll(rng):
    w, x = rng.normal(0, 0.5, 4), rng.normal(0, 1, (30, 4))
    y = rng.poisson(2, 30).astype(float)
    by_machine = jax.hessian(ref.poisson_nll)(w, x, y)
    np.testing.assert_allclose(ref.curvature(w, x, y), by_machine, rtol=1e-10)
    counts = scipy.stats.poisson.logpmf(y, np.exp(x @ w)).sum()
    constant = scipy.stats.poisson.logpmf(y, 1.0).sum() + len(y)
    np.testing.assert_allclose(ref.poisson_nll(w, x, y), constant - counts, rtol=1e-10)


def test_squared_errors_keep_one_number_for_each_datum(rng):
    prediction, y = rng.normal(0, 1, (7, 1)), rng.normal(0, 1, 7)
    ours = ref.squared_errors(prediction, y)
    assert ours.shape == (7,)
    np.testing.assert_allclose(ours, (prediction.ravel() - y) ** 2, rtol=1e-6)


@pytest.mark.usefixtures("double")
def test_per_example_gradients_agree_with_a_loop_in_torch(rng):
    params, x, y = rng.normal(0, 1, 3), rng.normal(0, 1, (6, 3)), rng.normal(0, 1, 6)

    def loss(params, x, y):
        return jnp.log1p(jnp.exp(x @ params)) - y * jnp.tanh(x @ params)

    by_params, by_x = ref.per_example_gradients(loss, params, x, y)
    for index in range(6):
        w = torch.tensor(params, requires_grad=True)
        at = torch.tensor(x[index], requires_grad=True)
        out = torch.log1p(torch.exp(at @ w)) - y[index] * torch.tanh(at @ w)
        out.backward()
        np.testing.assert_allclose(by_params[index], w.grad, rtol=1e-10)
        np.testing.assert_allclose(by_x[index], at.grad, rtol=1e-10)


def test_rounding_passes_its_gradient_through():
    x = jnp.array([-1.7, -0.2, 0.4, 2.6])
    np.testing.assert_allclose(ref.rounded(x), [-2, 0, 0, 3], atol=1e-6)
    gradient = jax.grad(lambda x: jnp.sum(ref.rounded(x) ** 2))(x)
    np.testing.assert_allclose(gradient, [-4, 0, 0, 6], atol=1e-5)


def test_the_log_of_a_mean_survives_underflow():
    log_probs = jnp.array([[-1000.0], [-1000.0], [-2000.0]])
    np.testing.assert_allclose(
        ref.log_mean_exp(log_probs), [-1000 + np.log(2 / 3)], rtol=1e-6
    )


@pytest.mark.usefixtures("double")
def test_the_minibatch_objective_is_unbiased(rng):
    nll, kl, size = rng.uniform(0, 3, 60), 7.3, 12
    for _ in range(5):  # whole epochs, in any order
        batches = rng.permutation(nll).reshape(-1, size)
        estimates = [ref.minibatch_objective(batch, kl, len(nll)) for batch in batches]
        np.testing.assert_allclose(np.mean(estimates), nll.sum() + kl, rtol=1e-12)


def test_the_weight_decay_has_the_posteriors_mode(rng):
    x, prior_variance, noise = rng.normal(0, 1, (40, 3)), 0.3, 1.5
    y = x @ rng.normal(0, 1, 3) + rng.normal(0, noise, 40)
    decay = ref.weight_decay_of(prior_variance, 40)
    precision = x.T @ x / noise**2 + np.eye(3) / prior_variance
    mode = np.linalg.solve(precision, x.T @ y / noise**2)
    gradient = x.T @ (x @ mode - y) / noise**2 / 40 + decay * mode
    np.testing.assert_allclose(gradient, 0, atol=1e-12)


# --- statements of the pages ----------------------------------------------------------


def cubic(a, b):
    """Compute a function that works in both frameworks."""
    return (a**3 * b).sum()


@pytest.mark.filterwarnings(OWN_WARNING)
@pytest.mark.usefixtures("double")
def test_the_table_of_pytorchs_names_is_right(rng):
    a, b = rng.normal(0, 1, 3), rng.normal(0, 1, 3)
    at, bt = torch.tensor(a), torch.tensor(b)
    np.testing.assert_allclose(
        jax.grad(cubic)(a, b), torch.func.grad(cubic)(at, bt), rtol=1e-12
    )
    gradient, value = torch.func.grad_and_value(cubic)(at, bt)
    theirs, right = jax.value_and_grad(cubic)(a, b)
    np.testing.assert_allclose(value, theirs, rtol=1e-12)
    np.testing.assert_allclose(gradient, right, rtol=1e-12)
    np.testing.assert_allclose(
        jax.grad(cubic, argnums=1)(a, b),
        torch.func.grad(cubic, argnums=1)(at, bt),
        rtol=1e-12,
    )
    np.testing.assert_allclose(
        jax.hessian(cubic)(a, b), torch.func.hessian(cubic)(at, bt), rtol=1e-12
    )
    rows = np.stack([b, 2 * b])
    np.testing.assert_allclose(
        jax.vmap(cubic, in_axes=(None, 0))(a, rows),
        torch.func.vmap(cubic, in_dims=(None, 0))(at, torch.tensor(rows)),
        rtol=1e-12,
    )
    leaf = at.clone().requires_grad_()
    (by_autograd,) = torch.autograd.grad(cubic(leaf, bt), leaf)
    cubic(leaf, bt).backward()
    np.testing.assert_allclose(by_autograd, right, rtol=1e-12)
    np.testing.assert_allclose(leaf.grad, right, rtol=1e-12)


def test_backward_adds_to_what_is_there():
    w = torch.tensor(3.0, requires_grad=True)
    for _ in range(2):
        loss = w**2
        loss.backward()
    assert w.grad == 12


@pytest.mark.parametrize("optimiser", [torch.optim.SGD, torch.optim.Adam])
def test_torchs_weight_decay_is_half_the_square(optimiser):
    """The optimiser takes the same steps as with λ/2 ‖w‖² in the loss."""
    ends = []
    for in_loss in (True, False):
        w = torch.tensor([1.0, -2.0], dtype=torch.float64, requires_grad=True)
        stepper = optimiser([w], lr=0.1, weight_decay=0.0 if in_loss else 0.3)
        for _ in range(5):
            stepper.zero_grad()
            loss = ((w - 3) ** 4).mean() * 0.01
            if in_loss:
                loss = loss + 0.3 / 2 * (w**2).sum()
            loss.backward()
            stepper.step()
        ends.append(w.detach().numpy())
    np.testing.assert_allclose(*ends, rtol=1e-12)


@pytest.mark.parametrize("ratio", [0.005, 0.1, 1.0, 3.0])
def test_a_wrong_factor_is_a_power_of_the_likelihood(ratio):
    """Minimises over distributions on a grid, with a non-Gaussian likelihood."""
    grid = np.linspace(-4, 4, 201)
    log_prior = scipy.stats.norm.logpdf(grid)
    log_prior -= scipy.special.logsumexp(log_prior)
    nll = sum(np.log1p(np.exp(-sign * grid)) for sign in (1, 1, -1, 1))
    claimed = scipy.special.softmax(log_prior - ratio * nll)

    def objective(q):
        return ratio * q @ nll + scipy.special.rel_entr(q, np.exp(log_prior)).sum()

    best = objective(claimed)
    assert abs(best + scipy.special.logsumexp(log_prior - ratio * nll)) < 1e-12
    rng = np.random.default_rng(0)
    for _ in range(50):
        other = claimed * np.exp(rng.normal(0, 0.1, len(grid)))
        assert objective(other / other.sum()) > best
