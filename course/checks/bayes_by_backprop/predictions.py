"""Moments and entropies of many draws, and pruning of weights."""

from __future__ import annotations

import math

import numpy as np
import scipy.special
import scipy.stats
import torch

from course.checks.bayes_by_backprop.tolerances import SINGLE, softplus
from course.checks.bayes_by_backprop.wrong_masks import MASK_MISTAKES
from course.task import Close, Misconception, Task


def _moments_cases(rng):
    """Draw outputs; in the second case, their mean is far larger than their spread."""
    return [
        {
            "outputs": mean + rng.normal(0, 1, shape),
            "noise_std": float(rng.uniform(0.4, 0.8)),
        }
        for shape, mean in (((5, 3), 0), ((4, 2), 1e8), ((1, 1), 0))
    ]


def _moments_probe(answer, outputs, noise_std):
    import torch

    result = answer(torch.tensor(outputs), noise_std)
    mean, epistemic, predictive = (None, None, None) if result is None else result
    return {"mean": mean, "epistemic_std": epistemic, "predictive_std": predictive}


def _moments_oracle(outputs, noise_std):
    close = {"rtol": 1e-5, "atol": 1e-5, "because": SINGLE}
    std = np.std(outputs, axis=0)
    return {
        "mean": Close(np.mean(outputs, axis=0), **close),
        "epistemic_std": Close(std, **close),
        "predictive_std": Close(np.hypot(std, noise_std), **close),
    }


def _moments(predictive, *, correction=0, of_mean=0, power=1, axis=0, which=(0, 1, 2)):
    def answer(outputs, noise_std):
        mean, count = outputs.mean(axis, keepdim=True), outputs.shape[axis]
        squares = ((outputs - mean) ** 2).sum(axis)
        std = torch.sqrt(squares / (count - correction))  # 0 / 0 is nan
        std = std / count ** (of_mean / 2)
        found = mean.squeeze(axis), std**power, predictive(std, noise_std) ** power
        return tuple(found[i] for i in which)

    return answer


def _right(std, noise_std):
    return torch.sqrt(std**2 + noise_std**2)


PREDICTIVE_MOMENTS = Task(
    name="predictive_moments",
    points=2,
    cases=_moments_cases,
    probe=_moments_probe,
    oracle=_moments_oracle,
    misconceptions=[
        Misconception(
            _moments(lambda std, noise_std: std),
            "you leave out the noise, and report the band of f as the band of a new observation.",
        ),
        Misconception(
            _moments(lambda std, noise_std: std + noise_std),
            "you add standard deviations. Variances add.",
        ),
        Misconception(
            _moments(lambda std, noise_std: torch.sqrt(std**2 + noise_std)),
            "you add the noise's standard deviation to a variance: square it first.",
        ),
        Misconception(
            _moments(_right, correction=1),
            "you divide by S − 1, which is torch's default; pass correction=0. The S draws are the whole mixture.",
        ),
        Misconception(
            _moments(_right, power=2),
            "you return variances; the task asks for standard deviations.",
        ),
        Misconception(
            _moments(lambda std, noise_std: noise_std + 0 * std),
            "you give the noise alone for a new observation. It has both parts: f(x), and the noise.",
        ),
        Misconception(
            _moments(_right, of_mean=1),
            "you divide by √S: that is the standard error of the mean over the draws, which shrinks with their number; "
            "the spread of f does not.",
        ),
        Misconception(
            _moments(_right, which=(0, 2, 1)),
            "you swap the two standard deviations: that of f comes first.",
        ),
        Misconception(
            _moments(_right, axis=1),
            "you average over the inputs (dimension 1); average over the draws (dimension 0).",
        ),
        Misconception(
            _moments(lambda std, noise_std: torch.sqrt((std**2 - noise_std**2).abs())),
            "you subtract the noise's variance; a new observation adds it.",
        ),
        Misconception(
            lambda outputs, noise_std: (
                outputs.median(0).values,
                *_moments(_right)(outputs, noise_std)[1:],
            ),
            "you return the median; the task asks for the mean.",
        ),
    ],
    hints=[
        "Take the mean and the variance over the draws, dimension 0, with correction=0.",
        "A new observation has two independent parts: f(x), and noise of variance τ².",
        "The variance of y is that of f plus noise_std**2; take roots at the end.",
    ],
)


