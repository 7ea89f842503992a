"""Logits of a linearised network, and of a last layer; oracles from NumPy in closed form."""

from __future__ import annotations

import numpy as np
import torch

from course.checks.approximate_inference.concepts import FULL_MATRIX, OTHER_ORDER
from course.checks.approximate_inference.curvature import (
    MADE_OF,
    jacobian,
    logits,
    near,
    network_cases,
)
from course.checks.approximate_inference.mode import curvature
from course.checks.approximate_inference.tolerances import SINGLE
from course.probing import curved_network
from course.task import Close, Misconception, Task


def _covariance(rng, d):
    """Draw a covariance whose entries are unlike its inverse's, and far from diagonal."""
    root = rng.uniform(0.5, 1.0, (d, d)) + np.eye(d)
    return root @ root.T * rng.uniform(2, 3)


def _linearised_cases(rng):
    return [
        case | {"covariance": _covariance(rng, len(case["w"])).astype(case["w"].dtype)}
        for case in network_cases(rng)
    ]


def _linearised_probe(answer, w, a, b, c, covariance):
    import torch

    network = curved_network(a, b, c)
    result = answer(network, torch.tensor(w), torch.tensor(covariance))
    mean, variance = (None, None) if result is None else result
    return {"mean": mean, "variance": variance}


def _linearised_oracle(w, a, b, c, covariance):
    precision = w.dtype
    w, a, b, c, covariance = (one.astype(float) for one in (w, a, b, c, covariance))
    # The variance of Jw is that of J times a root of Σ times white noise.
    spread = jacobian(w, a, b, c) @ np.linalg.cholesky(covariance)
    return {
        "mean": near(logits(w, a, b, c), precision),
        "variance": near((spread**2).sum(1), precision),
    }


def _linearised(
    *, mean=lambda f, jw: f, variance=lambda v, f: v, shape=lambda s: s, entries=None
):
    def answer(network, w, covariance):
        j, f = torch.func.jacrev(network)(w), network(w)
        entries_of = entries or (lambda j, s: ((j @ s) * j).sum(1))
        return mean(f, j @ w), variance(entries_of(j, shape(covariance)), f)

    return answer


def _of_probabilities(network, w, covariance):
    rows = torch.func.jacrev(lambda w: torch.sigmoid(network(w)))(w)
    return network(w), ((rows @ covariance) * rows).sum(1)


def _shrunk(network, w, covariance):
    mean, variance = _linearised()(network, w, covariance)
    return torch.sigmoid(mean / torch.sqrt(1 + torch.pi * variance / 8)), variance


def _sampled(network, w, covariance):
    noise = torch.randn(
        2000, len(w), dtype=w.dtype, generator=torch.Generator().manual_seed(0)
    )
    draws = w + noise @ torch.linalg.cholesky(covariance).T
    values = torch.stack([network(draw) for draw in draws])
    return values.mean(0), values.var(0)


