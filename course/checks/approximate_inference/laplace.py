"""Laplace's covariances, one with a bug to find, and evidence; oracles from NumPy, SciPy and autograd."""

from __future__ import annotations

import math

import numpy as np
import scipy.stats
import torch
import torch.nn.functional as F

from course.checks.approximate_inference.mode import curvature
from course.checks.approximate_inference.objective import logistic_cases
from course.checks.approximate_inference.tolerances import SINGLE
from course.checks.approximate_inference.wrong_softmax import SOFTMAX_COVARIANCES
from course.task import Close, Misconception, Task


def _covariance_probe(answer, w, x, y, prior_variance):
    import torch

    return {
        "covariance": answer(
            torch.tensor(w), torch.tensor(x), torch.tensor(y), prior_variance
        )
    }


def _covariance_oracle(w, x, y, prior_variance):
    covariance = np.linalg.inv(curvature(w, x, prior_variance))
    return {"covariance": Close(covariance, rtol=1e-5, atol=1e-6, because=SINGLE)}


def _hessian(w, x, y, *, data, precision):
    """Compute the Hessian of ``data`` times the summed NLL plus ½ ``precision`` ‖w‖²."""

    def energy(w):
        nll = F.binary_cross_entropy_with_logits(x @ w, y, reduction="sum")
        return data * nll + 0.5 * precision * (w @ w)

    return torch.autograd.functional.hessian(energy, w)


