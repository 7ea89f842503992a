"""Bayesian linear regression: posterior, predictive distribution and evidence, all exact.

Rows of ``features`` are the features φ(xₙ) of single inputs. Matrices are symmetric and
positive definite, so equations are solved by Cholesky factors; nothing is inverted.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array
from jax.scipy.linalg import cho_solve, solve_triangular


def weight_posterior(
    features: Array, y: Array, noise_std: float, prior_variance: float
) -> tuple[Array, Array]:
    """Mean and precision matrix of p(w | D) = N(w | µ, Σ), with Σ⁻¹ = ΦᵀΦ/τ² + I/σ₀².

    Args:
        features: Φ, one row for each data point, shape (N, D).
        y: targets, shape (N,).
        noise_std: the standard deviation τ of the noise.
        prior_variance: σ₀² of the prior N(0, σ₀²) of each weight.

    Returns:
        µ = ΣΦᵀy/τ², shape (D,), and Σ⁻¹, shape (D, D).

    Source: Bishop (2006), equations 3.53 and 3.54.
    """
    # With a lower Cholesky factor L of A, cho_solve((L, True), b) solves A z = b.
    ### BEGIN SOLUTION
    identity = jnp.eye(features.shape[1])
    precision = features.T @ features / noise_std**2 + identity / prior_variance
    factor = jnp.linalg.cholesky(precision)
    return cho_solve((factor, True), features.T @ y / noise_std**2), precision
    ### END SOLUTION


def linear_predictive(
    mean: Array, precision: Array, features: Array, noise_std: float
) -> tuple[Array, Array]:
    """Mean and variance of p(y* | x*, D), the noise included, for each new input.

    Args:
        mean: µ, the posterior mean of the weights, shape (D,).
        precision: Σ⁻¹, the posterior precision of the weights, shape (D, D).
        features: φ(x*) of the new inputs, shape (N, D).
        noise_std: the standard deviation τ of the noise.

    Returns:
        φᵀµ and τ² + φᵀΣφ, shape (N,) each.

    Source: Bishop (2006), equations 3.58 and 3.59.
    """
    # With Σ⁻¹ = LLᵀ, the quadratic form φᵀΣφ is the squared norm of L⁻¹φ,
    # and solve_triangular(L, b, lower=True) solves L z = b.
    ### BEGIN SOLUTION
    factor = jnp.linalg.cholesky(precision)
    whitened = solve_triangular(factor, features.T, lower=True)
    return features @ mean, noise_std**2 + jnp.sum(whitened**2, axis=0)
    ### END SOLUTION


def log_evidence(
    features: Array, y: Array, noise_std: float, prior_variance: float
) -> Array:
    """log p(y), with the weights integrated out: y ~ N(0, C) with C = σ₀²ΦΦᵀ + τ²I.

    Args:
        features: Φ, one row for each data point, shape (N, D).
        y: targets, shape (N,).
        noise_std: the standard deviation τ of the noise.
        prior_variance: σ₀² of the prior N(0, σ₀²) of each weight.

    Returns:
        A scalar, in nats, with the right gradient with respect to Φ.

    Source: Bishop (2006), equation 3.86, in the space of the data.
    """
    # With C = LLᵀ, log det C is twice the sum of the logarithms of L's diagonal.
    ### BEGIN SOLUTION
    identity = jnp.eye(len(y))
    covariance = prior_variance * features @ features.T + noise_std**2 * identity
    factor = jnp.linalg.cholesky(covariance)
    whitened = solve_triangular(factor, y, lower=True)
    log_det = 2 * jnp.sum(jnp.log(jnp.diag(factor)))
    return -0.5 * (whitened @ whitened + log_det + len(y) * jnp.log(2 * jnp.pi))
    ### END SOLUTION
