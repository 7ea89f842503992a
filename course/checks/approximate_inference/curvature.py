"""The generalised Gauss–Newton matrix, and a network's log evidence, with a bug to find.

The networks of the cases are sums of a saturating and a quadratic function of the weights;
their Jacobian is known in closed form.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.stats
import torch

from course.checks.approximate_inference.tolerances import FLOAT32, FLOAT64, SINGLE
from course.checks.approximate_inference.wrong_matrices import MATRICES
from course.probing import curved_network
from course.task import Close, Misconception, Task

MADE_OF = "network(w) is torch.tanh(a @ w) + (b @ w) ** 2 / 2 + c"


def network_cases(rng, sizes=((5, 3), (4, 2), (1, 1))):
    """Draw networks whose second derivatives are as large as their first.

    The first is there once more in single precision, where differences of logits are too coarse
    for derivatives.
    """
    cases = []
    for n, d in sizes:
        w = rng.choice([-1, 1], d) * rng.uniform(0.6, 1.2, d)
        b = rng.choice([-1, 1], (n, d)) * rng.uniform(0.7, 1.3, (n, d))
        bend = (b @ w) ** 2 / 2
        cases.append(
            {
                "w": w,
                "a": rng.choice([-1, 1], (n, d)) * rng.uniform(0.5, 1.0, (n, d)),
                "b": b,
                # The logits lie around 1.3: no p is near ½ nor 1 − p near p.
                "c": rng.uniform(1.1, 1.5, n) - bend,
            }
        )
    single = {name: value.astype(np.float32) for name, value in cases[0].items()}
    return [*cases, single]


def near(value, precision):
    """Allow for the precision of a case's weights."""
    if precision == np.float32:
        atol = 3e-6 * float(np.abs(value).max())
        return Close(value, rtol=1e-5, atol=atol, because=FLOAT32)
    return Close(value, rtol=1e-6, atol=1e-9, because=FLOAT64)


def jacobian(w, a, b, c):
    """Return the network's Jacobian in closed form, shape (N, D)."""
    return (1 - np.tanh(a @ w) ** 2)[:, None] * a + (b @ w)[:, None] * b


def logits(w, a, b, c):
    """Return the network's logits in NumPy, shape (N,)."""
    return np.tanh(a @ w) + (b @ w) ** 2 / 2 + c


def _ggn_probe(answer, w, a, b, c):
    import torch

    return {"ggn": answer(curved_network(a, b, c), torch.tensor(w))}


def _ggn_oracle(w, a, b, c):
    """Sum the outer products of rows, each scaled by the standard deviation of its label."""
    precision = w.dtype
    w, a, b, c = (value.astype(float) for value in (w, a, b, c))
    p = 1 / (1 + np.exp(-logits(w, a, b, c)))
    rows = jacobian(w, a, b, c) * np.sqrt(p * (1 - p))[:, None]
    total = sum(np.outer(row, row) for row in rows)
    return {"ggn": near(total, precision)}


GGN = Task(
    name="ggn",
    points=3,
    cases=network_cases,
    probe=_ggn_probe,
    oracle=_ggn_oracle,
    misconceptions=MATRICES,
    hints=[
        "The GGN is the Hessian that the loss would have if the logits were linear in the weights, with the Jacobian J as their inputs.",
        "torch.func.jacrev makes the Jacobian, of shape (N, D), from a function and weights. With J in place of X, the data's part of logistic_hessian is what you need.",
        "One data point with J = (2, 1) and p = ½ gives ¼ · [[4, 2], [2, 1]]. For N of them, scale the columns of Jᵀ by p(1 − p).",
    ],
    made_of=MADE_OF,
)


