"""Log densities: the posterior, the priors and the likelihood."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.distributions import Normal


def log_posterior(w: Tensor, mu: Tensor, rho: Tensor) -> Tensor:
    """log q(w) = log N(w | µ, softplus(ρ)²), one value per weight.

    Args:
        w: weights, any shape.
        mu: means µ, of a shape that broadcasts.
        rho: parameters ρ, of a shape that broadcasts.

    Returns:
        Log densities, of the shape of ``w``.

    Source: Blundell et al. (2015), section 3.2, step 4.
    """
    ### BEGIN SOLUTION
    return Normal(mu, F.softplus(rho)).log_prob(w)
    ### END SOLUTION


def log_prior(w: Tensor, prior_std: float) -> Tensor:
    """log p(w) = log N(w | 0, σ₀²), one value per weight.

    Args:
        w: weights, any shape.
        prior_std: the prior's standard deviation σ₀ > 0, not its variance.

    Returns:
        Log densities, of the shape of ``w``.
    """
    ### BEGIN SOLUTION
    return Normal(0.0, prior_std).log_prob(w)
    ### END SOLUTION


def log_likelihood(prediction: Tensor, y: Tensor, noise_std: float) -> Tensor:
    """log p(y | w, x) = log N(y | f(x; w), τ²), one value per data point.

    Args:
        prediction: the network's outputs f(x; w), shape (N,).
        y: targets, shape (N,).
        noise_std: the standard deviation τ > 0 of the observations' noise.

    Returns:
        Log densities, shape (N,).
    """
    ### BEGIN SOLUTION
    return Normal(prediction, noise_std).log_prob(y)
    ### END SOLUTION


def log_scale_mixture(
    w: Tensor, share: float, wide_std: float, narrow_std: float
) -> Tensor:
    """log(π N(w | 0, σ₁²) + (1 − π) N(w | 0, σ₂²)), one value per weight.

    Args:
        w: weights, any shape.
        share: the share π of the wide component, 0 < π < 1.
        wide_std: its standard deviation σ₁.
        narrow_std: the other component's standard deviation σ₂ < σ₁.

    Returns:
        Log densities, of the shape of ``w``.

    Source: Blundell et al. (2015), equation 7.
    """
    # Both densities may underflow to 0:
    # torch.logaddexp adds what is given by logarithms.
    ### BEGIN SOLUTION
    wide = math.log(share) + Normal(0.0, wide_std).log_prob(w)
    narrow = math.log1p(-share) + Normal(0.0, narrow_std).log_prob(w)
    return torch.logaddexp(wide, narrow)
    ### END SOLUTION
