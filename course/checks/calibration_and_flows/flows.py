"""Maps of the noise, and the log-determinants of their Jacobians."""

from __future__ import annotations

import math

import numpy as np
import torch

from course.checks.calibration_and_flows.jacobians import CLOSE, mapped
from course.checks.calibration_and_flows.wrong_flows import AFFINE_MISTAKES
from course.probing import flow_values
from course.task import Close, Misconception, Task


def _affine_cases(rng):
    """Draw cases; the determinant of the last underflows in single precision."""
    return [
        {
            "z": rng.normal(0, 2, shape),
            "shift": rng.normal(0, 1, shape[-1]),
            "log_scale": rng.normal(log_scale, 0.7, shape[-1]),
        }
        for shape, log_scale in (
            ((5, 3), 0.4),
            ((2, 3, 2), 0.4),
            ((1,), 0.4),
            ((4,), -35),
        )
    ]


def _affine_probe(answer, z, shift, log_scale):
    return flow_values(answer, z=z, shift=shift, log_scale=log_scale)


def _affine_oracle(z, shift, log_scale):
    return mapped(
        lambda point, shift, log_scale: torch.diag(log_scale.exp()) @ point + shift,
        z=z,
        shift=shift,
        log_scale=log_scale,
    )


AFFINE_FLOW = Task(
    name="affine_flow",
    points=1,
    cases=_affine_cases,
    probe=_affine_probe,
    oracle=_affine_oracle,
    misconceptions=AFFINE_MISTAKES,
    hints=[
        "The Jacobian is diagonal: what is the logarithm of its determinant?",
        "It is the sum of log_scale, the same for every point: expand it to the shape of z without its last axis.",
    ],
)


def _compose_cases(rng):
    return [
        {
            "z": rng.normal(0, 1, shape),
            "strengths": rng.uniform(0.5, 3, layers),
            "shifts": rng.uniform(0.3, 1.5, layers),
        }
        for shape, layers in (((5, 2), 3), ((2, 3, 3), 0), ((1,), 1))
    ]


def _compose_probe(answer, z, strengths, shifts):
    import torch

    def layer(strength, shift):
        def flow(z):
            h = torch.tanh(z + shift)
            return z + strength * h, torch.log1p(strength * (1 - h**2)).sum(-1)

        return flow

    def shift(z):  # expanded, as by affine_flow: it cannot be changed in place
        return z + 1, z.new_zeros(()).expand(z.shape[:-1])

    layers = [layer(float(a), float(b)) for a, b in zip(strengths, shifts, strict=True)]
    return flow_values(lambda z: answer([shift, *layers] if layers else [], z), z=z)


def _compose_oracle(z, strengths, shifts):
    def transform(point):
        point = point + 1 if len(strengths) else point
        for strength, shift in zip(strengths, shifts, strict=True):
            point = point + strength * torch.tanh(point + shift)
        return point

    return mapped(transform, z=z)


def _composed(add, *, at_start=False, backwards=False, first=0.0):
    def answer(layers, z):
        start, total = z, torch.full(z.shape[:-1], first, dtype=z.dtype)
        for layer in reversed(layers) if backwards else layers:
            moved, log_det = layer(z)
            total = add(total, layer(start)[1] if at_start else log_det)
            z = moved
        return z, total

    return answer


def _side_by_side(layers, z):
    points, total = z, torch.zeros(z.shape[:-1], dtype=z.dtype)
    for layer in layers:
        points, log_det = layer(z)
        total = total + log_det
    return points, total


COMPOSE = Task(
    name="compose",
    points=1,
    cases=_compose_cases,
    probe=_compose_probe,
    oracle=_compose_oracle,
    made_of="The check supplies the layers: the first maps z to z + 1, the others map z to "
    "z + strengths[k] · tanh(z + shifts[k]); each returns log|det| with it. Without strengths, there are no layers.",
    misconceptions=[
        Misconception(
            _composed(lambda total, new: new),
            "you keep only the last flow's log|det|. Add them all up.",
        ),
        Misconception(
            _composed(lambda total, new: total + new, at_start=True),
            "you take every log|det| at z₀. A flow's Jacobian is taken at the point that the flow before it returns.",
        ),
        Misconception(
            _composed(lambda total, new: total + new, backwards=True),
            "you apply the flows last to first.",
        ),
        Misconception(
            _composed(lambda total, new: total - new),
            "you subtract the logarithms. Determinants of a chain multiply, so their logarithms add.",
        ),
        Misconception(
            _composed(lambda total, new: total * new, first=1.0),
            "you multiply the logarithms. Determinants of a chain multiply, so their logarithms add.",
        ),
        Misconception(
            _side_by_side,
            "you apply every flow to z₀. A flow takes the points that the flow before it returns.",
        ),
        Misconception(
            lambda layers, z: (z, _composed(torch.add)(layers, z)[1]),
            "you return the points z₀; return those after the last flow.",
        ),
        Misconception(
            lambda layers, z: (
                lambda points, total: (points, total / max(len(layers), 1))
            )(*_composed(torch.add)(layers, z)),
            "you average the logarithms over the flows; add them.",
        ),
        Misconception(
            lambda layers, z: (lambda points, total: (points, total.sum()))(
                *_composed(torch.add)(layers, z)
            ),
            "you add up the logarithms of all points. Each point has its own.",
        ),
        Misconception(
            _composed(lambda total, new: total + new.detach()),
            "you detach each log|det| (.detach(), .item() or no_grad): training then ignores it.",
        ),
    ],
    hints=[
        "det(J₂J₁) = det J₂ · det J₁.",
        "Start the total at zeros, one per point: z.new_zeros gives them the precision of z. An empty list of layers then works too.",
    ],
)


