"""The objective of logistic regression, and the prior equivalent to a weight decay."""

from __future__ import annotations

import math

import numpy as np
import scipy.special
import scipy.stats
import torch
import torch.nn.functional as F

from course.checks.approximate_inference.concepts import (
    CLAMPED,
    CLAMPS,
    SIGNED_LABELS,
    nll_of_clamped,
    nll_of_signs,
)
from course.checks.approximate_inference.tolerances import SINGLE
from course.checks.concepts_of_decay import WRONG_DECAYS
from course.probing import gradients, leaves
from course.task import Close, Misconception, Task

SIZES = ((7, 3), (5, 2), (1, 1))  # numbers of data points and of weights


def logistic_cases(rng, sizes=SIZES):
    """Draw inputs with a column of ones, labels, weights, and prior variances far from 1."""
    cases = []
    variances = rng.uniform(2, 6), rng.uniform(0.1, 0.4), rng.uniform(2, 6)
    for (n, d), prior_variance in zip(sizes, variances, strict=True):
        x = np.column_stack([rng.normal(0, 1.5, (n, d - 1)), np.ones(n)])
        cases.append(
            {
                "w": rng.normal(0, 1, d),
                "x": x,
                "y": rng.permutation(np.arange(n) % 2).astype(float),
                "prior_variance": float(prior_variance),
            }
        )
    return cases


def _objective_cases(rng):
    """Draw cases; in the last, logits are around 3,000, and of the wrong sign but for one.

    Those of either label are among them. The weights are small: their prior would outweigh
    what a clamp changes.
    """
    cases = logistic_cases(rng, ((7, 3), (1, 1), (5, 2)))
    w, x, y = (cases[-1][name] for name in ("w", "x", "y"))
    w[0] = rng.choice([-1, 1]) * rng.uniform(0.5, 1.5)
    logits = (1 - 2 * y) * rng.uniform(2000, 4000, len(y))
    logits[0] *= -1
    x[:, 0] = (logits - w[-1]) / w[0]
    return cases


def _objective_probe(answer, w, x, y, prior_variance):
    import torch

    (w,) = leaves(w)
    value = answer(w, torch.tensor(x), torch.tensor(y), prior_variance)
    return {"value": value, "gradient": gradients(value, [w])[0]}


def _objective_oracle(w, x, y, prior_variance):
    nll = np.logaddexp(0, (1 - 2 * y) * (x @ w)).sum()
    log_prior = scipy.stats.norm.logpdf(w, 0, math.sqrt(prior_variance)).sum()
    gradient = x.T @ (scipy.special.expit(x @ w) - y) + w / prior_variance
    return {
        "value": Close(nll - log_prior, rtol=1e-5, because=SINGLE),
        "gradient": Close(gradient, rtol=1e-5, atol=1e-5, because=SINGLE),
    }


def _nll(w, x, y, reduction="sum"):
    return F.binary_cross_entropy_with_logits(x @ w, y, reduction=reduction)


def _normaliser(w, variance):
    return 0.5 * len(w) * math.log(2 * math.pi * variance)


def _joint(nll, *, scale=lambda x: 1):
    """Make a wrong negative log joint with another NLL, or another scale."""

    def answer(w, x, y, v):
        prior = w @ w / (2 * v) + _normaliser(w, v)
        return (nll(x @ w, y).sum() + prior) / scale(x)

    return answer


def _bce(logits, y):
    return F.binary_cross_entropy_with_logits(logits, y, reduction="none")


def _clamped(eps):
    return _joint(lambda logits, y: nll_of_clamped(logits, y, eps))


