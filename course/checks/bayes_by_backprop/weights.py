"""A weight that is a distribution: its draw, and the three log-densities of a step."""

from __future__ import annotations

import math

import numpy as np
import scipy.stats
import torch
import torch.nn.functional as F
from torch.distributions import Normal

from course.checks.bayes_by_backprop.tolerances import (
    DRAWS,
    EXACT,
    SINGLE,
    SIX_ERRORS,
    softplus,
)
from course.task import Close, Misconception, Task


def _reparametrise_cases(rng):
    return [
        {
            "mu": rng.normal(0, 1, 3),
            "rho": rng.normal(0, 1, 3),
            "epsilon": rng.normal(0, 1, 3),
        },
        {
            "mu": rng.normal(0, 1, 3),
            "rho": np.array([-60.0, 1.0, 800.0]),
            "epsilon": rng.uniform(0.5, 2, 3),
        },
    ]


def _reparametrise_probe(answer, mu, rho, epsilon):
    import torch

    mu = torch.tensor(mu, requires_grad=True)
    rho = torch.tensor(rho, requires_grad=True)
    w = answer(mu, rho, torch.tensor(epsilon))
    w.sum().backward()
    return {"w": w, "gradient_of_mu": mu.grad, "gradient_of_rho": rho.grad}


def _reparametrise_oracle(mu, rho, epsilon):
    slope = epsilon / (1 + np.exp(-rho))
    close = {"rtol": 1e-9, "atol": 1e-40, "because": EXACT}
    return {
        "w": Close(mu + softplus(rho) * epsilon, rtol=1e-9, atol=1e-9, because=EXACT),
        "gradient_of_mu": Close(np.ones_like(mu), **close),
        "gradient_of_rho": Close(slope, rtol=1e-6, atol=1e-40, because=EXACT),
    }


REPARAMETRISE = Task(
    id="bayes-by-backprop/reparametrise",
    name="reparametrise",
    points=1,
    cases=_reparametrise_cases,
    probe=_reparametrise_probe,
    oracle=_reparametrise_oracle,
    misconceptions=[
        Misconception(
            lambda mu, rho, epsilon: mu + rho * epsilon,
            "ρ is taken for the standard deviation. It may be negative; σ = softplus(ρ) may not.",
        ),
        Misconception(
            lambda mu, rho, epsilon: mu + torch.sqrt(F.softplus(rho)) * epsilon,
            "softplus(ρ) is taken for the variance. In this practical it is the standard deviation.",
        ),
        Misconception(
            lambda mu, rho, epsilon: mu + F.softplus(rho) ** 2 * epsilon,
            "the noise is multiplied with the variance σ²; a draw has the standard deviation σ.",
        ),
        Misconception(
            lambda mu, rho, epsilon: mu + torch.log(1 + torch.exp(rho)) * epsilon,
            "log(1 + exp(ρ)) is written out: exp overflows for a large ρ, and for a very negative one "
            "1 + exp(ρ) rounds to 1, so that σ is 0. F.softplus does neither.",
        ),
        Misconception(
            lambda mu, rho, epsilon: mu + torch.exp(rho) * epsilon,
            "σ = exp(ρ): a common choice elsewhere, but here σ = softplus(ρ).",
        ),
    ],
    hints=[
        "First the standard deviation: σ = softplus(ρ).",
        "The weight is the mean plus the standard deviation times the noise.",
        "mu + F.softplus(rho) * epsilon.",
    ],
)


def _sample_cases(rng):
    return [
        {
            "mu": rng.normal(0, 2, 3),
            "rho": rng.uniform(-2, 2, 3),
            "seed": int(rng.integers(1, 1_000_000)),
        }
        for _ in range(2)
    ]


def _sample_probe(answer, mu, rho, seed):
    import torch

    def draw(rows):
        generator = torch.Generator().manual_seed(seed)
        shape = (rows, len(mu))
        return answer(
            torch.tensor(mu).expand(shape),
            torch.tensor(rho).expand(shape),
            generator=generator,
        )

    w = draw(2_000)
    generator = torch.Generator().manual_seed(seed)
    first, second = (
        answer(torch.tensor(mu), torch.tensor(rho), generator=generator)
        for _ in range(2)
    )
    leaf = torch.tensor(rho, requires_grad=True)
    answer(
        torch.tensor(mu, requires_grad=True), leaf, generator=generator
    ).sum().backward()
    return {
        "mean": w.mean(0),
        "std": w.std(0),
        "correlation": torch.corrcoef(w.T)[0, 1],
        "reproducible": float(torch.equal(w, draw(2_000))),
        "fresh": float(not torch.equal(first, second)),
        "rho_has_a_gradient": float(leaf.grad is not None),
    }


