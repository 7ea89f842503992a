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
from course.checks.concepts_of_objectives import wrong_terms
from course.checks.concepts_of_weights import wrong_stds
from course.probing import leaves, of_parts
from course.task import Close, Misconception, Task


def _step_cases(rng):
    """Draw cases; the exponential of the last ρ overflows."""
    return [
        {
            "mu": rng.normal(0.5, 1, 1),
            "rho": rng.uniform(-1.5, 2, 1) + shift,
            "epsilon": rng.choice([-1, 1]) * rng.uniform(0.5, 2, 1),
            "x": rng.uniform(0.5, 2, n),
            "y": rng.normal(0, 2, n),
            "noise_std": float(rng.uniform(0.3, 0.8)),
            "prior_std": float(rng.uniform(1.5, 3)),
        }
        for n, shift in ((3, 0), (2, 0), (1, 0), (2, 800))
    ]


def _draw_loss_probe(answer, mu, rho, epsilon, x, y, noise_std, prior_std):
    import torch

    mu, rho = leaves(mu, rho)
    epsilon, x, y = (torch.tensor(value) for value in (epsilon, x, y))
    stds = {"noise_std": noise_std, "prior_std": prior_std}
    loss = answer(mu, rho, epsilon, x, y, **stds)
    twice = answer(mu, rho, epsilon, x.repeat(2), y.repeat(2), **stds)
    return {"loss": loss, **of_parts(loss, twice, mu=mu, rho=rho)}


def _parts(divergence, nll):
    """Return the loss, and what of it belongs to the data and what does not."""
    large = abs(divergence) + abs(nll)
    close = {"rtol": 1e-5, "atol": 1e-5 + 1e-5 * large, "because": SINGLE}
    return {
        "loss": Close(divergence + nll, rtol=1e-5, atol=1e-5, because=SINGLE),
        "change_with_the_same_data_twice": Close(nll, **close),
        "loss_without_data": Close(divergence, **close),
    }


def _draw_loss_oracle(mu, rho, epsilon, x, y, noise_std, prior_std):
    norm, std = scipy.stats.norm, softplus(rho)
    w = mu + std * epsilon
    log_q, log_p = norm.logpdf(w, mu, std).sum(), norm.logpdf(w, 0, prior_std).sum()
    nll = -norm.logpdf(y, w * x, noise_std).sum()
    # log q(w) is −½ε² − log σ, which depends on ρ only.
    pulls = np.append(w / prior_std**2, (w * x - y) * x / noise_std**2)
    to_mu, slope = pulls.sum(keepdims=True), scipy.special.expit(rho)
    # The terms of the gradient may nearly cancel, but each is rounded separately.
    close = {"rtol": 1e-5, "atol": 1e-6 * float(np.abs(pulls).sum()), "because": SINGLE}
    return {
        **_parts(log_q - log_p, nll),
        "gradient_of_mu": Close(to_mu, **close),
        "gradient_of_rho": Close((to_mu * epsilon - 1 / std) * slope, **close),
    }


def _draw_loss(
    signs=(1, -1, -1),
    reduce=torch.sum,
    *,
    std_of=F.softplus,
    q_at=lambda w, mu: w,
    p_at=lambda w, mu: w,
    predict_at=lambda w, mu: w,
    draw_of=lambda w: w,
):
    def answer(mu, rho, epsilon, x, y, *, noise_std, prior_std):
        std = std_of(rho)
        w = draw_of(mu + std * epsilon)
        log_q, log_p = (
            Normal(mu, std, validate_args=False).log_prob(q_at(w, mu)).sum(),
            Normal(0 * mu, prior_std).log_prob(p_at(w, mu)).sum(),
        )
        fit = reduce(Normal(predict_at(w, mu) * x, noise_std).log_prob(y))
        return signs[0] * log_q + signs[1] * log_p + signs[2] * fit

    return answer


def _with_closed_form(mu, rho, epsilon, x, y, *, noise_std, prior_std):
    nll = _draw_loss((0, 0, -1))
    case = mu, rho, epsilon, x, y
    divergence = _divergence(mu, F.softplus(rho), prior_std).sum()
    return divergence + nll(*case, noise_std=noise_std, prior_std=prior_std)