NEGATIVE_LOG_JOINT = Task(
    name="negative_log_joint",
    points=2,
    cases=_objective_cases,
    probe=_objective_probe,
    oracle=_objective_oracle,
    misconceptions=[
        Misconception(
            lambda w, x, y, v: (
                _nll(w, x, y, "mean") + w @ w / (2 * v) + _normaliser(w, v)
            ),
            "you average the log-likelihood over the data. The posterior multiplies N likelihoods, so their "
            "logarithms add up; a mean makes the prior N times too strong.",
        ),
        Misconception(
            lambda w, x, y, v: _nll(w, x, y) + v * (w @ w) / 2 + _normaliser(w, 1 / v),
            "you use the prior's variance as if it were its precision 1/σ₀².",
        ),
        Misconception(
            lambda w, x, y, v: (
                _nll(w, x, y) + w @ w / (2 * v**2) + _normaliser(w, v**2)
            ),
            "you use the prior's variance as if it were its standard deviation, and square it once more.",
        ),
        Misconception(
            lambda w, x, y, v: _nll(w, x, y) + w @ w / (2 * v**2) + _normaliser(w, v),
            "you square σ₀² once more in the quadratic term: you are given the prior's variance, not its standard "
            "deviation.",
        ),
        Misconception(
            lambda w, x, y, v: _nll(w, x, y) + w @ w / (2 * v) + _normaliser(w, v**2),
            "you square σ₀² once more in the normaliser: you are given the prior's variance, not its standard "
            "deviation.",
        ),
        Misconception(
            lambda w, x, y, v: (
                _nll(w, x, y) + len(x) * (w @ w / (2 * v) + _normaliser(w, v))
            ),
            "you put the prior inside the sum over the data, once per data point. It counts once.",
        ),
        Misconception(
            lambda w, x, y, v: _nll(w, x, y) + w @ w / (2 * v) + _normaliser(w[:1], v),
            "you use the normaliser of one weight: there are D of them, so it is D/2 · log 2πσ₀².",
        ),
        Misconception(
            lambda w, x, y, v: (
                _nll(w, x, y) + w @ w / (2 * v) + _normaliser(x[:, 0], v)
            ),
            "you count data points in the normaliser, N/2. It belongs to the prior, which has D weights: D/2 · log "
            "2πσ₀².",
        ),
        Misconception(
            lambda w, x, y, v: _nll(w, x, y) + w @ w / (2 * v) - _normaliser(w, v),
            "you flip the normaliser's sign: −log p(w) contains +log √(2πσ₀²), once per "
            "weight.",
        ),
        Misconception(
            lambda w, x, y, v: _nll(w, x, y) - w @ w / (2 * v) - _normaliser(w, v),
            "you flip the prior's sign: you add the log prior to the NLL. Both logarithms need a minus.",
        ),
        Misconception(
            lambda w, x, y, v: _nll(w, x, y) + w @ w / (2 * v) + _normaliser(w, 1.0),
            "you leave σ₀² out of the normaliser, which is D/2 · log 2πσ₀².",
        ),
        Misconception(
            lambda w, x, y, v: _nll(w, x, y) + w @ w / (2 * v),
            "you leave out the prior's normaliser, D/2 · log 2πσ₀². It does not affect the mode, but it affects the "
            "evidence.",
        ),
        Misconception(
            lambda w, x, y, v: (
                _nll(w, x, y) + w[:-1] @ w[:-1] / (2 * v) + _normaliser(w[:-1], v)
            ),
            "you leave the bias, the last weight, out of the prior. Here all D weights have the same prior.",
        ),
        Misconception(
            lambda w, x, y, v: (
                _nll(w, x, y) + w[:-1] @ w[:-1] / (2 * v) + _normaliser(w, v)
            ),
            "you leave the bias, the last weight, out of ‖w‖². Here all D weights have the same prior.",
        ),
        Misconception(
            lambda w, x, y, v: _nll(w, x, y) + w @ w / v + _normaliser(w, v),
            "you forget the ½ of the prior's quadratic term.",
        ),
        Misconception(
            lambda w, x, y, v: _nll(w, x, y) + w.norm() / (2 * v) + _normaliser(w, v),
            "you do not square the norm of w.",
        ),
        Misconception(
            lambda w, x, y, v: (
                -(
                    y * torch.sigmoid(x @ w).log()
                    + (1 - y) * (1 - torch.sigmoid(x @ w)).log()
                ).sum()
                + w @ w / (2 * v)
                + _normaliser(w, v)
            ),
            "you take the logarithm of a sigmoid in two steps. For a large |logit| the sigmoid is 0 or 1, and a "
            "logarithm is −inf; F.binary_cross_entropy_with_logits takes logits and stays finite.",
        ),
        Misconception(
            lambda w, x, y, v: (
                F.binary_cross_entropy(torch.sigmoid(x @ w), y, reduction="sum")
                + w @ w / (2 * v)
                + _normaliser(w, v)
            ),
            "you use F.binary_cross_entropy, which takes probabilities: for a large |logit| they are 0 or 1, and it "
            "clamps their logarithms at −100. F.binary_cross_entropy_with_logits takes the logits.",
        ),
        Misconception(
            lambda w, x, y, v: -(_nll(w, x, y) + w @ w / (2 * v) + _normaliser(w, v)),
            "you flip the sign: this is the log joint, and it has no minimum.",
        ),
        Misconception(
            lambda w, x, y, v: (
                _nll(w, x, y) + w @ w / (2 * v) + _normaliser(w, v)
            ).detach(),
            "you detach the value (.detach(), .item(), .numpy() or no_grad): it then cannot be minimised.",
        ),
        *(Misconception(_clamped(eps), CLAMPED) for eps in CLAMPS),
        Misconception(_joint(nll_of_signs), SIGNED_LABELS),
        Misconception(
            _joint(lambda logits, y: _bce(-logits, y)),
            "you flip the sign of the logits: this is the NLL of the other class.",
        ),
        Misconception(
            _joint(lambda logits, y: y * _bce(logits, y)),
            "you leave out the data points of class 0: the NLL has a term (1 − y) log(1 − p) as well.",
        ),
        Misconception(
            _joint(_bce, scale=len),
            "you divide the whole by N. This has the same mode, but it is the negative log joint over N; the evidence "
            "needs the sum.",
        ),
        Misconception(
            lambda w, x, y, v: _nll(w, x, y),
            "you leave out the prior: this is the NLL alone.",
        ),
        Misconception(
            lambda w, x, y, v: _nll(w, x, y) + w @ w / (2 * v) + 2 * _normaliser(w, v),
            "you forget the ½ of the normaliser, which is D/2 · log 2πσ₀².",
        ),
        Misconception(
            lambda w, x, y, v: (
                _nll(w, x, y) + w @ w / (2 * v) + 0.5 * len(w) * math.log(v)
            ),
            "you leave 2π out of the normaliser, which is D/2 · log 2πσ₀².",
        ),
        Misconception(
            lambda w, x, y, v: (
                _nll(w, x, y)
                + (w**2).mean() / (2 * v)
                + 0.5 * math.log(2 * math.pi * v)
            ),
            "you average the prior's terms over the weights: the log densities of D independent weights add up.",
        ),
        Misconception(
            lambda w, x, y, v: _nll(w, x, y) + w.sum() / (2 * v) + _normaliser(w, v),
            "you do not square the weights.",
        ),
        Misconception(
            lambda w, x, y, v: (
                _nll(w, x, y) + w @ w / (2 * v) + _normaliser(w, math.sqrt(v))
            ),
            "you use the standard deviation σ₀ in the normaliser, which is D/2 · log 2πσ₀².",
        ),
        *(
            Misconception(
                _joint(lambda logits, y, k=k: k * (torch.sigmoid(logits) - y) ** 2),
                "you use a squared error: the labels are 0 and 1, and their NLL is a cross-entropy.",
            )
            for k in (0.5, 1.0)
        ),
        Misconception(
            lambda w, x, y, v: _bce(x @ w, y) + w @ w / (2 * v) + _normaliser(w, v),
            "you return one value for each data point: sum the NLL over the data, then add the prior's part once.",
        ),
    ],
    hints=[
        "Two densities multiply, so two negative logarithms add: one sum over the data, one over the weights.",
        "F.binary_cross_entropy_with_logits of x @ w and y is the first; which reduction is a sum?",
        "For one weight w = 3 and σ₀² = 4 the second is 9/8 + ½ log 8π. Squares add up over the weights, and the constant counts once for each weight.",
    ],
)


def _decay_probe(answer, weight_decay, n):
    value = answer(weight_decay, n)
    return {"prior_variance": None if value is None else float(value)}


PRIOR_VARIANCE_OF = Task(
    name="prior_variance_of",
    points=1,
    cases=lambda rng: [
        {"weight_decay": float(rng.uniform(0.01, 0.2)), "n": int(n)}
        for n in rng.integers(50, 500, 3)
    ],
    probe=_decay_probe,
    oracle=lambda weight_decay, n: {
        "prior_variance": Close(1 / weight_decay / n, rtol=1e-5, because=SINGLE)
    },
    misconceptions=WRONG_DECAYS,
    hints=[
        "Multiply mean NLL + λ/2 · ‖w‖² by N. What multiplies ‖w‖² then?",
        "Nλ/2 must equal 1/(2σ₀²).",
    ],
)
