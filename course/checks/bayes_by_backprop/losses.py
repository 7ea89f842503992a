"""The loss of one draw for y = wx, and its expectation in closed form."""

from __future__ import annotations

import math

import numpy as np
import scipy.special
import scipy.stats
import torch
import torch.nn.functional as F
from torch.distributions import Normal

from course.checks.bayes_by_backprop.tolerances import SINGLE, softplus
from course.checks.probing import gradients_of, leaves
from course.task import Close, Misconception, Task


def _step_cases(rng):
    return [
        {
            "mu": rng.normal(0.5, 1, 1),
            "rho": rng.uniform(-1.5, 2, 1),
            "epsilon": rng.choice([-1, 1]) * rng.uniform(0.5, 2, 1),
            "x": rng.uniform(0.5, 2, n),
            "y": rng.normal(0, 2, n),
            "noise_std": float(rng.uniform(0.3, 0.8)),
            "prior_std": float(rng.uniform(1.5, 3)),
        }
        for n in (3, 2, 1)
    ]


def _draw_loss_probe(answer, mu, rho, epsilon, x, y, noise_std, prior_std):
    import torch

    mu, rho = leaves(mu, rho)
    others = (torch.tensor(value) for value in (epsilon, x, y))
    loss = answer(mu, rho, *others, noise_std=noise_std, prior_std=prior_std)
    return {"loss": loss, **gradients_of(loss, mu=mu, rho=rho)}


def _draw_loss_oracle(mu, rho, epsilon, x, y, noise_std, prior_std):
    norm, std = scipy.stats.norm, softplus(rho)
    w = mu + std * epsilon
    log_q, log_p = norm.logpdf(w, mu, std).sum(), norm.logpdf(w, 0, prior_std).sum()
    value = log_q - log_p - norm.logpdf(y, w * x, noise_std).sum()
    # log q(w) is −½ε² − log σ, which depends on ρ only.
    pulls = np.append(w / prior_std**2, (w * x - y) * x / noise_std**2)
    to_mu, slope = pulls.sum(keepdims=True), scipy.special.expit(rho)
    # The terms of the gradient may nearly cancel, but each is rounded separately.
    close = {"rtol": 1e-5, "atol": 1e-6 * float(np.abs(pulls).sum()), "because": SINGLE}
    return {
        "loss": Close(value, rtol=1e-5, atol=1e-5, because=SINGLE),
        "gradient_of_mu": Close(to_mu, **close),
        "gradient_of_rho": Close((to_mu * epsilon - 1 / std) * slope, **close),
    }


def _draw_loss(signs, reduce=torch.sum):
    def answer(mu, rho, epsilon, x, y, *, noise_std, prior_std):
        std = F.softplus(rho)
        w = mu + std * epsilon
        log_q, log_p = (
            Normal(mu, std).log_prob(w).sum(),
            Normal(0 * mu, prior_std).log_prob(w).sum(),
        )
        fit = reduce(Normal(w * x, noise_std).log_prob(y))
        return signs[0] * log_q + signs[1] * log_p + signs[2] * fit

    return answer


DRAW_LOSS = Task(
    name="draw_loss",
    points=2,
    cases=_step_cases,
    probe=_draw_loss_probe,
    oracle=_draw_loss_oracle,
    misconceptions=[
        Misconception(
            _draw_loss((1, -1, -1), torch.mean),
            "you average the likelihood over the data, but leave the KL as it is: the weight of the data is then "
            "N times too small.",
        ),
        Misconception(
            _draw_loss((-1, 1, 1)),
            "you flip the sign: this is one draw's estimate of the ELBO, which must be maximised.",
        ),
        Misconception(
            _draw_loss((1, 1, -1)), "you add log p(w); the loss subtracts it."
        ),
        Misconception(
            _draw_loss((0, -1, -1)),
            "you leave out log q(w). The remaining terms have their minimum at σ = 0.",
        ),
        Misconception(
            _draw_loss((1, -1, 1)),
            "you add the log-likelihood; the loss subtracts it.",
        ),
        Misconception(
            lambda *case, **stds: _draw_loss((1, -1, -1))(*case, **stds).detach(),
            "you detach the loss (.detach(), .item(), .numpy() or no_grad): it then cannot be differentiated.",
        ),
    ],
    hints=[
        "First compute w; then log q(w), log p(w) and log p(y | w, x), each from one of your functions.",
        "The network is y = wx: its prediction is w * x.",
        "The loss is log q − log p − log likelihood, each of them summed.",
    ],
)


