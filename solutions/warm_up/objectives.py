"""Objectives: sums, means and N."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array


def minibatch_objective(nll: Array, kl: Array, n_data: int) -> Array:
    """An unbiased estimate of Σₙ NLLₙ + KL over all N data points, from one minibatch.

    Args:
        nll: negative log-likelihoods of the minibatch's data in nats, shape (B,).
        kl: the divergence of all weights from their prior, in nats.
        n_data: N, how many data points there are in all.

    Returns:
        The estimated negative ELBO of all data, a scalar in nats.
    """
    ### BEGIN SOLUTION
    return n_data * jnp.mean(nll) + kl
    ### END SOLUTION


def weight_decay_of(prior_variance: float, n_data: int) -> float:
    """The λ for which ``mean NLL + λ/2 ‖w‖²`` has its minimum at the posterior's mode.

    Args:
        prior_variance: σ₀² of the prior N(0, σ₀²) of each weight.
        n_data: N, how many data points the mean is over.

    Returns:
        The weight decay λ.
    """
    ### BEGIN SOLUTION
    return 1 / (n_data * prior_variance)
    ### END SOLUTION
