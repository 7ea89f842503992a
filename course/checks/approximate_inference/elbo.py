"""KL and ELBO of a mean-field Gaussian; oracles from ``torch.distributions`` and NumPy."""

from __future__ import annotations

import math

import numpy as np
import scipy.special
import torch
import torch.nn.functional as F
from torch.distributions import Normal, kl_divergence

from course.checks.approximate_inference.concepts import (
    CLAMPED,
    CLAMPS,
    SIGNED_LABELS,
    nll_of_clamped,
    nll_of_positive,
    nll_of_signs,
)
from course.checks.approximate_inference.tolerances import FLOAT32
from course.checks.approximate_inference.wrong_divergences import DIVERGENCES
from course.checks.concepts_of_objectives import wrong_terms
from course.probing import gradients_of, leaves
from course.task import Close, Misconception, Task


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
            "mu": rng.normal(0, 2, 1),
            "rho": rng.uniform(-3, 2, 1),
            "prior_std": float(rng.uniform(0.2, 0.6)),
        },
        ends,
    ]


def _kl_probe(answer, mu, rho, prior_std):
    mu, rho = leaves(mu.astype("float32"), rho.astype("float32"))
    kl = answer(mu, rho, prior_std)
    return {"kl": kl, **gradients_of(kl, mu=mu, rho=rho)}


def _kl_oracle(mu, rho, prior_std):
    std = np.logaddexp(0, rho)
    q = Normal(torch.tensor(mu), torch.tensor(std))
    kl = kl_divergence(q, Normal(torch.zeros(()).double(), prior_std)).sum()
    # At q = p the terms of the KL cancel, and at σ = σ₀ those of its slope.
    logs, squares = np.log(prior_std / std), (std**2 + mu**2) / (2 * prior_std**2)
    kl_atol = 1e-6 * float((np.abs(logs) + squares + 0.5).sum())
    towards, away = std / prior_std**2, 1 / std
    slope = scipy.special.expit(rho)
    atol = 2e-5 * float(((towards + away) * slope).max())
    return {
        "kl": Close(float(kl), rtol=2e-5, atol=kl_atol, because=FLOAT32),
        "gradient_of_mu": Close(mu / prior_std**2, rtol=2e-5, because=FLOAT32),
        "gradient_of_rho": Close((towards - away) * slope, atol=atol, because=FLOAT32),
    }


GAUSSIAN_KL = Task(
    name="gaussian_kl",
    points=2,
    cases=_kl_cases,
    probe=_kl_probe,
    oracle=_kl_oracle,
    misconceptions=DIVERGENCES,
    hints=[
        "Write down the KL of one weight; the weights are independent, so the divergences add up.",
        "The standard deviations are F.softplus(rho). The prior's variance is prior_std**2.",
        "Check: with the prior's standard deviation, a weight contributes half the square of `mu / prior_std`, so 0 for a mean of 0. Sum over all weights.",
    ],
)


def _elbo_cases(rng):
    """Draw cases; in the last, each label has probability 0, after rounding, in one draw."""
    far = rng.choice([-1, 1], 3) * rng.uniform(150, 250, 3)
    return [
        {
            "logits": logits,
            "y": rng.permutation(np.resize([1.0, 0.0], logits.shape[1])),
            "kl": float(rng.uniform(1, 9)),
        }
        for logits in (
            rng.normal(0, 3, (3, 5)),
            rng.normal(0, 3, (1, 1)),
            np.stack([far, -far]),
        )
    ]


def _elbo_probe(answer, logits, y, kl):
    import numpy as np
    import torch

    logits, kl = leaves(np.float32(logits), np.float32(kl))
    loss = answer(logits, torch.tensor(np.float32(y)), kl)
    return {"negative_elbo": loss, **gradients_of(loss, logits=logits, kl=kl)}


def _elbo_oracle(logits, y, kl):
    nll = np.logaddexp(0, (1 - 2 * y) * logits)
    to_logits = (scipy.special.expit(logits) - y) / len(logits)
    close = {"rtol": 1e-5, "because": FLOAT32}
    return {
        "negative_elbo": Close(nll.sum() / len(logits) + kl, **close),
        "gradient_of_logits": Close(to_logits, atol=1e-5, **close),
        "gradient_of_kl": Close(1.0, **close),
    }


def _bce(logits, y):
    return F.binary_cross_entropy_with_logits(
        logits, y.expand_as(logits), reduction="none"
    )


def _in_two_steps(p, y):
    return -(y * p.log() + (1 - y) * (1 - p).log()).sum(1).mean()


