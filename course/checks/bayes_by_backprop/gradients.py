"""The gradients of one draw's loss, and a step along them."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from course.checks.bayes_by_backprop.tolerances import EXACT
from course.probing import leaves
from course.task import Close, Misconception, Task

SHAPES = ((3,), (2, 2), (1,))


def _gradient_step_cases(rng):
    """Draw cases; in the first, means are far from 0, and so are gradients."""
    cases = [
        {
            "mu": rng.normal(0, 1, shape),
            "rho": rng.normal(0, 1, shape),
            "rate": float(rng.uniform(0.05, 0.3)),
        }
        for shape in SHAPES
    ]
    cases[0]["mu"] = rng.choice([-1, 1], 3) * rng.uniform(8, 12, 3)
    return cases


def _gradient_step_probe(answer, mu, rho, rate):
    import torch

    mu_0, rho_0 = leaves(mu, rho)
    mu_1, rho_1 = mu_0, rho_0
    are_leaves = require_gradients = stored_stay = True
    steps = []
    for _ in range(2):
        loss = (mu_1**2 * (1 + rho_1**2)).sum() + (rho_1 - mu_1).sum()
        old = mu_1, rho_1
        for leaf in old:  # as an earlier call of .backward() leaves them
            leaf.grad = torch.full_like(leaf, 0.7)
        new = answer(loss, mu_1, rho_1, rate)
        stored_stay &= all(
            leaf.grad is not None and bool((leaf.grad == 0.7).all()) for leaf in old
        )
        mu_1, rho_1 = (None, None) if new is None else new
        if mu_1 is None or rho_1 is None:
            return {"mu_after_two_steps": mu_1, "rho_after_two_steps": rho_1}
        steps += [mu_1.detach() - torch.tensor(mu), rho_1.detach() - torch.tensor(rho)]
        require_gradients &= mu_1.requires_grad and rho_1.requires_grad
        are_leaves &= mu_1.is_leaf and rho_1.is_leaf
        mu_1, rho_1 = (value.detach().requires_grad_() for value in (mu_1, rho_1))
    untouched = torch.equal(mu_0.detach(), torch.tensor(mu)) and torch.equal(
        rho_0.detach(), torch.tensor(rho)
    )
    return {
        "mu_after_two_steps": mu_1,
        "rho_after_two_steps": rho_1,
        "first_step_of_mu": steps[0],
        "first_step_of_rho": steps[1],
        "old_values_stay": float(untouched),
        "stored_gradients_stay": float(stored_stay),
        "ready_for_another_step": float(require_gradients),
        "new_leaves": float(are_leaves),
    }


def _gradient_step_oracle(mu, rho, rate):
    steps = []
    for _ in range(2):
        steps += [-rate * (2 * mu * (1 + rho**2) - 1), -rate * (2 * mu**2 * rho + 1)]
        mu, rho = mu + steps[-2], rho + steps[-1]
    close = {"rtol": 1e-6, "atol": 1e-6, "because": EXACT}
    return {
        "mu_after_two_steps": Close(mu, rtol=1e-6, atol=1e-6, because=EXACT),
        "rho_after_two_steps": Close(rho, rtol=1e-6, atol=1e-6, because=EXACT),
        "first_step_of_mu": Close(steps[0], **close),
        "first_step_of_rho": Close(steps[1], **close),
        "old_values_stay": Close(
            1.0, because="the old tensors are not changed in place"
        ),
        "stored_gradients_stay": Close(
            1.0, because="nothing is stored in .grad of the old tensors, nor removed"
        ),
        "ready_for_another_step": Close(
            1.0, because="the next step needs their gradients"
        ),
        "new_leaves": Close(1.0, because="the next step starts from leaves"),
    }


def _step(direction=-1.0, rho_rate=1.0, then=lambda new: new.detach().requires_grad_()):
    def answer(loss, mu, rho, rate):
        grad_mu, grad_rho = torch.autograd.grad(loss, (mu, rho), retain_graph=True)
        new_mu = mu + direction * rate * grad_mu
        new_rho = rho + direction * rate * rho_rate * grad_rho
        return then(new_mu), then(new_rho)

    return answer


def _swapped(loss, mu, rho, rate):
    grad_mu, grad_rho = torch.autograd.grad(loss, (mu, rho))
    new = mu - rate * grad_rho, rho - rate * grad_mu
    return tuple(value.detach().requires_grad_() for value in new)


def _by_backward(first=lambda leaf: None):
    """Make a step that reads .grad after ``first`` was called with each leaf."""

    def answer(loss, mu, rho, rate):
        for leaf in (mu, rho):
            first(leaf)
        loss.backward()
        new = mu - rate * mu.grad, rho - rate * rho.grad
        return tuple(value.detach().requires_grad_() for value in new)

    return answer


def _forget(leaf):
    leaf.grad = None


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
            _by_backward(),
            "you call .backward(), which adds to the gradients that are stored in .grad already. Use "
            "torch.autograd.grad, which stores nothing.",
        ),
        Misconception(
            _by_backward(_forget),
            "you remove the gradients that are stored in .grad, and call .backward(), which stores others there. The "
            "new values are right, but the old leaves change. Use torch.autograd.grad, which stores nothing.",
        ),
        Misconception(
            _step(rho_rate=0.0),
            "you update only µ; ρ has its own gradient and its own step.",
        ),
        Misconception(
            _step(then=lambda new: new),
            "you return tensors that still carry the graph of the old ones, which grows with every step: detach "
            "them, and let them require gradients.",
        ),
        Misconception(
            _in_place,
            "you change the old tensors in place; the task asks for new ones.",
        ),
        Misconception(
            _step(then=torch.Tensor.detach),
            "you return detached tensors: let them require gradients, for the next step differentiates with respect "
            "to them.",
        ),
        Misconception(
            lambda loss, mu, rho, rate: _step()(loss, mu, rho, 1.0),
            "you leave out the learning rate.",
        ),
        Misconception(
            _swapped,
            "you swap the two gradients: µ takes the step of ρ, and ρ that of µ.",
        ),
        Misconception(
            lambda loss, mu, rho, rate: tuple(
                grad.detach().requires_grad_()
                for grad in torch.autograd.grad(loss, (mu, rho))
            ),
            "you return the gradients; the task asks for the new µ and ρ.",
        ),
    ],
    hints=[
        "torch.autograd.grad takes the loss and a tuple of tensors, and returns a gradient for each.",
        "New value = old value − rate × gradient.",
        "Apply .detach().requires_grad_() to both new values: the next step starts from leaves.",
    ],
)


def _paper_cases(rng):
    """Draw cases, in one of which exp(ρ) and exp(−ρ) overflow."""
    names = ("df_dw", "df_dmu", "df_drho", "rho", "epsilon")
    cases = [{name: rng.normal(0, 2, shape) for name in names} for shape in SHAPES]
    cases[0]["rho"][:2] = rng.permutation([-800.0, 800.0])
    return cases


def _paper_probe(answer, df_dw, df_dmu, df_drho, rho, epsilon):
    import torch

    tensors = (torch.tensor(value) for value in (df_dw, df_dmu, df_drho, rho, epsilon))
    result = answer(*tensors)
    grad_mu, grad_rho = (None, None) if result is None else result
    return {"grad_mu": grad_mu, "grad_rho": grad_rho}


def _paper_oracle(df_dw, df_dmu, df_drho, rho, epsilon):
    rho_leaf = torch.tensor(rho, requires_grad=True)
    mu_leaf = torch.zeros_like(rho_leaf, requires_grad=True)
    zero = torch.zeros((), dtype=torch.float64)
    w = mu_leaf + torch.logaddexp(zero, rho_leaf) * torch.tensor(epsilon)
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


def _paper(
    *,
    through_w=(1, 1),
    direct=(1, 1),
    slope=torch.sigmoid,
    noise=lambda epsilon: epsilon,
    of_direct=lambda rho: 1.0,
    sign=1,
):
    def answer(df_dw, df_dmu, df_drho, rho, epsilon):
        path = df_dw * noise(epsilon) * slope(rho) if through_w[1] else 0.0
        return (
            sign * through_w[0] * df_dw + direct[0] * df_dmu,
            sign * path + direct[1] * of_direct(rho) * df_drho,
        )

    return answer


PAPER_GRADIENTS = Task(
    name="paper_gradients",
    points=2,
    cases=_paper_cases,
    probe=_paper_probe,
    oracle=_paper_oracle,
    misconceptions=[
        Misconception(
            _paper(slope=lambda rho: 1.0),
            "you leave out the slope of softplus: dw/dρ is ε times sigmoid(ρ).",
        ),
        Misconception(
            _paper(through_w=(0, 0)),
            "you leave out the path through the weight: f also depends on µ and ρ through w.",
        ),
        Misconception(
            _paper(through_w=(0, 1)),
            "you leave out the path through the weight for µ: dw/dµ is 1.",
        ),
        Misconception(
            _paper(through_w=(1, 0)),
            "you leave out the path through the weight for ρ: dw/dρ is ε times sigmoid(ρ).",
        ),
        Misconception(
            _paper(direct=(0, 0)),
            "you leave out the direct dependence of log q on µ and ρ: ∂f/∂µ and ∂f/∂ρ are missing.",
        ),
        Misconception(
            _paper(direct=(0, 1)),
            "you leave out the direct dependence of log q on µ: ∂f/∂µ is missing.",
        ),
        Misconception(
            _paper(direct=(1, 0)),
            "you leave out the direct dependence of log q on ρ: ∂f/∂ρ is missing.",
        ),
        Misconception(
            _paper(slope=F.softplus),
            "you use softplus(ρ) in place of its derivative.",
        ),
        Misconception(
            _paper(slope=torch.exp),
            "you use exp(ρ) as the slope; that is right for σ = exp(ρ), but here σ = softplus(ρ).",
        ),
        Misconception(
            _paper(slope=lambda rho: 1 / (1 + torch.exp(rho))),
            "you flip the sign in the exponent: softplus has the slope 1 / (1 + exp(−ρ)).",
        ),
        Misconception(
            _paper(slope=lambda rho: torch.sigmoid(rho) * torch.sigmoid(-rho)),
            "you use the derivative of the sigmoid; the derivative of softplus is the sigmoid itself.",
        ),
        Misconception(
            _paper(slope=lambda rho: torch.exp(rho) / (1 + torch.exp(rho))),
            "you write out exp(ρ) / (1 + exp(ρ)), where both exponentials overflow for a large ρ. torch.sigmoid does not.",
        ),
        Misconception(
            _paper(noise=lambda epsilon: 1.0),
            "you leave out ε: dw/dρ is ε times sigmoid(ρ).",
        ),
        Misconception(
            _paper(of_direct=torch.sigmoid),
            "you multiply ∂f/∂ρ by the slope of softplus as well. It is a derivative with respect to ρ already; only "
            "∂f/∂w needs dw/dρ.",
        ),
        Misconception(
            _paper(sign=-1),
            "you subtract the path through the weight; the chain rule adds it.",
        ),
    ],
    hints=[
        "By the chain rule, a total derivative is the direct part plus ∂f/∂w times dw/d(parameter).",
        "w = µ + softplus(ρ) ε: dw/dµ = 1, and dw/dρ = ε · softplus′(ρ).",
        "softplus′(ρ) = 1 / (1 + exp(−ρ)), which is torch.sigmoid(rho).",
    ],
)
