"""The predictive integral, by samples and by MacKay's formula; oracles from NumPy."""

from __future__ import annotations

import math

import numpy as np
import scipy.special
import torch

from course.checks.approximate_inference.tolerances import SINGLE
from course.task import Close, Misconception, Task


def _samples_cases(rng):
    """Draw a few inputs, and more than fit into one chunk."""
    return [
        {
            "x": np.column_stack([rng.normal(0, 2, (n, d - 1)), np.ones(n)]),
            "weights": rng.normal(0.5, 1.5, (draws, d)),
        }
        for n, d, draws in ((4, 3, 7), (515, 2, 5), (1, 1, 1))
    ]


def _samples_probe(answer, x, weights):
    import torch

    return {"probs": answer(torch.tensor(x), torch.tensor(weights))}


def _samples_oracle(x, weights):
    probs = np.mean([scipy.special.expit(x @ w) for w in weights], axis=0)
    return {"probs": Close(probs, rtol=1e-5, because=SINGLE)}


SAMPLED_PREDICTIVE = Task(
    name="sampled_predictive",
    points=2,
    cases=_samples_cases,
    probe=_samples_probe,
    oracle=_samples_oracle,
    misconceptions=[
        Misconception(
            lambda x, weights: torch.sigmoid((x @ weights.T).mean(1)),
            "you average logits before the sigmoid. That is the plug-in prediction at the mean weights; the "
            "predictive distribution averages probabilities.",
        ),
        Misconception(
            lambda x, weights: ((x @ weights.T) > 0).double().mean(1),
            "you round each sample's probability: this is the share of samples that prefer class 1, not "
            "the probability of class 1.",
        ),
        Misconception(
            lambda x, weights: torch.sigmoid(torch.sigmoid(x @ weights.T).mean(1)),
            "you apply the sigmoid again after the mean: every probability then lies between 0.5 and 0.73.",
        ),
        Misconception(
            lambda x, weights: torch.sigmoid(torch.sigmoid(x @ weights.T)).mean(1),
            "you apply the sigmoid twice to every sample: every probability then lies between 0.5 and 0.73.",
        ),
        Misconception(
            lambda x, weights: torch.cat(
                [torch.sigmoid(rows @ weights.T).mean(0) for rows in x.split(512)]
            ),
            "you average over the inputs instead of the samples.",
        ),
        Misconception(
            lambda x, weights: torch.sigmoid(x @ weights.T).sum(1),
            "you add up the probabilities of the samples: divide by their number S, or the sums can exceed 1.",
        ),
        Misconception(
            lambda x, weights: torch.sigmoid(x @ weights.T).flatten(),
            "you return every sample's probability, one for each input and sample: average over the samples.",
        ),
        Misconception(
            lambda x, weights: torch.exp(
                torch.nn.functional.logsigmoid(x @ weights.T).mean(1)
            ),
            "you average log-probabilities: that gives geometric means, which do not add up to 1 over the two classes.",
        ),
        Misconception(
            lambda x, weights: (
                torch.sigmoid(x @ weights.T).mean(1).repeat(len(x.split(512)))
            ),
            "you use x in place of rows: each chunk then gives forecasts for all inputs, so with more than 512 inputs each is returned several times.",
        ),
    ],
    hints=[
        "Every sample gives each input a logit: rows @ weights.T has the shape (rows, S).",
        "Sigmoid first, then the mean over the samples.",
        "The samples are on dim=1. Check: logits of 0 and +∞ give ¾, whereas the sigmoid of their mean would give 1.",
    ],
)


def _probit_cases(rng):
    cases = []
    for n, d in ((4, 3), (3, 2), (1, 1)):
        a = rng.normal(0, 1, (d, d))
        cases.append(
            {
                "x": np.column_stack([rng.normal(0, 2, (n, d - 1)), np.ones(n)]),
                "mean": rng.normal(0, 1.5, d),
                "covariance": a @ a.T,
            }
        )
    return cases


def _probit_probe(answer, x, mean, covariance):
    import torch

    return {
        "probs": answer(torch.tensor(x), torch.tensor(mean), torch.tensor(covariance))
    }


def _probit_oracle(x, mean, covariance):
    variance = np.array([row @ covariance @ row for row in x])
    kappa = (1 + np.pi * variance / 8) ** -0.5
    return {
        "probs": Close(
            scipy.special.expit(kappa * (x @ mean)), rtol=1e-5, because=SINGLE
        )
    }


def _root(variance):
    return torch.sqrt(1 + math.pi * variance / 8)


def _probit(x, mean, covariance, shrink):
    variance = ((x @ covariance) * x).sum(1)
    return torch.sigmoid((x @ mean) / shrink(variance))


PROBIT_PREDICTIVE = Task(
    name="probit_predictive",
    points=2,
    cases=_probit_cases,
    probe=_probit_probe,
    oracle=_probit_oracle,
    misconceptions=[
        Misconception(
            lambda *case: _probit(*case, lambda v: torch.ones_like(v)),
            "you ignore the covariance: this is the plug-in prediction, the sigmoid of the mean logit.",
        ),
        Misconception(
            lambda *case: _probit(*case, lambda v: 1 + math.pi * v / 8),
            "you forget the square root.",
        ),
        Misconception(
            lambda *case: _probit(
                *case, lambda v: torch.sqrt(1 + math.pi * v.sqrt() / 8)
            ),
            "you use the logit's standard deviation in place of its variance.",
        ),
        Misconception(
            lambda *case: _probit(*case, lambda v: torch.sqrt(1 + math.pi**2 * v / 8)),
            "you square π: π/8 comes from matching the sigmoid's slope at 0 with that of a probit.",
        ),
        Misconception(
            lambda x, mean, s: _probit(
                x,
                mean,
                torch.diag(torch.diag(s)),
                lambda v: (1 + math.pi * v / 8).sqrt(),
            ),
            "you use only the diagonal of Σ: the weights are correlated, which affects xᵀΣx.",
        ),
        Misconception(
            lambda x, mean, s: torch.sigmoid((x @ mean) / _root(x @ s @ x.T)),
            "you use all of x @ Σ @ x.T, an (N, N) matrix of covariances between inputs; the variances are its "
            "diagonal.",
        ),
        Misconception(
            lambda *case: _probit(*case, lambda v: _root(v.sum())),
            "you add up the variances of all inputs: sum over the last axis, .sum(dim=1). Each input has its own.",
        ),
        Misconception(
            lambda x, mean, s: torch.sigmoid(x @ mean) / _root(((x @ s) * x).sum(1)),
            "you divide the probability by the root. Divide the logit, then take the sigmoid.",
        ),
        Misconception(
            lambda x, mean, s: (x @ mean) / _root(((x @ s) * x).sum(1)),
            "you forget the sigmoid: this is the shrunken logit.",
        ),
        Misconception(
            lambda *case: _probit(*case, lambda v: 1 / torch.sqrt(1 + math.pi * v / 8)),
            "you multiply the logit by the root: uncertainty then makes the prediction more extreme.",
        ),
    ],
    hints=[
        "You need the mean and the variance of the logit xᵀw for each input.",
        "The variance is xᵀΣx. For all N at once: x @ covariance, times x element by element, summed over each row.",
        "A variance of 24/π makes 1 + π · variance/8 equal to 4, so the mean is divided by its square root, 2. The sigmoid comes last.",
    ],
)