def _entropy_cases(rng):
    """Draw cases; in the last one, one class is so probable that constants such as 1e-10 matter."""
    logits = [rng.normal(0, 3, shape) for shape in ((5, 4, 3), (1, 1, 2), (3, 2, 4))]
    logits[-1][..., -1] = -np.inf
    sure = rng.permutation([0.0, math.log(rng.uniform(1, 2) * 1e-13)])[None, None]
    return [
        {"log_probs": scipy.special.log_softmax(each, axis=-1)}
        for each in (*logits, sure)
    ]


def _entropy_probe(answer, log_probs):
    import torch

    return {"entropy": answer(torch.tensor(log_probs))}


def _entropy_oracle(log_probs):
    probs = np.exp(log_probs).mean(0)
    entropy = scipy.stats.entropy(probs, base=2, axis=-1)
    close = {"rtol": 1e-5, "atol": 1e-5, "because": SINGLE}
    if entropy.max() < 1e-10:
        close = {
            "rtol": 0.1,
            "because": "a constant in the logarithm changes it by more",
        }
    return {"entropy": Close(entropy, **close)}


def _with_guard(probs, guard):
    return -(probs * torch.log2(probs + guard)).sum(-1)


def _bits(probs):
    return torch.special.entr(probs).sum(-1) / np.log(2)


PREDICTIVE_ENTROPY = Task(
    name="predictive_entropy",
    points=2,
    cases=_entropy_cases,
    probe=_entropy_probe,
    oracle=_entropy_oracle,
    misconceptions=[
        Misconception(
            lambda log_probs: _bits(log_probs.mean(0).exp()),
            "you average log-probabilities: that is a geometric mean, which does not sum to one and favours classes "
            "that all draws agree on.",
        ),
        Misconception(
            lambda log_probs: _with_guard(log_probs.mean(0).exp(), 1e-10),
            "you keep both mistakes: the average of log-probabilities, and the constant inside the logarithm.",
        ),
        Misconception(
            lambda log_probs: _bits(torch.softmax(log_probs.mean(0), dim=-1)),
            "you average log-probabilities and then normalise. The predictive distribution averages probabilities.",
        ),
        Misconception(
            lambda log_probs: _bits(log_probs.exp()).mean(0),
            "you average the entropies of the draws. That ignores how much the draws disagree.",
        ),
        Misconception(
            lambda log_probs: torch.special.entr(log_probs.exp().mean(0)).sum(-1),
            "you compute the entropy in nats; the task asks for bits.",
        ),
        Misconception(
            lambda log_probs: (
                -(log_probs.exp().mean(0) * torch.log2(log_probs.exp().mean(0))).sum(-1)
            ),
            "you compute 0 · log 0, which is nan; use the limit, 0.",
        ),
        *(
            Misconception(
                lambda log_probs, guard=guard: _with_guard(
                    log_probs.exp().mean(0), guard
                ),
                "you add a small constant inside the logarithm, which changes the entropy where the probabilities are "
                "small as well.",
            )
            for guard in (1e-12, 1e-10, 1e-9, 1e-8, 1e-6)
        ),
        *(
            Misconception(
                lambda log_probs, least=least: _bits(
                    log_probs.exp().mean(0).clamp(min=least)
                ),
                "you clamp the probabilities, which changes the smaller ones. A probability of 0 contributes 0.",
            )
            for least in (1e-12, 1e-10, 1e-9, 1e-8, 1e-6)
        ),
        Misconception(
            lambda log_probs: _bits(log_probs.exp().mean(0)) * np.log(2) ** 2,
            "you multiply by log 2; from nats to bits, divide by it.",
        ),
        Misconception(
            lambda log_probs: (
                _bits(log_probs.exp().mean(0)) / np.log2(log_probs.shape[-1])
            ),
            "you divide by the largest possible entropy, log K; the task asks for bits.",
        ),
        Misconception(
            lambda log_probs: (
                _bits(log_probs.exp().mean(0)) - _bits(log_probs.exp()).mean(0)
            ),
            "you subtract the mean entropy of the draws: this is the mutual information, a part of the predictive "
            "entropy.",
        ),
        Misconception(
            lambda log_probs: -_bits(log_probs.exp().mean(0)),
            "you leave out the minus sign of −Σ p log p.",
        ),
        Misconception(
            lambda log_probs: _bits(log_probs.exp().mean(0)).mean(),
            "you average over the inputs; the task asks for one entropy for each.",
        ),
    ],
    hints=[
        "Which average appears in p(y | x) = 1/S Σₛ p(y | x, wₛ): one of probabilities or one of logarithms?",
        "Exponentiate first, then average over the draws, dimension 0.",
        "torch.special.entr gives −p ln p; its sum over the classes, divided by ln 2, is the entropy in bits.",
    ],
)


