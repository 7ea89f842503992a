"""The predictive integral, by samples and by MacKay's formula; oracles from NumPy."""

from __future__ import annotations

import math

import numpy as np
import scipy.special
import torch

from course.checks.approximate_inference.concepts import ALL_SAMPLES
from course.checks.approximate_inference.tolerances import SINGLE
from course.checks.concepts_of_probit import root, wrong_roots
from course.task import Close, Misconception, Task


def _samples_cases(rng):
    """Draw a few inputs, and more than fit into one chunk; then more samples than that.

    The samples that do not fit lie apart from the others: to leave them out shows.
    """
    cases = [
        {
            "x": np.column_stack([rng.normal(0, 2, (n, d - 1)), np.ones(n)]),
            "weights": rng.normal(0.5, 1.5, (draws, d)),
        }
        for n, d, draws in ((4, 3, 7), (515, 2, 5), (1, 1, 1), (2, 1, 515))
    ]
    last = cases[-1]["weights"][512:]
    last[:] = -4 - np.abs(last)
    return cases


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
            ALL_SAMPLES,
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
            "you use `x` in place of `rows`: each chunk then gives forecasts for all inputs, so with more than 512 inputs each is returned several times.",
        ),
        Misconception(lambda x, weights: torch.sigmoid(x @ weights.T), ALL_SAMPLES),
        Misconception(lambda x, weights: torch.sigmoid(weights @ x.T), ALL_SAMPLES),
        Misconception(
            lambda x, weights: torch.sigmoid(x @ weights.T).mean(1, keepdim=True),
            "you keep the axis of the samples, keepdim=True: the shape is (N,).",
        ),
        Misconception(
            lambda x, weights: (x @ weights.T).mean(1),
            "you return mean logits: apply the sigmoid to every sample's logit, then average.",
        ),
        Misconception(
            lambda x, weights: torch.sigmoid(x @ weights.T).median(1).values,
            "you take the median over the samples: the integral is a mean.",
        ),
        Misconception(
            lambda x, weights: torch.sigmoid(x @ weights.T).std(1, correction=0),
            "you return the spread of the samples' probabilities: the forecast is their mean.",
        ),
        Misconception(
            lambda x, weights: torch.sigmoid(x @ weights[0]),
            "you use the first sample alone: average over all of them.",
        ),
        Misconception(
            lambda x, weights: torch.sigmoid(x @ weights[-1]),
            "you use the last sample alone: average over all of them.",
        ),
        Misconception(
            lambda x, weights: torch.sigmoid(x[:512] @ weights.T).mean(1),
            "you return after the first chunk: append its probabilities to `probs`, and go on with the next one.",
        ),
        Misconception(
            lambda x, weights: torch.sigmoid(x.split(512)[-1] @ weights.T).mean(1),
            "you return the last chunk alone: append the probabilities of every chunk to `probs`.",
        ),
        Misconception(
            lambda x, weights: torch.softmax(x @ weights.T, dim=1).mean(1),
            "you take a softmax over the samples: each sample has one logit for each input, whose sigmoid is the "
            "probability of class 1.",
        ),
        Misconception(
            lambda x, weights: torch.sigmoid(x @ weights.T).mean().expand(len(x)),
            "you average over the inputs as well: average over the samples alone, dim=1.",
        ),
        Misconception(
            lambda x, weights: torch.sigmoid(x[:, :-1] @ weights[:, :-1].T).mean(1),
            "you leave out the bias, the last weight.",
        ),
    ],
    hints=[
        "Every sample gives each input a logit: `rows @ weights.T` has the shape `(len(rows), S)`.",
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


def _probit(x, mean, covariance, shrink):
    variance = ((x @ covariance) * x).sum(1)
    return torch.sigmoid((x @ mean) / shrink(variance))


def _normal_cdf(x, mean, covariance, *, inside, slope):
    variance = ((x @ covariance) * x).sum(1)
    return torch.special.ndtr(slope * (x @ mean) / torch.sqrt(1 + inside * variance))


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
            lambda x, mean, s: _probit(
                x,
                mean,
                torch.diag(torch.diag(s)),
                lambda v: (1 + math.pi * v / 8).sqrt(),
            ),
            "you use only the diagonal of Σ: the weights are correlated, which affects xᵀΣx.",
        ),
        Misconception(
            lambda x, mean, s: torch.sigmoid((x @ mean) / root(x @ s @ x.T)),
            "you use all of x @ Σ @ x.T, an (N, N) matrix of covariances between inputs; the variances are its "
            "diagonal.",
        ),
        Misconception(
            lambda *case: _probit(*case, lambda v: root(v.sum())),
            "you add up the variances of all inputs: sum over the last axis, .sum(dim=1). Each input has its own.",
        ),
        Misconception(
            lambda x, mean, s: torch.sigmoid(x @ mean) / root(((x @ s) * x).sum(1)),
            "you divide the probability by the root. Divide the logit, then take the sigmoid.",
        ),
        Misconception(
            lambda x, mean, s: (x @ mean) / root(((x @ s) * x).sum(1)),
            "you forget the sigmoid: this is the shrunken logit.",
        ),
        Misconception(
            lambda *case: _probit(*case, lambda v: 1 / torch.sqrt(1 + math.pi * v / 8)),
            "you multiply the logit by the root: uncertainty then makes the prediction more extreme.",
        ),
        Misconception(
            lambda *case: _probit(*case, lambda v: torch.sqrt(1 + v)),
            "you leave out the factor π/8, which matches the slope of a probit to that of the sigmoid.",
        ),
        Misconception(
            lambda *case: _normal_cdf(*case, inside=1.0, slope=1.0),
            "you use the Gaussian's cumulative distribution function, Φ(m/√(1 + v)): the model's forecasts are "
            "sigmoids, which have another slope.",
        ),
        Misconception(
            lambda *case: _normal_cdf(
                *case, inside=math.pi / 8, slope=math.sqrt(math.pi / 8)
            ),
            "you return the probit Φ(√(π/8) m/√(1 + πv/8)). It is as good an approximation, but here the function "
            "outside is the sigmoid.",
        ),
        Misconception(
            lambda x, mean, s: torch.sigmoid((x @ mean) / root((x @ s).sum(1))),
            "you apply x once: a variance is quadratic in it, xᵀΣx.",
        ),
        Misconception(
            lambda x, mean, s: _probit(x, mean, torch.linalg.inv(s), root),
            "you invert Σ: it is the covariance already, the inverse of the precision.",
        ),
        Misconception(
            lambda x, mean, s: ((x @ s) * x).sum(1),
            "you return the variances of the logits: they are only a part of the formula.",
        ),
        *wrong_roots(lambda root_of: lambda *case: _probit(*case, root_of)),
    ],
    hints=[
        "You need the mean and the variance of the logit xᵀw for each input.",
        "The variance is xᵀΣx. For all N at once: `x @ covariance`, times x element by element, summed over each row.",
        "A variance of v = 24/π makes 1 + πv/8 equal to 4, so the mean is divided by its square root, 2. The sigmoid comes last.",
    ],
)