def _radial_cases(rng):
    """Draw cases; the determinant of the fourth underflows in single precision.

    The last point is near the centre: what is added to its distance shows.
    """
    cases = [
        {
            "z": rng.normal(0, 1, shape),
            "centre": rng.normal(0, 0.5, shape[-1]),
            "alpha": (alpha := float(scale * rng.uniform(0.8, 1.5))),
            "beta": float(alpha * rng.uniform(low, high)),
        }
        for shape, scale, low, high in (
            ((5, 2), 1, 0.5, 2.0),
            ((2, 2, 3), 1, -0.8, -0.5),
            ((1,), 1, 0.5, 2.0),
            ((200,), 20, -0.95, -0.9),
        )
    ]
    near, centre = rng.normal(0, 1, 5), rng.normal(0, 0.5, 5)
    near /= 32 * np.linalg.norm(near)
    alpha = float(rng.uniform(0.8, 1.2) / 32)
    beta = float(alpha * rng.uniform(1, 2))
    return [
        *cases,
        {"z": centre + near, "centre": centre, "alpha": alpha, "beta": beta},
    ]


def _radial_probe(answer, z, centre, alpha, beta):
    import numpy as np
    import torch

    found = flow_values(answer, z=z, centre=centre, alpha=alpha, beta=beta)
    if found["log_det"] is None:
        return found
    at = (torch.tensor(np.float32(each)) for each in (centre, centre, alpha, beta))
    return found | {"log_det_at_the_centre": answer(*at)[1]}


def _radial_oracle(z, centre, alpha, beta):
    def transform(point, centre, alpha, beta):
        offset = point - centre
        return point + beta * offset / (alpha + offset.norm())

    log_det = Close(len(centre) * math.log1p(beta / alpha), **CLOSE)  # where r = 0
    found = mapped(transform, z=z, centre=centre, alpha=alpha, beta=beta)
    return found | {"log_det_at_the_centre": log_det}


def _radial(log_det, *, r_of=lambda offset: offset.norm(dim=-1), points=None):
    def answer(z, centre, alpha, beta):
        offset = z - centre
        r = r_of(offset)
        h = 1 / (alpha + r)
        across, along = 1 + beta * h, 1 + beta * h - beta * r * h**2
        moved = beta * h[..., None] * (z if points else offset)
        return z + moved, log_det(across, along, z.shape[-1], beta * r * h**2)

    return answer


def _right(across, along, d, _):
    return (d - 1) * across.log() + along.log()


def _without_r(of=torch.abs):
    """Leave out r; the derivative may be negative, so take the logarithm ``of`` it."""

    def answer(z, centre, alpha, beta):
        offset = z - centre
        h = 1 / (alpha + offset.norm(dim=-1))
        across, along = 1 + beta * h, 1 + beta * h - beta * h**2
        log_det = (z.shape[-1] - 1) * across.log() + of(along).log()
        return z + beta * h[..., None] * offset, log_det

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
            "you hold h fixed when you differentiate the map. But h depends on r, so the derivative along the radius also contains h′.",
        ),
        Misconception(
            _radial(lambda across, along, d, _: across.log() + along.log()),
            "you count the factor across the radius only once. In D dimensions there are D − 1 directions across it.",
        ),
        Misconception(
            _radial(
                lambda across, along, d, _: -((d - 1) * across.log() + along.log())
            ),
            "you flip the sign of log|det|: this is the logarithm of the inverse's determinant.",
        ),
        Misconception(
            _radial(
                lambda across, along, d, term: (
                    (d - 1) * across.log() + (across + term).log()
                )
            ),
            "you flip the sign of h′: h = 1/(α + r) falls with r, so h′ = −1/(α + r)².",
        ),
        Misconception(
            _radial(lambda across, along, d, _: across.log() + (d - 1) * along.log()),
            "you swap the two factors: one direction lies along the radius, D − 1 lie across it.",
        ),
        Misconception(
            _radial(lambda across, along, d, _: d * across.log() + along.log()),
            "you count D directions across the radius. There are D − 1; the last one lies along it.",
        ),
        Misconception(
            _radial(lambda across, along, d, _: along.log()),
            "you leave out the D − 1 directions across the radius.",
        ),
        Misconception(
            _radial(lambda across, along, d, _: (d - 1) * across.log()),
            "you leave out the direction along the radius.",
        ),
        Misconception(
            _radial(lambda across, along, d, _: across ** (d - 1) * along),
            "you return the determinant; the task asks for its logarithm.",
        ),
        *(
            Misconception(
                _without_r(of),
                "you leave out r in the derivative along the radius, 1 + βh + βrh′.",
            )
            for of in (torch.abs, torch.positive)
        ),
        Misconception(
            _radial(_right, r_of=lambda offset: (offset**2).sum(-1)),
            "you use the square of the distance; r is the distance itself.",
        ),
        Misconception(
            _radial(
                _right, r_of=lambda offset: offset.norm().expand(offset.shape[:-1])
            ),
            "you take one norm of all points together. Each point has its own distance: `norm(dim=-1)`.",
        ),
        Misconception(
            _radial(_right, points=True),
            "you move points along z; they move along z − γ.",
        ),
        Misconception(
            _radial(
                lambda across, along, d, _: (
                    (d - 1) * across.log() + along.log()
                ).detach()
            ),
            "you detach log|det| (.detach(), .item() or no_grad): training then ignores how the flow changes volume.",
        ),
    ],
    hints=[
        "Proceed as for the planar flow: r and h have one value per point.",
        "In the D − 1 directions across the radius, lengths grow by a factor of 1 + βh; along it, by the derivative of r + βhr.",
        "d/dr (r + βr/(α + r)) = 1 + βα/(α + r)². The log-determinant is (D − 1) log(1 + βh) plus the log of that.",
    ],
)
