"""The oracle of all flows: ``slogdet`` of autograd's Jacobian at each point."""

from __future__ import annotations

import numpy as np
import torch

from course.checks.calibration_and_flows.tolerances import FLOAT32
from course.task import Close

CLOSE = {"rtol": 2e-5, "atol": 2e-5, "because": FLOAT32}


def mapped(transform, **inputs):
    """Compute a map's values and log|det J| at each point, and the gradients of their sum.

    Args:
        transform: maps one point, (D,) → (D,), given the other inputs.
        inputs: the points z, shape (…, D), and all else that the flow depends on.

    Returns:
        ``points``, ``log_det``, and the gradient of Σ points + Σ log_det for every input.
    """
    leaves = {  # as the answer sees them
        name: torch.tensor(np.float64(np.float32(value)), requires_grad=True)
        for name, value in inputs.items()
    }
    others = {name: leaf for name, leaf in leaves.items() if name != "z"}
    lead, dims = leaves["z"].shape[:-1], leaves["z"].shape[-1]
    values, log_det = [], []
    for point in leaves["z"].reshape(-1, dims):
        values.append(transform(point, **others))
        jacobian = torch.autograd.functional.jacobian(
            lambda point: transform(point, **others), point, create_graph=True
        )
        log_det.append(torch.linalg.slogdet(jacobian).logabsdet)
    values, log_det = torch.stack(values), torch.stack(log_det)
    gradients = torch.autograd.grad(
        values.sum() + log_det.sum(), list(leaves.values()), materialize_grads=True
    )
    return {
        "points": Close(values.detach().reshape(*lead, dims), **CLOSE),
        "log_det": Close(log_det.detach().reshape(lead), **CLOSE),
    } | {
        f"gradient_of_{name}": Close(gradient, **CLOSE)
        for name, gradient in zip(leaves, gradients, strict=True)
    }