def _mask_cases(rng):
    """Draw weights in random order, whose ratios differ by at least 5%.

    In the first case, the last weight to be removed has a large σ and a positive µ, the first
    one to be kept a small σ and a negative µ; in the second case, their σ are the other way
    round. A score that depends on the sign of µ, or that gives σ another power, keeps the wrong
    one of the two in one of the cases. In the third case, their σ are tiny.
    """
    cases = []
    for n, choices, large_first in (
        (40, [0.21, 0.31, 0.36], True),  # their products with 40 round down
        (33, [0.6, 0.75, 0.9], False),  # their products with 33 round up
        (9, [0.5], True),  # 4.5 is rounded to the even 4
        (1, [0.0], True),
        (1, [1.0], True),
    ):
        removed = float(rng.choice(choices))
        first_to_stay = round(removed * n)
        ratio = np.exp((np.arange(n) + rng.uniform(0, 0.5, n)) / 10 - 2)
        std, sign = np.exp(rng.uniform(-3, 0.7, n)), rng.choice([-1, 1], n)
        if 0 < removed < 1:
            around = [first_to_stay - 1, first_to_stay][:: 1 if large_first else -1]
            std[around] = rng.uniform(1.5, 2.0), rng.uniform(0.05, 0.1)
            sign[[first_to_stay - 1, first_to_stay]] = 1, -1
            if n == 9:
                std[around] = 4e-18
        order = rng.permutation(n)
        mu, rho = sign * ratio * std, std + np.log(-np.expm1(-std))
        cases.append({"mu": mu[order], "rho": rho[order], "removed": removed})
    return cases


def _mask_probe(answer, mu, rho, removed):
    import torch

    keep = answer(torch.tensor(mu), torch.tensor(rho), removed)
    # All weights are equal to the first, so only the number of those that are kept is fixed.
    equal = answer(*(torch.tensor(0 * q + q[0]) for q in (mu, rho)), removed)
    return {
        "keep": None if keep is None else torch.as_tensor(keep).double(),
        "is_boolean": float(getattr(keep, "dtype", None) == torch.bool),
        "how_many_of_equal_weights": None if equal is None else sum(map(float, equal)),
    }


def _mask_oracle(mu, rho, removed):
    ratio = np.abs(mu) / softplus(rho)
    rank = scipy.stats.rankdata(ratio, method="ordinal")  # 1 is the smallest
    return {
        "keep": Close(
            (rank > round(removed * len(mu))).astype(float),
            because="True for each weight that is kept, False for the others",
        ),
        "is_boolean": Close(
            1.0, because="a mask is a tensor of True and False, of dtype torch.bool"
        ),
        "how_many_of_equal_weights": Close(
            len(mu) - round(removed * len(mu)),
            because="the number of weights to keep, where all ratios are equal",
        ),
    }


KEEP_MASK = Task(
    name="keep_mask",
    points=2,
    cases=_mask_cases,
    probe=_mask_probe,
    oracle=_mask_oracle,
    misconceptions=MASK_MISTAKES,
    hints=[
        "The ratio is |µ|/σ, with σ = softplus(ρ).",
        "ratio.argsort() lists the indices of the weights, smallest ratio first.",
        "Start from a mask that is True everywhere, and set it to False for the first `round(removed * n)` weights of that list.",
    ],
)
