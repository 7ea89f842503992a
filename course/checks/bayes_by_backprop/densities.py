"""Log densities of posterior, priors and likelihood; oracles from SciPy, gradients in closed form."""

from __future__ import annotations

import math

import numpy as np
import scipy.special
import scipy.stats
import torch
import torch.nn.functional as F
from torch.distributions import Normal

from course.checks.bayes_by_backprop.tolerances import SINGLE, softplus
from course.checks.concepts_of_densities import FAR, log_normal, wrong_log_normals
from course.checks.concepts_of_weights import wrong_stds
from course.probing import gradients, gradients_of, leaves
from course.task import Close, Misconception, Task

SHAPES = ((4,), (2, 3), (1,))


def _w_cases(rng):
    """Draw cases; in the last, one σ is tiny and one large, and w is near µ or far from it."""
    cases = [
        {
            "w": rng.normal(0, 2, shape),
            "mu": rng.normal(0, 1, shape),
            "rho": rng.uniform(-3, 3, shape),
        }
        for shape in SHAPES
    ]
    rho = rng.permutation([-40.0, 800.0])
    w, mu = softplus(rho) * rng.normal(0, [[2], [1]], (2, 2))
    cases.append({"w": w, "mu": mu, "rho": rho})
    first = cases[0]
    first["w"][0] = first["mu"][0] + FAR * softplus(first["rho"][0])
    return cases


def _log_posterior_probe(answer, w, mu, rho):
    w, mu, rho = leaves(w, mu, rho)
    value = answer(w, mu, rho)
    return {"log_q": value, **gradients_of(value, w=w, mu=mu, rho=rho)}


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
        *wrong_stds(
            lambda std_of: lambda w, mu, rho: log_normal(w, mu, std_of(rho), torch.log)
        ),
        *wrong_log_normals(
            lambda log_density: lambda w, mu, rho: log_density(w, mu, F.softplus(rho)),
            log=torch.log,
        ),
        Misconception(
            lambda w, mu, rho: Normal(mu, F.softplus(rho)).log_prob(w).sum(),
            "you sum the log-densities too early. Return one for each weight; the loss takes the sum.",
        ),
        Misconception(
            lambda w, mu, rho: Normal(mu, F.softplus(rho)).log_prob(mu) + 0 * w,
            "you evaluate the density at the mean µ; the task asks for its value at w.",
        ),
        Misconception(
            lambda w, mu, rho: Normal(mu.detach() + 0 * mu, F.softplus(rho)).log_prob(
                w
            ),
            "you cut µ out of the graph with .data or .detach(): the value is right, but its gradient with respect "
            "to µ is 0.",
        ),
        Misconception(
            lambda w, mu, rho: Normal(mu, F.softplus(rho)).log_prob(w).detach(),
            "you detach the value (.detach(), .item(), .numpy() or no_grad): it then has no gradient to learn from.",
        ),
    ],
    hints=[
        "torch.distributions.Normal takes a mean and a standard deviation.",
        "`rho` is not a standard deviation yet. `Normal` has a method log_prob, which takes `w`.",
    ],
)


def _log_prior_cases(rng):
    cases = [
        {
            "w": scale * rng.normal(0, 2, shape),
            "prior_std": float(scale * rng.uniform(2, 6)),
        }
        for shape, scale in zip(SHAPES, (1, 1, 1e-6), strict=True)
    ]
    cases[0]["w"][0] = FAR * cases[0]["prior_std"]
    return cases


