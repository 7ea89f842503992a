"""The objective of logistic regression, its Hessian and its minimum; oracles from SciPy and autograd."""

from __future__ import annotations

import math

import numpy as np
import scipy.optimize
import scipy.special
import scipy.stats
import torch
import torch.nn.functional as F

from course.checks.approximate_inference.tolerances import SINGLE
from course.task import Close, Misconception, Task


def logistic_cases(rng, n=40):
    """Inputs with a column of ones, labels of both classes, weights and a prior variance well off 1."""
    cases = []
    for prior_variance in (rng.uniform(2, 6), rng.uniform(0.1, 0.4)):
        x = np.column_stack([rng.normal(0, 1.5, (n, 2)), np.ones(n)])
        cases.append(
            {
                "w": rng.normal(0, 1, 3),
                "x": x,
                "y": rng.permutation(np.arange(n) % 2).astype(float),
                "prior_variance": float(prior_variance),
            }
        )
    return cases


def _objective_cases(rng):
    cases = logistic_cases(rng, n=6)
    far = logistic_cases(rng, n=6)[0]  # logits of some thousand
    return [*cases, far | {"w": far["w"] + np.array([0.0, 0.0, 3000.0])}]


def _objective_probe(answer, w, x, y, prior_variance):
    import torch

    w = torch.tensor(w, requires_grad=True)
    value = answer(w, torch.tensor(x), torch.tensor(y), prior_variance)
    gradient = torch.zeros_like(w)
    if getattr(value, "requires_grad", False):
        (gradient,) = torch.autograd.grad(value.sum(), w, materialize_grads=True)
    return {"value": value, "gradient": gradient}


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


NEGATIVE_LOG_JOINT = Task(
    id="approximate-inference/negative-log-joint",
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
            "the likelihood is averaged over the data. The posterior multiplies N likelihoods, so their "
            "logarithms add up; a mean makes the prior N times too strong.",
        ),
        Misconception(
            lambda w, x, y, v: _nll(w, x, y) + v * (w @ w) / 2 + _normaliser(w, 1 / v),
            "the prior's variance is used as if it were its precision 1/σ₀².",
        ),
        Misconception(
            lambda w, x, y, v: (
                _nll(w, x, y) + w @ w / (2 * v**2) + _normaliser(w, v**2)
            ),
            "the prior's variance is used as if it were its standard deviation: it gets squared once more.",
        ),
        Misconception(
            lambda w, x, y, v: _nll(w, x, y) + w @ w / (2 * v),
            "the prior's normaliser, D/2 log 2πσ₀², is left out. The mode does not feel it, the evidence does.",
        ),
        Misconception(
            lambda w, x, y, v: _nll(w, x, y) + w @ w / v + _normaliser(w, v),
            "the ½ of the prior's quadratic term gets lost.",
        ),
        Misconception(
            lambda w, x, y, v: _nll(w, x, y) + w.norm() / (2 * v) + _normaliser(w, v),
            "the norm of w is not squared.",
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
            "the logarithm of a sigmoid is taken in two steps. Far out the sigmoid is 0 or 1 and its logarithm "
            "is −inf; F.binary_cross_entropy_with_logits takes logits and stays finite.",
        ),
        Misconception(
            lambda w, x, y, v: -(_nll(w, x, y) + w @ w / (2 * v) + _normaliser(w, v)),
            "the sign is turned: this is the log joint, and its minimum is nowhere.",
        ),
        Misconception(
            lambda w, x, y, v: (
                _nll(w, x, y) + w @ w / (2 * v) + _normaliser(w, v)
            ).detach(),
            "the value carries no graph (.detach(), .item(), .numpy() or no_grad): it cannot be minimised.",
        ),
    ],
    hints=[
        "Two densities multiply, so two negative logarithms add: one sum over the data, one over the weights.",
        "F.binary_cross_entropy_with_logits(x @ w, y, reduction=...) is the first; which reduction is a sum?",
        "The second is w @ w / (2 * prior_variance) plus D/2 · log(2π · prior_variance), with D = len(w).",
    ],
)


