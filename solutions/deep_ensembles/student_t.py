"""A likelihood with heavy tails: Student's t."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array
from jax.scipy.special import gammaln


def student_t_nll(location: Array, scale: Array, df: float, y: Array) -> Array:
    """−log St(y | location, scale, ν), one value per data point.

    Args:
        location: locations µ, shape (N,).
        scale: scales s > 0, shape (N,). The variance is s²ν/(ν − 2), for ν > 2.
        df: degrees of freedom ν > 0.
        y: targets, shape (N,).

    Returns:
        Negative log-likelihoods in nats, shape (N,).

    Source: Murphy, Probabilistic Machine Learning: An Introduction (2022),
    section 2.7.1.
    """
    # gammaln is log Γ. Near the centre, log1p keeps what 1 + z²/ν would round away.
    ### BEGIN SOLUTION
    z = (y - location) / scale
    log_normaliser = (
        gammaln((df + 1) / 2)
        - gammaln(df / 2)
        - 0.5 * jnp.log(df * jnp.pi)
        - jnp.log(scale)
    )
    return (df + 1) / 2 * jnp.log1p(z**2 / df) - log_normaliser
    ### END SOLUTION
