"""Divergences, changes of variables, and means of probabilities."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array
from jax.scipy.special import logsumexp


def kl_categorical(log_p: Array, log_q: Array) -> Array:
    """KL(p‖q) = Σₖ pₖ (log pₖ − log qₖ), from log-probabilities.

    Args:
        log_p: logarithms of the probabilities p, shape (N, K).
        log_q: logarithms of the probabilities q, shape (N, K).

    Returns:
        Divergences in nats, shape (N,).

    Source: Kullback and Leibler (1951), section 2.
    """
    # The logarithms are given: take none of your own.
    ### BEGIN SOLUTION
    return jnp.sum(jnp.exp(log_p) * (log_p - log_q), axis=-1)
    ### END SOLUTION


def log_normal_log_density(y: Array, mean: Array, std: Array) -> Array:
    """log p(y) where y = exp(z) and z ~ N(µ, σ²): the density of y, not that of z.

    Args:
        y: where to evaluate it, positive, shape (N,).
        mean: means µ of z, shape (N,).
        std: standard deviations σ > 0 of z, shape (N,).

    Returns:
        Log-densities in nats, shape (N,).
    """
    # log N(z | µ, σ²) is jax.scipy.stats.norm.logpdf(z, mean, std).
    ### BEGIN SOLUTION
    z = jnp.log(y)
    log_det = z  # log |dy/dz|, for dy/dz = exp(z)
    return jax.scipy.stats.norm.logpdf(z, mean, std) - log_det
    ### END SOLUTION


def log_mean_exp(log_probs: Array) -> Array:
    """log (1/S) Σₛ pₛ: the logarithm of a mean of probabilities, from their logarithms.

    Args:
        log_probs: log-probabilities of N data points under S draws, shape (S, N).

    Returns:
        Log-probabilities in nats, shape (N,).
    """
    ### BEGIN SOLUTION
    return logsumexp(log_probs, axis=0) - jnp.log(len(log_probs))
    ### END SOLUTION