def _exact_cases(rng):
    keep = ("mu", "rho", "x", "y", "noise_std", "prior_std")
    return [{name: case[name] for name in keep} for case in _step_cases(rng)]


def _exact_probe(answer, mu, rho, x, y, noise_std, prior_std):
    import torch

    mu, rho = leaves(mu, rho)
    data = torch.tensor(x), torch.tensor(y)
    loss = answer(mu, rho, *data, noise_std=noise_std, prior_std=prior_std)
    return {"loss": loss, **gradients_of(loss, mu=mu, rho=rho)}


def _exact_oracle(mu, rho, x, y, noise_std, prior_std):
    # draw_loss is quadratic in ε: Gauss-Hermite quadrature with five nodes integrates it exactly.
    nodes, weights = np.polynomial.hermite_e.hermegauss(5)
    mu, rho = (torch.tensor(value, requires_grad=True) for value in (mu, rho))
    x, y = torch.tensor(x), torch.tensor(y)
    noise_std, prior_std = torch.tensor([noise_std, prior_std], dtype=torch.float64)
    loss = 0.0
    for node, weight in zip(nodes, weights / math.sqrt(2 * math.pi), strict=True):
        loss = loss + weight * _draw_loss((1, -1, -1))(
            mu,
            rho,
            torch.tensor([node]),
            x,
            y,
            noise_std=noise_std,
            prior_std=prior_std,
        )
    grad_mu, grad_rho = torch.autograd.grad(loss, (mu, rho))
    return {
        "loss": Close(loss.item(), rtol=1e-5, atol=1e-5, because=SINGLE),
        "gradient_of_mu": Close(grad_mu, rtol=1e-5, atol=1e-5, because=SINGLE),
        "gradient_of_rho": Close(grad_rho, rtol=1e-5, atol=1e-5, because=SINGLE),
    }


def _exact(*, spread=True, kl=True, x_power=2, reduce=torch.sum):
    def answer(mu, rho, x, y, *, noise_std, prior_std):
        std = F.softplus(rho)
        squared_error = (y - mu * x) ** 2 + spread * std**2 * x**x_power
        nll = reduce(
            0.5 * math.log(2 * math.pi * noise_std**2)
            + squared_error / (2 * noise_std**2)
        )
        divergence = (
            torch.log(prior_std / std) + (mu**2 + std**2) / (2 * prior_std**2) - 0.5
        ).sum()
        return nll + (divergence if kl else 0 * divergence)

    return answer


EXACT_LOSS = Task(
    name="exact_loss",
    points=3,
    cases=_exact_cases,
    probe=_exact_probe,
    oracle=_exact_oracle,
    misconceptions=[
        Misconception(
            _exact(spread=False),
            "you replace w with its mean in the likelihood: E[(y − wx)²] also contains σ²x².",
        ),
        Misconception(
            _exact(kl=False), "you leave out KL(q ‖ p): this is the expected NLL alone."
        ),
        Misconception(
            _exact(x_power=1), "you use σ²x as the variance of wx; it is σ²x²."
        ),
        Misconception(
            _exact(reduce=torch.mean),
            "you average the likelihood over the data, but leave the KL as it is: the weight of the data is then "
            "N times too small.",
        ),
    ],
    hints=[
        "The expectation of log q − log p is the KL of two Gaussians, which has a closed form.",
        "E[(y − wx)²] = (y − µx)² + σ²x²: the square of the mean error plus the variance of wx.",
        "For one data point with x = 1, y = 0, and µ = σ = τ = 1 the expected NLL is ½ log 2π + (1 + 1)/2. Sum over the data; the KL counts once.",
    ],
)
