"""Wrong divergences of a mean-field Gaussian from its prior."""

from __future__ import annotations

import torch

from course.checks.approximate_inference.concepts import STDS_SAID
from course.checks.concepts_of_divergences import WRONG_KLS, gaussian_kl
from course.checks.concepts_of_weights import wrong_stds
from course.task import Misconception

DIVERGENCES = [
    *(
        Misconception(gaussian_kl(**mistaken), hint)
        for mistaken, hint in (
            (
                {"reduce": torch.mean},
                "you average the KL over the weights. The weights are independent, so their divergences add up; with "
                "a mean, the larger the layer, the weaker the prior.",
            ),
            (
                {"reverse": True},
                "you swap the two distributions: this is KL(p‖q). The ELBO has KL(q‖p), an average over q.",
            ),
            (
                {"scale": lambda s: s**0.5},
                "you use prior_std as if it were the prior's variance.",
            ),
            (
                {"std_of": lambda rho: torch.log(1 + torch.exp(rho))},
                "you write softplus as log(1 + exp(ρ)): in single precision that is inf for ρ ≥ 89, and 0 for "
                "ρ < −17, so that its logarithm is −inf. Use F.softplus.",
            ),
            (
                {"log": -1},
                "you invert the ratio in the logarithm: it should be log(σ₀/σ), which grows as q narrows.",
            ),
            (
                {"squares": lambda std, mu: std + mu**2},
                "you do not square σ: the numerator over 2σ₀² is σ² + µ².",
            ),
            (
                {"half": 0},
                "you leave out the −½ of every weight: the divergence of a distribution from itself must be 0.",
            ),
            (
                {"scale": lambda s: 1.0},
                "you use the formula for the prior N(0, 1), as for a variational autoencoder: here the prior has the "
                "standard deviation σ₀.",
            ),
            (
                {"reduce": lambda terms: terms},
                "you return the divergence of every weight: sum them.",
            ),
            (
                {"squares": lambda std, mu: std**2},
                "you leave out µ²: the numerator over 2σ₀² is σ² + µ².",
            ),
            (
                {"log": 2},
                "you count the logarithm twice: it is log(σ₀/σ), or half of log(σ₀²/σ²).",
            ),
            (
                {"log": 0},
                "you leave out the logarithm log(σ₀/σ), which keeps q from becoming infinitely narrow.",
            ),
            (
                {"quadratic": 1},
                "you forget the 2 of 2σ₀², over which σ² + µ² stands.",
            ),
            ({"power": 1}, "you do not square σ₀: σ² + µ² stands over 2σ₀²."),
            (
                {"reduce": lambda terms: (terms + 0.5).sum() - 0.5},
                "you subtract ½ once, not once for each weight: it belongs inside the sum.",
            ),
            (
                {"reduce": lambda terms: -terms.sum()},
                "you flip the sign: a divergence is never negative.",
            ),
            (
                {"reduce": lambda terms: terms.sum().detach()},
                "you detach the value (.detach(), .item(), .numpy() or no_grad): the prior then has no effect.",
            ),
        )
    ),
    *wrong_stds(
        lambda std_of: gaussian_kl(std_of=std_of),
        said=STDS_SAID
        | {
            "root": "you take softplus(ρ) for the variance of q. In this course it is the standard deviation.",
            "square": "you square σ once too often.",
            "rho": "you use ρ itself as the standard deviation and forget softplus. For ρ below 0 the logarithm does "
            "not exist.",
        },
    ),
    *WRONG_KLS,
]