def _decay_probe(answer, weight_decay, n):
    value = answer(weight_decay, n)
    return {"prior_variance": None if value is None else float(value)}


PRIOR_VARIANCE_OF = Task(
    id="approximate-inference/prior-variance-of",
    name="prior_variance_of",
    points=1,
    cases=lambda rng: [
        {"weight_decay": float(rng.uniform(0.01, 0.2)), "n": int(n)}
        for n in rng.integers(50, 500, 3)
    ],
    probe=_decay_probe,
    oracle=lambda weight_decay, n: {
        "prior_variance": Close(0.5 / weight_decay / n, rtol=1e-5, because=SINGLE)
    },
    misconceptions=[
        Misconception(
            lambda weight_decay, n: 1 / (2 * weight_decay),
            "the factor N gets lost: the penalty was added to the mean loss, and the posterior needs the sum.",
        ),
        Misconception(
            lambda weight_decay, n: 1 / (n * weight_decay),
            "the ½ gets lost: the prior's exponent is ‖w‖²/(2σ₀²), the penalty is λ‖w‖² without a ½.",
        ),
        Misconception(
            lambda weight_decay, n: 2 * n * weight_decay,
            "the precision is returned: the variance is one over it.",
        ),
        Misconception(
            lambda weight_decay, n: n / (2 * weight_decay),
            "N stands on the wrong side: multiplying the mean loss by N multiplies λ as well.",
        ),
    ],
    hints=[
        "Multiply mean NLL + λ‖w‖² by N. What multiplies ‖w‖² then?",
        "Nλ must equal 1/(2σ₀²).",
    ],
)


def _curvature_cases(rng):
    return [
        {key: case[key] for key in ("w", "x", "prior_variance")}
        for case in logistic_cases(rng, n=7)
    ]


def _curvature_probe(answer, w, x, prior_variance):
    import torch

    return {"hessian": answer(torch.tensor(w), torch.tensor(x), prior_variance)}


def curvature(w, x, prior_variance):
    """The exact Hessian of the negative log joint, by autograd in double precision."""
    x = torch.tensor(x)

    def energy(w):
        return torch.logaddexp(torch.zeros(()).double(), x @ w).sum() + (w**2).sum() / (
            2 * prior_variance
        )

    return torch.autograd.functional.hessian(energy, torch.tensor(w)).numpy()


def _closed(w, x, data_weights, precision):
    return (x.T * data_weights(torch.sigmoid(x @ w))) @ x + precision * torch.eye(
        len(w), dtype=x.dtype
    )


LOGISTIC_HESSIAN = Task(
    id="approximate-inference/logistic-hessian",
    name="logistic_hessian",
    points=2,
    cases=_curvature_cases,
    probe=_curvature_probe,
    oracle=lambda **case: {
        "hessian": Close(curvature(**case), rtol=1e-5, atol=1e-6, because=SINGLE)
    },
    misconceptions=[
        Misconception(
            lambda w, x, v: _closed(w, x, lambda p: p * (1 - p), v),
            "the prior's variance is added where its precision 1/σ₀² belongs.",
        ),
        Misconception(
            lambda w, x, v: _closed(w, x, lambda p: p * (1 - p), 0.0),
            "the prior is left out: it adds 1/σ₀² to the diagonal.",
        ),
        Misconception(
            lambda w, x, v: _closed(w, x, lambda p: p * (1 - p) / len(x), 1 / v),
            "the data are averaged: this is the Hessian of the mean NLL, plus the prior's.",
        ),
        Misconception(
            lambda w, x, v: _closed(w, x, lambda p: p, 1 / v),
            "each datum is weighted with p: the derivative of the sigmoid is p(1 − p).",
        ),
        Misconception(
            lambda w, x, v: _closed(w, x, lambda p: p * (1 - p), 1 / (2 * v)),
            "the prior contributes 1/(2σ₀²): differentiating the square twice brings a 2 down.",
        ),
        Misconception(
            lambda w, x, v: _closed(w, x, lambda p: -p * (1 - p), -1 / v),
            "the sign is turned: this is the Hessian of the log joint, which is negative definite at its maximum.",
        ),
    ],
    hints=[
        "The gradient is Xᵀ(p − y) + w/σ₀². Differentiate once more: dp/dw = p(1 − p) x.",
        "That gives Xᵀ diag(p(1 − p)) X, without ever forming the N × N diagonal matrix: scale the columns of Xᵀ.",
        "(x.T * (p * (1 - p))) @ x, plus the identity over the prior variance.",
    ],
)


