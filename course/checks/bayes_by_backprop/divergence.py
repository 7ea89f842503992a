"""The KL divergence from a prior, in closed form and by sampling."""

from __future__ import annotations

import math

import numpy as np
import scipy.special
import scipy.stats
import torch
from torch.distributions import Normal, kl_divergence

from course.checks.bayes_by_backprop.densities import log_mixture, mixture_oracle
from course.checks.bayes_by_backprop.sampling import SAMPLED_KL_MISTAKES
from course.checks.bayes_by_backprop.tolerances import SINGLE, SIX_ERRORS, softplus
from course.checks.concepts_of_divergences import WRONG_KLS, gaussian_kl
from course.checks.concepts_of_weights import wrong_stds
from course.checks.draws import APART, DRAWS, TAILS, gaussian_distance
from course.probing import (
    correlation_of_two,
    gradients_of,
    has_tails,
    leaves,
    seeded,
    unwrapped,
)
from course.task import Close, Misconception, Task


def _kl_cases(rng):
    return [
        {
            "mu": rng.normal(0, 1, rho.shape),
            "rho": rho,
            "prior_std": float(scale * rng.uniform(1.5, 4)),
        }
        for rho, scale in (
            (rng.uniform(-3, 1, (2, 3)), 1),
            (rng.permutation([-40.0, -40.0, 40.0, 800.0, 800.0]), 1),
            (rng.uniform(-3, 1, 1), 1e-4),
        )
    ]


def _kl_probe(answer, mu, rho, prior_std):
    mu, rho = leaves(mu, rho)
    kl = answer(mu, rho, prior_std)
    return {"kl": kl, **gradients_of(kl, mu=mu, rho=rho)}


def _kl_oracle(mu, rho, prior_std):
    std = softplus(rho)
    q = Normal(torch.tensor(mu), torch.tensor(std))
    kl = kl_divergence(q, Normal(torch.zeros(()).double(), prior_std)).sum()
    to_rho = (std / prior_std**2 - 1 / std) * scipy.special.expit(rho)
    close = {"rtol": 1e-5, "atol": 1e-5, "because": SINGLE}
    return {
        "kl": Close(kl.item(), **close),
        "gradient_of_mu": Close(mu / prior_std**2, **close),
        "gradient_of_rho": Close(to_rho, **close),
    }


def _exp_with_its_logarithm(mu, rho, prior_std):
    """σ = exp(ρ), and log σ = ρ, which is finite where exp(ρ) is not."""
    squares = torch.exp(rho) ** 2 + mu**2
    return (math.log(prior_std) - rho + squares / (2 * prior_std**2) - 0.5).sum()


