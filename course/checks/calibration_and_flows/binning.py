"""Bins of equal width, as mistakes with them need them."""

from __future__ import annotations

from typing import NamedTuple

import torch


class Bins(NamedTuple):
    share: torch.Tensor
    confidence: torch.Tensor
    accuracy: torch.Tensor


def bins_of(confidence, correct, n_bins, *, upper=False, empty=1.0):
    edges = torch.linspace(0, 1, n_bins + 1, dtype=torch.float64)
    index = (
        torch.bucketize(confidence.contiguous(), edges, right=not upper) - 1
    ).clamp(0, n_bins - 1)
    count = torch.bincount(index, minlength=n_bins).double()
    least = count.clamp(min=empty)
    totals = [
        torch.bincount(index, v.double(), n_bins) / least for v in (confidence, correct)
    ]
    return Bins(count / len(confidence), *totals)


def top(probs, labels):
    confidence, predicted = probs.max(1)
    return confidence, predicted == labels
