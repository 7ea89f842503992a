"""Hessians, and the mode of the posterior; oracles from SciPy and autograd."""

from __future__ import annotations

import numpy as np
import scipy.optimize
import scipy.special
import torch

from course.checks.approximate_inference.objective import logistic_cases
from course.checks.approximate_inference.tolerances import SINGLE
from course.checks.approximate_inference.wrong_hessians import (
    HESSIANS_BY_BACKWARD,
    LOGISTIC_HESSIANS,
    closed_hessian,
)
from course.probing import unless_default
from course.task import Close, Misconception, Task


def _hessian_cases(rng):
    """Draw cases; the last two are in single precision, where no step suits both functions.

    One of these bends as much over a distance of 0.001 as the other over a distance of 1, so
    that differences of gradients are too coarse, or lost in rounding errors. The second Hessian
    has a negative eigenvalue.
    """
    cases = []
    for d, dtype, scale in (
        (3, np.float64, 1.0),
        (2, np.float64, 1.0),
        (1, np.float64, 1.0),
        (3, np.float32, 1.0),
        (2, np.float32, 1e-3),
    ):
        case = {
            "w": scale * rng.normal(0, 1, d),
            "a": rng.normal(0, 1, (4, d)) / scale,
            "b": rng.uniform(0.5, 2, d) / scale**2,
        }
        case = {name: value.astype(dtype) for name, value in case.items()}
        cases.append(case | {"scale": scale})
    at = cases[1]["w"][0]
    cases[1]["b"][0] = -(at**2) - np.sum(cases[1]["a"][:, 0] ** 2) / 4 - 1
    return cases


def _hessian_probe(answer, w, a, b, scale):
    import torch

    a, b = torch.tensor(a), torch.tensor(b)

    def function(w):
        return (
            torch.nn.functional.softplus(a @ w).sum()
            + (b * w**2).sum() / 2
            + ((w / scale) ** 4).sum() / 12
        )

    hessian = answer(function, torch.tensor(w))
    return {
        "hessian": hessian,
        "detached": float(not getattr(hessian, "requires_grad", False)),
    }


def _hessian_oracle(w, a, b, scale):
    w, a, b = (value.astype(float) for value in (w, a, b))
    s = scipy.special.expit(a @ w)
    hessian = (a.T * (s * (1 - s))) @ a + np.diag(b + (w / scale) ** 2 / scale**2)
    return {
        "hessian": Close(hessian, rtol=1e-5, atol=3e-6 / scale**2, because=SINGLE),
        "detached": Close(1.0, because="the result is detached from the graph"),
    }


HESSIAN_BY_BACKWARD = Task(
    name="hessian_by_backward",
    points=2,
    cases=_hessian_cases,
    probe=_hessian_probe,
    oracle=_hessian_oracle,
    misconceptions=HESSIANS_BY_BACKWARD,
    hints=[
        "Row i of the Hessian is the gradient of component i of the gradient.",
        "torch.autograd.grad gives the gradient; with create_graph=True it can be differentiated again. Then loop over its components.",
        "Each component needs the gradient's graph, so keep it with retain_graph=True; torch.stack puts the rows together.",
    ],
)


def _curvature_cases(rng):
    return [
        {key: case[key] for key in ("w", "x", "prior_variance")}
        for case in logistic_cases(rng)
    ]


def _curvature_probe(answer, w, x, prior_variance):
    import torch

    return {"hessian": answer(torch.tensor(w), torch.tensor(x), prior_variance)}


def curvature(w, x, prior_variance):
    """Compute the Hessian of the negative log joint by autograd in double precision."""
    x = torch.tensor(x)

    def energy(w):
        return torch.logaddexp(torch.zeros(()).double(), x @ w).sum() + (w**2).sum() / (
            2 * prior_variance
        )

    return torch.autograd.functional.hessian(energy, torch.tensor(w)).numpy()


LOGISTIC_HESSIAN = Task(
    name="logistic_hessian",
    points=2,
    cases=_curvature_cases,
    probe=_curvature_probe,
    oracle=lambda **case: {
        "hessian": Close(curvature(**case), rtol=1e-5, atol=1e-6, because=SINGLE)
    },
    misconceptions=LOGISTIC_HESSIANS,
    hints=[
        "The gradient is Xᵀ(p − y) + w/σ₀². Differentiate once more: dp/dw = p(1 − p) x.",
        "That gives Xᵀ diag(p(1 − p)) X. Scale the columns of Xᵀ instead of forming the N × N diagonal matrix.",
        "For one data point x = 2 with p = ½, and σ₀² = 4, the Hessian is ¼ · 2² + ¼. The last term is the prior's: the identity over its variance.",
    ],
)


