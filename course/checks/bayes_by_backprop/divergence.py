"""The two priors, and the KL divergence from one of them in closed form."""

from __future__ import annotations

import math

import numpy as np
import scipy.special
import scipy.stats
import torch
import torch.nn.functional as F
from torch.distributions import Normal, kl_divergence

from course.checks.bayes_by_backprop.tolerances import (
    SINGLE,
    softplus,
)
from course.task import Close, Misconception, Task


def _kl_cases(rng):
    return [
        {
            "mu": rng.normal(0, 1, (2, 3)),
            "rho": rng.uniform(-3, 1, (2, 3)),
            "prior_std": float(rng.uniform(1.5, 4)),
        },
        {
            "mu": rng.normal(0, 1, (2, 3)),
            "rho": rng.choice([-40.0, 40.0, 800.0], (2, 3)),
            "prior_std": float(rng.uniform(1.5, 4)),
        },
    ]


def _kl_probe(answer, mu, rho, prior_std):
    import torch

    mu, rho = (
        torch.tensor(mu, requires_grad=True),
        torch.tensor(rho, requires_grad=True),
    )
    kl = answer(mu, rho, prior_std)
    to_mu, to_rho = torch.zeros_like(mu), torch.zeros_like(rho)
    if getattr(kl, "requires_grad", False):
        to_mu, to_rho = torch.autograd.grad(kl.sum(), (mu, rho), materialize_grads=True)
    return {"kl": kl, "gradient_of_mu": to_mu, "gradient_of_rho": to_rho}


def _kl_oracle(mu, rho, prior_std):
    std = softplus(rho)
    q = Normal(torch.tensor(mu), torch.tensor(std))
    kl = kl_divergence(
        q, Normal(torch.zeros(2, 3, dtype=torch.float64), prior_std)
    ).sum()
    to_rho = (std / prior_std**2 - 1 / std) * scipy.special.expit(rho)
    close = {"rtol": 1e-5, "atol": 1e-5, "because": SINGLE}
    return {
        "kl": Close(kl.item(), **close),
        "gradient_of_mu": Close(mu / prior_std**2, **close),
        "gradient_of_rho": Close(to_rho, **close),
    }


def _kl(
    *, reduce=torch.sum, half=0.5, scale=lambda s: s, std_of=F.softplus, reverse=False
):
    def answer(mu, rho, prior_std):
        std, prior = std_of(rho), torch.as_tensor(scale(prior_std))
        if reverse:
            return reduce(
                torch.log(std / prior) + (prior**2 + mu**2) / (2 * std**2) - 0.5
            )
        return reduce(torch.log(prior / std) + (std**2 + mu**2) / (2 * prior**2) - half)

    return answer


GAUSSIAN_KL = Task(
    name="gaussian_kl",
    points=2,
    cases=_kl_cases,
    probe=_kl_probe,
    oracle=_kl_oracle,
    misconceptions=[
        Misconception(
            _kl(reduce=torch.mean),
            "the KL is averaged over the weights; it is a sum. One widely used library makes this mistake.",
        ),
        Misconception(
            _kl(half=0.0),
            "the −½ of every weight is left out: then KL(p ‖ p) is not 0.",
        ),
        Misconception(
            _kl(scale=math.sqrt),
            "the prior's standard deviation is taken for its variance.",
        ),
        Misconception(
            _kl(reverse=True), "the two distributions are exchanged: this is KL(p ‖ q)."
        ),
        Misconception(
            _kl(std_of=lambda rho: torch.log(1 + torch.exp(rho))),
            "log(1 + exp(ρ)) is written out, and is 0 or infinite for the extreme ρ. Use F.softplus.",
        ),
        Misconception(
            lambda mu, rho, prior_std: _kl()(mu, rho, prior_std).detach(),
            "the value carries no graph (.detach(), .item(), .numpy() or no_grad): then the prior pulls at nothing.",
        ),
    ],
    hints=[
        "σ = F.softplus(rho); everything else is the formula of the docstring.",
        "log(σ₀/σ) + (σ² + µ²)/(2σ₀²) − ½ for every weight.",
        "Then the sum of it all, never the mean.",
    ],
)


