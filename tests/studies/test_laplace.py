"""Laplace approximations of linearised networks, against automatic differentiation."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from solutions.deep_ensembles import categorical_nll, gaussian_nll, heads, init_mlp, mlp
from studies import laplace


@pytest.mark.parametrize("outputs", [2, 3])
def test_the_gauss_newton_matrix_is_the_hessian_of_the_linearised_network(outputs):
    """Two outputs: the expected NLL of a Gaussian; three: the NLL of a softmax."""
    rng, regression = np.random.default_rng(5), outputs == 2
    params = init_mlp(jax.random.key(0), (2, 4, outputs), 1.0)
    x = jnp.asarray(rng.normal(size=(20, 2)), jnp.float32)
    flat, unflatten = ravel_pytree(params)
    jacobian = jax.jit(jax.jacobian(lambda w: mlp(unflatten(w), x)))(flat)
    now = mlp(params, x)

    def nll(deviation):
        outputs = now + jacobian @ deviation
        if not regression:
            return categorical_nll(outputs, jax.nn.one_hot(jnp.arange(20) % 3, 3)).sum()
        (mean, std), (true, spread) = heads(outputs), heads(now)
        apart = (spread**2 + (mean - true) ** 2) / (2 * std**2)
        return jnp.sum(gaussian_nll(mean, std, mean) + apart)

    hessian = jax.jit(jax.hessian(nll))(jnp.zeros_like(flat))
    ours = laplace.gauss_newton(params, x, regression=regression)
    np.testing.assert_allclose(ours, hessian, rtol=1e-3, atol=1e-3)
    drawn = laplace.posterior_draws(ours, 0.5, 100_000, seed=1)
    covariance = np.linalg.inv(ours + 4 * np.eye(len(flat)))
    np.testing.assert_allclose(np.cov(drawn.T), covariance, atol=0.004)
    some = jnp.asarray(drawn[:3], jnp.float32)
    np.testing.assert_allclose(
        laplace.linearised(params, some, x),
        now + jnp.einsum("nop,sp->sno", jacobian, some),
        atol=1e-4,
    )
