"""Likelihoods: negative log densities."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array


def gaussian_nll(mean: Array, std: Array, y: Array) -> Array:
    """−log N(y | µ, σ²), one value per data point.

    Args:
        mean: means µ, shape (N,).
        std: standard deviations σ > 0, shape (N,).
        y: targets, shape (N,).

    Returns:
        Negative log-likelihoods in nats, shape (N,).

    Source: Lakshminarayanan et al. (2017), equation 1.
    """
    ### BEGIN SOLUTION
    return 0.5 * jnp.log(2 * jnp.pi) + jnp.log(std) + 0.5 * ((y - mean) / std) ** 2
    ### END SOLUTION


def laplace_nll(mean: Array, scale: Array, y: Array) -> Array:
    """−log Laplace(y | µ, b), one value per data point.

    Args:
        mean: means µ, shape (N,).
        scale: scales b > 0, shape (N,). The variance is 2b².
        y: targets, shape (N,).

    Returns:
        Negative log-likelihoods in nats, shape (N,).
    """
    ### BEGIN SOLUTION
    return jnp.log(2 * scale) + jnp.abs(y - mean) / scale
    ### END SOLUTION


def categorical_nll(logits: Array, targets: Array) -> Array:
    """−log p(y), one value per data point, from logits.

    Args:
        logits: unnormalised log-probabilities, shape (N, K).
        targets: one-hot labels, shape (N, K).

    Returns:
        Negative log-likelihoods in nats, shape (N,).
    """
    # Logits of a thousand are allowed: exponentiate nothing yourself.
    ### BEGIN SOLUTION
    log_probs = jax.nn.log_softmax(logits, axis=-1)
    return -jnp.sum(targets * log_probs, axis=-1)
    ### END SOLUTION
