"""Sampling, KL and ELBO of a mean-field Gaussian; oracles from ``torch.distributions`` and NumPy."""

from __future__ import annotations

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch.distributions import Normal, kl_divergence

from course.checks.approximate_inference.tolerances import (
    DRAWS,
    FLOAT32,
    FLOAT64,
    six_errors,
)
from course.task import Close, Misconception, Task


def _sample_cases(rng):
    return [
        {
            "mu": rng.normal(0, 1, 3),
            "rho": rng.uniform(-1, 1, 3),
            "seed": int(rng.integers(1 << 30)),
        },
        {
            "mu": np.zeros(2),
            "rho": np.full(2, 95.0),
            "seed": int(rng.integers(1 << 30)),
        },
        {
            "mu": np.zeros(2),
            "rho": np.full(2, -18.0),
            "seed": int(rng.integers(1 << 30)),
        },
    ]


def _sample_probe(answer, mu, rho, seed):
    import torch

    draws = 2000
    mu = torch.tensor(mu, dtype=torch.float32).repeat(draws, 1).requires_grad_()
    rho = torch.tensor(rho, dtype=torch.float32).repeat(draws, 1).requires_grad_()
    w = answer(mu, rho, generator=torch.Generator().manual_seed(seed))
    if w is None:
        return {"mean": None}
    again = answer(mu, rho, generator=torch.Generator().manual_seed(seed))
    gradients = (None, None)
    if w.requires_grad:
        gradients = torch.autograd.grad(w.sum(), (mu, rho), allow_unused=True)
    to_mu, to_rho = (torch.zeros_like(mu) if g is None else g for g in gradients)
    # How w moves with ρ, for each unit of its distance from µ.
    w, distance = w.detach(), (w - mu).detach().double()
    slope = (to_rho * distance).sum(0) / (distance**2).sum(0)
    return {
        "mean": w.double().mean(0),
        "std": w.double().std(0),
        "gradient_mu": to_mu.mean(0),
        "gradient_rho": slope,
        "reproducible": float(torch.equal(w, again.detach())),
    }


def _sample_oracle(mu, rho, seed):
    std = np.logaddexp(0, rho)
    slope = 1 / (1 + np.exp(-rho)) / std
    return {
        "mean": Close(
            mu, atol=6 * float(std.max()) / math.sqrt(DRAWS), because=six_errors()
        ),
        "std": Close(
            std, rtol=6 / math.sqrt(2 * DRAWS), because=six_errors("standard deviation")
        ),
        "gradient_mu": Close(
            np.ones_like(mu), rtol=1e-5, because="dw/dµ is 1, whatever ε was"
        ),
        "gradient_rho": Close(
            slope,
            rtol=1e-3,
            because="dw/dρ is ε times the sigmoid of ρ, in single precision",
        ),
        "reproducible": Close(1.0, because="the same generator gives the same draw"),
    }


def _noise(like, generator):
    return torch.randn(like.shape, generator=generator)


