"""Wrong divergences of a mean-field Gaussian from its prior."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

from course.checks.approximate_inference.concepts import LOG_STD, LOG_VARIANCE
from course.task import Misconception


def _kl_terms(mu, std, prior_std):
    return (
        math.log(prior_std)
        - torch.log(std)
        + (std**2 + mu**2) / (2 * prior_std**2)
        - 0.5
    )


def _kl(mu, std, prior_std, *, spread=2, ratio=1):
    """Compute the KL, with parameters for mistakes in the log-ratio and the power of σ."""
    return (
        ratio * (math.log(prior_std) - torch.log(std))
        + (std**spread + mu**2) / (2 * prior_std**2)
        - 0.5
    ).sum()


def _quadratic(mu, std, prior_std, divisor):
    """Compute the KL with another divisor of its quadratic terms."""
    excess = (std**2 + mu**2) * (1 / divisor - 1 / (2 * prior_std**2))
    return (_kl_terms(mu, std, prior_std) + excess).sum()


def _reversed_kl(mu, rho, prior_std):
    std = F.softplus(rho)
    return (
        torch.log(std)
        - math.log(prior_std)
        + (prior_std**2 + mu**2) / (2 * std**2)
        - 0.5
    ).sum()


DIVERGENCES = [
    Misconception(
        lambda mu, rho, s: _kl_terms(mu, F.softplus(rho), s).mean(),
        "you average the KL over the weights. The weights are independent, so their divergences add up; with a mean, the larger the layer, the weaker the prior.",
    ),
    Misconception(
        _reversed_kl,
        "you swap the two distributions: this is KL(p‖q). The ELBO has KL(q‖p), an average over q.",
    ),
    Misconception(
        lambda mu, rho, s: _kl_terms(mu, F.softplus(rho), math.sqrt(s)).sum(),
        "you use prior_std as if it were the prior's variance.",
    ),
    Misconception(
        lambda mu, rho, s: _kl_terms(mu, F.softplus(rho), s**2).sum(),
        "you square prior_std once too often, and so use the variance σ₀² in place of σ₀.",
    ),
    Misconception(
        lambda mu, rho, s: _kl_terms(mu, torch.sqrt(F.softplus(rho)), s).sum(),
        "you take softplus(ρ) for the variance of q. In this course it is the standard deviation.",
    ),
    Misconception(
        lambda mu, rho, s: _kl_terms(mu, torch.log(1 + torch.exp(rho)), s).sum(),
        "you write softplus as log(1 + exp(ρ)): in single precision that is inf for ρ ≥ 89, and 0 for ρ < −17, "
        "so that its logarithm is −inf. Use F.softplus.",
    ),
    Misconception(
        lambda mu, rho, s: _kl_terms(mu, torch.log1p(torch.exp(rho)), s).sum(),
        "you write softplus as log1p(exp(ρ)): in single precision that is inf for ρ ≥ 89. Use F.softplus.",
    ),
    Misconception(
        lambda mu, rho, s: _kl(mu, F.softplus(rho), s, ratio=-1),
        "you invert the ratio in the logarithm: it should be log(σ₀/σ), which grows as q narrows.",
    ),
    Misconception(
        lambda mu, rho, s: _kl(mu, F.softplus(rho), s, spread=1),
        "you do not square σ: the numerator over 2σ₀² is σ² + µ².",
    ),
    Misconception(
        lambda mu, rho, s: _kl(mu, rho, s),
        "you use ρ itself as the standard deviation and forget softplus. For ρ below 0 the logarithm does not exist.",
    ),
    Misconception(
        lambda mu, rho, s: (
            math.log(s)
            - torch.log(F.softplus(rho))
            + (F.softplus(rho) ** 2 + mu**2) / 2 * s**2
            - 0.5
        ).sum(),
        "you leave out the brackets: … / 2 * prior_std**2 multiplies by σ₀². Write / (2 * prior_std**2).",
    ),
    Misconception(
        lambda mu, rho, s: (_kl_terms(mu, F.softplus(rho), s) + 0.5).sum() - 0.5,
        "you subtract ½ once, not once for each weight: it belongs inside the sum.",
    ),
    Misconception(
        lambda mu, rho, s: (_kl_terms(mu, F.softplus(rho), s) + 0.5).sum(),
        "you leave out the −½ of every weight: the divergence of a distribution from itself must be 0.",
    ),
    Misconception(
        lambda mu, rho, s: -_kl_terms(mu, F.softplus(rho), s).sum(),
        "you flip the sign: a divergence is never negative.",
    ),
    Misconception(
        lambda mu, rho, s: _kl_terms(mu, F.softplus(rho), s).sum().detach(),
        "you detach the value (.detach(), .item(), .numpy() or no_grad): the prior then has no effect.",
    ),
    Misconception(lambda mu, rho, s: _kl_terms(mu, torch.exp(rho), s).sum(), LOG_STD),
    Misconception(
        lambda mu, rho, s: _kl_terms(mu, torch.exp(rho / 2), s).sum(), LOG_VARIANCE
    ),
    Misconception(
        lambda mu, rho, s: _kl_terms(mu, F.softplus(rho), 1.0).sum(),
        "you use the formula for the prior N(0, 1), as for a variational autoencoder: here the prior has the standard "
        "deviation σ₀.",
    ),
    Misconception(
        lambda mu, rho, s: _kl_terms(mu, F.softplus(rho), s),
        "you return the divergence of every weight: sum them.",
    ),
    Misconception(
        lambda mu, rho, s: _kl_terms(mu, F.softplus(rho), s).sum(-1),
        "you sum over the last axis alone: sum over all weights, whatever the shape is.",
    ),
    Misconception(
        lambda mu, rho, s: (
            _kl_terms(mu, F.softplus(rho), s) + (mu - mu**2) / (2 * s**2)
        ).sum(),
        "you do not square µ: the numerator over 2σ₀² is σ² + µ².",
    ),
    Misconception(
        lambda mu, rho, s: _kl_terms(0 * mu, F.softplus(rho), s).sum(),
        "you leave out µ²: the numerator over 2σ₀² is σ² + µ².",
    ),
    Misconception(
        lambda mu, rho, s: _kl(mu, F.softplus(rho), s, ratio=2),
        "you count the logarithm twice: it is log(σ₀/σ), or half of log(σ₀²/σ²).",
    ),
    Misconception(
        lambda mu, rho, s: _kl(mu, F.softplus(rho), s, ratio=0.5),
        "you halve the logarithm of the standard deviations: ½ belongs to the logarithm of the variances.",
    ),
    Misconception(
        lambda mu, rho, s: _kl(mu, F.softplus(rho), s, ratio=0),
        "you leave out the logarithm log(σ₀/σ), which keeps q from becoming infinitely narrow.",
    ),
    Misconception(
        lambda mu, rho, s: _quadratic(mu, F.softplus(rho), s, s**2),
        "you forget the 2 of 2σ₀², over which σ² + µ² stands.",
    ),
    Misconception(
        lambda mu, rho, s: _quadratic(mu, F.softplus(rho), s, 2 * s),
        "you do not square σ₀: σ² + µ² stands over 2σ₀².",
    ),
    Misconception(
        lambda mu, rho, s: (_kl_terms(mu, F.softplus(rho), s) + 1).sum(),
        "you add ½: it is subtracted, so that the divergence of a distribution from itself is 0.",
    ),
    Misconception(
        lambda mu, rho, s: _kl_terms(mu, F.softplus(rho) ** 2, s).sum(),
        "you square σ once too often.",
    ),
    Misconception(
        lambda mu, rho, s: _kl_terms(mu, F.softplus(F.softplus(rho)), s).sum(),
        "you apply softplus twice.",
    ),
    Misconception(
        lambda mu, rho, s: (
            _kl_terms(mu, F.softplus(rho), s)
            + torch.log(F.softplus(rho))
            + 0.5 * math.log(2 * math.pi * math.e)
        ).sum(),
        "you leave out the entropy of q, and return the cross-entropy: the KL is their difference.",
    ),
    Misconception(
        lambda mu, rho, s: (
            _kl_terms(mu, F.softplus(rho), s) + mu * F.softplus(rho) / s**2
        ).sum(),
        "you square the sum of σ and µ: the numerator over 2σ₀² is σ² + µ².",
    ),
]
