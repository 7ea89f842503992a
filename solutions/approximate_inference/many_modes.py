"""Many weights at little cost: randomised MAP sampling, SWAG and cyclical step sizes."""

from __future__ import annotations

import math

import torch
from torch import Generator, Tensor


def randomised_map(
    x: Tensor,
    y: Tensor,
    noise_std: float,
    prior_std: float,
    draws: int,
    *,
    generator: Generator,
) -> Tensor:
    """MAP estimates of a Bayesian linear regression, each for its own data and prior.

    Member s minimises Σₙ (yₙ + ηₙₛ − xₙᵀw)²/(2τ²) + ‖w − aₛ‖²/(2σ₀²), with fresh
    ηₙₛ ~ N(0, τ²) and an anchor aₛ ~ N(0, σ₀² I).

    Args:
        x: inputs, shape (N, D).
        y: targets, shape (N,).
        noise_std: τ, the standard deviation of the noise.
        prior_std: σ₀, the standard deviation of the prior.
        draws: the number S of members.
        generator: the source of anchors and of noise on the targets.

    Returns:
        One row of weights for each member, shape (S, D).

    Source: Pearce et al. (2020), for the anchors.
    """
    # torch.linalg.solve(A, B) solves for all columns of B at once.
    ### BEGIN SOLUTION
    n, d = x.shape
    anchors = prior_std * torch.randn((d, draws), dtype=x.dtype, generator=generator)
    noise = noise_std * torch.randn((n, draws), dtype=x.dtype, generator=generator)
    targets = y[:, None] + noise
    precision = x.T @ x / noise_std**2 + torch.eye(d, dtype=x.dtype) / prior_std**2
    right = x.T @ targets / noise_std**2 + anchors / prior_std**2
    return torch.linalg.solve(precision, right).T
    ### END SOLUTION


def swag_moments(weights: Tensor, rank: int) -> tuple[Tensor, Tensor, Tensor]:
    """The moments that SWAG keeps of the weights of one training run.

    Args:
        weights: the weights after each of T epochs, shape (T, D).
        rank: how many deviations to keep, at most T.

    Returns:
        The mean, shape (D,); the variance of each weight, shape (D,), which divides by
        T; and the deviations of the last ``rank`` epochs from the mean *up to and
        including their epoch*, shape (rank, D).

    Source: Maddox et al. (2019), algorithm 1.
    """
    ### BEGIN SOLUTION
    counts = torch.arange(1, len(weights) + 1, dtype=weights.dtype)
    running = weights.cumsum(dim=0) / counts[:, None]
    deviations = (weights - running)[len(weights) - rank :]
    return weights.mean(dim=0), weights.var(dim=0, correction=0), deviations
    ### END SOLUTION


def swag_sample(
    mean: Tensor,
    variance: Tensor,
    deviations: Tensor,
    draws: int,
    *,
    generator: Generator,
) -> Tensor:
    """Draws from SWAG's Gaussian, shape (draws, D), by the moments of ``swag_moments``.

    Half of the covariance is the diagonal of variances, the other half the matrix of
    rank at most K that the K deviations make.

    Source: Maddox et al. (2019), equation 1.
    """
    own = torch.randn(draws, len(mean), dtype=mean.dtype, generator=generator)
    shared = torch.randn(draws, len(deviations), dtype=mean.dtype, generator=generator)
    low_rank = shared @ deviations / math.sqrt(2 * (len(deviations) - 1))
    return mean + own * torch.sqrt(variance / 2) + low_rank


def cyclical_step_size(step: int, steps: int, cycles: int, largest: float) -> float:
    """A step size that falls from its largest value along half a cosine in every cycle.

    α₀/2 (cos(π (k mod C)/C) + 1), where C = ⌈K/M⌉ is the length of a cycle.

    Args:
        step: k, from 0 to K − 1.
        steps: K, the number of steps in all.
        cycles: M, the number of cycles.
        largest: α₀.

    Returns:
        The step size of step k.

    Source: Zhang et al. (2020), equation 1, which counts steps from 1.
    """
    ### BEGIN SOLUTION
    length = math.ceil(steps / cycles)
    return largest / 2 * (math.cos(math.pi * (step % length) / length) + 1)
    ### END SOLUTION
