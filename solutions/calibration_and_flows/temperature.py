"""Temperature scaling, fitted on held-out data."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, softmax


class Scored(NamedTuple):
    """A model's logits, shape (N, K), with the true labels, shape (N,)."""

    logits: Tensor
    labels: Tensor


def fit_temperature(logits: Tensor, labels: Tensor) -> Tensor:
    """The temperature T > 0 that minimises the mean of −log softmax(logits / T)[label].

    Args:
        logits: shape (N, K).
        labels: true classes, integers, shape (N,), not all of them classified rightly.

    Returns:
        A scalar, detached; above 1 when the model is overconfident.

    Source: Guo et al. (2017), section 4.2.
    """
    # One number is sought: any search that finds T to within 0.1% will do. One way is
    # to let torch.optim.LBFGS (line_search_fn="strong_wolfe") move log T.
    ### BEGIN SOLUTION
    logits = logits.detach().double()
    log_temperature = torch.zeros((), dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS(
        [log_temperature],
        max_iter=100,
        tolerance_grad=1e-10,
        tolerance_change=1e-14,
        line_search_fn="strong_wolfe",
    )

    def closure() -> Tensor:
        optimiser.zero_grad()
        loss = cross_entropy(logits / log_temperature.exp(), labels)
        loss.backward()
        return loss

    optimiser.step(closure)
    return log_temperature.detach().exp()
    ### END SOLUTION


def calibrated_probs(training: Scored, held_out: Scored, logits: Tensor) -> Tensor:
    """Probabilities of new data after temperature scaling.

    Args:
        training: logits and labels of the data that the model was trained on.
        held_out: logits and labels of data that it has not seen.
        logits: logits of the new data, shape (N, K).

    Returns:
        Probabilities, shape (N, K).

    Source: Guo et al. (2017), section 4.2.
    """
    # Which of the two sets can tell how far the model's confidence may be trusted?
    ### BEGIN SOLUTION
    temperature = fit_temperature(held_out.logits, held_out.labels)
    return softmax(logits / temperature, dim=-1)
    ### END SOLUTION