def _divergence(mu, std, prior_std):
    ratio, shift = std / prior_std, mu / prior_std
    return (ratio.square() + shift.square() - 1) / 2 - ratio.log()


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
            _draw_loss((-1, -1, -1)),
            "you subtract log q(w); the loss adds it.",
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
            _draw_loss((0, 0, -1)),
            "you leave out log q(w) − log p(w): this is the NLL alone.",
        ),
        Misconception(
            _draw_loss((1, -1, 0)), "you leave out the log-likelihood of the data."
        ),
        Misconception(
            _draw_loss((1, 0, -1)),
            "you leave out log p(w): the prior then has no effect.",
        ),
        Misconception(
            _with_closed_form,
            "you use the KL in closed form. It is the expectation of log q(w) − log p(w); the loss of one draw has "
            "their values at the drawn w.",
        ),
        Misconception(
            _draw_loss(predict_at=lambda w, mu: mu),
            "you predict with the mean µ; predict with the drawn weight w.",
        ),
        Misconception(
            _draw_loss(p_at=lambda w, mu: mu),
            "you evaluate the prior at the mean µ; evaluate it at the drawn weight w.",
        ),
        Misconception(
            _draw_loss(q_at=lambda w, mu: mu),
            "you evaluate log q at its mean µ; evaluate it at the drawn weight w.",
        ),
        Misconception(
            _draw_loss(q_at=lambda w, mu: w.detach()),
            "you detach w in log q(w). The value is right, but µ and ρ also act on log q(w) through w.",
        ),
        Misconception(
            _draw_loss(draw_of=torch.Tensor.detach),
            "you cut w off from µ and ρ (.detach() or no_grad). The value is right, but the data and the prior then "
            "have no effect on µ and ρ.",
        ),
        Misconception(
            _draw_loss(reduce=lambda terms: terms),
            "you return one value for each data point. Sum the log-likelihood over the data.",
        ),
        Misconception(
            lambda *case, noise_std, prior_std: _draw_loss()(
                *case, noise_std=prior_std, prior_std=noise_std
            ),
            "you swap noise_std and prior_std.",
        ),
        Misconception(
            lambda *case, **stds: (
                len(case[-1]) * _draw_loss((1, -1, 0))(*case, **stds)
                + _draw_loss((0, 0, -1))(*case, **stds)
            ),
            "you count log q(w) − log p(w) for every data point; it counts once.",
        ),
        *wrong_stds(lambda std_of: _draw_loss(std_of=std_of)),
        Misconception(
            lambda *case, **stds: _draw_loss((1, -1, -1))(*case, **stds).detach(),
            "you detach the loss (.detach(), .item(), .numpy() or no_grad): it then cannot be differentiated.",
        ),
    ],
    hints=[
        "First compute w; then log q(w), log p(w) and log p(y | w, x), each from one of your functions.",
        "The network is y = wx: its prediction is `w * x`.",
        "The loss is log q − log p − log likelihood, each of them summed.",
    ],
)


def _exact_cases(rng):
    keep = ("mu", "rho", "x", "y", "noise_std", "prior_std")
    return [{name: case[name] for name in keep} for case in _step_cases(rng)]


def _exact_probe(answer, mu, rho, x, y, noise_std, prior_std):
    import torch

    mu, rho = leaves(mu, rho)
    x, y = torch.tensor(x), torch.tensor(y)
    stds = {"noise_std": noise_std, "prior_std": prior_std}
    loss = answer(mu, rho, x, y, **stds)
    twice = answer(mu, rho, x.repeat(2), y.repeat(2), **stds)
    return {"loss": loss, **of_parts(loss, twice, mu=mu, rho=rho)}


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
    fit = _exact(kl=0)(mu, rho, x, y, noise_std=noise_std, prior_std=prior_std).item()
    return {
        **_parts(loss.item() - fit, fit),
        "gradient_of_mu": Close(grad_mu, rtol=1e-5, atol=1e-5, because=SINGLE),
        "gradient_of_rho": Close(grad_rho, rtol=1e-5, atol=1e-5, because=SINGLE),
    }


def _exact(
    *,
    spread=1,
    kl=1,
    x_power=2,
    reduce=torch.sum,
    std_of=F.softplus,
    constant=lambda tau: 0.5 * math.log(2 * math.pi * tau**2),
    half=0.5,
    prior=lambda prior_std: prior_std,
    s_power=2,
):
    def answer(mu, rho, x, y, *, noise_std, prior_std):
        std = std_of(rho)
        squared_error = (y - mu * x) ** 2 + spread * std**s_power * x**x_power
        nll = reduce(constant(noise_std) + half * squared_error / noise_std**2)
        return nll + kl * _divergence(mu, std, prior(torch.as_tensor(prior_std))).sum()

    return answer


