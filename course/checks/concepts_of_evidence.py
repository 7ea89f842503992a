"""Mistakes with log N(y | 0, C), the log evidence of targets with Gaussian noise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from course.task import Misconception


def log_normal(y, covariance, log_det=1.0, constant=1.0):
    """Return log N(y | 0, C), with multiples of two of its terms."""
    return -0.5 * (
        y @ jnp.linalg.solve(covariance, y)
        + log_det * jnp.linalg.slogdet(covariance)[1]
        + constant * len(y) * np.log(2 * np.pi)
    )


DENSITIES: list[tuple[Callable, str]] = [
    (
        lambda y, covariance: log_normal(y, covariance, log_det=0.5),
        "you sum the logarithms of the factor's diagonal once: log det C is twice that sum.",
    ),
    (
        lambda y, covariance: log_normal(y, covariance, log_det=2.0),
        "you subtract log det C in full; subtract half of it.",
    ),
    (
        lambda y, covariance: log_normal(y, covariance, log_det=0.0),
        "you leave out the log-determinant, which charges a model for all it considers possible.",
    ),
    (
        lambda y, covariance: log_normal(y, covariance, log_det=-1.0),
        "you flip the sign of the log-determinant: a wider Gaussian is lower at its mean.",
    ),
    (
        lambda y, covariance: log_normal(y, covariance, constant=0.0),
        "you leave out the constant, N/2 · log 2π.",
    ),
    (
        lambda y, covariance: log_normal(y, covariance) / len(y),
        "you average over the data points; the evidence is the density of all targets at once.",
    ),
    (
        lambda y, covariance: -log_normal(y, covariance),
        "you return the negative log evidence.",
    ),
]


def wrong_evidences(of_noise: Callable[..., Any], noise_at: int) -> list[Misconception]:
    """Return the mistakes in the density of all targets, and in its noise.

    Args:
        of_noise: takes what is added to the diagonal of C, and the arguments of the answer;
            gives C.
        noise_at: which argument of the answer is the noise's standard deviation. The
            targets are the one before it.
    """

    def of_density(density):
        def answer(*given):
            covariance = of_noise(given[noise_at] ** 2, *given)
            return density(given[noise_at - 1], covariance)

        return answer

    def with_the_std(*given):
        covariance = of_noise(given[noise_at], *given)
        return log_normal(given[noise_at - 1], covariance)

    return [
        *(Misconception(of_density(density), hint) for density, hint in DENSITIES),
        Misconception(
            with_the_std,
            "you add the noise's standard deviation to the covariance; add its square.",
        ),
    ]
