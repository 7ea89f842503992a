"""Mistakes in the choice of the weights to keep."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

from course.checks.concepts_of_weights import wrong_stds
from course.task import Misconception


def _mask(ratio, *, largest=False, share=lambda removed: removed, rounded=round):
    def answer(mu, rho, removed):
        keep = torch.ones(len(mu), dtype=torch.bool)
        keep[
            ratio(mu, rho).argsort(descending=largest)[
                : rounded(share(removed) * len(mu))
            ]
        ] = False
        return keep

    return answer


def _ratio(mu, rho):
    return mu.abs() / F.softplus(rho)


MASK_MISTAKES = [
    Misconception(
        _mask(lambda mu, rho: mu.abs()),
        "you rank the weights by |µ| alone. A large mean tells you nothing if σ is larger still.",
    ),
    Misconception(
        _mask(lambda mu, rho: mu / F.softplus(rho)),
        "you take the sign of µ into account: strongly negative weights are then removed first. The signal is |µ|.",
    ),
    Misconception(
        _mask(_ratio, largest=True),
        "you remove the weights with the largest ratios; remove those with the smallest.",
    ),
    *(
        Misconception(kept, "you treat `removed` as the share of the weights to keep.")
        for kept in (
            _mask(_ratio, share=lambda removed: 1 - removed),
            lambda *case: ~_mask(_ratio, largest=True)(*case),
        )
    ),
    Misconception(
        lambda *case: ~_mask(_ratio)(*case),
        "you return True for the weights to remove; True stands for a weight that is kept.",
    ),
    Misconception(
        _mask(_ratio, rounded=int),
        "you cut off the decimals of `removed * n` (`int` or `//`); round them.",
    ),
    Misconception(
        _mask(_ratio, rounded=math.ceil),
        "you round `removed * n` up; round it to the nearest whole number.",
    ),
    Misconception(
        _mask(_ratio, rounded=lambda count: int(count + 0.5)),
        "you round halves up. Python's `round` takes the even neighbour: 4.5 becomes 4.",
    ),
    Misconception(
        lambda mu, rho, removed: torch.tensor(
            [
                (_ratio(mu, rho) < one).sum() >= round(removed * len(mu))
                for one in _ratio(mu, rho)
            ]
        ),
        "you treat equal ratios alike, so that fewer or more than `round(removed * n)` weights may be removed.",
    ),
    Misconception(
        lambda mu, rho, removed: _ratio(mu, rho) > removed,
        "you compare the ratios with `removed`, which is a share of the weights and not a ratio.",
    ),
    Misconception(
        lambda mu, rho, removed: (
            _ratio(mu, rho) > torch.quantile(_ratio(mu, rho), removed)
        ),
        "you compare with a quantile of the ratios, which does not always remove `round(removed * n)` weights.",
    ),
    Misconception(
        lambda mu, rho, removed: (
            _ratio(mu, rho) >= torch.quantile(_ratio(mu, rho), removed)
        ),
        "you compare with a quantile of the ratios, which does not always remove `round(removed * n)` weights.",
    ),
    Misconception(
        lambda mu, rho, removed: _ratio(mu, rho).argsort() >= round(removed * len(mu)),
        "you take argsort for ranks. It lists the indices of the weights, the smallest ratio first.",
    ),
    Misconception(
        _mask(lambda mu, rho: F.softplus(rho)),
        "you rank the weights by σ alone; the ratio is |µ|/σ.",
    ),
    *wrong_stds(lambda std_of: _mask(lambda mu, rho: mu.abs() / std_of(rho)), "exp"),
    Misconception(
        _mask(lambda mu, rho: mu.abs() / F.softplus(rho) ** 2),
        "you divide by the variance σ²; the ratio is |µ|/σ.",
    ),
    Misconception(
        _mask(lambda mu, rho: mu**2 / F.softplus(rho)),
        "you square µ but not σ, or treat σ = softplus(ρ) as the variance: the ratio is |µ|/σ.",
    ),
]