def _mixture_cases(rng):
    cases = [
        {
            "w": rng.normal(0, 1, 4),
            "share": float(rng.uniform(0.2, 0.45)),
            "wide_std": float(rng.uniform(0.8, 1.5)),
            "narrow_std": float(rng.uniform(0.05, 0.3)),
        }
        for _ in range(2)
    ]
    cases[0]["w"] = cases[0]["w"] * 0.1  # the narrow component matters here
    cases[1]["w"] = np.append(cases[1]["w"], [80.0])  # both densities underflow here
    return cases


def _mixture_probe(answer, w, share, wide_std, narrow_std):
    import torch

    w = torch.tensor(w, requires_grad=True)
    value, gradient = answer(w, share, wide_std, narrow_std), torch.zeros_like(w)
    if getattr(value, "requires_grad", False):
        (gradient,) = torch.autograd.grad(value.sum(), w, materialize_grads=True)
    return {"log_p": value, "gradient": gradient}


def mixture_oracle(w, share, wide_std, narrow_std):
    log_p = log_mixture(w, share, wide_std, narrow_std)
    log_wide = np.log(share) + scipy.stats.norm.logpdf(w, 0, wide_std)
    is_wide = np.exp(log_wide - log_p)  # the wide component's posterior probability
    gradient = -w * (is_wide / wide_std**2 + (1 - is_wide) / narrow_std**2)
    close = {"rtol": 1e-5, "atol": 1e-5, "because": SINGLE}
    return {
        "log_p": Close(log_p, **close),
        "gradient": Close(gradient, rtol=1e-4, atol=1e-4, because=SINGLE),
    }


def log_mixture(w, share, wide_std, narrow_std):
    logs = [
        scipy.stats.norm.logpdf(w, 0, wide_std),
        scipy.stats.norm.logpdf(w, 0, narrow_std),
    ]
    shares = np.array([share, 1 - share]).reshape(2, *[1] * np.ndim(w))
    return scipy.special.logsumexp(np.stack(logs), axis=0, b=shares)


def _mix(w, share, wide_std, narrow_std):
    wide = math.log(share) + Normal(0.0, wide_std).log_prob(w)
    return torch.logaddexp(
        wide, math.log(1 - share) + Normal(0.0, narrow_std).log_prob(w)
    )


LOG_SCALE_MIXTURE = Task(
    name="log_scale_mixture",
    points=2,
    cases=_mixture_cases,
    probe=_mixture_probe,
    oracle=mixture_oracle,
    misconceptions=[
        Misconception(
            lambda w, share, wide_std, narrow_std: (
                share * Normal(0.0, wide_std).log_prob(w)
                + (1 - share) * Normal(0.0, narrow_std).log_prob(w)
            ),
            "log-densities are averaged. The logarithm of a mixture is not the mixture of logarithms.",
        ),
        Misconception(
            lambda w, share, wide_std, narrow_std: torch.log(
                share * Normal(0.0, wide_std).log_prob(w).exp()
                + (1 - share) * Normal(0.0, narrow_std).log_prob(w).exp()
            ),
            "both densities underflow to 0 far out, and log 0 is −inf. Stay with logarithms: torch.logaddexp.",
        ),
        Misconception(
            lambda w, share, wide_std, narrow_std: _mix(
                w, 1 - share, wide_std, narrow_std
            ),
            "the shares are exchanged: π belongs to the wide component.",
        ),
        Misconception(
            lambda w, share, wide_std, narrow_std: Normal(
                0.0, math.sqrt(share * wide_std**2 + (1 - share) * narrow_std**2)
            ).log_prob(w),
            "the mixture is replaced by one Gaussian of the same variance. It has neither the peak nor the tails.",
        ),
        Misconception(
            lambda w, share, wide_std, narrow_std: _mix(
                w, share, wide_std**0.5, narrow_std**0.5
            ),
            "the standard deviations are taken for variances.",
        ),
    ],
    hints=[
        "Two log-densities, one per component; a share multiplies a density, so its logarithm is added.",
        "log(π N₁ + (1 − π) N₂) = logaddexp(log π + log N₁, log(1 − π) + log N₂).",
    ],
)