def _kl_for_each(mu, rho, x, y, *, noise_std, prior_std):
    options = {"noise_std": noise_std, "prior_std": prior_std}
    nll = _exact(kl=0)(mu, rho, x, y, **options)
    return nll + len(x) * _divergence(mu, F.softplus(rho), prior_std).sum()


def _constant_once(mu, rho, x, y, *, noise_std, prior_std):
    options = {"noise_std": noise_std, "prior_std": prior_std}
    loss = _exact(constant=lambda tau: 0.0)(mu, rho, x, y, **options)
    return loss + 0.5 * math.log(2 * math.pi * noise_std**2)


EXACT_LOSS = Task(
    name="exact_loss",
    points=3,
    cases=_exact_cases,
    probe=_exact_probe,
    oracle=_exact_oracle,
    misconceptions=[
        Misconception(
            _exact(spread=0),
            "you replace w with its mean in the likelihood: E[(y − wx)²] also contains σ²x².",
        ),
        Misconception(
            _exact(kl=0), "you leave out KL(q‖p): this is the expected NLL alone."
        ),
        Misconception(
            _exact(x_power=1), "you use σ²x as the variance of wx; it is σ²x²."
        ),
        Misconception(
            _exact(reduce=torch.mean),
            "you average the likelihood over the data, but leave the KL as it is: the weight of the data is then "
            "N times too small.",
        ),
        Misconception(
            _kl_for_each,
            "you add the KL for every data point; it counts once, however many data points there are.",
        ),
        Misconception(
            _exact(constant=lambda tau: 0.0),
            "you leave out the constant ½ log 2πτ² of every data point.",
        ),
        Misconception(
            _exact(constant=lambda tau: math.log(tau)),
            "you leave out ½ log 2π of every data point.",
        ),
        Misconception(
            _exact(constant=lambda tau: 0.5 * math.log(2 * math.pi)),
            "you leave out log τ of every data point.",
        ),
        Misconception(
            _constant_once,
            "you count the constant ½ log 2πτ² once; it belongs to every data point.",
        ),
        Misconception(
            _exact(x_power=0),
            "you use σ² as the variance of wx; it is σ²x².",
        ),
        Misconception(
            _exact(s_power=1),
            "you use σx² as the variance of wx; it is σ²x².",
        ),
        Misconception(
            _exact(spread=-1),
            "you subtract the variance σ²x²; E[(y − wx)²] adds it to the square of the mean error.",
        ),
        Misconception(
            _exact(half=1.0),
            "you leave out the factor ½ of the expected squared error.",
        ),
        Misconception(
            _exact(kl=-1), "you subtract KL(q‖p); the negative ELBO adds it."
        ),
        Misconception(
            lambda *case, **stds: -_exact()(*case, **stds),
            "you flip the sign: this is the ELBO, which must be maximised.",
        ),
        Misconception(
            _exact(prior=torch.ones_like),
            "you leave out σ₀: the KL is that from the prior N(0, 1), whatever prior_std is.",
        ),
        Misconception(
            _exact(prior=torch.sqrt),
            "you treat the prior's standard deviation as its variance.",
        ),
        Misconception(
            lambda *case, noise_std, prior_std: _exact()(
                *case, noise_std=math.sqrt(noise_std), prior_std=prior_std
            ),
            "you treat the noise's standard deviation as its variance.",
        ),
        *wrong_stds(lambda std_of: _exact(std_of=std_of)),
        *wrong_terms(
            _exact(kl=0),
            lambda mu, rho, x, y, *, noise_std, prior_std: _divergence(
                mu, F.softplus(rho), prior_std
            ).sum(),
            *("minus NLL", "no NLL"),
        ),
    ],
    hints=[
        "The expectation of log q − log p is the KL of two Gaussians, which has a closed form.",
        "E[(y − wx)²] = (y − µx)² + σ²x²: the square of the mean error plus the variance of wx.",
        "For one data point with x = 1, y = 0, and µ = σ = τ = 1 the expected NLL is ½ log 2π + (1 + 1)/2. Sum over the data; the KL counts once.",
    ],
)
