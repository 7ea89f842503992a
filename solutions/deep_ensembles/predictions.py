"""Predictions: moments of a mixture, and what its members know."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array
from jax.scipy.special import logsumexp, xlogy


def gaussian_mixture_moments(means: Array, stds: Array) -> tuple[Array, Array]:
    """Mean and variance of a uniform mixture of M Gaussians.

    Args:
        means: the members' means µₘ, shape (M, N).
        stds: the members' standard deviations σₘ, shape (M, N).

    Returns:
        The mixture's mean, shape (N,), and its variance, shape (N,).

    Source: Lakshminarayanan et al. (2017), section 2.4.
    """
    # Means of a thousand and spreads of a hundredth are allowed:
    # what is E[y²] − E[y]² then?
    ### BEGIN SOLUTION
    mean = jnp.mean(means, axis=0)
    within = jnp.mean(stds**2, axis=0)
    between = jnp.mean((means - mean) ** 2, axis=0)
    return mean, within + between
    ### END SOLUTION


def laplace_mixture_moments(means: Array, scales: Array) -> tuple[Array, Array]:
    """Mean and variance of a uniform mixture of M Laplace distributions.

    Args:
        means: the members' means µₘ, shape (M, N).
        scales: the members' scales bₘ, shape (M, N).

    Returns:
        The mixture's mean, shape (N,), and its variance, shape (N,).
    """
    ### BEGIN SOLUTION
    mean = jnp.mean(means, axis=0)
    within = jnp.mean(2 * scales**2, axis=0)
    between = jnp.mean((means - mean) ** 2, axis=0)
    return mean, within + between
    ### END SOLUTION


def ensemble_log_probs(logits: Array) -> Array:
    """The log-probabilities of a uniform mixture of M categorical distributions.

    Args:
        logits: the members' logits, shape (M, N, K).

    Returns:
        log(1/M Σₘ pₘ(y | x)), shape (N, K).

    Source: Lakshminarayanan et al. (2017), section 2.4.
    """
    # logsumexp adds probabilities that are given by their logarithms.
    ### BEGIN SOLUTION
    members = logits.shape[0]
    log_probs = jax.nn.log_softmax(logits, axis=-1)
    return logsumexp(log_probs, axis=0) - jnp.log(members)
    ### END SOLUTION


def entropy(probs: Array) -> Array:
    """Shannon entropy H(p) = −Σₖ pₖ log pₖ, in nats.

    Args:
        probs: probabilities, shape (…, K); zeros are allowed.

    Returns:
        Entropies, shape (…).

    Source: Shannon (1948), section 6.
    """
    # What is 0 log 0? Look at jax.scipy.special.xlogy.
    ### BEGIN SOLUTION
    return -jnp.sum(xlogy(probs, probs), axis=-1)
    ### END SOLUTION


def knowledge_uncertainty(probs: Array) -> Array:
    """How far the members disagree, in nats.

    It is their multi-distribution Jensen–Shannon divergence.

    Args:
        probs: the members' probabilities, shape (M, N, K).

    Returns:
        H(1/M Σₘ pₘ) − 1/M Σₘ H(pₘ), shape (N,): total less data uncertainty.

    Source: Malinin, Mlodozeniec and Gales (2020).
    """
    ### BEGIN SOLUTION
    total = entropy(jnp.mean(probs, axis=0))
    data = jnp.mean(entropy(probs), axis=0)
    return total - data
    ### END SOLUTION
