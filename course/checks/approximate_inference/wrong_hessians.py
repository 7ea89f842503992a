"""Wrong Hessians: by differentiating twice, and of logistic regression."""

from __future__ import annotations

import torch

from course.task import Misconception


def _gradient(function, w):
    w = w.detach().requires_grad_()
    return torch.autograd.grad(function(w), w)[0]


def _accumulated(function, w):
    return torch.cumsum(torch.autograd.functional.hessian(function, w), dim=0)


def _sum_of_rows(function, w):
    return torch.autograd.functional.hessian(function, w).sum(0)


def _by_differences(step, central=False):
    """Take forward or central differences of the gradient."""

    def hessian(function, w):
        rows = []
        for move in step * torch.eye(len(w), dtype=w.dtype):
            before = _gradient(function, w - move if central else w)
            change = _gradient(function, w + move) - before
            rows.append(change / (2 * step if central else step))
        return torch.stack(rows)

    return hessian


HESSIANS_BY_BACKWARD = [
    Misconception(
        lambda function, w: torch.outer(_gradient(function, w), _gradient(function, w)),
        "you multiply the gradient by itself. That is not a second derivative.",
    ),
    Misconception(
        lambda function, w: torch.diag(
            torch.diag(torch.autograd.functional.hessian(function, w))
        ),
        "you fill only the diagonal: every component of the gradient depends on all the weights.",
    ),
    Misconception(
        _accumulated,
        "you use .backward(), which adds to .grad: each row then includes the rows before it. Use "
        "torch.autograd.grad.",
    ),
    Misconception(
        lambda function, w: torch.linalg.inv(
            torch.autograd.functional.hessian(function, w)
        ),
        "you return the inverse: the task asks for the Hessian itself.",
    ),
    Misconception(
        _sum_of_rows,
        "you differentiate the whole gradient at once, which adds up the rows: take one component at a time.",
    ),
    Misconception(
        lambda function, w: torch.diag(_sum_of_rows(function, w)),
        "you differentiate the whole gradient at once, which adds up the rows, and put the sums on a diagonal: "
        "take one component at a time; each gives a row.",
    ),
    Misconception(
        lambda function, w: _sum_of_rows(function, w).expand(len(w), -1),
        "you collect .grad in a list: .backward() adds to it in place, so all rows are the same tensor. Use "
        "torch.autograd.grad, which returns a new one.",
    ),
    Misconception(
        lambda function, w: torch.autograd.functional.hessian(function, w).diag(),
        "you return only the diagonal: every component of the gradient depends on all the weights.",
    ),
    Misconception(
        lambda function, w: _gradient(function, w),
        "you return the gradient: differentiate each of its components once more.",
    ),
    Misconception(
        lambda function, w: torch.autograd.functional.hessian(
            function, w.requires_grad_(), create_graph=True
        ),
        "you return the right numbers, but with their graph: create_graph=True is for the first derivative "
        "alone. End with .detach().",
    ),
    *(
        Misconception(
            _by_differences(step, central),
            f"you take differences of the gradient, with steps of {written}, which are not exact, least of all in single "
            "precision: differentiate the gradient with torch.autograd.grad.",
        )
        for central in (False, True)
        for step, written in (
            (1e-1, "0.1"),
            (1e-2, "0.01"),
            (1e-3, "0.001"),
            (1e-4, "0.0001"),
            (1e-5, "10⁻⁵"),
            (1e-6, "10⁻⁶"),
        )
    ),
    Misconception(
        lambda function, w: torch.autograd.functional.hessian(function, w).tril(),
        "you fill only the entries on and below the diagonal: the Hessian is symmetric, so copy them to the others.",
    ),
    Misconception(
        lambda function, w: torch.autograd.functional.hessian(function, w).triu(),
        "you fill only the entries on and above the diagonal: the Hessian is symmetric, so copy them to the others.",
    ),
    Misconception(
        lambda function, w: torch.matrix_power(
            torch.autograd.functional.hessian(function, w), 2
        ),
        "you multiply the Hessian by itself.",
    ),
]


def closed_hessian(w, x, data_weights, precision):
    """Compute the Hessian with other weights of the data, or another precision."""
    return (x.T * data_weights(torch.sigmoid(x @ w))) @ x + precision * torch.eye(
        len(w), dtype=x.dtype
    )


def _hessian(weights=lambda p: p * (1 - p), precision=lambda v: 1 / v):
    return lambda w, x, v: closed_hessian(w, x, weights, precision(v))


def _with_prior(prior):
    """Make a Hessian with another matrix for the prior's part."""

    def hessian(w, x, v):
        return closed_hessian(w, x, lambda p: p * (1 - p), 0.0) + prior(w, x, v)

    return hessian


