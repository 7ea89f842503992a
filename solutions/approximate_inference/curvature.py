"""The curvature of a network's loss, and the log evidence that follows from it."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor


def ggn(network: Callable[[Tensor], Tensor], w: Tensor) -> Tensor:
    """The generalised Gauss–Newton matrix of the summed NLL: Σₙ pₙ(1 − pₙ) JₙᵀJₙ.

    Jₙ is the gradient of logit n with respect to the weights, a row, and pₙ the sigmoid
    of that logit. The prior is not included.

    Args:
        network: takes weights, gives the logits of the N training inputs, shape (N,).
        w: weights, shape (D,).

    Returns:
        Shape (D, D), symmetric and positive semi-definite.

    Source: Immer, Korzepa and Bauer (2021).
    """
    # torch.func.jacrev(network) is the function that gives the Jacobian, (N, D).
    ### BEGIN SOLUTION
    jacobian = torch.func.jacrev(network)(w)
    p = torch.sigmoid(network(w))
    return (jacobian.T * (p * (1 - p))) @ jacobian
    ### END SOLUTION


def hurried_network_log_evidence(
    nll: Tensor, w: Tensor, curvature: Tensor, prior_variance: float
) -> Tensor:
    """Laplace's log evidence of a network, with a hurried colleague's mistake.

    Args:
        nll: the summed NLL at the mode, a scalar in nats.
        w: the mode, shape (D,).
        curvature: the Hessian or the GGN of the summed NLL there, shape (D, D).
        prior_variance: σ₀², the same for every weight.

    Returns:
        The log evidence with that mistake, a scalar in nats.
    """
    loss = nll + w @ w / (2 * prior_variance)
    precision = curvature + torch.eye(len(w), dtype=w.dtype) / prior_variance
    volume = 0.5 * len(w) * math.log(2 * math.pi) - 0.5 * torch.logdet(precision)
    return volume - loss


def network_log_evidence(
    nll: Tensor, w: Tensor, curvature: Tensor, prior_variance: float
) -> Tensor:
    """log p(D) ≈ log p(D | w) + log p(w) + D/2 log 2π − ½ log det(curvature + I/σ₀²).

    All terms are taken at the mode.

    Args:
        nll: the summed NLL at the mode, a scalar in nats.
        w: the mode, shape (D,).
        curvature: the Hessian or the GGN of the summed NLL there, shape (D, D).
        prior_variance: σ₀², the same for every weight.

    Returns:
        A scalar, in nats.

    Source: MacKay (1992); Daxberger et al. (2021), section 2.
    """
    # Start from hurried_network_log_evidence: which term of the log joint is missing?
    ### BEGIN SOLUTION
    normaliser = 0.5 * len(w) * math.log(2 * math.pi * prior_variance)
    log_joint = -nll - w @ w / (2 * prior_variance) - normaliser
    precision = curvature + torch.eye(len(w), dtype=w.dtype) / prior_variance
    volume = 0.5 * len(w) * math.log(2 * math.pi) - 0.5 * torch.logdet(precision)
    return log_joint + volume
    ### END SOLUTION
