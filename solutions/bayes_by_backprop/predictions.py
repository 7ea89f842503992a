"""Predictions: moments, entropy, and which weights can go."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor


def predictive_moments(
    outputs: Tensor, noise_std: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Mean and spread of f(x), and the spread of a new observation y = f(x) + noise.

    Args:
        outputs: f(x; w) under S draws of the weights, shape (S, N).
        noise_std: the standard deviation τ of the observations' noise.

    Returns:
        The mean of f, its standard deviation (epistemic; divided by S), and the
        standard deviation of y (epistemic and aleatoric), each of shape (N,).

    Source: Kendall and Gal (2017), section 3.
    """
    # Variances add; standard deviations do not.
    ### BEGIN SOLUTION
    epistemic_variance = outputs.var(dim=0, correction=0)
    predictive_variance = epistemic_variance + noise_std**2
    return (
        outputs.mean(dim=0),
        torch.sqrt(epistemic_variance),
        torch.sqrt(predictive_variance),
    )
    ### END SOLUTION


def hurried_predictive_entropy(log_probs: Tensor) -> Tensor:
    """The entropy of the predictive distribution, in bits, with a mistake in it.

    Args:
        log_probs: log-probabilities under S draws of the weights, shape (S, N, K).

    Returns:
        Entropies, shape (N,).
    """
    probs = torch.exp(log_probs.mean(dim=0))
    return -(probs * torch.log2(probs + 1e-10)).sum(dim=-1)


def predictive_entropy(log_probs: Tensor) -> Tensor:
    """The entropy of the predictive distribution, in bits.

    The distribution is p(y | x) = 1/S Σₛ p(y | x, wₛ).

    Args:
        log_probs: log-probabilities under S draws of the weights, shape (S, N, K);
            −inf is allowed.

    Returns:
        Entropies, between 0 and log₂ K, shape (N,).

    Source: Shannon (1948), section 6.
    """
    # Start from hurried_predictive_entropy and fix it.
    # torch.special.entr is −p ln p, and 0 at 0.
    ### BEGIN SOLUTION
    probs = torch.exp(log_probs).mean(dim=0)
    return torch.special.entr(probs).sum(dim=-1) / math.log(2)
    ### END SOLUTION


def keep_mask(mu: Tensor, rho: Tensor, removed: float) -> Tensor:
    """Which weights to keep when those with the smallest |µ|/σ are removed.

    |µ|/σ is the signal-to-noise ratio of a weight.

    Args:
        mu: means µ of all weights, shape (n,).
        rho: their parameters ρ, of the same shape.
        removed: the share of the weights to remove, from 0 to 1.

    Returns:
        True for a weight to keep, shape (n,); round(removed · n) of them are False.

    Source: Blundell et al. (2015), section 5.1 (where the ratio is in decibels).
    """
    # argsort puts the smallest first.
    ### BEGIN SOLUTION
    ratio = mu.abs() / F.softplus(rho)
    keep = torch.ones(len(mu), dtype=torch.bool)
    keep[ratio.argsort()[: round(removed * len(mu))]] = False
    return keep
    ### END SOLUTION
