"""Wrong generalised Gauss–Newton matrices."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from course.task import Misconception


def _ggn(weigh):
    def answer(network, w):
        return weigh(torch.func.jacrev(network)(w), torch.sigmoid(network(w)))

    return answer


def _weighted(weights):
    return _ggn(lambda j, p: (j.T * weights(p)) @ j)


def _of_probabilities(network, w):
    p = torch.sigmoid(network(w))
    rows = torch.func.jacrev(lambda w: torch.sigmoid(network(w)))(w)
    return (rows.T * (p * (1 - p))) @ rows


def _model_hessian(network, w):
    return torch.autograd.functional.hessian(lambda w: F.softplus(network(w)).sum(), w)


MATRICES = [
    Misconception(
        _model_hessian,
        "you differentiate a loss twice: this Hessian contains the network's second derivatives, which the GGN "
        "leaves out, and it need not be positive semi-definite.",
    ),
    Misconception(
        _weighted(lambda p: torch.ones_like(p)),
        "you leave out p(1 − p): JᵀJ is the GGN of a squared error.",
    ),
    Misconception(
        _weighted(lambda p: p),
        "you weight each data point by p: the second derivative of the loss with respect to the logit is p(1 − p).",
    ),
    Misconception(
        _weighted(lambda p: (p * (1 - p)).sqrt()),
        "you weight each data point by the root of p(1 − p): only each of the two factors J would take the root.",
    ),
    Misconception(
        _weighted(lambda p: (p * (1 - p)) ** 2),
        "you multiply both factors J by p(1 − p): it belongs to their product once.",
    ),
    Misconception(
        _weighted(lambda p: p * (1 - p) / len(p)),
        "you average over the data: the NLL is a sum, and so is its GGN.",
    ),
    Misconception(
        _ggn(
            lambda j, p: torch.outer(
                (j.T * (p * (1 - p)).sqrt()).sum(1),
                (j.T * (p * (1 - p)).sqrt()).sum(1),
            )
        ),
        "you add up the rows of the Jacobian before you form the product: sum the outer products of the rows.",
    ),
    Misconception(
        _ggn(lambda j, p: (j.T * (p * (1 - p))) @ j + torch.eye(j.shape[1])),
        "you add the identity: this is the precision with a prior variance of 1. The GGN itself contains no prior.",
    ),
    Misconception(
        _ggn(lambda j, p: torch.diag(((j.T * (p * (1 - p))) @ j).diag())),
        "you keep only the diagonal: the weights affect the logits together.",
    ),
    Misconception(
        _of_probabilities,
        "you differentiate the probabilities: J holds the derivatives of the logits, and p(1 − p) is then the "
        "second derivative of the loss.",
    ),
    Misconception(
        _ggn(lambda j, p: (j * (p * (1 - p))[:, None]) @ j.T),
        "you form JJᵀ, an (N, N) matrix: the GGN is JᵀJ with weights, of shape (D, D).",
    ),
    Misconception(
        _ggn(lambda j, p: j @ j.T),
        "you form JJᵀ, an (N, N) matrix: the GGN is JᵀJ with weights, of shape (D, D).",
    ),
    Misconception(
        _weighted(lambda p: p.logit() * (1 - p.logit())),
        "you take the logits for probabilities: apply the sigmoid to `network(w)`.",
    ),
    Misconception(
        _weighted(lambda p: 1 - p),
        "you weight each data point by 1 − p: the second derivative of the loss with respect to the logit is p(1 − p).",
    ),
    Misconception(
        _weighted(lambda p: p**2),
        "you weight each data point by p²: the second derivative of the loss with respect to the logit is p(1 − p).",
    ),
    Misconception(
        _weighted(lambda p: (1 - p) ** 2),
        "you weight each data point by (1 − p)², the square of the loss's first derivative for a label of 1. Its "
        "second derivative is p(1 − p), whatever the label.",
    ),
    Misconception(
        _weighted(lambda p: torch.sigmoid(p) * (1 - torch.sigmoid(p))),
        "you apply the sigmoid twice: `network(w)` gives logits.",
    ),
    Misconception(
        _weighted(lambda p: (p * (1 - p)).mean()),
        "you average p(1 − p) over the data: each data point has its own weight.",
    ),
    Misconception(
        _weighted(lambda p: p * (1 - p) * len(p)),
        "you multiply by N: the sum over the data is N times the mean already.",
    ),
    Misconception(
        lambda network, w: torch.autograd.functional.hessian(
            lambda w: network(w).sum(), w
        ),
        "you differentiate the sum of the logits twice: the GGN has the network's first derivatives alone.",
    ),
]
