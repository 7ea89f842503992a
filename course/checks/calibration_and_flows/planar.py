"""The planar flow, and the constraint on u that makes it invertible."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import torch

from course.checks.calibration_and_flows.jacobians import mapped
from course.checks.calibration_and_flows.tolerances import SINGLE
from course.probing import flow_values, gradients_of, leaves
from course.task import Close, Misconception, Task


def _planar_cases(rng):
    """Draw cases; the last is a point on the plane, where a flow squeezes most.

    Its numbers, and 1 + uᵀw, are exact in single precision: what is added to that shows.
    """
    cases = []
    for shape in ((5, 2), (2, 3, 3)):
        d = shape[-1]
        w, u = rng.normal(0, 1, d), rng.normal(0, 1, d)
        u += (rng.uniform(0.5, 1.5) - w @ u) * w / (w @ w)  # well inside wᵀu > −1
        cases.append(
            {
                "z": rng.normal(0, 1, shape),
                "u": u,
                "w": w,
                "b": float(rng.uniform(0.3, 1)),
            }
        )
    squeeze = cases[0]["w"]
    cases[0]["u"] = -0.9 * squeeze / (squeeze @ squeeze)
    w, b = rng.choice([-2.0, -0.5, 0.5, 2.0], 1), float(rng.integers(1, 9) / 8)
    return [*cases, {"z": -b / w, "u": (2.0**-12 - 1) / w, "w": w, "b": b}]


def _planar_probe(answer, z, u, w, b):
    return flow_values(answer, z=z, u=u, w=w, b=b)


def _planar_oracle(z, u, w, b):
    """Where 1 + uᵀw is small, gradients are small differences of terms of size 1 / (1 + uᵀw)."""
    closes = mapped(
        lambda point, u, w, b: point + u * torch.tanh(torch.dot(w, point) + b),
        z=z,
        u=u,
        w=w,
        b=b,
    )
    lost = 8 * float(np.finfo(np.float32).eps) / (1 + u @ w)
    return {
        key: replace(close, atol=close.atol + lost) if "gradient" in key else close
        for key, close in closes.items()
    }


def _planar(log_det, *, points=lambda z, h, u, w: z + h[..., None] * u, shift=1.0):
    def answer(z, u, w, b):
        h = torch.tanh(z @ w + shift * b)
        return points(z, h, u, w), log_det(h, u @ w)

    return answer


def _right(h, uw):
    return torch.log1p(uw * (1 - h**2))


def _other_product(product):
    def answer(z, u, w, b):
        h = torch.tanh(z @ w + b)
        log_det = torch.log1p(product(u, w) * (1 - h**2))
        return z + h[..., None] * u, log_det

    return answer


def _at_the_image(z, u, w, b):
    points = z + torch.tanh(z @ w + b)[..., None] * u
    return points, _right(torch.tanh(points @ w + b), u @ w)


def _by_coordinate(z, u, w, b):
    h = torch.tanh(z @ w + b)[..., None]
    return z + h * u, torch.log1p(u * w * (1 - h**2))


PLANAR_FLOW = Task(
    name="planar_flow",
    points=3,
    cases=_planar_cases,
    probe=_planar_probe,
    oracle=_planar_oracle,
    misconceptions=[
        Misconception(
            _planar(lambda h, uw: -torch.log(1 + uw * (1 - h**2))),
            "you flip the sign of log|det|: this is the logarithm of the inverse's determinant.",
        ),
        Misconception(
            _planar(lambda h, uw: 1 + uw * (1 - h**2)),
            "you return the determinant; the task asks for its logarithm.",
        ),
        Misconception(
            _planar(lambda h, uw: torch.log(1 + uw * (1 - h))),
            "you take 1 − tanh for the derivative of tanh; it is 1 − tanh².",
        ),
        Misconception(
            _planar(lambda h, uw: torch.log(1 + uw.expand(h.shape))),
            "you leave out the derivative of tanh, so that every point has the same determinant.",
        ),
        Misconception(
            _planar(lambda h, uw: torch.log(torch.abs(1 + uw * (1 - h**2)) + 1e-6)),
            "you add something inside the logarithm. An invertible flow needs no such guard, and it biases every term.",
        ),
        Misconception(
            _planar(lambda h, uw: torch.log1p(uw * (1 - h**2)).sum()),
            "you add up the logarithms of all points. Each point has its own.",
        ),
        Misconception(
            _other_product(lambda u, w: u @ u),
            "you use uᵀu in place of uᵀw.",
        ),
        Misconception(
            _other_product(lambda u, w: w @ w),
            "you use wᵀw in place of uᵀw.",
        ),
        Misconception(
            _other_product(lambda u, w: u.sum()),
            "you leave out w: the gradient of tanh(wᵀz + b) is (1 − tanh²) w.",
        ),
        Misconception(
            _by_coordinate,
            "you return a logarithm for each coordinate. The determinant is 1 + uᵀψ, with the sum over the coordinates "
            "in uᵀψ.",
        ),
        Misconception(
            _at_the_image,
            "you evaluate the Jacobian at f(z); it belongs at z.",
        ),
        Misconception(
            _planar(lambda h, uw: torch.log(torch.abs(uw * (1 - h**2)))),
            "you leave out the 1: the determinant is 1 + uᵀψ.",
        ),
        Misconception(
            _planar(lambda h, uw: torch.log1p(uw * (1 + h**2))),
            "you take 1 + tanh² for the derivative of tanh; it is 1 − tanh².",
        ),
        Misconception(
            _planar(lambda h, uw: torch.log1p(uw * h)),
            "you take tanh itself for its derivative, which is 1 − tanh².",
        ),
        Misconception(
            _planar(_right, points=lambda z, h, u, w: z + h[..., None] * w),
            "you move the points along w; they move along u.",
        ),
        Misconception(
            _planar(_right, points=lambda z, h, u, w: z - h[..., None] * u),
            "you subtract u tanh(wᵀz + b); it is added.",
        ),
        Misconception(_planar(_right, shift=0.0), "you leave out b."),
        Misconception(
            lambda z, u, w, b: (
                _planar(_right)(z, u, w, b)[0],
                _planar(_right, shift=0.0)(z, u, w, b)[1],
            ),
            "you leave out b in log|det|: the derivative of tanh is taken at wᵀz + b.",
        ),
        Misconception(
            _planar(_right, points=lambda z, h, u, w: h[..., None] * u),
            "you leave out z: the points are z + u tanh(wᵀz + b).",
        ),
        Misconception(
            _planar(lambda h, uw: torch.log1p(uw * (1 - h**2)).detach()),
            "you detach log|det| (.detach(), .item() or no_grad): training then ignores how the flow changes volume.",
        ),
    ],
    hints=[
        "`h = torch.tanh(z @ w + b)` has one value per point; h.unsqueeze(-1) lets it multiply the vector u.",
        "The Jacobian is I + uψᵀ with ψ = (1 − h²) w, and det(I + uψᵀ) = 1 + uᵀψ.",
        "Check: where h = 0 and uᵀw = 1 the determinant is 2. torch.log1p(a) is log(1 + a), precise for small a too.",
    ],
)


def _u_cases(rng):
    cases = [{"u": rng.normal(0, 1, d), "w": rng.normal(0, 1, d)} for d in (2, 3)]
    u, w = cases[1]["u"], cases[1]["w"]  # not invertible, and m is not nearly −1
    cases[1]["u"] = u + (rng.uniform(-3, -1.5) - w @ u) * w / (w @ w)
    small = rng.choice([-1, 1], (2, 1)) * rng.uniform(0.005, 0.02, (2, 1))
    none = {"u": np.zeros(2), "w": rng.normal(0, 0.01, 2)}
    w, u = rng.choice([-1, 1], 5) * rng.uniform(5, 10, 5), rng.normal(0, 1, 5)
    u += (rng.uniform(100, 120) - w @ u) * w / (w @ w)  # exp(wᵀu) overflows
    return [*cases, {"u": small[0], "w": small[1]}, none, {"u": u, "w": w}]


def _u_probe(answer, u, w):
    import numpy as np

    u, w = leaves(np.float32(u), np.float32(w))
    value = answer(u, w)
    return {"u_hat": value, **gradients_of(value, u=u, w=w)}


def _u_oracle(u, w):
    """Compose û of the part of u across w, and a part along w such that wᵀû = m."""
    u, w = (  # as the answer sees them
        torch.tensor(np.float64(np.float32(value)), requires_grad=True)
        for value in (u, w)
    )
    norm = torch.linalg.vector_norm(w)
    along = w / norm
    m = torch.log((1 + (math.e - 1) * torch.exp(u @ w)) / math.e)
    value = u - (u @ along) * along + m / norm * along
    to_u, to_w = torch.autograd.grad(value.sum(), (u, w))
    # The error of m from rounding log(e − 1) is divided by ‖w‖.
    small = min(float(norm.detach()), 1.0)
    close = {"rtol": 1e-5, "because": f"{SINGLE}, and m is divided by ‖w‖"}
    return {
        "u_hat": Close(value.detach(), atol=1e-6 / small, **close),
        "gradient_of_u": Close(to_u, atol=1e-5, **close),
        "gradient_of_w": Close(to_w, atol=1e-6 / small**2, **close),
    }


def _u(m, power=1.0):
    def answer(u, w):
        a = w @ u
        return u + (m(a) - a) * w / (w @ w) ** power

    return answer


def _right_m(a):
    return -1 + torch.nn.functional.softplus(a + math.log(math.e - 1))


INVERTIBLE_U = Task(
    name="invertible_u",
    points=2,
    cases=_u_cases,
    probe=_u_probe,
    oracle=_u_oracle,
    misconceptions=[
        Misconception(
            _u(lambda a: -1 + torch.nn.functional.softplus(a)),
            "you take m as the planar-flow paper prints it, −1 + log(1 + eᵃ). Then m(0) = −0.31, and u = 0 moves by "
            "0.31/‖w‖, which is large for small w. Shift its argument by log(e − 1), which is not log(e) − 1.",
        ),
        Misconception(
            _u(lambda a: -1 + torch.log(1 + torch.exp(a + math.log(math.e - 1)))),
            "you write out log(1 + exp(…)): exp overflows for a large wᵀu. Use torch.nn.functional.softplus.",
        ),
        Misconception(
            _u(_right_m, power=0.5),
            "you divide the step along w by ‖w‖; divide by ‖w‖², or wᵀû is not m(wᵀu).",
        ),
        Misconception(
            lambda u, w: u,
            "you leave u as it is: wherever wᵀu < −1 the flow folds space over and has no inverse.",
        ),
        Misconception(
            _u(lambda a: a.clamp(min=-1.0)),
            "you clamp wᵀu at −1. That is only just invertible, and below −1 the gradient of the clamp is 0, so wᵀu is stuck.",
        ),
        Misconception(
            lambda u, w: u + _right_m(w @ u) * w / (w @ w),
            "you add m to the component that u already has along w. Subtract wᵀu first.",
        ),
        Misconception(
            _u(_right_m, power=0.0),
            "you do not divide the step along w by ‖w‖², so wᵀû is not m(wᵀu).",
        ),
        Misconception(
            lambda u, w: _right_m(w @ u) * w / (w @ w),
            "you leave out the part of u across w: only the component along w changes.",
        ),
        Misconception(
            lambda u, w: u + (_right_m(w @ u) - w @ u) * u / (u @ u),
            "you move u along itself; move it along w.",
        ),
        Misconception(
            lambda u, w: u - (_right_m(w @ u) - w @ u) * w / (w @ w),
            "you subtract the step; add it.",
        ),
        Misconception(
            lambda u, w: u if w @ u >= -1 else _u(_right_m)(u, w),
            "you move u only where wᵀu < −1. The map m applies to every u, so that û depends smoothly on u.",
        ),
        Misconception(
            _u(lambda a: -1 + torch.nn.functional.softplus(a) + math.log(math.e - 1)),
            "you add log(e − 1) outside the softplus; it belongs to its argument.",
        ),
        Misconception(
            _u(lambda a: -1 + torch.nn.functional.softplus(a + math.log(math.e + 1))),
            "you add log(e + 1); the constant for which m(0) = 0 is log(e − 1).",
        ),
        Misconception(
            _u(lambda a: torch.nn.functional.softplus(a + math.log(math.e - 1))),
            "you leave out the −1 of m.",
        ),
        Misconception(
            lambda u, w: u + ((_right_m(w @ u) - w @ u) * w / (w @ w)).detach(),
            "you detach the step along w (.detach(), .data or no_grad): the gradients are then not those of û.",
        ),
    ],
    hints=[
        "Only the component of u along w matters: compute a = wᵀu and what it should be, m(a).",
        "Moving u by t · w / ‖w‖² changes wᵀu by exactly t.",
        "m(a) = softplus(a + c) − 1, with a constant c for which m(0) = 0. Take t = m(a) − a.",
    ],
)
