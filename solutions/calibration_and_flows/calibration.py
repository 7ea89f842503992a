"""Calibration: bins and scores."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import one_hot


class Bins(NamedTuple):
    """What happened in each bin, three tensors of shape (n_bins,).

    An empty bin holds zeros.
    """

    share: Tensor
    confidence: Tensor
    accuracy: Tensor


class BrierParts(NamedTuple):
    """Brier score = reliability − resolution + uncertainty."""

    reliability: Tensor
    resolution: Tensor
    uncertainty: Tensor


def bin_index(values: Tensor, n_bins: int) -> Tensor:
    """The number of the equal-width bin on [0, 1] in which each value lies.

    A value on an inner boundary belongs to the bin above it, 1 to the last bin.
    Rounding can push a probability past 0 or 1: it stays in the outermost bin.

    Args:
        values: numbers in [0, 1], shape (N,).
        n_bins: how many bins.

    Returns:
        Integers from 0 to n_bins − 1, shape (N,).
    """
    edges = torch.linspace(0, 1, n_bins + 1, dtype=values.dtype)
    return (torch.bucketize(values.contiguous(), edges, right=True) - 1).clamp(
        0, n_bins - 1
    )


def calibration_bins(probs: Tensor, labels: Tensor, n_bins: int = 15) -> Bins:
    """Share of the data points, mean confidence and accuracy in each bin of confidence.

    The confidence is the probability of the most probable class.

    Args:
        probs: probabilities, shape (N, K).
        labels: true classes, integers, shape (N,).
        n_bins: how many bins of equal width.

    Returns:
        ``Bins``: shares that sum to 1, mean confidences and accuracies, each (n_bins,).

    Source: Guo et al. (2017), section 2.
    """
    # bin_index says which bin; torch.bincount(index, weights, minlength) adds up by
    # bin. An empty bin would be 0 / 0: let it hold zeros.
    ### BEGIN SOLUTION
    confidence, predicted = probs.max(-1)
    correct = (predicted == labels).to(probs.dtype)
    index = bin_index(confidence, n_bins)
    count = torch.bincount(index, minlength=n_bins).to(probs.dtype)
    at_least_one = count.clamp(min=1)
    return Bins(
        share=count / len(probs),
        confidence=torch.bincount(index, confidence, n_bins) / at_least_one,
        accuracy=torch.bincount(index, correct, n_bins) / at_least_one,
    )
    ### END SOLUTION


def calibration_error(probs: Tensor, labels: Tensor, n_bins: int = 15) -> Tensor:
    """ECE = Σ_b share_b · |accuracy_b − confidence_b|.

    Args:
        probs: probabilities, shape (N, K).
        labels: true classes, integers, shape (N,).
        n_bins: how many bins of equal width.

    Returns:
        A scalar between 0 and 1.

    Source: Naeini, Cooper and Hauskrecht (2015); Guo et al. (2017), equation 3.
    """
    ### BEGIN SOLUTION
    bins = calibration_bins(probs, labels, n_bins)
    return (bins.share * (bins.accuracy - bins.confidence).abs()).sum()
    ### END SOLUTION


def maximum_calibration_error(
    probs: Tensor, labels: Tensor, n_bins: int = 15
) -> Tensor:
    """MCE = max_b |accuracy_b − confidence_b|: the worst bin, however few its data.

    Source: Naeini, Cooper and Hauskrecht (2015).
    """
    bins = calibration_bins(probs, labels, n_bins)
    return (bins.accuracy - bins.confidence).abs().max()


def adaptive_calibration_error(
    probs: Tensor, labels: Tensor, n_bins: int = 15
) -> Tensor:
    """The ECE of the top label in bins of equally many data points, not of equal width.

    In the spirit of Nguyen and O'Connor (2015), section 3, who take a root mean square,
    and of Nixon et al. (2019), section 3, who average over all classes.
    """
    confidence, predicted = probs.max(-1)
    order = confidence.argsort(stable=True)
    gap = ((predicted == labels).to(probs.dtype) - confidence)[order]
    return sum(part.sum().abs() for part in gap.tensor_split(n_bins)) / len(gap)


def brier_score(probs: Tensor, labels: Tensor) -> Tensor:
    """The mean over the data of Σ_k (p_k − [y = k])², between 0 and 2.

    [y = k] is 1 for the true class and 0 for the others.

    Source: Brier (1950), equation 2.
    """
    target = one_hot(labels, probs.shape[-1]).to(probs.dtype)
    return ((probs - target) ** 2).sum(-1).mean()


def brier_decomposition(
    forecast: Tensor, outcome: Tensor, n_bins: int = 15
) -> BrierParts:
    """Murphy's three parts of the Brier score of a binary forecast.

    With n_b of the N data points, mean forecast f_b and mean outcome o_b in bin b, and
    the mean outcome o of all data:

        reliability = Σ_b n_b/N (f_b − o_b)²
        resolution  = Σ_b n_b/N (o_b − o)²
        uncertainty = o (1 − o)

    Args:
        forecast: probabilities of the event, shape (N,).
        outcome: integers, 1 where it happened and 0 where it did not, shape (N,).
        n_bins: how many bins of equal width.

    Returns:
        ``BrierParts``, three scalars. Reliability − resolution + uncertainty is exactly
        the mean of (f − o)² when each forecast is replaced by the mean forecast of its
        bin.

    Source: Murphy (1973).
    """
    ### BEGIN SOLUTION
    outcome = outcome.to(forecast.dtype)
    index = bin_index(forecast, n_bins)
    count = torch.bincount(index, minlength=n_bins).to(forecast.dtype)
    weight = count / len(forecast)
    mean_forecast = torch.bincount(index, forecast, n_bins) / count.clamp(min=1)
    mean_outcome = torch.bincount(index, outcome, n_bins) / count.clamp(min=1)
    overall = outcome.mean()
    return BrierParts(
        reliability=(weight * (mean_forecast - mean_outcome) ** 2).sum(),
        resolution=(weight * (mean_outcome - overall) ** 2).sum(),
        uncertainty=overall * (1 - overall),
    )
    ### END SOLUTION