LINEARISED_PREDICTIVE = Task(
    name="linearised_predictive",
    points=3,
    cases=_linearised_cases,
    probe=_linearised_probe,
    oracle=_linearised_oracle,
    misconceptions=[
        Misconception(
            _linearised(mean=lambda f, jw: jw),
            "you take Jw_MAP for the mean logit. At w = w_MAP the linear term J (w − w_MAP) is 0, and the network's own "
            "logit remains.",
        ),
        Misconception(
            _linearised(mean=lambda f, jw: f + jw),
            "you add Jw_MAP to the logit: the linear term is J (w − w_MAP), which has mean 0.",
        ),
        Misconception(
            _linearised(mean=lambda f, jw: torch.sigmoid(f)),
            "you return a probability for the mean logit: the sigmoid comes later, after the variance has shrunk the logit.",
        ),
        Misconception(
            _linearised(variance=lambda v, f: v.sqrt()),
            "you return standard deviations in place of variances.",
        ),
        Misconception(
            _linearised(shape=lambda s: torch.diag(s.diag())),
            "you use only the diagonal of Σ: the weights are correlated, which affects JΣJᵀ.",
        ),
        Misconception(
            _linearised(shape=torch.linalg.inv),
            "you invert Σ: it is the covariance already, the inverse of the precision.",
        ),
        Misconception(
            _linearised(entries=lambda j, s: (j @ s @ j.T).sum(1)),
            "you sum the rows of JΣJᵀ, which contain the covariances with the logits of other inputs. The variances "
            "are on its diagonal.",
        ),
        Misconception(
            _linearised(
                variance=lambda v, f: v + torch.sigmoid(f) * (1 - torch.sigmoid(f))
            ),
            "you add p(1 − p), the variance of the label. The variance of the logit comes from the weights alone.",
        ),
        Misconception(
            _linearised(entries=lambda j, s: (j @ s).sum(1)),
            "you apply the Jacobian once: a variance is quadratic in it, JΣJᵀ.",
        ),
        Misconception(
            _sampled,
            "you send draws of the weights through the network itself. The task asks for its linearisation, whose mean "
            "and variance need no draws.",
        ),
        Misconception(_linearised(entries=lambda j, s: j @ s @ j.T), FULL_MATRIX),
        Misconception(
            lambda *case: _linearised()(*case)[::-1],
            OTHER_ORDER,
        ),
        Misconception(
            _linearised(entries=lambda j, s: ((j @ s) * j).sum(0)),
            "you sum over the data: for each logit, sum over the weights, dim=1.",
        ),
        Misconception(
            _linearised(entries=lambda j, s: ((j @ s) * j).sum().expand(len(j))),
            "you add up the variances of all logits: each data point has its own. Sum over the weights, dim=1.",
        ),
        Misconception(
            _linearised(shape=lambda s: torch.eye(len(s), dtype=s.dtype)),
            "you leave out Σ: JJᵀ is the variance for weights of variance 1.",
        ),
        Misconception(
            _linearised(shape=lambda s: s @ s),
            "you multiply by Σ twice: the variance is JΣJᵀ.",
        ),
        Misconception(
            _of_probabilities,
            "you differentiate the probabilities: J holds the derivatives of the logits.",
        ),
        Misconception(
            _linearised(mean=lambda f, jw: f - jw),
            "you take the linear function at w = 0 for the mean: the mean of w is w_MAP, where J (w − w_MAP) is 0.",
        ),
        Misconception(
            _linearised(mean=lambda f, jw: torch.zeros_like(f)),
            "you leave the network's own logit out of the mean: J (w − w_MAP) alone has mean 0.",
        ),
        Misconception(
            _shrunk,
            "you return a probability for the mean logit: the sigmoid comes later, after the variance has shrunk the logit.",
        ),
    ],
    hints=[
        "A linear function of a Gaussian is Gaussian. What are the mean and the variance of J (w − w_MAP)?",
        "The mean logit is the network's own at the mode. For the variances, J from torch.func.jacrev takes the place of x in probit_predictive.",
        "J = (1, 2) and Σ = 3 I give a variance of 3 + 12 = 15. For N rows at once, multiply JΣ by J element by element and sum over the weights.",
    ],
    made_of=MADE_OF,
)


def _last_layer_cases(rng):
    """Draw fewer training than new inputs and vice versa, and prior variances far from 1."""
    cases = []
    variances = rng.uniform(3, 6), rng.uniform(0.1, 0.3), rng.uniform(3, 6)
    sizes = ((5, 3, 4), (3, 2, 7), (1, 1, 1))
    for (n, h, m), variance in zip(sizes, variances, strict=True):
        units = [np.maximum(rng.normal(0.6, 1, (k, h - 1)), 0) for k in (n, m)]
        old, new = (np.column_stack([2 * part, np.ones(len(part))]) for part in units)
        cases.append(
            {
                "features": old,
                "w": rng.choice([-1, 1], h) * rng.uniform(0.5, 1.0, h),
                "prior_variance": float(variance),
                "new_features": new,
            }
        )
    return cases


def _last_layer_probe(answer, features, w, prior_variance, new_features):
    import torch

    result = answer(
        torch.tensor(features),
        torch.tensor(w),
        prior_variance,
        torch.tensor(new_features),
    )
    mean, variance = (None, None) if result is None else result
    return {"mean": mean, "variance": variance}


def _last_layer_oracle(features, w, prior_variance, new_features):
    hessian = curvature(w, features, prior_variance)
    solved = np.linalg.solve(hessian, new_features.T)
    return {
        "mean": Close(new_features @ w, rtol=1e-5, atol=1e-6, because=SINGLE),
        "variance": Close(
            np.einsum("mh,hm->m", new_features, solved),
            rtol=1e-5,
            atol=1e-6,
            because=SINGLE,
        ),
    }