def _evidence_cases(rng):
    """Draw curvatures of full rank, and prior variances far from 1 on either side.

    The second curvature is a Hessian with a negative eigenvalue, which the prior outweighs. In
    the last case the determinant of the precision, about e¹⁰⁰⁰, overflows, as that of a network
    does.
    """
    cases = []
    variances = rng.uniform(4, 8), rng.uniform(0.1, 0.25), rng.uniform(4, 8)
    for d, variance in zip((3, 2, 1), variances, strict=True):
        root = rng.normal(0, 1, (d, d))
        cases.append(
            {
                "nll": float(rng.uniform(5, 20)),
                "w": rng.normal(0, 1, d),
                "curvature": root @ root.T + rng.uniform(1, 2) * np.eye(d),
                "prior_variance": float(variance),
            }
        )
    turn = rng.uniform(0.2, 1.3)
    along = np.array([np.cos(turn), np.sin(turn)])
    least = -rng.uniform(0.3, 0.7) / variances[1]
    value, off = rng.uniform(1, 3), np.array([-along[1], along[0]])
    hessian = least * np.outer(along, along) + value * np.outer(off, off)
    cases[1]["curvature"] = hessian
    d = 100
    root = rng.normal(0, 1, (d, d))
    cases.append(
        cases[0]
        | {
            "w": rng.normal(0, 1, d),
            "curvature": 500 * (root @ root.T / d + np.eye(d)) * rng.uniform(40, 60),
            "nll": float(rng.uniform(5, 20)),
        }
    )
    return cases


def _evidence_probe(answer, nll, w, curvature, prior_variance):
    import torch

    tensors = [
        torch.tensor(value, dtype=torch.float64) for value in (nll, w, curvature)
    ]
    return {"log_evidence": answer(*tensors, prior_variance)}


def _evidence_oracle(nll, w, curvature, prior_variance):
    log_prior = scipy.stats.norm.logpdf(w, 0, math.sqrt(prior_variance)).sum()
    covariance = np.linalg.inv(curvature + np.eye(len(w)) / prior_variance)
    # q is evaluated at its own mean; if q is the posterior, p(D, w)/q(w) is the evidence.
    log_q = scipy.stats.multivariate_normal.logpdf(w, w, covariance)
    return {
        "log_evidence": Close(
            log_prior - nll - log_q, rtol=1e-5, atol=1e-5, because=SINGLE
        )
    }


def _evidence(
    *,
    nll=1.0,
    prior=0.5,
    each=True,
    twopi=0.5,
    det=-0.5,
    precision=True,
    root=1.0,
    power=1,
    square=1.0,
    log_det=torch.logdet,
):
    """Make a wrong evidence: factors of its terms."""

    def answer(loss, w, curvature, v):
        number = len(w) if each else 1
        log_prior = -square * w @ w / (2 * v) - prior * number * (
            math.log(2 * math.pi) + root * math.log(v)
        )
        matrix = curvature + (torch.eye(len(w)) / v**power if precision else 0)
        volume = twopi * len(w) * math.log(2 * math.pi)
        if det:
            volume = volume + det * log_det(matrix)
        return log_prior - nll * loss + volume

    return answer


def _without_square(nll, w, curvature, v):
    return _evidence()(nll, torch.zeros_like(w), curvature, v)


