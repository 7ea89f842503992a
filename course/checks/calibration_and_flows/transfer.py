"""A transfer task: the radial flow."""

from __future__ import annotations

from course.checks.calibration_and_flows.jacobians import mapped
from course.task import Misconception, Task


def _radial_cases(rng):
    cases = []
    for shape, low, high in (
        ((4, 2), 0.5, 2.0),
        ((2, 3, 3), 0.5, 2.0),
        ((4, 3), -0.8, -0.5),
    ):
        alpha = rng.uniform(0.8, 1.5)
        cases.append(
            {
                "z": rng.normal(0, 1, shape),
                "centre": rng.normal(0, 0.5, shape[-1]),
                "alpha": float(alpha),
                "beta": float(alpha * rng.uniform(low, high)),
            }
        )
    return cases


def _radial_probe(answer, z, centre, alpha, beta):
    import torch

    inputs = {"z": z, "centre": centre, "alpha": alpha, "beta": beta}
    leaves = [
        torch.tensor(value, dtype=torch.float64, requires_grad=True)
        for value in inputs.values()
    ]
    result = answer(*leaves)
    points, log_det = (None, None) if result is None else result
    values = {"points": points, "log_det": log_det}
    sums = [part.sum() for part in (points, log_det) if part is not None]
    gradients = [torch.zeros_like(leaf) for leaf in leaves]
    if sums and sum(sums).requires_grad:
        gradients = torch.autograd.grad(sum(sums), leaves, materialize_grads=True)
    for name, gradient in zip(inputs, gradients, strict=True):
        values[f"gradient_of_{name}"] = gradient
    return values


def _radial_oracle(z, centre, alpha, beta):
    def transform(point, centre, alpha, beta):
        offset = point - centre
        return point + beta * offset / (alpha + offset.norm())

    return mapped(transform, z=z, centre=centre, alpha=alpha, beta=beta)


def _radial(log_det):
    def answer(z, centre, alpha, beta):
        offset = z - centre
        r = offset.norm(dim=-1)
        h = 1 / (alpha + r)
        across, along = 1 + beta * h, 1 + beta * h - beta * r * h**2
        return z + beta * h[..., None] * offset, log_det(
            across, along, z.shape[-1], beta * r * h**2
        )

    return answer


RADIAL_FLOW = Task(
    name="radial_flow",
    points=3,
    cases=_radial_cases,
    probe=_radial_probe,
    oracle=_radial_oracle,
    misconceptions=[
        Misconception(
            _radial(lambda across, along, d, _: d * across.log()),
            "h is held fixed when the map is differentiated. It depends on r, so along the radius there is h′ as well.",
        ),
        Misconception(
            _radial(lambda across, along, d, _: across.log() + along.log()),
            "the factor across the radius counts once. In D dimensions there are D − 1 directions across it.",
        ),
        Misconception(
            _radial(
                lambda across, along, d, _: -((d - 1) * across.log() + along.log())
            ),
            "log|det| has the wrong sign: this is the logarithm of the inverse's determinant.",
        ),
        Misconception(
            _radial(
                lambda across, along, d, term: (
                    (d - 1) * across.log() + (across + term).log()
                )
            ),
            "h′ has the wrong sign: h = 1/(α + r) falls with r, so h′ = −1/(α + r)².",
        ),
        Misconception(
            _radial(lambda across, along, d, _: across.log() + (d - 1) * along.log()),
            "the two factors are exchanged: one direction lies along the radius, D − 1 lie across it.",
        ),
        Misconception(
            _radial(
                lambda across, along, d, _: (
                    (d - 1) * across.log() + along.log()
                ).detach()
            ),
            "log|det| carries no graph (.detach(), .item() or no_grad): then nothing keeps the flow from blowing up "
            "space.",
        ),
    ],
    hints=[
        "Start with the planar flow's plan: r and h have one value per point.",
        "Across the radius lengths grow by 1 + βh, in D − 1 directions. Along it, by the derivative of r + βhr.",
        "d/dr (r + βr/(α + r)) = 1 + βα/(α + r)². The log-determinant is (D − 1) log(1 + βh) plus the log of that.",
    ],
)