LAPLACE_COVARIANCE = Task(
    name="laplace_covariance",
    points=2,
    cases=lambda rng: logistic_cases(rng, ((40, 3), (31, 2), (1, 1))),
    probe=_covariance_probe,
    oracle=_covariance_oracle,
    misconceptions=[
        Misconception(
            lambda w, x, y, v: torch.linalg.inv(
                _hessian(w, x, y, data=1 / len(x), precision=1 / v / len(x))
            ),
            "you invert the Hessian of the mean loss. It is the Hessian of the "
            "negative log posterior divided by N, so this covariance is N times too large.",
        ),
        Misconception(
            lambda w, x, y, v: torch.linalg.inv(
                _hessian(w, x, y, data=1, precision=1 / v / len(x))
            ),
            "you sum the likelihood, but keep the weight decay of the mean loss: the prior is then N times too weak. "
            "Multiply the whole loss by N.",
        ),
        Misconception(
            lambda w, x, y, v: torch.linalg.inv(
                _hessian(w, x, y, data=1 / len(x), precision=1 / v)
            ),
            "you correct the prior, but leave the likelihood as a mean: all the data then count as one data point.",
        ),
        Misconception(
            lambda w, x, y, v: torch.linalg.inv(
                _hessian(w, x, y, data=1, precision=0.0)
            ),
            "you leave out the prior: add its precision 1/σ₀² to the Hessian's diagonal.",
        ),
        Misconception(
            lambda w, x, y, v: (
                len(x)
                * torch.linalg.inv(
                    _hessian(w, x, y, data=1 / len(x), precision=1 / v / len(x))
                )
            ),
            "you multiply the covariance by N, although it is already N times too large. Multiply the Hessian by N before you invert it.",
        ),
        Misconception(
            lambda w, x, y, v: (
                torch.linalg.inv(_hessian(w, x, y, data=1, precision=1 / v)) / len(x)
            ),
            "you count N twice: you sum the loss, and then multiply it by N or divide the covariance by N as well.",
        ),
        Misconception(
            lambda w, x, y, v: 1 / _hessian(w, x, y, data=1, precision=1 / v),
            "you invert every entry on its own, 1 / H. The inverse of a matrix is torch.linalg.inv(H).",
        ),
        Misconception(
            lambda w, x, y, v: _hessian(w, x, y, data=1, precision=1 / v),
            "you return the Hessian: that is the precision matrix. The covariance is its inverse.",
        ),
        Misconception(
            lambda w, x, y, v: torch.diag(
                1 / torch.diag(_hessian(w, x, y, data=1, precision=1 / v))
            ),
            "you invert only the diagonal. Invert the whole matrix: the weights are correlated.",
        ),
        Misconception(
            lambda w, x, y, v: (
                torch.linalg.inv(
                    _hessian(w, x, y, data=1 / len(x), precision=1 / v / len(x))
                )
                / math.sqrt(len(x))
            ),
            "you divide the covariance by √N. Standard deviations shrink with √N, a covariance with N.",
        ),
        Misconception(
            lambda w, x, y, v: torch.linalg.inv(_hessian(w, x, y, data=1, precision=v)),
            "you use the prior's variance as if it were its precision: the prior adds ‖w‖²/(2σ₀²).",
        ),
        Misconception(
            lambda w, x, y, v: torch.linalg.inv(
                _hessian(w, x, y, data=1, precision=2 / v)
            ),
            "you forget the ½ of the prior's quadratic term, ‖w‖²/(2σ₀²).",
        ),
        Misconception(
            lambda w, x, y, v: torch.linalg.inv(
                _hessian(w, x, y, data=1, precision=len(x) / v)
            ),
            "you put the prior inside the sum over the data, once per data point. It counts once.",
        ),
        Misconception(
            lambda w, x, y, v: (
                -torch.linalg.inv(_hessian(w, x, y, data=1, precision=1 / v))
            ),
            "you flip the sign: invert the Hessian of the negative log joint, which is positive definite at the mode.",
        ),
        Misconception(
            lambda w, x, y, v: torch.linalg.cholesky(
                torch.linalg.inv(_hessian(w, x, y, data=1, precision=1 / v))
            ),
            "you return the Cholesky factor of the covariance: the task asks for the covariance itself.",
        ),
        Misconception(
            lambda w, x, y, v: torch.linalg.inv(
                (x.T * (torch.sigmoid(x @ w) - y) ** 2) @ x + torch.eye(len(w)) / v
            ),
            "you multiply the gradients of the data points by themselves, which is the empirical Fisher matrix: the "
            "Hessian has the weights p(1 − p), whatever the labels.",
        ),
        Misconception(
            lambda w, x, y, v: torch.linalg.inv(
                _hessian(w, x, y, data=1, precision=1 / v)
            ).diag(),
            "you return only the variances: the weights are correlated, so return the whole matrix.",
        ),
        Misconception(
            lambda w, x, y, v: (
                torch.linalg.inv(_hessian(w, x, y, data=1, precision=1 / v))
                .diag()
                .sqrt()
            ),
            "you return standard deviations: return the whole covariance matrix.",
        ),
    ],
    hints=[
        "Look at what the loss is: a sum over the data, or a mean? Which one is a log posterior?",
        "The mean loss with its weight decay is the negative log posterior over N (plus a constant).",
        "A Hessian is linear in its function: multiply it by N before you invert it.",
    ],
)


def _evidence_cases(rng):
    """Draw covariances with determinants far from 1 and (2π)⁻ᴰ, where mistakes would cancel.

    The last two cases have determinants too small for single and for double precision; the
    last has many weights.
    """
    cases = []
    for case in logistic_cases(rng):
        d = len(case["w"])
        a = rng.normal(0, 0.5, (d, d))
        covariance = a @ a.T + 0.05 * np.eye(d)
        volume = np.exp(d * rng.uniform(-1.3, -0.7)) / np.linalg.det(covariance)
        cases.append(
            {"w": case["w"], "covariance": covariance * volume ** (1 / d)}
            | {key: case[key] for key in ("x", "y", "prior_variance")}
        )
    largest = max(cases, key=lambda case: len(case["w"]))
    small = 10.0 ** (-45 / len(largest["w"]))
    cases.append(largest | {"covariance": largest["covariance"] * small})
    many = logistic_cases(rng, ((1, 1), (6, 100), (1, 1)))[1]
    root = rng.normal(0, 1, (100, 100))
    covariance = 1e-5 * (root @ root.T / 100 + rng.uniform(0.5, 1) * np.eye(100))
    names = ("w", "x", "y", "prior_variance")
    return [*cases, {"covariance": covariance} | {name: many[name] for name in names}]


