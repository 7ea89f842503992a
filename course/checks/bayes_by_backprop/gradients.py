"""The gradients of one draw's loss, and a step along them."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from course.checks.bayes_by_backprop.tolerances import EXACT
from course.checks.probing import leaves
from course.task import Close, Misconception, Task

SHAPES = ((3,), (2, 2), (1,))


def _gradient_step_cases(rng):
    return [
        {
            "mu": rng.normal(0, 1, shape),
            "rho": rng.normal(0, 1, shape),
            "rate": float(rng.uniform(0.05, 0.3)),
        }
        for shape in SHAPES
    ]


def _gradient_step_probe(answer, mu, rho, rate):
    import torch

    mu_0, rho_0 = leaves(mu, rho)
    mu_1, rho_1 = mu_0, rho_0
    for _ in range(2):
        loss = (mu_1**2 * (1 + rho_1**2)).sum() + (rho_1 - mu_1).sum()
        mu_1, rho_1 = answer(loss, mu_1, rho_1, rate)
    untouched = torch.equal(mu_0.detach(), torch.tensor(mu)) and torch.equal(
        rho_0.detach(), torch.tensor(rho)
    )
    are_leaves = (
        mu_1.is_leaf and rho_1.is_leaf and mu_1.requires_grad and rho_1.requires_grad
    )
    return {
        "mu_after_two_steps": mu_1,
        "rho_after_two_steps": rho_1,
        "old_values_stay": float(untouched),
        "new_leaves": float(are_leaves),
    }


def _gradient_step_oracle(mu, rho, rate):
    for _ in range(2):
        mu, rho = (
            mu - rate * (2 * mu * (1 + rho**2) - 1),
            rho - rate * (2 * mu**2 * rho + 1),
        )
    return {
        "mu_after_two_steps": Close(mu, rtol=1e-6, atol=1e-6, because=EXACT),
        "rho_after_two_steps": Close(rho, rtol=1e-6, atol=1e-6, because=EXACT),
        "old_values_stay": Close(
            1.0, because="the old tensors are not changed in place"
        ),
        "new_leaves": Close(
            1.0, because="new leaves that require gradients are returned"
        ),
    }


def _step(direction=-1.0, rho_rate=1.0, leaf=True):
    def answer(loss, mu, rho, rate):
        grad_mu, grad_rho = torch.autograd.grad(loss, (mu, rho), retain_graph=True)
        new_mu = mu + direction * rate * grad_mu
        new_rho = rho + direction * rate * rho_rate * grad_rho
        if leaf:
            return new_mu.detach().requires_grad_(), new_rho.detach().requires_grad_()
        return new_mu, new_rho

    return answer


def _in_place(loss, mu, rho, rate):
    grad_mu, grad_rho = torch.autograd.grad(loss, (mu, rho))
    with torch.no_grad():
        mu -= rate * grad_mu
        rho -= rate * grad_rho
    return mu, rho


GRADIENT_STEP = Task(
    name="gradient_step",
    points=1,
    cases=_gradient_step_cases,
    probe=_gradient_step_probe,
    oracle=_gradient_step_oracle,
    misconceptions=[
        Misconception(
            _step(direction=1.0), "you step uphill; the loss must be minimised."
        ),
        Misconception(
            _step(rho_rate=0.0),
            "you update only µ; ρ has its own gradient and its own step.",
        ),
        Misconception(
            _step(leaf=False),
            "you return tensors that still carry the graph of the old ones, which grows with every step: detach "
            "them, and let them require gradients.",
        ),
        Misconception(
            _in_place,
            "you change the old tensors in place; the task asks for new ones.",
        ),
    ],
    hints=[
        "torch.autograd.grad takes the loss and a tuple of tensors, and returns a gradient for each.",
        "New value = old value − rate × gradient.",
        "Apply .detach().requires_grad_() to both new values: the next step starts from leaves.",
    ],
)


def _paper_cases(rng):
    names = ("df_dw", "df_dmu", "df_drho", "rho", "epsilon")
    return [{name: rng.normal(0, 2, shape) for name in names} for shape in SHAPES]


def _paper_probe(answer, df_dw, df_dmu, df_drho, rho, epsilon):
    import torch

    tensors = (torch.tensor(value) for value in (df_dw, df_dmu, df_drho, rho, epsilon))
    result = answer(*tensors)
    grad_mu, grad_rho = (None, None) if result is None else result
    return {"grad_mu": grad_mu, "grad_rho": grad_rho}


def _paper_oracle(df_dw, df_dmu, df_drho, rho, epsilon):
    rho_leaf = torch.tensor(rho, requires_grad=True)
    mu_leaf = torch.zeros_like(rho_leaf, requires_grad=True)
    w = mu_leaf + torch.log1p(torch.exp(rho_leaf)) * torch.tensor(epsilon)
    f = (
        torch.tensor(df_dw) * w
        + torch.tensor(df_dmu) * mu_leaf
        + torch.tensor(df_drho) * rho_leaf
    )
    f.sum().backward()  # a linear f with these partial derivatives
    return {
        "grad_mu": Close(mu_leaf.grad, rtol=1e-6, atol=1e-6, because=EXACT),
        "grad_rho": Close(rho_leaf.grad, rtol=1e-6, atol=1e-6, because=EXACT),
    }


PAPER_GRADIENTS = Task(
    name="paper_gradients",
    points=2,
    cases=_paper_cases,
    probe=_paper_probe,
    oracle=_paper_oracle,
    misconceptions=[
        Misconception(
            lambda df_dw, df_dmu, df_drho, rho, epsilon: (
                df_dw + df_dmu,
                df_dw * epsilon + df_drho,
            ),
            "you leave out the slope of softplus: dw/dρ is ε times sigmoid(ρ).",
        ),
        Misconception(
            lambda df_dw, df_dmu, df_drho, rho, epsilon: (df_dmu, df_drho),
            "you leave out the path through the weight: f also depends on µ and ρ through w.",
        ),
        Misconception(
            lambda df_dw, df_dmu, df_drho, rho, epsilon: (
                df_dw,
                df_dw * epsilon * torch.sigmoid(rho),
            ),
            "you leave out the direct dependence of log q on µ and ρ: ∂f/∂µ and ∂f/∂ρ are missing.",
        ),
        Misconception(
            lambda df_dw, df_dmu, df_drho, rho, epsilon: (
                df_dw + df_dmu,
                df_dw * epsilon * F.softplus(rho) + df_drho,
            ),
            "you use softplus(ρ) in place of its derivative.",
        ),
        Misconception(
            lambda df_dw, df_dmu, df_drho, rho, epsilon: (
                df_dw + df_dmu,
                df_dw * epsilon / (1 + torch.exp(rho)) + df_drho,
            ),
            "you flip the sign in the exponent: softplus has the slope 1 / (1 + exp(−ρ)).",
        ),
    ],
    hints=[
        "By the chain rule, a total derivative is the direct part plus ∂f/∂w times dw/d(parameter).",
        "w = µ + softplus(ρ) ε: dw/dµ = 1, and dw/dρ = ε · softplus'(ρ).",
        "softplus'(ρ) = 1 / (1 + exp(−ρ)) = torch.sigmoid(rho).",
    ],
)
