"""The objective of logistic regression, and the prior that a weight decay stands for."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor


def with_bias(x: Tensor) -> Tensor:
    """Append a column of ones: (N, D − 1) → (N, D).

    The last weight is then the bias.
    """
    return torch.cat([x, torch.ones_like(x[:, :1])], dim=1)


def negative_log_joint(
    w: Tensor, x: Tensor, y: Tensor, prior_variance: float
) -> Tensor:
    """−log p(y, w | X) = Σₙ −log p(yₙ | xₙ, w) − log N(w | 0, σ₀² I).

    As a function of w it is the negative log posterior, up to the constant
    log p(y | X).

    Args:
        w: weights, shape (D,).
        x: inputs with their column of ones, shape (N, D).
        y: labels, 0.0 or 1.0, shape (N,).
        prior_variance: σ₀², the same for every weight.

    Returns:
        A scalar, in nats, every constant included.

    Source: Bishop, Pattern Recognition and Machine Learning (2006), equation 4.142.
    """
    # Logits of a thousand are allowed:
    # F.binary_cross_entropy_with_logits copes, log(sigmoid) does not.
    ### BEGIN SOLUTION
    nll = F.binary_cross_entropy_with_logits(x @ w, y, reduction="sum")
    normaliser = 0.5 * len(w) * math.log(2 * math.pi * prior_variance)
    return nll + w @ w / (2 * prior_variance) + normaliser
    ### END SOLUTION


def prior_variance_of(weight_decay: float, n: int) -> float:
    """The prior variance σ₀² that a penalty λ/2 ‖w‖² stands for.

    The penalty is added to the *mean* loss of n data points.

    Args:
        weight_decay: λ.
        n: the number of data points.

    Returns:
        σ₀².
    """
    # Multiply the objective by n: then its terms are those of the negative log joint.
    ### BEGIN SOLUTION
    return 1 / (n * weight_decay)
    ### END SOLUTION
