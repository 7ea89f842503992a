"""Gradient descent on the negative log joint; the oracle is NumPy with the gradient by hand."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
import scipy.special
import torch

from course.checks.approximate_inference.objective import logistic_cases
from course.checks.approximate_inference.tolerances import SINGLE
from course.task import Close, Misconception, Task


def _descent_cases(rng):
    """Draw cases; the rates are so large that every step moves the weights far.

    In the fourth, the labels are the wrong ones and inputs are large, and so are the gradients.
    The last starts next to the mode, where the gradient is small.
    """
    cases = [*logistic_cases(rng), logistic_cases(rng, ((1, 1), (5, 2), (1, 1)))[1]]
    w, x = (cases[-1][name] for name in ("w", "x"))
    w[0] = rng.choice([-1, 1]) * rng.uniform(0.5, 1.5)
    x[:, 0] = rng.permutation([-1, -1, 1, 1, 1]) * rng.uniform(50, 100, 5)
    cases[-1]["y"] = (x[:, 0] * w[0] < 0).astype(float)
    cases = [
        case | {"steps": steps, "rate": float(rng.uniform(0.3, 0.6))}
        for case, steps in zip(cases, (4, 6, 1, 2), strict=True)
    ]
    there = _path(**cases[0] | {"steps": 2000})[-1]
    near = there + rng.choice([-1, 1], len(there)) * 3e-5
    return [*cases, cases[0] | {"w": near, "steps": 3}]


def _descent_probe(answer, w, x, y, prior_variance, steps, rate):
    import torch

    path = answer(
        torch.tensor(w),
        torch.tensor(x),
        torch.tensor(y),
        prior_variance,
        steps=steps,
        rate=rate,
    )
    detached = not getattr(path, "requires_grad", False)
    return {"path": path, "detached": float(detached)}


def _path(w, x, y, prior_variance, steps, rate):
    """Iterate, with labels −1 and 1 and the weight decay as a factor of the weights."""
    signed = (2 * y - 1)[:, None] * x
    kept = 1 - rate / (len(x) * prior_variance)

    def moved(w, _):
        missed = scipy.special.expit(-signed @ w)[:, None]
        return kept * w + rate * np.mean(signed * missed, axis=0)

    return np.array(list(accumulate(range(steps), moved, initial=w)))


def _descent_oracle(w, x, y, prior_variance, steps, rate):
    path = _path(w, x, y, prior_variance, steps, rate)
    return {
        "path": Close(path, rtol=1e-5, atol=1e-6, because=SINGLE),
        "detached": Close(1.0, because="the iterates are detached from the graph"),
    }


def _descended(
    *,
    nll=1.0,
    prior=lambda x: 1,
    of=len,
    kept=0.0,
    again=False,
    late=False,
    stale=False,
    power=1,
    unit=False,
):
    """Make a wrong descent: factors of the gradients, and what becomes of iterates."""

    def descent(w, x, y, variance, *, steps, rate):
        path, start, before = [w], w, torch.zeros_like(w)
        for _ in range(steps):
            at = start if stale else w
            gradient = nll * x.T @ (torch.sigmoid(x @ at) - y)
            gradient = gradient + prior(x) * at / variance**power
            before = gradient + kept * before
            w = (start if again else w) - (1.0 if unit else rate) * before / of(x)
            path.append(w)
        return torch.stack([w] * len(path) if late else path)

    return descent


GRADIENT_DESCENT = Task(
    name="gradient_descent",
    points=2,
    cases=_descent_cases,
    probe=_descent_probe,
    oracle=_descent_oracle,
    misconceptions=[
        Misconception(
            _descended(of=lambda x: 1),
            "you differentiate the sum: divide the whole negative log joint by N, the number of data points.",
        ),
        Misconception(
            _descended(prior=len),
            "you divide only the NLL by N: the prior belongs to the same objective and must be divided too.",
        ),
        Misconception(
            _descended(prior=lambda x: 0),
            "you leave out the prior: this descends the NLL alone.",
        ),
        Misconception(
            _descended(prior=lambda x: 2),
            "you count the prior twice: ‖w‖² is divided by 2σ₀², so its gradient is w/σ₀².",
        ),
        Misconception(
            _descended(nll=-1.0, prior=lambda x: -1),
            "you step uphill: subtract the gradient.",
        ),
        Misconception(
            _descended(nll=-1.0),
            "you flip the sign of the NLL's gradient: it is Xᵀ(p − y), not Xᵀ(y − p).",
        ),
        Misconception(
            _descended(again=True),
            "you take every step from the start: each step should begin where the last one ended.",
        ),
        Misconception(
            _descended(kept=1.0),
            "you call .backward() on the same tensor in each step: gradients then add up in .grad. Set it to zero, "
            "or use torch.autograd.grad.",
        ),
        Misconception(
            _descended(late=True),
            "you change w in place: every entry of the path is then the same tensor, the last one.",
        ),
        Misconception(
            _descended(of=lambda x: x.shape[1]),
            "you divide by the number of weights: N is the number of data points, the rows of x.",
        ),
        Misconception(
            _descended(stale=True),
            "you compute the gradient once, at the start, and use it in every step: compute it anew at the weights of "
            "each step.",
        ),
        Misconception(
            _descended(unit=True),
            "you leave out the learning rate: multiply the gradient by it.",
        ),
        Misconception(
            _descended(nll=0.0, prior=lambda x: 0),
            "you do not move the weights: assign the new ones to w in every step, before path.append(w).",
        ),
        Misconception(
            _descended(power=-1),
            "you multiply w by σ₀² in the prior's gradient: it is w/σ₀².",
        ),
        Misconception(
            _descended(prior=lambda x: -1),
            "you flip the prior's sign: its gradient is +w/σ₀², which pulls the weights towards 0.",
        ),
        Misconception(
            _descended(of=lambda x: 1, prior=lambda x: 1 / len(x)),
            "you divide only the prior by N: the NLL belongs to the same objective and must be divided too.",
        ),
        Misconception(
            _descended(of=lambda x: len(x) ** 2),
            "you divide by N twice: divide the negative log joint by N once.",
        ),
        Misconception(
            lambda *case, **options: _descended()(*case, **options)[1:],
            "you leave out the start: the path begins with it, so there are steps + 1 rows.",
        ),
        Misconception(
            lambda *case, **options: _descended()(*case, **options)[-1],
            "you return only the last weights: the path of all of them is asked for.",
        ),
    ],
    hints=[
        "The loss of a step is negative_log_joint divided by N. torch.autograd.grad gives its gradient with respect to w.",
        "In every step, w must be a new leaf that requires a gradient: detach it first.",
        "From w = 2, with the loss w² and the rate 0.1, the gradient is 4 and the next w is 1.6. Detach it, or the graph grows from step to step.",
    ],
)
