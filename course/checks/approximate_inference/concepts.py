"""Wrong steps that answers to several tasks of this practical share, and their sentences."""

from __future__ import annotations

import torch

ALL_SAMPLES = "you return every sample's probability, one for each input and sample: average over the samples."
CLAMPED = (
    "you clamp the probabilities, or add a small number to them, before you take the logarithm: for a large |logit| "
    "the loss is then cut off. F.binary_cross_entropy_with_logits takes the logits and needs no clamp."
)
CLAMPS = (1e-12, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6)
FULL_MATRIX = (
    "you return the whole (N, N) matrix of covariances between the logits of different inputs: the variances are its "
    "diagonal."
)
OTHER_ORDER = "you return the variances first: the means come first."
SIGNED_LABELS = (
    "you use the loss for labels −1 and 1, log(1 + exp(−y · logit)). Here the labels are 0 and 1: a label of 0 then "
    "adds log 2, whatever the logit is."
)
SQUEEZED = (
    "you squeeze every axis of length 1: for a single data point the logits then have no axis left. Squeeze the last "
    "axis alone, .squeeze(-1)."
)
# Of the mistakes with σ = softplus(ρ), by name.
STDS_SAID = {
    "exp": "you use exp(ρ) as the standard deviation; here it is softplus(ρ).",
    "half exp": "you take ρ for the logarithm of the variance, so that the standard deviation is exp(ρ/2). In this "
    "course it is softplus(ρ).",
    "root": "you take softplus(ρ) for the variance. In this course it is the standard deviation.",
    "square": "you multiply ε by the variance; it must be the standard deviation.",
    "rho": "you use ρ itself as the standard deviation and forget softplus.",
}


def nll_of_clamped(logits, y, eps):
    """Return each label's NLL from probabilities that are at least ``eps`` away from 0 and 1."""
    p = torch.sigmoid(logits).clamp(eps, 1 - eps)
    return -(y * p.log() + (1 - y) * (1 - p).log())


def nll_of_positive(logits, y, eps):
    """Return each label's NLL with ``eps`` added to the arguments of the logarithms."""
    p = torch.sigmoid(logits)
    return -(y * (p + eps).log() + (1 - y) * (1 - p + eps).log())


def nll_of_signs(logits, y):
    """Return the NLL of labels −1 and 1, whatever the labels are."""
    return torch.nn.functional.softplus(-y * logits)
