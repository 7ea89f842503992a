"""The KL divergence from either prior by sampling."""

from __future__ import annotations

import math

import numpy as np
import scipy.special
import scipy.stats
import torch
import torch.nn.functional as F
from torch.distributions import Normal

from course.checks.bayes_by_backprop.divergence import log_mixture, mixture_oracle
from course.checks.bayes_by_backprop.tolerances import SIX_ERRORS, softplus
from course.checks.draws import DRAWS, gaussian_distance
from course.task import Close, Misconception, Task


def _sampled_cases(rng):
    """Draw q narrower than the prior, but with entropy above 0: both parts of the KL matter."""

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
        log_p = log_mixture(*case)
        pull = -mixture_oracle(*case)["gradient"].value

    def moments(values):
        mean = (values * mass).sum(1)
        return mean, ((values - mean[:, None]) ** 2 * mass).sum(1)

    mean, variance = moments(scipy.stats.norm.logpdf(w, mu[:, None], std) - log_p)
    # log q(w) is −½ε² − log σ; its derivative is 0 for µ and −(dσ/dρ)/σ for ρ.
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
