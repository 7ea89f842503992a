"""Mistakes with the KL divergence of N(µ, σ²), σ = softplus(ρ), from a prior N(0, σ₀²)."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

from course.task import Misconception


def gaussian_kl(
    *,
    reduce=torch.sum,
    half=0.5,
    scale=lambda prior_std: prior_std,
    std_of=F.softplus,
    reverse=False,
    log=1,
    quadratic=0.5,
    squares=lambda std, mu: std**2 + mu**2,
    power=2,
    extra=lambda std: 0,
):
    """Return a function that computes the KL, or what comes if a part of it is mistaken.

    Args:
        reduce: takes the KL of each weight.
        half: what is subtracted for each weight.
        scale: takes the prior's standard deviation.
        std_of: takes ρ.
        reverse: exchange the two distributions.
        log: factor of log(σ₀/σ).
        quadratic: factor of the quadratic term.
        squares: the quadratic term's numerator.
        power: the power of σ₀ in its denominator.
        extra: what is added for each weight.
    """

    def answer(mu, rho, prior_std):
        std, prior = std_of(rho), torch.as_tensor(scale(prior_std))
        if reverse:
            return reduce(
                torch.log(std / prior) + (prior**2 + mu**2) / (2 * std**2) - 0.5
            )
        return reduce(
            log * torch.log(prior / std)
            + quadratic * squares(std, mu) / prior**power
            - half
            + extra(std)
        )

    return answer


# Each with a sentence for every task that asks for this KL.
WRONG_KLS = [
    Misconception(gaussian_kl(**mistaken), hint)
    for mistaken, hint in (
        (
            {"scale": lambda s: s**2},
            "you square prior_std once too often, and so use the variance σ₀² in place of σ₀.",
        ),
        (
            {"std_of": lambda rho: torch.log1p(torch.exp(rho))},
            "you write softplus as log1p(exp(ρ)): in single precision that is inf for ρ ≥ 89. Use F.softplus.",
        ),
        (
            {"power": -2},
            "you leave out the brackets: `… / 2 * prior_std**2` multiplies by σ₀². Write `/ (2 * prior_std**2)`.",
        ),
        (
            {"reduce": lambda terms: terms.sum(-1)},
            "you sum over the last axis alone: sum over all weights, whatever the shape is.",
        ),
        (
            {"squares": lambda std, mu: std**2 + mu},
            "you do not square µ: the numerator over 2σ₀² is σ² + µ².",
        ),
        (
            {"log": 0.5},
            "you halve the logarithm of the standard deviations: ½ belongs to the logarithm of the variances.",
        ),
        (
            {"half": -0.5},
            "you add ½: it is subtracted, so that the divergence of a distribution from itself is 0.",
        ),
        (
            {
                "extra": lambda std: (
                    torch.log(std) + 0.5 * math.log(2 * math.pi * math.e)
                )
            },
            "you leave out the entropy of q, and return the cross-entropy: the KL is their difference.",
        ),
        (
            {"squares": lambda std, mu: (std + mu) ** 2},
            "you square the sum of σ and µ: the numerator over 2σ₀² is σ² + µ².",
        ),
    )
]

# The same in a layer that calls gaussian_kl or writes it out.
WRONG_KLS_OF_LAYERS = (
    (
        gaussian_kl(scale=lambda s: s**2),
        "you square prior_std once too often in the KL, and so use the variance σ₀² in place of σ₀.",
    ),
    (
        gaussian_kl(std_of=lambda rho: F.softplus(F.softplus(rho))),
        "you apply softplus twice in the KL: gaussian_kl takes ρ, and applies softplus itself.",
    ),
    (
        lambda mu, rho, prior_std: gaussian_kl()(rho, mu, prior_std),
        "you swap µ and ρ in the KL: gaussian_kl takes `mu` first.",
    ),
    (
        gaussian_kl(std_of=torch.exp),
        "you use exp(ρ) as the standard deviation in the KL; here it is softplus(ρ).",
    ),
    (
        gaussian_kl(reverse=True),
        "you swap the two distributions in the KL: this is KL(p‖q). The ELBO has KL(q‖p), an average over q.",
    ),
)