NEGATIVE_ELBO = Task(
    name="negative_elbo",
    points=2,
    cases=_elbo_cases,
    probe=_elbo_probe,
    oracle=_elbo_oracle,
    misconceptions=[
        Misconception(
            lambda logits, y, kl: _bce(logits, y).mean() + kl,
            "you average the NLL over the data, but leave the KL as it is: the prior is then N times too strong.",
        ),
        Misconception(
            lambda logits, y, kl: _bce(logits, y).mean() + kl / len(y),
            "you divide everything by N. This has the same minimiser, but is not in nats for the whole data set: its "
            "negative is no bound on log p(y | X).",
        ),
        Misconception(
            lambda logits, y, kl: _bce(logits, y).sum() + kl,
            "you sum over the draws. They estimate one expectation: average over them, sum over the data.",
        ),
        Misconception(
            lambda logits, y, kl: _bce(logits, y).mean(1).sum() + kl,
            "you swap the two axes: you average over the data and sum over the draws. In logits of shape (S, N) the "
            "draws are dim=0 and the data dim=1: sum over dim=1, then average.",
        ),
        Misconception(
            lambda logits, y, kl: _bce(logits, y).sum(1).mean() + kl / len(y),
            "you sum the NLL over the data, but divide the KL by N: the prior is then N times too weak.",
        ),
        Misconception(
            lambda logits, y, kl: _bce(logits, y).sum(1).mean() - kl,
            "you subtract the KL. The ELBO is −NLL − KL, so its negative adds both.",
        ),
        Misconception(
            lambda logits, y, kl: _bce(logits.mean(0), y).sum() + kl,
            "you average the logits of the draws first: the ELBO takes the expectation of log-likelihoods.",
        ),
        Misconception(
            lambda logits, y, kl: -(_bce(logits, y).sum(1).mean() + kl),
            "you return the ELBO itself; the loss is its negative.",
        ),
        Misconception(
            lambda logits, y, kl: (
                -((-_bce(logits, y)).logsumexp(0) - math.log(len(logits))).sum() + kl
            ),
            "you average probabilities over the draws before you take the logarithm. That is right for a prediction; "
            "the ELBO takes the expectation of the logarithm.",
        ),
        Misconception(
            lambda logits, y, kl: _in_two_steps(torch.sigmoid(logits), y) + kl,
            "you take the logarithm of a sigmoid in two steps. For a large |logit| the sigmoid is 0 or 1, and a "
            "logarithm is −inf; F.binary_cross_entropy_with_logits takes logits and stays finite.",
        ),
        Misconception(
            lambda logits, y, kl: (
                F.binary_cross_entropy(
                    torch.sigmoid(logits), y.expand_as(logits), reduction="none"
                )
                .sum(1)
                .mean()
                + kl
            ),
            "you use F.binary_cross_entropy, which takes probabilities: for a large |logit| they are 0 or 1, and it "
            "clamps their logarithms at −100. F.binary_cross_entropy_with_logits takes the logits.",
        ),
        Misconception(
            lambda logits, y, kl: _bce(torch.sigmoid(logits), y).sum(1).mean() + kl,
            "you apply the sigmoid twice: F.binary_cross_entropy_with_logits takes logits.",
        ),
        Misconception(
            lambda logits, y, kl: _bce(logits, y).sum(1).mean() + kl.item(),
            "you turn the KL into a plain number (.item(), float() or .detach()): it then no longer affects µ and ρ.",
        ),
        *(
            Misconception(
                lambda logits, y, kl, nll=nll, eps=eps: (
                    nll(logits, y, eps).sum(1).mean() + kl
                ),
                CLAMPED,
            )
            # In single precision 1 − 10⁻⁸ is 1, and a logarithm of 0 stays.
            for nll, sizes in (
                (nll_of_clamped, CLAMPS[-2:]),
                (nll_of_positive, CLAMPS),
            )
            for eps in sizes
        ),
        Misconception(
            lambda logits, y, kl: nll_of_signs(logits, y).sum(1).mean() + kl,
            SIGNED_LABELS,
        ),
        Misconception(
            lambda logits, y, kl: _bce(-logits, y).sum(1).mean() + kl,
            "you flip the sign of the logits: this is the NLL of the other class.",
        ),
        Misconception(
            lambda logits, y, kl: _bce(logits, y).sum(1).mean() + len(y) * kl,
            "you put the KL inside the sum over the data, once per data point. It counts once.",
        ),
        Misconception(
            lambda logits, y, kl: _bce(logits, y).sum(1).mean() + len(logits) * kl,
            "you add the KL once for each draw: it does not depend on the draws, and counts once.",
        ),
        Misconception(
            lambda logits, y, kl: _bce(logits, y).sum(1).mean() + kl / len(logits),
            "you divide the KL by the number of draws: it does not depend on the draws, and counts once.",
        ),
        *wrong_terms(
            lambda logits, y, kl: _bce(logits, y).sum(1).mean() + 0 * kl,
            lambda logits, y, kl: kl + 0 * logits.sum(),
            *("no KL", "no NLL"),
        ),
        Misconception(
            lambda logits, y, kl: _bce(logits, y).sum(1) + kl,
            "you return one value for each draw: average over the draws.",
        ),
        Misconception(
            lambda logits, y, kl: _bce(logits[:1], y).sum(1).mean() + kl,
            "you use the first draw alone: average over all of them.",
        ),
        Misconception(
            lambda logits, y, kl: kl - _bce(logits, y).sum(1).mean(),
            "you subtract the NLL: the loss is NLL + KL.",
        ),
    ],
    hints=[
        "Three things to get right: draws are averaged, data are summed, the KL counts once.",
        'With the reduction "none", F.binary_cross_entropy_with_logits gives all (S, N) terms; as labels, pass y.expand_as(logits).',
        "Sum over dim=1, take the mean over the remaining axis, and add `kl`.",
    ],
)