def _evidence_probe(answer, w, covariance, x, y, prior_variance):
    import torch

    tensors = [torch.tensor(value) for value in (w, covariance, x, y)]
    return {"log_evidence": answer(*tensors, prior_variance)}


def _evidence_oracle(w, covariance, x, y, prior_variance):
    log_joint = -np.logaddexp(0, (1 - 2 * y) * (x @ w)).sum()
    log_joint += scipy.stats.norm.logpdf(w, 0, math.sqrt(prior_variance)).sum()
    # q is evaluated at its own mean; if q is the posterior, p(y, w)/q(w) is the evidence.
    log_q = scipy.stats.multivariate_normal.logpdf(w, w, covariance)
    return {
        "log_evidence": Close(log_joint - log_q, rtol=1e-5, atol=1e-5, because=SINGLE)
    }


def _log_joint(w, x, y, v):
    prior = w @ w / (2 * v) + 0.5 * len(w) * math.log(2 * math.pi * v)
    return -F.binary_cross_entropy_with_logits(x @ w, y, reduction="sum") - prior


def _evidence(w, s, x, y, v, *, twopi=0.5, det=0.5):
    return (
        _log_joint(w, x, y, v)
        + twopi * len(w) * math.log(2 * math.pi)
        + det * torch.logdet(s)
    )


LAPLACE_LOG_EVIDENCE = Task(
    name="laplace_log_evidence",
    points=2,
    cases=_evidence_cases,
    probe=_evidence_probe,
    oracle=_evidence_oracle,
    misconceptions=[
        Misconception(
            lambda *case: _evidence(*case, det=-0.5),
            "you flip the sign of log det Σ: det Σ is 1/det H, so its logarithm has the opposite sign.",
        ),
        Misconception(
            lambda w, s, *case: _evidence(w, s, *case, det=0.0) + 0.5 * s.det(),
            "you add the determinant itself; add its logarithm, torch.logdet.",
        ),
        Misconception(
            lambda w, s, *case: _evidence(w, s, *case, det=0.0) + 0.5 * s.det().log(),
            "you take the logarithm of a determinant, which for many weights or small variances is too small a number: "
            "it underflows to 0. torch.logdet adds up logarithms.",
        ),
        Misconception(
            lambda w, s, x, y, v: _evidence(w, s, x, y, v, twopi=0.5 * len(x) / len(w)),
            "you add N/2 · log 2π. It is D/2: the Gaussian is over the D weights.",
        ),
        Misconception(
            lambda w, s, x, y, v: _evidence(w, s, x, y, v, twopi=0.5 / len(w)),
            "you add ½ log 2π, as for one weight. It is D/2: the Gaussian is over the D weights.",
        ),
        Misconception(
            lambda *case: _evidence(*case, twopi=0.0),
            "you forget the root of (2π)ᴰ: it is part of the volume under a Gaussian of height 1.",
        ),
        Misconception(
            lambda *case: _evidence(*case, det=1.0),
            "you forget the square root of the determinant: the volume is the root of (2π)ᴰ det Σ.",
        ),
        Misconception(
            lambda w, s, x, y, v: (
                -2 * _log_joint(w, x, y, v) + _evidence(w, s, x, y, v)
            ),
            "you add the negative log joint; the evidence needs the log joint.",
        ),
        Misconception(
            lambda w, s, x, y, v: _log_joint(w, x, y, v),
            "you count only the height at the mode: the evidence is height times volume.",
        ),
        Misconception(
            lambda w, s, x, y, v: (
                _evidence(w, s, x, y, v)
                + w @ w / (2 * v)
                + 0.5 * len(w) * math.log(2 * math.pi * v)
            ),
            "you leave out the prior at the mode: the evidence integrates likelihood times prior.",
        ),
        Misconception(
            lambda w, s, x, y, v: (
                _evidence(w, s, x, y, v) + 0.5 * len(w) * math.log(2 * math.pi * v)
            ),
            "you leave the prior's normaliser, D/2 · log 2πσ₀², out of the log joint. It does not affect the mode, but it "
            "affects the evidence.",
        ),
        Misconception(
            lambda w, s, x, y, v: (
                _evidence(w, s, x, y, v, det=0.0) + 0.5 * s.diag().log().sum()
            ),
            "you take the product of the diagonal for the determinant, which also depends on the covariances.",
        ),
        Misconception(
            lambda *case: _evidence(*case, twopi=1.0),
            "you add D log 2π. It is D/2 · log 2π: the volume is the root of (2π)ᴰ det Σ.",
        ),
        Misconception(
            lambda *case: _evidence(*case, twopi=-0.5),
            "you flip the sign of D/2 · log 2π: the volume under a Gaussian of height 1 contains the root of (2π)ᴰ.",
        ),
        Misconception(
            lambda w, s, x, y, v: (
                _evidence(w, s, x, y, v)
                + (1 - 1 / len(x))
                * F.binary_cross_entropy_with_logits(x @ w, y, reduction="sum")
            ),
            "you average the log-likelihood over the data: the likelihoods are multiplied, so their logarithms add up.",
        ),
        Misconception(
            lambda w, s, x, y, v: (
                -F.binary_cross_entropy_with_logits(x @ w, y, reduction="sum")
                - 0.5 * len(w) * math.log(len(x))
            ),
            "you use D/2 · log N in place of the volume and of the prior (the BIC), which holds for much data only.",
        ),
    ],
    hints=[
        "The evidence is the integral of exp(log joint). Laplace puts a Gaussian bump in its place.",
        "A bump of height h and covariance Σ has a volume of h times the root of (2π)ᴰ det Σ. Take the logarithm.",
        "Three terms: the log joint at the mode (mind its sign), D/2 · log 2π, and half of torch.logdet of the covariance.",
    ],
)


