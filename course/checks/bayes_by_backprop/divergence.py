"""The two priors, and the divergence from them: in closed form and by sampling."""

from __future__ import annotations

import math

import numpy as np
import scipy.special
import scipy.stats
import torch
import torch.nn.functional as F
from torch.distributions import Normal, kl_divergence

from course.checks.bayes_by_backprop.tolerances import (
    DRAWS,
    SINGLE,
    SIX_ERRORS,
    gaussian_distance,
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
    id="bayes-by-backprop/gaussian-kl",
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
    cases[0]["w"] = cases[0]["w"] * 0.1  # where the narrow component counts
    cases[1]["w"] = np.append(cases[1]["w"], [80.0])  # where both densities underflow
    return cases


def _mixture_probe(answer, w, share, wide_std, narrow_std):
    import torch

    w = torch.tensor(w, requires_grad=True)
    value, gradient = answer(w, share, wide_std, narrow_std), torch.zeros_like(w)
    if getattr(value, "requires_grad", False):
        (gradient,) = torch.autograd.grad(value.sum(), w, materialize_grads=True)
    return {"log_p": value, "gradient": gradient}


def _mixture_oracle(w, share, wide_std, narrow_std):
    log_p = _log_mixture(w, share, wide_std, narrow_std)
    log_wide = np.log(share) + scipy.stats.norm.logpdf(w, 0, wide_std)
    is_wide = np.exp(log_wide - log_p)  # the wide component's posterior probability
    gradient = -w * (is_wide / wide_std**2 + (1 - is_wide) / narrow_std**2)
    close = {"rtol": 1e-5, "atol": 1e-5, "because": SINGLE}
    return {
        "log_p": Close(log_p, **close),
        "gradient": Close(gradient, rtol=1e-4, atol=1e-4, because=SINGLE),
    }


def _log_mixture(w, share, wide_std, narrow_std):
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
    id="bayes-by-backprop/log-scale-mixture",
    name="log_scale_mixture",
    points=2,
    cases=_mixture_cases,
    probe=_mixture_probe,
    oracle=_mixture_oracle,
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


def _sampled_cases(rng):
    """q is narrower than the prior, and not so narrow that its entropy is 0: neither part of the KL is."""

    def case(share):
        return {
            "mu": rng.choice([-1, 1], 3) * rng.uniform(0.5, 1.5, 3),
            "rho": rng.uniform(-1.1, 0, 3),
            "share": share,
            "wide_std": float(rng.uniform(1.5, 2.5)),
            "narrow_std": float(rng.uniform(0.2, 0.5)),
            "seed": int(rng.integers(1, 1_000_000)),
        }

    return [case(1.0), case(float(rng.uniform(0.3, 0.7)))]


def _sampled_probe(answer, mu, rho, share, wide_std, narrow_std, seed):
    import math

    import torch
    from torch.distributions import Normal

    def log_prior(w):
        wide = Normal(0.0, wide_std).log_prob(w)
        if share == 1.0:
            return wide
        narrow = Normal(0.0, narrow_std).log_prob(w)
        return torch.logaddexp(wide + math.log(share), narrow + math.log(1 - share))

    mu = torch.tensor(mu, requires_grad=True)
    rho = torch.tensor(rho, requires_grad=True)

    def estimate(draws, log_p=log_prior, offset=0, copies=1, at=(mu, rho)):
        mu, rho = (value.repeat(copies, 1).squeeze(0) for value in at)
        generator = torch.Generator().manual_seed(seed + offset)
        return answer(mu, rho, log_p, draws=draws, generator=generator)

    kl = estimate(2_000)
    if kl is None:
        return {"kl": None}
    to_mu, to_rho = torch.zeros_like(mu), torch.zeros_like(rho)
    if kl.requires_grad:
        to_mu, to_rho = torch.autograd.grad(kl.sum(), (mu, rho), materialize_grads=True)
    # Of weights that are all alike it is plain what noise they have.
    seen = []

    def watched(w):
        seen.append(w.detach().flatten())
        return log_prior(w)

    estimate(2_000, watched, at=(mu[:1].expand(3), rho[:1].expand(3)))
    w = torch.cat(seen) if seen else torch.zeros(2)
    return {
        "kl": kl,
        "kl_from_two_draws_of_many_weights": estimate(2, copies=1_000) / 1_000,
        "draws_count": float(not torch.equal(estimate(1), estimate(2))),
        "mean_distance_in_stds": (w - w.mean()).abs().mean() / w.std(),
        "noise_of_its_own": float(len(w.unique()) > 5_000),
        "reproducible": float(torch.equal(kl, estimate(2_000))),
        "another_seed_another_draw": float(
            not torch.equal(kl, estimate(2_000, offset=1))
        ),
        "gradient_of_mu": to_mu,
        "gradient_of_rho": to_rho,
    }


def _sampled_oracle(mu, rho, share, wide_std, narrow_std, seed):
    std, slope = softplus(rho)[:, None], scipy.special.expit(rho)[:, None]
    z = np.linspace(-10, 10, 20_001)
    w, mass = mu[:, None] + std * z, scipy.stats.norm.pdf(z) * (z[1] - z[0])
    if share == 1.0:
        log_p = scipy.stats.norm.logpdf(w, 0, wide_std)
        pull = w / wide_std**2  # −d log p/dw
    else:
        case = w, share, wide_std, narrow_std
        log_p = _log_mixture(*case)
        pull = -_mixture_oracle(*case)["gradient"].value

    def moments(values):
        mean = (values * mass).sum(1)
        return mean, ((values - mean[:, None]) ** 2 * mass).sum(1)

    mean, variance = moments(scipy.stats.norm.logpdf(w, mu[:, None], std) - log_p)
    # log q(w) is −½ε² − log σ: µ moves it not at all, ρ by −(dσ/dρ)/σ.
    to_mu, to_rho = moments(pull), moments((pull * z - 1 / std) * slope)
    kl = Close(
        mean.sum(), atol=6 * math.sqrt(variance.sum() / DRAWS), because=SIX_ERRORS
    )
    return {
        "kl": kl,
        "kl_from_two_draws_of_many_weights": kl,
        "draws_count": Close(1.0, because="two draws are not one draw"),
        "mean_distance_in_stds": gaussian_distance(3 * DRAWS),
        "noise_of_its_own": Close(1.0, because="every weight of every draw has an ε"),
        "reproducible": Close(
            1.0, because="the same generator in the same state gives the same estimate"
        ),
        "another_seed_another_draw": Close(
            1.0, because="the noise comes from the generator that is passed in"
        ),
        "gradient_of_mu": _within(to_mu),
        "gradient_of_rho": _within(to_rho),
    }


def _within(moments):
    mean, variance = moments
    atol = 6 * math.sqrt(variance.max() / DRAWS)
    return Close(mean, rtol=1e-9, atol=atol, because=SIX_ERRORS)


def _sampled(
    *,
    difference=lambda log_q, log_p: log_q - log_p,
    reduce=lambda terms, draws: terms.sum() / draws,
    noise_of=lambda generator: generator,
    draw_of=lambda w: w,
):
    def answer(mu, rho, log_prior, *, draws, generator):
        std = F.softplus(rho)
        source = noise_of(generator)
        w = mu + std * torch.randn(draws, *mu.shape, generator=source, dtype=mu.dtype)
        w = draw_of(w)
        return reduce(difference(Normal(mu, std).log_prob(w), log_prior(w)), draws)

    return answer


SAMPLED_KL = Task(
    id="bayes-by-backprop/sampled-kl",
    name="sampled_kl",
    points=3,
    cases=_sampled_cases,
    probe=_sampled_probe,
    oracle=_sampled_oracle,
    misconceptions=[
        Misconception(
            _sampled(reduce=lambda terms, draws: terms.sum()),
            "the draws are summed: the estimate then grows with their number. Divide by draws.",
        ),
        Misconception(
            _sampled(reduce=lambda terms, draws: terms.mean()),
            "the weights are averaged too. Draws are averaged; weights are summed.",
        ),
        Misconception(
            _sampled(difference=lambda log_q, log_p: log_p - log_q),
            "the sign is turned: log p − log q has a negative mean.",
        ),
        Misconception(
            _sampled(noise_of=lambda generator: None),
            "the global random state is used instead of the generator: the estimate cannot be repeated.",
        ),
        Misconception(
            _sampled(noise_of=lambda generator: torch.Generator().manual_seed(0)),
            "the noise is frozen: every call draws with the same seed, whatever generator it is given.",
        ),
        Misconception(
            _sampled(draw_of=torch.Tensor.detach),
            "the draws are cut out of the graph (.sample(), .detach() or no_grad): what −log p(w) says about µ and ρ "
            "is lost.",
        ),
        Misconception(
            _sampled(difference=lambda log_q, log_p: -log_p),
            "log q(w) is left out: this is the cross-entropy of q and p.",
        ),
    ],
    hints=[
        "All draws at once: expand µ and ρ to the shape (draws, …) and call sample_weights.",
        "log_posterior(w, mu, rho) − log_prior(w) for every draw and every weight.",
        "Sum over everything, then divide by draws.",
    ],
)