REPARAMETRISED_SAMPLE = Task(
    id="approximate-inference/reparametrised-sample",
    name="reparametrised_sample",
    points=2,
    cases=_sample_cases,
    probe=_sample_probe,
    oracle=_sample_oracle,
    misconceptions=[
        Misconception(
            lambda mu, rho, *, generator: (
                mu + torch.sqrt(F.softplus(rho)) * _noise(mu, generator)
            ),
            "softplus(ρ) is taken for the variance. In this course it is the standard deviation.",
        ),
        Misconception(
            lambda mu, rho, *, generator: mu + torch.exp(rho) * _noise(mu, generator),
            "the standard deviation is exp(ρ); here it is softplus(ρ).",
        ),
        Misconception(
            lambda mu, rho, *, generator: (
                mu + torch.log(1 + torch.exp(rho)) * _noise(mu, generator)
            ),
            "softplus is written as log(1 + exp(ρ)): in single precision that is inf from ρ = 89 on, and 0 below "
            "ρ = −17. F.softplus is neither.",
        ),
        Misconception(
            lambda mu, rho, *, generator: mu + rho * _noise(mu, generator),
            "ρ itself is used as the standard deviation; softplus is forgotten.",
        ),
        Misconception(
            lambda mu, rho, *, generator: (
                mu + F.softplus(rho) * torch.randn((), generator=generator)
            ),
            "one ε is drawn for all weights: then they move in step. Each weight has an ε of its own.",
        ),
        Misconception(
            lambda mu, rho, *, generator: mu + F.softplus(rho) * torch.randn_like(mu),
            "the generator is not used, so the draw cannot be repeated: torch.randn_like takes the global one.",
        ),
        Misconception(
            lambda mu, rho, *, generator: torch.normal(
                mu.detach(), F.softplus(rho).detach(), generator=generator
            ),
            "the draw carries no gradient: torch.normal and .sample() stop it. Draw ε, then compute w from µ, σ and ε.",
        ),
        Misconception(
            lambda mu, rho, *, generator: (
                mu + F.softplus(rho) * torch.rand(mu.shape, generator=generator)
            ),
            "ε is uniform (torch.rand); it must be normal (torch.randn).",
        ),
    ],
    hints=[
        "Draw ε first, from a distribution that has no parameters; then shift and scale it.",
        "The standard deviation is F.softplus(rho), and ε has the shape of mu.",
        "torch.randn(mu.shape, dtype=mu.dtype, generator=generator)",
    ],
)


def _kl_cases(rng):
    prior_std = float(rng.uniform(1.5, 4))
    ends = {
        "mu": rng.normal(0, 1, 3),
        "rho": np.array([-18.0, 0.5, 95.0]),
        "prior_std": prior_std,
    }
    return [
        {
            "mu": rng.normal(0, 2, (2, 3)),
            "rho": rng.uniform(-3, 2, (2, 3)),
            "prior_std": prior_std,
        },
        {
            "mu": rng.normal(0, 2, 4),
            "rho": rng.uniform(-3, 2, 4),
            "prior_std": float(rng.uniform(0.2, 0.6)),
        },
        ends,
    ]


def _kl_probe(answer, mu, rho, prior_std):
    import torch

    mu = torch.tensor(mu, dtype=torch.float32)
    return {"kl": answer(mu, torch.tensor(rho, dtype=torch.float32), prior_std)}


def _kl_oracle(mu, rho, prior_std):
    q = Normal(torch.tensor(mu), torch.tensor(np.logaddexp(0, rho)))
    kl = kl_divergence(q, Normal(torch.zeros(()).double(), prior_std)).sum()
    return {"kl": Close(float(kl), rtol=2e-5, because=FLOAT32)}


def _kl_terms(mu, std, prior_std):
    return (
        math.log(prior_std)
        - torch.log(std)
        + (std**2 + mu**2) / (2 * prior_std**2)
        - 0.5
    )


def _reversed_kl(mu, rho, prior_std):
    std = F.softplus(rho)
    return (
        torch.log(std)
        - math.log(prior_std)
        + (prior_std**2 + mu**2) / (2 * std**2)
        - 0.5
    ).sum()


GAUSSIAN_KL = Task(
    id="approximate-inference/gaussian-kl",
    name="gaussian_kl",
    points=2,
    cases=_kl_cases,
    probe=_kl_probe,
    oracle=_kl_oracle,
    misconceptions=[
        Misconception(
            lambda mu, rho, s: _kl_terms(mu, F.softplus(rho), s).mean(),
            "the KL is averaged over the weights. The weights are independent, so their divergences add up; a mean "
            "makes the prior weaker the larger the layer is.",
        ),
        Misconception(
            _reversed_kl,
            "the two distributions are exchanged: this is KL(p‖q). The ELBO has KL(q‖p), which q averages over.",
        ),
        Misconception(
            lambda mu, rho, s: _kl_terms(mu, F.softplus(rho), math.sqrt(s)).sum(),
            "prior_std is used as if it were the prior's variance.",
        ),
        Misconception(
            lambda mu, rho, s: _kl_terms(mu, F.softplus(rho), s**2).sum(),
            "prior_std is squared once too often: the variance σ₀² stands where σ₀ belongs.",
        ),
        Misconception(
            lambda mu, rho, s: _kl_terms(mu, torch.sqrt(F.softplus(rho)), s).sum(),
            "softplus(ρ) is taken for the variance of q. In this course it is the standard deviation.",
        ),
        Misconception(
            lambda mu, rho, s: _kl_terms(mu, torch.log(1 + torch.exp(rho)), s).sum(),
            "softplus is written as log(1 + exp(ρ)): in single precision that is inf from ρ = 89 on, and 0 below "
            "ρ = −17, whose logarithm is −inf. Use F.softplus.",
        ),
        Misconception(
            lambda mu, rho, s: (_kl_terms(mu, F.softplus(rho), s) + 0.5).sum(),
            "the −½ of every weight is left out: the divergence of a distribution from itself is 0.",
        ),
        Misconception(
            lambda mu, rho, s: -_kl_terms(mu, F.softplus(rho), s).sum(),
            "the sign is turned: a divergence is never negative.",
        ),
    ],
    hints=[
        "Write down the KL of one weight; the weights are independent, so the divergences add up.",
        "std = F.softplus(rho). The prior's variance is prior_std**2.",
        "log(prior_std) − log(std) + (std² + mu²)/(2 prior_std²) − ½, summed over all weights.",
    ],
)