def _mode(x, y, prior_variance):
    def gradient(w):
        return x.T @ (scipy.special.expit(x @ w) - y) + w / prior_variance

    return scipy.optimize.root(gradient, np.zeros(x.shape[1]), tol=1e-13).x


def _mode_cases(rng):
    """Draw cases; in the last, prior and likelihood contribute similarly to the Hessian.

    Newton's method then settles only if the Hessian includes both. Some cases take few steps,
    which lead far from w = 0: one sign of the inputs has nearly all the labels 1.
    """
    *cases, last = (
        {key: case[key] for key in ("x", "y", "prior_variance")}
        for case in logistic_cases(rng, ((1, 1), (31, 2), (40, 3)))
    )
    cases[1]["prior_variance"] = float(rng.uniform(0.25, 0.4))  # the steps settle here
    x, prior_variance = last["x"], 0.1
    y = rng.permutation(np.arange(len(x)) < len(x) // 4).astype(float)
    for _ in range(20):
        p = scipy.special.expit(x @ _mode(x, y, prior_variance))
        of_data = np.linalg.eigvalsh((x.T * (p * (1 - p))) @ x)
        prior_variance = 1 / (0.9 * of_data[0])
    cases.append({"x": x, "y": y, "prior_variance": float(prior_variance)})
    settled = [case | {"steps": 30} for case in cases]
    few = [case | {"steps": 1 + number} for number, case in enumerate(_apart(rng))]
    return [*settled, *few]


def _apart(rng):
    """Draw three cases in which the first input nearly separates the labels."""
    for n in (9, 8, 7):
        side = rng.permutation(np.resize([-1, 1], n))
        x = np.column_stack([side * rng.uniform(1, 2, n), np.ones(n)])
        y = (side > 0).astype(float)
        y[0] = 1 - y[0]
        yield {"x": x, "y": y, "prior_variance": float(rng.uniform(1, 2))}


def _mode_probe(answer, x, y, prior_variance, steps):
    import torch

    number = unless_default(answer, steps, 30)
    return {"mode": answer(torch.tensor(x), torch.tensor(y), prior_variance, *number)}


def _reweighted(x, y, prior_variance, steps):
    """Iterate reweighted least squares, which is Newton's method: Bishop (2006), 4.99."""
    w, ridge = np.zeros(x.shape[1]), np.eye(x.shape[1]) / prior_variance
    for _ in range(steps):
        p = scipy.special.expit(x @ w)
        spread = p * (1 - p)
        targets = spread * (x @ w) - (p - y)
        w = np.linalg.solve((x.T * spread) @ x + ridge, x.T @ targets)
    return w


def _mode_oracle(x, y, prior_variance, steps):
    settled = steps == 30
    mode = (
        _mode(x, y, prior_variance)
        if settled
        else _reweighted(x, y, prior_variance, steps)
    )
    return {"mode": Close(mode, rtol=1e-5, atol=1e-6, because=SINGLE)}


def _solved(hessian, gradient):
    """Solve without raising if the Hessian is singular, as with a mistake that diverges."""
    return torch.linalg.solve_ex(hessian, gradient).result


def _newton(
    *,
    data=lambda x: 1.0,
    pull=lambda v, x: 1.0,
    prior=lambda v: 1.0,
    step=lambda hessian, gradient, x: _solved(hessian, gradient),
    bend=lambda x: 1.0,
    taken=lambda steps: steps,
    bent_at=lambda w: w,
):
    def mode(x, y, v, steps=30):
        w = torch.zeros(x.shape[1], dtype=x.dtype)
        for _ in range(taken(steps)):
            errors = data(x) * (torch.sigmoid(x @ w) - y)
            gradient = x.T @ errors + pull(v, x) * w / v
            hessian = closed_hessian(
                bent_at(w), x, lambda p: bend(x) * p * (1 - p), prior(v) / v
            )
            w = w - step(hessian, gradient, x)
        return w

    return mode


def _shortened(rate):
    return _newton(step=lambda hessian, gradient, x: rate * _solved(hessian, gradient))


def _descent(rate, per_datum=False, taken=lambda steps: steps):
    def step(hessian, gradient, x):
        return (rate / len(x) if per_datum else rate) * gradient

    return _newton(step=step, taken=taken)


FIND_MODE = Task(
    name="find_mode",
    points=2,
    cases=_mode_cases,
    probe=_mode_probe,
    oracle=_mode_oracle,
    misconceptions=[
        Misconception(
            _newton(pull=lambda v, x: 0.0),
            "you leave the prior's term w/σ₀² out of the gradient: this is the maximum of the likelihood.",
        ),
        Misconception(
            _newton(prior=lambda v: 0.0),
            "you leave the prior's I/σ₀² out of the Hessian, but keep it in the gradient. The steps are then too "
            "long, and hardly converge where the prior's curvature is close to the data's.",
        ),
        Misconception(
            _newton(taken=lambda steps: 1),
            "you take only one Newton step, or start each step from w = 0 again.",
        ),
        Misconception(
            _newton(data=lambda x: -1.0, pull=lambda v, x: -1.0),
            "you step uphill: subtract H⁻¹g from w.",
        ),
        Misconception(
            _newton(data=lambda x: -1.0),
            "you flip the sign of the NLL's gradient: it is Xᵀ(p − y), not Xᵀ(y − p).",
        ),
        Misconception(
            _newton(step=lambda hessian, gradient, x: hessian @ gradient),
            "you multiply the gradient by H: Newton divides by the curvature. torch.linalg.solve(H, g) is H⁻¹g.",
        ),
        *(
            Misconception(
                _descent(rate),
                f"you use gradient descent, at rate {rate:g}, without the Hessian. It does not converge in so few "
                "steps; Newton's step is H⁻¹g.",
            )
            for rate in (1.0, 0.1, 0.01, 0.001)
        ),
        *(
            Misconception(
                _descent(0.2, per_datum=True, taken=lambda _, steps=steps: steps),
                f"you stop after {steps} steps of gradient descent on the mean loss, at rate 0.2. The gradient has "
                "not vanished yet, and Laplace's approximation needs it to.",
            )
            for steps in (20, 30)
        ),
        Misconception(
            _newton(data=lambda x: 1 / len(x), pull=lambda v, x: 1 / len(x)),
            "you divide the gradient by N, but not the Hessian: gradient and Hessian must be those of the same function.",
        ),
        Misconception(
            _newton(data=lambda x: 1 / len(x), bend=lambda x: 1 / len(x)),
            "you average the NLL over the data, but not the prior: the prior is then N times too strong.",
        ),
        Misconception(
            _newton(pull=lambda v, x: v**2, prior=lambda v: v**2),
            "you use the prior's variance as if it were its precision: the prior's terms are w/σ₀² and I/σ₀².",
        ),
        Misconception(
            _newton(pull=lambda v, x: v**2),
            "you multiply w by σ₀² in the prior's gradient: it is w/σ₀².",
        ),
        Misconception(
            _newton(pull=lambda v, x: 0.0, prior=lambda v: 0.0),
            "you leave the prior out of the gradient and of the Hessian: this is the maximum of the likelihood.",
        ),
        Misconception(
            _newton(pull=lambda v, x: 2.0, prior=lambda v: 2.0),
            "you count the prior twice: ‖w‖² is divided by 2σ₀², so its gradient is w/σ₀².",
        ),
        Misconception(
            _newton(pull=lambda v, x: 0.5),
            "you keep a ½ in the prior's gradient: the derivative of ‖w‖²/(2σ₀²) is w/σ₀².",
        ),
        *(
            Misconception(
                _shortened(rate),
                f"you multiply Newton's step by a learning rate of {rate:g}: the steps then do not get there in time. "
                "Newton's step needs no rate.",
            )
            for rate in (0.1, 0.5)
        ),
        Misconception(
            _newton(bent_at=torch.zeros_like),
            "you compute the Hessian once, at w = 0: Newton's step needs the one at the current weights.",
        ),
        Misconception(
            _newton(taken=lambda steps: 30),
            "you always take 30 steps: take as many as `steps` says.",
        ),
        *(
            Misconception(
                _descent(rate, per_datum=True),
                f"you use gradient descent on the mean loss, at rate {rate:g}, without the Hessian. It does not converge "
                "in so few steps; Newton's step is H⁻¹g.",
            )
            for rate in (0.2, 0.1, 0.01)
        ),
    ],
    hints=[
        "Newton's step is w − H⁻¹g, with gradient and Hessian of the same function: the negative log joint.",
        "The gradient is the sum over the data of (p − y) x, plus w over the prior variance; you have the Hessian already.",
        "In one dimension a gradient of 3 and a Hessian of 1.5 move w by −2. With matrices, torch.linalg.solve(H, g) is H⁻¹g.",
    ],
)