def _free_bias(w, x, v):
    prior = torch.eye(len(w), dtype=x.dtype) / v
    prior[-1, -1] = 0.0
    return prior


LOGISTIC_HESSIANS = [
    Misconception(
        lambda w, x, v: closed_hessian(w, x, lambda p: p * (1 - p), v),
        "you add the prior's variance in place of its precision 1/σ₀².",
    ),
    Misconception(
        lambda w, x, v: closed_hessian(w, x, lambda p: p * (1 - p), 0.0),
        "you leave out the prior: it adds 1/σ₀² to the diagonal.",
    ),
    Misconception(
        lambda w, x, v: closed_hessian(w, x, lambda p: p * (1 - p) / len(x), 1 / v),
        "you average over the data: this is the Hessian of the mean NLL, plus the prior's.",
    ),
    Misconception(
        lambda w, x, v: closed_hessian(w, x, lambda p: p, 1 / v),
        "you weight each data point by p: the derivative of the sigmoid is p(1 − p).",
    ),
    Misconception(
        lambda w, x, v: closed_hessian(w, x, lambda p: p * (1 - p), 1 / (2 * v)),
        "you add 1/(2σ₀²) for the prior: differentiating the square twice brings down a 2.",
    ),
    Misconception(
        lambda w, x, v: closed_hessian(w, x, lambda p: -p * (1 - p), -1 / v),
        "you flip the sign: this is the Hessian of the log joint, which is negative definite at its maximum.",
    ),
    Misconception(
        _with_prior(lambda w, x, v: 1 / v),
        "you add 1/σ₀² to every entry: the prior's part is I/σ₀², which adds it to the diagonal alone.",
    ),
    Misconception(
        _with_prior(_free_bias),
        "you leave the bias, the last weight, out of the prior. Here all D weights have the same prior.",
    ),
    Misconception(
        _hessian(precision=lambda v: 1 / v**2),
        "you square σ₀² once more: you are given the prior's variance, not its standard deviation.",
    ),
    Misconception(
        _hessian(precision=lambda v: -1 / v),
        "you flip the prior's sign: both terms of the negative log joint curve upwards, so their Hessians add up.",
    ),
    Misconception(
        _with_prior(lambda w, x, v: len(x) * torch.eye(len(w), dtype=x.dtype) / v),
        "you put the prior inside the sum over the data, once per data point. It counts once.",
    ),
    Misconception(
        lambda w, x, v: (
            closed_hessian(w, x, lambda p: p * (1 - p), 1 / v).double() / len(x)
        ),
        "you divide the whole by N: this is the Hessian of the negative log joint over N.",
    ),
    Misconception(
        _hessian(lambda p: (p * (1 - p)).sqrt()),
        "you weight each data point by the root of p(1 − p): only each of the two factors x would take the root.",
    ),
    Misconception(
        _hessian(lambda p: (p * (1 - p)) ** 2),
        "you multiply both factors x by p(1 − p): it belongs to their product once.",
    ),
    Misconception(
        _hessian(torch.ones_like),
        "you leave out p(1 − p): XᵀX is the Hessian of a squared error.",
    ),
    Misconception(
        _hessian(lambda p: 1 - p),
        "you weight each data point by 1 − p: the derivative of the sigmoid is p(1 − p).",
    ),
    Misconception(
        _hessian(lambda p: p.logit() * (1 - p.logit())),
        "you take the logits for probabilities: apply the sigmoid to x @ w.",
    ),
    Misconception(
        lambda w, x, v: torch.diag(
            closed_hessian(w, x, lambda p: p * (1 - p), 1 / v).diag()
        ),
        "you keep only the diagonal: the weights affect the logits together.",
    ),
    Misconception(
        lambda w, x, v: torch.linalg.inv(
            closed_hessian(w, x, lambda p: p * (1 - p), 1 / v)
        ),
        "you return the inverse, which is the covariance: the task asks for the Hessian itself.",
    ),
    Misconception(
        lambda w, x, v: closed_hessian(
            w, x, lambda p: p.mean() * (1 - p.mean()) + 0 * p, 1 / v
        ),
        "you average the probabilities over the data: each data point has a weight of its own, p(1 − p).",
    ),
    Misconception(
        _hessian(lambda p: (p * (1 - p)).mean() + 0 * p),
        "you average p(1 − p) over the data: each data point has a weight of its own.",
    ),
    Misconception(
        _hessian(lambda p: 1 - p**2),
        "you use 1 − p², the derivative of a hyperbolic tangent: that of the sigmoid is p(1 − p).",
    ),
]
