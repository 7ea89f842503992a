"""Bayesian linear regression with unknown noise: the predictive distribution is a Student t."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from solutions.warm_up.linear_regression import linear_predictive, weight_posterior


def student_t_predictive(
    features: Array,
    y: Array,
    features_new: Array,
    *,
    ratio: float,
    shape: float,
    rate: float,
) -> tuple[float, Array, Array]:
    """Degrees of freedom, location and scale of p(y* | x*, D) when τ is unknown.

    The prior is 1/τ² ~ Gamma(a₀, b₀), and w ~ N(0, τ²r I) given τ.

    Args:
        features: Φ, one row for each data point, shape (N, D).
        y: targets, shape (N,).
        features_new: φ(x*) of the new inputs, shape (N', D).
        ratio: r, the prior variance of each weight in units of the noise variance.
        shape: a₀ of the Gamma prior.
        rate: b₀ of the Gamma prior.

    Returns:
        A Student-t distribution for each new input: its degrees of freedom, a number,
        and its location and scale, of shape (N',) each.

    Source: Bishop (2006), exercises 3.12 and 3.13.
    """
    # weight_posterior with noise_std 1 and prior_variance r gives the mean and the
    # precision of the weights in units of the noise; the variance is b/a times that.
    ### BEGIN SOLUTION
    mean, precision = weight_posterior(features, y, 1.0, ratio)
    a = shape + len(y) / 2
    b = rate + 0.5 * (y @ y - mean @ precision @ mean)
    location, variance = linear_predictive(mean, precision, features_new, 1.0)
    return 2 * a, location, jnp.sqrt(b / a * variance)
    ### END SOLUTION