NETWORK_LOG_EVIDENCE = Task(
    name="network_log_evidence",
    points=2,
    cases=_evidence_cases,
    probe=_evidence_probe,
    oracle=_evidence_oracle,
    misconceptions=[
        Misconception(
            _evidence(prior=0.0),
            "you leave out the prior's normaliser. It does not move the mode, but it "
            "depends on σ₀², so the comparison of prior variances needs it.",
        ),
        Misconception(
            _evidence(each=False),
            "you subtract the normaliser of one weight: the prior is a density over D weights, so take it D times.",
        ),
        Misconception(
            _evidence(root=2.0),
            "you add log σ₀² for each weight without its ½: the normaliser is ½ log 2πσ₀².",
        ),
        Misconception(
            _evidence(prior=-0.5),
            "you add the prior's normaliser: a density's normaliser is subtracted from its logarithm.",
        ),
        Misconception(
            _evidence(twopi=0.0),
            "you leave out D/2 · log 2π of the Gaussian's volume: it cancels the 2π of the prior, which you include.",
        ),
        Misconception(
            _evidence(det=0.5),
            "you flip the sign of the log determinant: the volume is that of the covariance, the inverse of the precision.",
        ),
        Misconception(
            _evidence(precision=False),
            "you leave the prior out of the precision: add I/σ₀² to the curvature of the NLL.",
        ),
        Misconception(
            _evidence(nll=-1.0),
            "you add the NLL: the log joint contains the log-likelihood, which is minus the NLL.",
        ),
        Misconception(
            _without_square,
            "you leave out ‖w‖²/(2σ₀²): the log prior has a quadratic term besides its normaliser.",
        ),
        Misconception(
            _evidence(prior=1.0),
            "you forget the ½ of the prior's normaliser, which is D/2 · log 2πσ₀².",
        ),
        Misconception(
            _evidence(prior=0.25),
            "you halve the prior's normaliser twice: it is D/2 · log 2πσ₀².",
        ),
        Misconception(
            _evidence(twopi=1.0),
            "you leave 2π out of the prior's normaliser, D/2 · log 2πσ₀², or add D/2 · log 2π twice.",
        ),
        Misconception(
            _evidence(root=0.0),
            "you leave σ₀² out of the prior's normaliser, which is D/2 · log 2πσ₀².",
        ),
        Misconception(
            _evidence(root=-1.0),
            "you divide by σ₀² in the logarithm of the normaliser, which is D/2 · log 2πσ₀².",
        ),
        Misconception(
            _evidence(det=-1.0),
            "you forget the square root of the determinant: it is ½ log det.",
        ),
        Misconception(
            _evidence(det=0.0, twopi=0.0),
            "you count only the height at the mode: the evidence is height times volume.",
        ),
        Misconception(
            _evidence(det=0.0),
            "you leave out the log determinant: the volume is the root of (2π)ᴰ det Σ.",
        ),
        Misconception(
            _evidence(twopi=-0.5),
            "you flip the sign of D/2 · log 2π of the Gaussian's volume.",
        ),
        Misconception(
            _evidence(nll=0.0),
            "you leave out the NLL.",
        ),
        Misconception(
            _evidence(power=-1),
            "you add σ₀² I to the curvature: the prior's precision is I/σ₀².",
        ),
        Misconception(
            _evidence(power=2),
            "you square σ₀² in the prior's precision, which is I/σ₀².",
        ),
        Misconception(
            _evidence(square=2.0),
            "you forget the ½ of the prior's quadratic term, ‖w‖²/(2σ₀²).",
        ),
        Misconception(
            _evidence(square=-1.0),
            "you flip the sign of ‖w‖²/(2σ₀²): the log prior falls as the weights grow.",
        ),
        Misconception(
            _evidence(log_det=lambda matrix: matrix.diag().log().sum()),
            "you take the product of the diagonal for the determinant, which also depends on the entries off the diagonal.",
        ),
        Misconception(
            _evidence(log_det=lambda matrix: matrix.det()),
            "you use the determinant itself; take its logarithm, torch.logdet.",
        ),
        Misconception(
            _evidence(log_det=lambda matrix: matrix.det().log()),
            "you take the logarithm of a determinant, which for many weights is too large a number: it overflows to inf. "
            "torch.logdet adds up logarithms.",
        ),
        Misconception(
            _evidence(root=0.5),
            "you use the standard deviation σ₀ in the normaliser, which is D/2 · log 2πσ₀².",
        ),
    ],
    hints=[
        "The evidence is height times volume. Compare the height in the colleague's code, the log joint at the mode, with the one of lab 2a.",
        "A training loss may drop terms that do not depend on the weights. Which of them depends on σ₀²?",
        "Each weight's prior density is divided by √(2πσ₀²). For D = 2 and σ₀² = 4 that takes log 8π from the log joint.",
    ],
)