def _elbo_cases(rng):
    return [
        {
            "logits": rng.normal(0, 3, (s, 5)),
            "y": rng.permutation([0.0, 1.0, 0.0, 1.0, 1.0]),
            "kl": float(rng.uniform(1, 9)),
        }
        for s in (3, 2)
    ]


def _elbo_probe(answer, logits, y, kl):
    import torch

    return {
        "negative_elbo": answer(
            torch.tensor(logits), torch.tensor(y), torch.tensor(kl).double()
        )
    }


def _elbo_oracle(logits, y, kl):
    nll = np.logaddexp(0, (1 - 2 * y) * logits)
    return {
        "negative_elbo": Close(
            nll.sum() / len(logits) + kl, rtol=1e-6, because=f"{FLOAT64}; kl is rounded"
        )
    }


def _bce(logits, y):
    return F.binary_cross_entropy_with_logits(
        logits, y.expand_as(logits), reduction="none"
    )


NEGATIVE_ELBO = Task(
    id="approximate-inference/negative-elbo",
    name="negative_elbo",
    points=2,
    cases=_elbo_cases,
    probe=_elbo_probe,
    oracle=_elbo_oracle,
    misconceptions=[
        Misconception(
            lambda logits, y, kl: _bce(logits, y).mean() + kl,
            "the NLL is averaged over the data, the KL is not: the prior is N times too strong.",
        ),
        Misconception(
            lambda logits, y, kl: _bce(logits, y).mean() + kl / len(y),
            "everything is divided by N. This has the same minimum, but it is not in nats of the whole data set: "
            "its negative is no bound on log p(y | X).",
        ),
        Misconception(
            lambda logits, y, kl: _bce(logits, y).sum() + kl,
            "the draws are added up. They estimate one expectation: average over them, sum over the data.",
        ),
        Misconception(
            lambda logits, y, kl: _bce(logits, y).sum(1).mean() - kl,
            "the KL is subtracted. The ELBO is −NLL − KL, so its negative adds both.",
        ),
        Misconception(
            lambda logits, y, kl: _bce(logits.mean(0), y).sum() + kl,
            "the logits of the draws are averaged first: the expectation is one of log-likelihoods.",
        ),
        Misconception(
            lambda logits, y, kl: -(_bce(logits, y).sum(1).mean() + kl),
            "this is the ELBO itself; a loss is its negative.",
        ),
        Misconception(
            lambda logits, y, kl: (
                -((-_bce(logits, y)).logsumexp(0) - math.log(len(logits))).sum() + kl
            ),
            "probabilities are averaged over the draws before the logarithm. That is right for a prediction; "
            "the ELBO takes the expectation of the logarithm.",
        ),
    ],
    hints=[
        "Three axes of care: draws are averaged, data are summed, the KL counts once.",
        'F.binary_cross_entropy_with_logits with reduction="none" gives all (S, N) terms; y.expand_as(logits) fits.',
        "Sum over dim=1, mean over what is left, plus kl.",
    ],
)