def _last_layer(
    *,
    weights=lambda p: p * (1 - p),
    precision=lambda v: 1 / v,
    invert=torch.linalg.inv,
    variance=lambda v: v,
    mean=lambda m: m,
    entries=lambda new, s: ((new @ s) * new).sum(1),
):
    def answer(features, w, v, new):
        p = torch.sigmoid(features @ w)
        hessian = (features.T * weights(p)) @ features
        hessian = hessian + precision(v) * torch.eye(len(w), dtype=w.dtype)
        return mean(new @ w), variance(entries(new, invert(hessian)))

    return answer


def _last_layer_shrunk(*case):
    mean, variance = _last_layer()(*case)
    return torch.sigmoid(mean / torch.sqrt(1 + torch.pi * variance / 8)), variance


LAST_LAYER_LAPLACE = Task(
    name="last_layer_laplace",
    points=2,
    cases=_last_layer_cases,
    probe=_last_layer_probe,
    oracle=_last_layer_oracle,
    misconceptions=[
        Misconception(
            _last_layer(precision=lambda v: v),
            "you add the prior's variance in place of its precision 1/σ₀².",
        ),
        Misconception(
            _last_layer(precision=lambda v: 0.0, invert=torch.linalg.pinv),
            "you leave out the prior: it adds 1/σ₀² to the diagonal of the precision.",
        ),
        Misconception(
            _last_layer(weights=torch.ones_like),
            "you leave out p(1 − p): φᵀφ is the precision of a regression with a squared error.",
        ),
        Misconception(
            _last_layer(weights=lambda p: p * (1 - p) / len(p)),
            "you average over the training data: their contributions to the precision add up.",
        ),
        Misconception(
            _last_layer(invert=lambda h: h),
            "you use the precision in place of the covariance: invert the Hessian.",
        ),
        Misconception(
            _last_layer(invert=lambda h: torch.diag(1 / h.diag())),
            "you invert only the diagonal: the weights of the last layer are correlated.",
        ),
        Misconception(
            _last_layer(entries=lambda new, s: new**2 @ s.diag()),
            "you use only the diagonal of the covariance: the weights of the last layer are correlated, which affects "
            "φᵀΣφ.",
        ),
        Misconception(
            _last_layer(variance=torch.sqrt),
            "you return standard deviations in place of variances.",
        ),
        Misconception(
            _last_layer(mean=torch.sigmoid),
            "you return a probability for the mean logit: the sigmoid comes later, after the variance has shrunk the logit.",
        ),
        Misconception(
            lambda features, w, v, new: _last_layer()(new, w, v, new),
            "you compute the Hessian from the new features: the posterior's precision comes from the training features.",
        ),
        Misconception(
            lambda features, w, v, new: _last_layer()(features, w, v, features),
            "you predict for the training features: the logits of new_features are asked for.",
        ),
        Misconception(_last_layer(entries=lambda new, s: new @ s @ new.T), FULL_MATRIX),
        Misconception(lambda *case: _last_layer()(*case)[::-1], OTHER_ORDER),
        Misconception(
            _last_layer(entries=lambda new, s: (new @ s).sum(1)),
            "you apply the features once: a variance is quadratic in them, φᵀΣφ.",
        ),
        Misconception(
            _last_layer(entries=lambda new, s: ((new @ s) * new).sum(0)),
            "you sum over the data: for each logit, sum over the features, dim=1.",
        ),
        Misconception(
            _last_layer(entries=lambda new, s: (new @ s @ new.T).sum(1)),
            "you sum the rows of φᵀΣφ, which contain the covariances with the logits of other inputs. The variances "
            "are on its diagonal.",
        ),
        Misconception(
            _last_layer(weights=lambda p: p),
            "you weight each data point by p: the derivative of the sigmoid is p(1 − p).",
        ),
        Misconception(
            _last_layer(weights=lambda p: (p * (1 - p)).sqrt()),
            "you weight each data point by the root of p(1 − p): only each of the two factors φ would take the root.",
        ),
        Misconception(
            _last_layer_shrunk,
            "you return a probability for the mean logit: the sigmoid comes later, after the variance has shrunk the logit.",
        ),
    ],
    hints=[
        "With its features held fixed, the network is a logistic regression with the inputs φ. Its precision is a function that you know.",
        "logistic_hessian of the training features, inverted, is the covariance. The new features then take the place of x in xᵀw and xᵀΣx.",
        "For one feature φ = 1 and one training input with p = ½ and σ₀² = 4, the precision is ¼ + ¼ and the variance of a logit at φ = 3 is 18.",
    ],
)