def _sample_oracle(mu, rho, seed):
    std = softplus(rho)
    return {
        "mean": Close(
            mu, atol=6 * float(std.max()) / math.sqrt(DRAWS), because=SIX_ERRORS
        ),
        "std": Close(std, rtol=6 / math.sqrt(2 * DRAWS), because=SIX_ERRORS),
        "correlation": Close(0.0, atol=6 / math.sqrt(DRAWS), because=SIX_ERRORS),
        "reproducible": Close(
            1.0, because="the same generator in the same state gives the same draw"
        ),
        "fresh": Close(1.0, because="the next call draws anew"),
        "rho_has_a_gradient": Close(1.0, because="ρ learns through the draw"),
    }


def _randn(mu, generator):
    return torch.randn(mu.shape, generator=generator, dtype=mu.dtype)


SAMPLE_WEIGHTS = Task(
    id="bayes-by-backprop/sample-weights",
    name="sample_weights",
    points=1,
    cases=_sample_cases,
    probe=_sample_probe,
    oracle=_sample_oracle,
    misconceptions=[
        Misconception(
            lambda mu, rho, *, generator: mu + F.softplus(rho) * torch.randn_like(mu),
            "the global random state is used instead of the generator: the draw cannot be repeated.",
        ),
        Misconception(
            lambda mu, rho, *, generator: (
                mu
                + F.softplus(rho)
                * torch.randn(mu.shape, generator=torch.Generator().manual_seed(0)).to(
                    mu
                )
            ),
            "the noise is frozen: every call draws with the same seed, so the next step sees the same ε again.",
        ),
        Misconception(
            lambda mu, rho, *, generator: (
                mu
                + F.softplus(rho)
                * torch.randn((*mu.shape[:-1], 1), generator=generator, dtype=mu.dtype)
            ),
            "one ε is shared by all weights of a draw. Under q they are independent.",
        ),
        Misconception(
            lambda mu, rho, *, generator: (
                mu
                + F.softplus(rho)
                * torch.rand(mu.shape, generator=generator, dtype=mu.dtype)
            ),
            "the noise is uniform on [0, 1] (torch.rand); it is standard normal (torch.randn).",
        ),
        Misconception(
            lambda mu, rho, *, generator: (
                mu + F.softplus(rho).detach() * _randn(mu, generator)
            ),
            "no gradient reaches ρ: .detach(), .data or Normal.sample() has cut the graph.",
        ),
    ],
    hints=[
        "Draw ε with torch.randn, with the shape and the dtype of mu and with the generator.",
        "Then you have everything that reparametrise asks for.",
    ],
)


def _w_cases(rng):
    return [
        {
            "w": rng.normal(0, 2, 4),
            "mu": rng.normal(0, 1, 4),
            "rho": rng.uniform(-3, 3, 4),
        }
        for _ in range(3)
    ]


def _log_posterior_probe(answer, w, mu, rho):
    import torch

    w, mu, rho = (torch.tensor(value, requires_grad=True) for value in (w, mu, rho))
    value = answer(w, mu, rho)
    value.sum().backward()
    return {"log_q": value, "gradient_of_mu": mu.grad}


def _log_posterior_oracle(w, mu, rho):
    std = softplus(rho)
    return {
        "log_q": Close(
            scipy.stats.norm.logpdf(w, mu, std), rtol=1e-9, atol=1e-9, because=EXACT
        ),
        "gradient_of_mu": Close((w - mu) / std**2, rtol=1e-9, atol=1e-9, because=EXACT),
    }