def _mode(x, y, prior_variance):
    def gradient(w):
        return x.T @ (scipy.special.expit(x @ w) - y) + w / prior_variance

    return scipy.optimize.root(gradient, np.zeros(x.shape[1]), tol=1e-13).x


def _mode_cases(rng):
    """In the last case the prior bends nearly as much as the data do, and pulls: a Hessian needs both."""
    cases = [
        {key: case[key] for key in ("x", "y", "prior_variance")}
        for case in logistic_cases(rng)
    ]
    x, prior_variance = cases[0]["x"], 0.1
    y = rng.permutation(np.arange(len(x)) < len(x) // 4).astype(float)
    for _ in range(20):
        p = scipy.special.expit(x @ _mode(x, y, prior_variance))
        of_data = np.linalg.eigvalsh((x.T * (p * (1 - p))) @ x)
        prior_variance = 1 / (0.8 * of_data[0])
    return [*cases, {"x": x, "y": y, "prior_variance": float(prior_variance)}]


def _mode_probe(answer, x, y, prior_variance):
    import torch

    return {"mode": answer(torch.tensor(x), torch.tensor(y), prior_variance)}


def _mode_oracle(x, y, prior_variance):
    mode = _mode(x, y, prior_variance)
    return {"mode": Close(mode, rtol=1e-5, atol=1e-6, because=SINGLE)}


def _newton(x, y, v, *, steps=30, pull=1.0, sign=1.0, prior=1.0):
    w = torch.zeros(x.shape[1], dtype=x.dtype)
    for _ in range(steps):
        gradient = x.T @ (torch.sigmoid(x @ w) - y) + pull * w / v
        hessian = _closed(w, x, lambda p: p * (1 - p), prior / v)
        w = w - sign * torch.linalg.solve(hessian, gradient)
    return w


def _hasty(x, y, v):
    w = torch.zeros(x.shape[1], dtype=x.dtype)
    for _ in range(20):
        w = w - 0.2 * (x.T @ (torch.sigmoid(x @ w) - y) + w / v) / len(x)
    return w


FIND_MODE = Task(
    id="approximate-inference/find-mode",
    name="find_mode",
    points=2,
    cases=_mode_cases,
    probe=_mode_probe,
    oracle=_mode_oracle,
    misconceptions=[
        Misconception(
            lambda x, y, v: _newton(x, y, v, pull=0.0),
            "the prior's pull w/σ₀² is missing from the gradient: this is the maximum of the likelihood.",
        ),
        Misconception(
            lambda x, y, v: _newton(x, y, v, prior=0.0),
            "the Hessian leaves out the prior's I/σ₀², which the gradient has. The steps then go too far, and where "
            "the prior bends as much as the data do they hardly settle.",
        ),
        Misconception(
            lambda x, y, v: _newton(x, y, v, steps=1),
            "only one Newton step is taken, or each step starts from w = 0 again.",
        ),
        Misconception(
            lambda x, y, v: _newton(x, y, v, sign=-1.0),
            "each step goes uphill: subtract H⁻¹g from w.",
        ),
        Misconception(
            _hasty,
            "twenty steps of gradient descent at rate 0.2 are called the mode. The gradient has not vanished yet, "
            "and Laplace's approximation needs it to.",
        ),
    ],
    hints=[
        "Newton's step is w − H⁻¹g, with gradient and Hessian of the same function: the negative log joint.",
        "The gradient is x.T @ (torch.sigmoid(x @ w) - y) + w / prior_variance; you have the Hessian already.",
        "w = w - torch.linalg.solve(logistic_hessian(w, x, prior_variance), gradient)",
    ],
)