def _softmax_cases(rng):
    """Draw as many classes as inputs in no case: transposing would go unnoticed."""
    return [
        {
            "weights": rng.normal(0, 0.7, (classes, d)),
            "x": np.column_stack([rng.normal(0, 1, (n, d - 1)), np.ones(n)]),
            "prior_variance": float(rng.uniform(2, 5)),
        }
        for classes, d, n in ((4, 3, 11), (3, 2, 7), (2, 1, 1))
    ]


def _softmax_probe(answer, weights, x, prior_variance):
    import torch

    return {
        "covariance": answer(torch.tensor(weights), torch.tensor(x), prior_variance)
    }


def _softmax_oracle(weights, x, prior_variance):
    x, shape = torch.tensor(x), weights.shape
    labels = torch.arange(len(x)) % shape[0]  # the Hessian does not depend on them

    def energy(flat):
        logits = x @ flat.reshape(shape).T
        nll = torch.nn.functional.cross_entropy(logits, labels, reduction="sum")
        return nll + (flat**2).sum() / (2 * prior_variance)

    hessian = torch.autograd.functional.hessian(energy, torch.tensor(weights.ravel()))
    return {
        "covariance": Close(
            np.linalg.inv(hessian.numpy()), rtol=1e-5, atol=1e-6, because=SINGLE
        )
    }


SOFTMAX_LAPLACE_COVARIANCE = Task(
    name="softmax_laplace_covariance",
    points=3,
    cases=_softmax_cases,
    probe=_softmax_probe,
    oracle=_softmax_oracle,
    misconceptions=SOFTMAX_COVARIANCES,
    hints=[
        "For one data point the Hessian with respect to the logits is diag(p) − ppᵀ, and logit k is wₖᵀx.",
        "By the chain rule, entry ((k, i), (l, j)) is the sum over data of (diag(p) − ppᵀ)ₖₗ xᵢ xⱼ.",
        "Use torch.einsum to sum over the data's index n; order the others as kilj and reshape to (K·D, K·D). Add the prior's precision, then invert.",
    ],
)