GAUSSIAN_KL = Task(
    name="gaussian_kl",
    points=2,
    cases=_kl_cases,
    probe=_kl_probe,
    oracle=_kl_oracle,
    misconceptions=[
        Misconception(
            gaussian_kl(reduce=torch.mean),
            "you average the KL over the weights; it is a sum. One widely used library makes this mistake.",
        ),
        Misconception(
            gaussian_kl(half=0.0),
            "you leave out the −½ for every weight: then KL(p‖p) is not 0.",
        ),
        Misconception(
            gaussian_kl(scale=math.sqrt),
            "you treat the prior's standard deviation as its variance.",
        ),
        Misconception(
            gaussian_kl(reverse=True),
            "you swap the two distributions: this is KL(p‖q).",
        ),
        Misconception(
            gaussian_kl(reduce=lambda terms: terms),
            "you return the KL of each weight; the task asks for their sum.",
        ),
        Misconception(
            lambda *case: gaussian_kl(half=0.0)(*case) - 0.5,
            "you subtract ½ once; subtract it for every weight.",
        ),
        Misconception(
            gaussian_kl(log=-1),
            "you turn the logarithm upside down: it is log(σ₀/σ), not log(σ/σ₀).",
        ),
        Misconception(gaussian_kl(log=0), "you leave out the logarithm log(σ₀/σ)."),
        Misconception(
            gaussian_kl(log=2),
            "you take the logarithm of the variances for that of the standard deviations: log(σ₀²/σ²) is twice log(σ₀/σ).",
        ),
        Misconception(
            gaussian_kl(scale=lambda s: 1.0),
            "you leave out σ₀: this is the KL from the prior N(0, 1), whatever prior_std is.",
        ),
        Misconception(gaussian_kl(squares=lambda std, mu: std**2), "you leave out µ²."),
        Misconception(
            gaussian_kl(quadratic=1.0),
            "you leave out the factor ½ of (σ² + µ²)/σ₀².",
        ),
        Misconception(
            gaussian_kl(squares=lambda std, mu: std + mu**2),
            "you do not square σ in σ² + µ².",
        ),
        Misconception(
            gaussian_kl(power=1),
            "you divide by 2σ₀ in place of 2σ₀².",
        ),
        Misconception(
            lambda *case: -gaussian_kl()(*case),
            "you flip the sign: this is the negative of the KL.",
        ),
        *wrong_stds(lambda std_of: gaussian_kl(std_of=std_of)),
        Misconception(
            _exp_with_its_logarithm,
            "you use σ = exp(ρ). This is a common choice elsewhere, but here σ = softplus(ρ).",
        ),
        Misconception(
            gaussian_kl(std_of=lambda rho: torch.log(1 + torch.exp(rho))),
            "you write out log(1 + exp(ρ)), which is 0 or infinite for extreme values of ρ. Use F.softplus.",
        ),
        Misconception(
            lambda mu, rho, prior_std: gaussian_kl()(mu, rho, prior_std).detach(),
            "you detach the value (.detach(), .item(), .numpy() or no_grad): the prior then has no effect.",
        ),
        *WRONG_KLS,
    ],
    hints=[
        "σ is F.softplus(rho); everything else is in the docstring's formula.",
        "log(σ₀/σ) + (σ² + µ²)/(2σ₀²) − ½ for every weight.",
        "Then take the sum over all weights, never the mean.",
    ],
)


def _sampled_cases(rng):
    """Draw q narrower than the prior, but with entropy above 0: both parts of the KL matter."""

    def case(share, shape):
        return {
            "mu": rng.choice([-1, 1], shape) * rng.uniform(0.5, 1.5, shape),
            "rho": rng.uniform(-1.1, 0, shape),
            "share": share,
            "wide_std": float(rng.uniform(1.5, 2.5)),
            "narrow_std": float(rng.uniform(0.2, 0.5)),
            "seed": int(rng.integers(1, 1_000_000)),
        }

    shares = 1.0, float(rng.uniform(0.3, 0.7)), 1.0
    return list(map(case, shares, ((3,), (2, 2), (1,))))


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

    mu, rho = leaves(mu, rho)

    def estimate(draws, log_p=log_prior, offset=0, at=(mu, rho)):
        return answer(*at, log_p, draws=draws, generator=seeded(seed + offset))

    kl = estimate(2_000)
    if kl is None:
        yield from {"draws_count": 1.0, "noise_of_its_own": 1.0, "kl": None}.items()
        return
    yield "kl", kl
    yield from gradients_of(kl, mu=mu, rho=rho).items()
    yield "draws_count", float(not torch.equal(estimate(1), estimate(2)))
    again = estimate(20)
    with torch.no_grad():
        first, second = estimate(20, offset=1), estimate(20, offset=2)
    another = not torch.equal(again, first) and not torch.equal(first, second)
    yield "reproducible", float(torch.equal(again, estimate(20)))
    yield "another_seed_another_draw", float(another)
    # Of weights that are all alike it is plain what noise they have.
    seen = []

    def watched(w):
        seen.append(unwrapped(w).detach().flatten())
        return w

    alike = [value.flatten()[0] for value in (mu, rho)]
    of_one = Normal(alike[0].detach(), torch.nn.functional.softplus(alike[1].detach()))
    alike = [value.expand(2, 2) for value in alike]
    yield (
        "kl_where_log_prior_is_log_q_plus_1",
        estimate(2, lambda w: of_one.log_prob(w) + 1, at=alike),
    )

    def of_two(rho):
        rho = torch.full((2,), rho).double()
        q = Normal(0.0, torch.nn.functional.softplus(rho[0]))
        return estimate(2, lambda w: q.log_prob(w) + 1, at=(0 * rho, rho))

    yield "kl_for_a_tiny_std", of_two(-40.0)
    yield "kl_for_a_large_std", of_two(800.0)
    many = [value.expand(1_000, *value.shape) for value in (mu, rho)]
    yield "kl_from_two_draws_of_many_weights", estimate(2, at=many) / 1_000
    estimate(2_000, watched, at=alike)
    w = torch.cat(seen) if seen else torch.zeros(2)
    yield "noise_of_its_own", float(len(w.unique()) not in range(2, 7_001))
    yield "mean_distance_in_stds", (w - w.mean()).abs().mean() / w.std()
    yield "noise_has_tails", has_tails((w - of_one.mean) / of_one.stddev)
    one, counts = leaves([0.0], [1.0]), set()

    def two_draws(generator):
        seen.clear()
        answer(*one, watched, draws=2, generator=generator)
        # An answer may evaluate the prior at a draw again, or at the mean 0.
        found = dict.fromkeys(w for values in seen for w in values.tolist() if w)
        counts.add(len(found))
        return torch.tensor([*found] or [0.0])

    correlation = correlation_of_two(two_draws, seed)
    yield "number_of_draws", float(max(counts))
    yield "correlation_of_two_draws_alone", correlation


