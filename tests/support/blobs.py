"""The blobs of practical 2, their mode, and their exact posterior on a grid."""

from functools import cache

import torch
import torch.nn.functional as F
from torch.distributions import Normal

from course import data
from solutions import approximate_inference as ref


def tensors(dataset, dtype=torch.float64):
    return torch.tensor(dataset.x, dtype=dtype), torch.tensor(dataset.y, dtype=dtype)


@cache
def blobs_at_mode():
    """Return inputs with their column of ones, labels, and the mode with prior variance 4."""
    x, y = tensors(data.blobs(seed=0))
    x = ref.with_bias(x)
    return x, y, ref.find_mode(x, y, 4.0)


@cache
def grid(points=57, width=6.0):
    """Compute the blobs' exact posterior on a grid: nodes, probabilities, log evidence."""
    x, y, w = blobs_at_mode()
    spread = ref.laplace_covariance(w, x, y, 4.0).diag().sqrt()
    steps = torch.linspace(-width, width, points, dtype=torch.float64)
    nodes = w + torch.cartesian_prod(steps, steps, steps) * spread
    log_joint = torch.cat(
        [
            F.logsigmoid((2 * y - 1) * (chunk @ x.T)).sum(1)
            for chunk in nodes.split(8192)
        ]
    )
    log_joint += Normal(torch.zeros(()).double(), 2.0).log_prob(nodes).sum(1)
    log_volume = float(torch.log((steps[1] - steps[0]) * spread).sum())
    evidence = float(torch.logsumexp(log_joint, 0)) + log_volume
    return nodes, torch.exp(log_joint + log_volume - evidence), evidence
