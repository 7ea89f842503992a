"""The loss for y = wx, of one draw and in closed form."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from solutions.bayes_by_backprop.densities import (
    log_likelihood,
    log_posterior,
    log_prior,
)
from solutions.bayes_by_backprop.weights import reparametrise


def draw_loss(
    mu: Tensor,
    rho: Tensor,
    epsilon: Tensor,
    x: Tensor,
    y: Tensor,
    *,
    noise_std: float,
    prior_std: float,
) -> Tensor:
    """The loss of one draw for y = wx: Σ log q(w) − Σ log p(w) − Σ log p(y | w, x).

    Its expectation over ε is the negative ELBO; a single value of it is not.

    Args:
        mu: the mean µ of the one weight, shape (1,).
        rho: its parameter ρ, shape (1,).
        epsilon: its noise ε, shape (1,).
        x: inputs, shape (N,).
        y: targets, shape (N,).
        noise_std: the noise's standard deviation τ.
        prior_std: the prior's standard deviation σ₀.

    Returns:
        A scalar.

    Source: Blundell et al. (2015), section 3.2, step 4.
    """
    # You have written all four parts already.
    ### BEGIN SOLUTION
    w = reparametrise(mu, rho, epsilon)
    complexity = log_posterior(w, mu, rho).sum() - log_prior(w, prior_std).sum()
    return complexity - log_likelihood(w * x, y, noise_std).sum()
    ### END SOLUTION


def exact_loss(
    mu: Tensor, rho: Tensor, x: Tensor, y: Tensor, *, noise_std: float, prior_std: float
) -> Tensor:
    """The negative ELBO for y = wx in closed form: ``draw_loss`` averaged over all ε.

    KL(q‖p) + Σᵢ ½ log 2πτ² + ((yᵢ − µxᵢ)² + σ²xᵢ²) / (2τ²).

    Args:
        mu: the mean µ of the one weight, shape (1,).
        rho: its parameter ρ, shape (1,).
        x: inputs, shape (N,).
        y: targets, shape (N,).
        noise_std: the noise's standard deviation τ.
        prior_std: the prior's standard deviation σ₀.

    Returns:
        A scalar.
    """
    # Needed: E[w] = µ and E[w²] = µ² + σ², in log p(y | w, x) and in log p(w).
    ### BEGIN SOLUTION
    std = F.softplus(rho)
    squared_error = (y - mu * x) ** 2 + std**2 * x**2
    nll = 0.5 * math.log(2 * math.pi * noise_std**2) + squared_error / (
        2 * noise_std**2
    )
    kl = (
        math.log(prior_std)
        - torch.log(std)
        + (mu**2 + std**2) / (2 * prior_std**2)
        - 0.5
    )
    return nll.sum() + kl.sum()
    ### END SOLUTION
