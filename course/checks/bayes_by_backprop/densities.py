"""The three log-densities of a step; oracles from SciPy, gradients in closed form."""

from __future__ import annotations

import math

import scipy.special
import scipy.stats
import torch
import torch.nn.functional as F
from torch.distributions import Normal

from course.checks.bayes_by_backprop.tolerances import SINGLE, softplus
from course.task import Close, Misconception, Task


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
    gradients = [torch.zeros_like(leaf) for leaf in (w, mu, rho)]
    if getattr(value, "requires_grad", False):
        gradients = torch.autograd.grad(
            value.sum(), (w, mu, rho), materialize_grads=True
        )
    return {
        "log_q": value,
        "gradient_of_w": gradients[0],
        "gradient_of_mu": gradients[1],
        "gradient_of_rho": gradients[2],
    }


def _log_posterior_oracle(w, mu, rho):
    std = softplus(rho)
    close = {"rtol": 1e-5, "atol": 1e-5, "because": SINGLE}
    to_std = ((w - mu) ** 2 / std**2 - 1) / std
    return {
        "log_q": Close(scipy.stats.norm.logpdf(w, mu, std), **close),
        "gradient_of_w": Close((mu - w) / std**2, **close),
        "gradient_of_mu": Close((w - mu) / std**2, **close),
        "gradient_of_rho": Close(to_std * scipy.special.expit(rho), **close),
    }


LOG_POSTERIOR = Task(
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
            lambda w, mu, rho: Normal(mu, F.softplus(rho)).log_prob(w).detach(),
            "the value carries no graph (.detach(), .item(), .numpy() or no_grad): then nothing can be learnt "
            "from it.",
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

    w = torch.tensor(w, requires_grad=True)
    value, gradient = answer(w, prior_std), torch.zeros_like(w)
    if getattr(value, "requires_grad", False):
        (gradient,) = torch.autograd.grad(value.sum(), w, materialize_grads=True)
    return {"log_p": value, "gradient": gradient}


LOG_PRIOR = Task(
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
        ),
        "gradient": Close(-w / prior_std**2, rtol=1e-5, atol=1e-6, because=SINGLE),
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

    prediction = torch.tensor(prediction, requires_grad=True)
    value = answer(prediction, torch.tensor(y), noise_std)
    gradient = torch.zeros_like(prediction)
    if getattr(value, "requires_grad", False):
        (gradient,) = torch.autograd.grad(
            value.sum(), prediction, materialize_grads=True
        )
    return {"log_likelihood": value, "gradient": gradient}


LOG_LIKELIHOOD = Task(
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
        ),
        "gradient": Close(
            (y - prediction) / noise_std**2, rtol=1e-5, atol=1e-5, because=SINGLE
        ),
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