def _log_prior_probe(answer, w, prior_std):
    (w,) = leaves(w)
    value = answer(w, prior_std)
    return {"log_p": value, "gradient": gradients(value, [w])[0]}


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
            "you take σ₀ for a variance: Normal takes σ₀ itself, and the formula its square, in both terms.",
        ),
        Misconception(
            lambda w, prior_std: Normal(0.0, prior_std**2).log_prob(w),
            "you pass the variance to `Normal`, which takes a standard deviation.",
        ),
        Misconception(
            lambda w, prior_std: Normal(0.0, prior_std).log_prob(w).sum(),
            "you sum the log-densities too early. Return one for each weight; the loss takes the sum.",
        ),
        Misconception(
            lambda w, prior_std: Normal(0.0, 1.0).log_prob(w),
            "you use the prior N(0, 1) whatever prior_std is.",
        ),
        Misconception(
            lambda w, prior_std: Normal(0.0, 1 / prior_std).log_prob(w),
            "you pass 1/σ₀ to `Normal`, which takes a standard deviation.",
        ),
        *wrong_log_normals(
            lambda log_density: lambda w, prior_std: log_density(w, 0.0, prior_std),
            log=math.log,
        ),
        Misconception(
            lambda w, prior_std: -Normal(0.0, prior_std).log_prob(w),
            "you flip the sign: this is the negative of the log-density.",
        ),
    ],
    hints=[
        "The prior's mean is 0.",
        "Use `Normal` as in log_posterior; here the standard deviation is given.",
    ],
)


def _likelihood_cases(rng):
    cases = [
        {
            "prediction": scale * rng.normal(0, 2, n),
            "y": scale * rng.normal(0, 2, n),
            "noise_std": float(scale * rng.uniform(0.1, 0.7)),
        }
        for n, scale in ((4, 1), (3, 1e-6), (1, 1))  # a floor under τ or τ² shows
    ]
    first = cases[0]
    first["y"][0] = first["prediction"][0] + FAR * first["noise_std"]
    return cases


def _likelihood_probe(answer, prediction, y, noise_std):
    import torch

    (prediction,) = leaves(prediction)
    value = answer(prediction, torch.tensor(y), noise_std)
    return {"log_likelihood": value, "gradient": gradients(value, [prediction])[0]}


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
            "you use the squared error. A Gaussian log-likelihood divides it by 2τ² and has a normaliser.",
        ),
        Misconception(
            lambda prediction, y, noise_std: Normal(
                prediction, math.sqrt(noise_std)
            ).log_prob(y),
            "you treat the noise's standard deviation as its variance.",
        ),
        Misconception(
            lambda prediction, y, noise_std: -Normal(prediction, noise_std).log_prob(y),
            "you flip the sign: this is the negative log-likelihood.",
        ),
        Misconception(
            lambda f, y, std: Normal(f, std**2).log_prob(y),
            "you pass the variance to `Normal`, which takes a standard deviation.",
        ),
        Misconception(
            lambda f, y, std: Normal(f, max(std, 1e-3)).log_prob(y),
            "you keep τ² above 10⁻⁶, as F.gaussian_nll_loss does unless you pass it another `eps`.",
        ),
        *wrong_log_normals(
            lambda log_density: (
                lambda prediction, y, noise_std: log_density(y, prediction, noise_std)
            ),
            log=math.log,
        ),
        Misconception(
            lambda prediction, y, noise_std: (
                Normal(prediction, noise_std).log_prob(y).sum()
            ),
            "you sum the log-likelihood over the data too early. Return one value for each data point; the loss takes the sum.",
        ),
        Misconception(
            lambda prediction, y, noise_std: (
                Normal(prediction, noise_std).log_prob(y).mean()
            ),
            "you average the log-likelihood over the data. Return one value for each data point; the loss takes the sum.",
        ),
    ],
    hints=[
        "The network's output is the mean of a Gaussian, and noise_std is its standard deviation.",
        "Return the log-density of that Gaussian at y, one value per data point.",
    ],
)


def _mixture_cases(rng):
    cases = [
        {
            "w": rng.normal(0, 1, shape),
            "share": float(rng.uniform(0.2, 0.45)),
            "wide_std": float(rng.uniform(0.8, 1.5)),
            "narrow_std": float(rng.uniform(0.05, 0.3)),
        }
        for shape in ((2, 2), (4,), (1,))
    ]
    cases[0]["w"] = cases[0]["w"] * 0.1  # the narrow component matters here
    cases[1]["w"] = np.append(cases[1]["w"], [80.0])  # both densities underflow here
    return cases