def _sampled_oracle(mu, rho, share, wide_std, narrow_std, seed):
    shape, mu, rho = mu.shape, mu.ravel(), rho.ravel()
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
        "draws_count": Close(
            1.0, because="the estimate must change with the number of draws"
        ),
        "noise_of_its_own": Close(
            1.0, because="every weight of every draw has its own ε"
        ),
        "kl": kl,
        "kl_from_two_draws_of_many_weights": kl,
        "kl_where_log_prior_is_log_q_plus_1": Close(
            -4.0, rtol=1e-5, because="log q − log p is −1 for each of four weights"
        ),
        **dict.fromkeys(
            ("kl_for_a_tiny_std", "kl_for_a_large_std"),
            Close(
                -2.0, rtol=1e-5, because="log q − log p is −1 for each of two weights"
            ),
        ),
        "mean_distance_in_stds": gaussian_distance(4 * DRAWS),
        "noise_has_tails": TAILS,
        "number_of_draws": Close(2.0, because="`draws` is 2"),
        "correlation_of_two_draws_alone": APART,
        "reproducible": Close(
            1.0, because="the same generator in the same state gives the same estimate"
        ),
        "another_seed_another_draw": Close(
            1.0, because="the noise comes from the generator that is passed in"
        ),
        "gradient_of_mu": _within(to_mu, shape),
        "gradient_of_rho": _within(to_rho, shape),
    }


def _within(moments, shape):
    mean, variance = moments
    atol = 6 * math.sqrt(variance.max() / DRAWS)
    return Close(mean.reshape(shape), rtol=1e-9, atol=atol, because=SIX_ERRORS)


SAMPLED_KL = Task(
    name="sampled_kl",
    points=3,
    cases=_sampled_cases,
    probe=_sampled_probe,
    oracle=_sampled_oracle,
    misconceptions=SAMPLED_KL_MISTAKES,
    hints=[
        "To make all draws at once, expand µ and ρ to the shape (draws, …) and call sample_weights.",
        "Compute log_posterior(w, mu, rho) − log_prior(w) for every draw and every weight.",
        "Sum over everything, then divide by `draws`.",
    ],
)