LOG_POSTERIOR = Task(
    id="bayes-by-backprop/log-posterior",
    name="log_posterior",
    points=1,
    cases=_w_cases,
    probe=_log_posterior_probe,
    oracle=_log_posterior_oracle,
    misconceptions=[
        Misconception(
            lambda w, mu, rho: Normal(
                mu * 1.0 + 0.0 * mu, torch.sqrt(F.softplus(rho))
            ).log_prob(w),
            "softplus(ρ) is taken for the variance. In this practical it is the standard deviation.",
        ),
        Misconception(
            lambda w, mu, rho: Normal(mu.detach() + 0 * mu, F.softplus(rho)).log_prob(
                w
            ),
            "µ is cut out of the graph with .data or .detach(): the value is right, but its gradient with "
            "respect to µ is 0.",
        ),
        Misconception(
            lambda w, mu, rho: (
                -0.5 * ((w - mu) / F.softplus(rho)) ** 2 - torch.log(F.softplus(rho))
            ),
            "the constant −½ log 2π is left out.",
        ),
        Misconception(
            lambda w, mu, rho: Normal(mu, F.softplus(rho)).log_prob(w).exp(),
            "the density is returned; its logarithm is asked for.",
        ),
    ],
    hints=[
        "torch.distributions.Normal takes a mean and a standard deviation.",
        "Normal(mu, F.softplus(rho)) has a method log_prob.",
    ],
)


def _log_prior_cases(rng):
    return [
        {"w": rng.normal(0, 2, 4), "prior_std": float(rng.uniform(2, 6))}
        for _ in range(3)
    ]


def _log_prior_probe(answer, w, prior_std):
    import torch

    return {"log_p": answer(torch.tensor(w), prior_std)}


LOG_PRIOR = Task(
    id="bayes-by-backprop/log-prior",
    name="log_prior",
    points=1,
    cases=_log_prior_cases,
    probe=_log_prior_probe,
    oracle=lambda w, prior_std: {
        "log_p": Close(
            scipy.stats.norm.logpdf(w, 0, prior_std),
            rtol=1e-5,
            atol=1e-5,
            because=SINGLE,
        )
    },
    misconceptions=[
        Misconception(
            lambda w, prior_std: Normal(0.0, math.sqrt(prior_std)).log_prob(w),
            "the standard deviation is taken for a variance: no root is needed here.",
        ),
        Misconception(
            lambda w, prior_std: Normal(0.0, prior_std**2).log_prob(w),
            "the variance is passed to Normal, which takes a standard deviation.",
        ),
        Misconception(
            lambda w, prior_std: Normal(0.0, prior_std).log_prob(w).sum(),
            "the densities are summed already. Here every weight keeps its own; the loss sums.",
        ),
        Misconception(
            lambda w, prior_std: Normal(0.0, 1.0).log_prob(w),
            "the prior is N(0, 1) whatever prior_std says.",
        ),
    ],
    hints=["The prior's mean is 0.", "Normal(0.0, prior_std).log_prob(w)."],
)


def _likelihood_cases(rng):
    return [
        {
            "prediction": rng.normal(0, 2, 4),
            "y": rng.normal(0, 2, 4),
            "noise_std": float(rng.uniform(0.1, 0.7)),
        }
        for _ in range(3)
    ]


def _likelihood_probe(answer, prediction, y, noise_std):
    import torch

    return {
        "log_likelihood": answer(torch.tensor(prediction), torch.tensor(y), noise_std)
    }


LOG_LIKELIHOOD = Task(
    id="bayes-by-backprop/log-likelihood",
    name="log_likelihood",
    points=1,
    cases=_likelihood_cases,
    probe=_likelihood_probe,
    oracle=lambda prediction, y, noise_std: {
        "log_likelihood": Close(
            scipy.stats.norm.logpdf(y, prediction, noise_std),
            rtol=1e-5,
            atol=1e-5,
            because=SINGLE,
        )
    },
    misconceptions=[
        Misconception(
            lambda prediction, y, noise_std: -((y - prediction) ** 2),
            "the squared error is used. A Gaussian likelihood divides it by 2τ² and has a normaliser.",
        ),
        Misconception(
            lambda prediction, y, noise_std: Normal(
                prediction, math.sqrt(noise_std)
            ).log_prob(y),
            "the noise's standard deviation is taken for its variance.",
        ),
        Misconception(
            lambda prediction, y, noise_std: -Normal(prediction, noise_std).log_prob(y),
            "the sign is turned: this is the negative log-likelihood.",
        ),
        Misconception(
            lambda prediction, y, noise_std: (
                Normal(prediction, noise_std).log_prob(y).mean()
            ),
            "the likelihood is averaged over the data. Every datum keeps its own here, and the loss sums.",
        ),
    ],
    hints=[
        "The network's output is the mean of a Gaussian, noise_std its standard deviation.",
        "Normal(prediction, noise_std).log_prob(y).",
    ],
)