def _mixture_probe(answer, w, share, wide_std, narrow_std):
    (w,) = leaves(w)
    value = answer(w, share, wide_std, narrow_std)
    return {"log_p": value, "gradient": gradients(value, [w])[0]}


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


def _density(w, share, wide_std, narrow_std):
    wide, narrow = (
        Normal(0.0, std).log_prob(w).exp() for std in (wide_std, narrow_std)
    )
    return share * wide + (1 - share) * narrow


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
            "you average log-densities. The logarithm of a mixture is not the mixture of logarithms.",
        ),
        Misconception(
            lambda *case: torch.log(_density(*case)),
            "you mix the densities themselves: both underflow to 0 for a large |w|, and log 0 is −inf. Work with "
            "logarithms: torch.logaddexp.",
        ),
        Misconception(
            lambda w, share, wide_std, narrow_std: _mix(
                w, 1 - share, wide_std, narrow_std
            ),
            "you swap the shares: π belongs to the wide component.",
        ),
        Misconception(
            lambda w, share, wide_std, narrow_std: Normal(
                0.0, math.sqrt(share * wide_std**2 + (1 - share) * narrow_std**2)
            ).log_prob(w),
            "you replace the mixture with one Gaussian of the same variance. That Gaussian has neither the peak nor the tails.",
        ),
        Misconception(
            lambda w, share, wide_std, narrow_std: _mix(
                w, share, wide_std**0.5, narrow_std**0.5
            ),
            "you treat the standard deviations as variances.",
        ),
        Misconception(
            lambda w, share, wide_std, narrow_std: _mix(
                w, share, wide_std**2, narrow_std**2
            ),
            "you pass variances to `Normal`, which takes standard deviations.",
        ),
        Misconception(
            lambda w, share, wide_std, narrow_std: torch.logaddexp(
                Normal(0.0, wide_std).log_prob(w), Normal(0.0, narrow_std).log_prob(w)
            ),
            "you leave out the shares π and 1 − π.",
        ),
        Misconception(
            lambda w, share, wide_std, narrow_std: torch.logaddexp(
                share * Normal(0.0, wide_std).log_prob(w),
                (1 - share) * Normal(0.0, narrow_std).log_prob(w),
            ),
            "you multiply log-densities by the shares. A share multiplies the density, so its logarithm is added.",
        ),
        Misconception(
            lambda w, share, wide_std, narrow_std: torch.logaddexp(
                share + Normal(0.0, wide_std).log_prob(w),
                1 - share + Normal(0.0, narrow_std).log_prob(w),
            ),
            "you add the shares to the log-densities. A share multiplies the density, so its logarithm is added.",
        ),
        Misconception(
            lambda w, share, wide_std, narrow_std: torch.maximum(
                math.log(share) + Normal(0.0, wide_std).log_prob(w),
                math.log(1 - share) + Normal(0.0, narrow_std).log_prob(w),
            ),
            "you take the larger of the two terms in place of their sum.",
        ),
        Misconception(
            lambda *case: _mix(*case).sum(),
            "you sum the log-densities too early. Return one for each weight; the loss takes the sum.",
        ),
        *(
            Misconception(
                lambda *case, small=small: torch.log(_density(*case) + small),
                "you keep the density away from 0 with a small number: where both densities underflow, its logarithm "
                "takes the place of theirs. Work with logarithms: torch.logaddexp.",
            )
            for small in (1e-6, 1e-8, 1e-10, 1e-12, 1e-20, 1e-30)
        ),
    ],
    hints=[
        "Compute two log-densities, one per component. A share multiplies a density, so add its logarithm.",
        "log(π N₁ + (1 − π) N₂) is the logaddexp of log π + log N₁ and log(1 − π) + log N₂.",
    ],
)
