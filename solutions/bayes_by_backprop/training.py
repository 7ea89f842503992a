"""Training: minibatches, and how the KL is shared among them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def kl_weights(batches: int, *, decreasing: bool) -> Tensor:
    """The share of the KL that each of M minibatches of an epoch pays.

    Args:
        batches: M, the number of minibatches, hundreds of them allowed.
        decreasing: False for 1/M each; True for the paper's 2^(M−i) / (2^M − 1),
            i = 1, …, M.

    Returns:
        Shares that sum to 1, shape (M,).

    Source: Blundell et al. (2015), section 3.4, equation 9.
    """
    # 2.0**469 is not a number that float32 can hold: divide both parts by 2^M first.
    ### BEGIN SOLUTION
    if not decreasing:
        return torch.full((batches,), 1 / batches)
    i = torch.arange(1, batches + 1)
    return 0.5**i / (1 - 0.5**batches)
    ### END SOLUTION


def minibatch_loss(
    logits: Tensor, targets: Tensor, kl: Tensor, kl_share: float
) -> Tensor:
    """The loss of one minibatch: the *sum* of its NLL, plus its share of the KL.

    Summed over the minibatches of an epoch, it estimates the negative ELBO of all the
    data.

    Args:
        logits: unnormalised log-probabilities under one draw of the weights,
            shape (B, K).
        targets: labels, integers of shape (B,).
        kl: KL(q‖p) of all weights, a scalar.
        kl_share: the share of it that this minibatch pays.

    Returns:
        A scalar, in nats.

    Source: Blundell et al. (2015), equation 8.
    """
    ### BEGIN SOLUTION
    log_probs = F.log_softmax(logits, dim=-1)
    nll = -log_probs.gather(-1, targets[:, None]).sum()
    return nll + kl_share * kl
    ### END SOLUTION


class History(NamedTuple):
    """The record of a training run, one value per step: summed NLL and KL.

    The NLL is scaled up to all N data points.
    """

    nll: Tensor
    kl: Tensor


def train(
    model: nn.Module,
    nll: Callable[[Tensor, Tensor], Tensor],
    x: Tensor,
    y: Tensor,
    *,
    steps: int,
    rate: float,
    generator: torch.Generator,
    batch_size: int | None = None,
    draws: int = 1,
    local: bool = True,
    temperature: float = 1.0,
) -> History:
    """Minimise the negative ELBO or the NLL, with Adam and a cosine schedule.

    The negative ELBO is for a model with a KL, the NLL for any other.

    Args:
        model: a ``BayesianMLP``, or any module without a method ``kl``.
        nll: ``nll(outputs, targets)``, summed over the batch.
        x: inputs, shape (N, D).
        y: targets, N of them.
        steps: how many steps.
        rate: the initial learning rate.
        generator: draws minibatches, weights and activations.
        batch_size: how many data points each step sees; None for all N.
        draws: how many draws of the weights each step averages.
        local: draw activations instead of weights.
        temperature: the factor of the KL; only 1 gives the ELBO, less is a "cold"
            posterior.

    Returns:
        The history of the two terms.
    """
    bayesian = hasattr(model, "kl")
    optimiser = torch.optim.Adam(model.parameters(), lr=rate, fused=True)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    n, record = len(x), torch.zeros(2, steps)
    for step in range(steps):
        x_batch, y_batch = x, y
        if batch_size is not None:
            rows = torch.randint(n, (batch_size,), generator=generator)
            x_batch, y_batch = x[rows], y[rows]
        if bayesian and local:
            # Stack all draws of the activations in one batch.
            x_draws, y_draws = x_batch.repeat(draws, 1), torch.cat([y_batch] * draws)
            fit = nll(model(x_draws, generator=generator, local=True), y_draws) / draws
        elif bayesian:
            fit = (
                sum(
                    nll(model(x_batch, generator=generator), y_batch)
                    for _ in range(draws)
                )
                / draws
            )
        else:
            fit = nll(model(x_batch), y_batch)
        kl = model.kl() if bayesian else torch.zeros(())
        share = len(x_batch) / n
        optimiser.zero_grad()
        (fit + temperature * share * kl).backward()
        optimiser.step()
        schedule.step()
        record[:, step] = torch.stack([fit.detach() / share, kl.detach()])
    return History(*record)


@torch.no_grad()
def predict(
    model: nn.Module, x: Tensor, *, draws: int, generator: torch.Generator
) -> Tensor:
    """A Bayesian model's outputs under S draws of its weights, shape (S, N, K).

    A loop over the draws is fastest here.
    """
    return torch.stack([model(x, generator=generator) for _ in range(draws)])
