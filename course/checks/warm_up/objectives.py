"""Sums, means and N: the factor of each term of a loss."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from course.checks.concepts_of_decay import WRONG_DECAYS
from course.checks.concepts_of_objectives import wrong_terms
from course.checks.warm_up.tolerances import FLOAT32
from course.probing import value_and_gradients
from course.task import Close, Misconception, Task


def _objective_cases(rng):
    """Draw minibatches that are a small part of the data, and KLs of the order of their NLL.

    N is no multiple of the minibatch, unless there is a single data point in all.
    """
    cases = []
    for size, times in ((7, rng.integers(5, 40)), (4, rng.integers(5, 40)), (1, 1)):
        cases.append(
            {
                "nll": rng.uniform(0.3, 3, size),
                "kl": float(rng.uniform(5, 50)),
                "n_data": size * int(times) + size // 2,
            }
        )
    return cases


def _objective_probe(answer, nll, kl, n_data):
    keys = ("objective", "gradient_of_nll", "gradient_of_kl")
    return value_and_gradients(keys, lambda nll, kl: answer(nll, kl, n_data), nll, kl)


def _objective_oracle(nll, kl, n_data):
    """Count every data point of the minibatch N/B times."""
    times = np.full(len(nll), n_data / len(nll))
    right = float(times @ nll) + kl
    return {
        "objective": Close(right, rtol=2e-5, because=FLOAT32),
        "gradient_of_nll": Close(times, rtol=1e-5, because=FLOAT32),
        "gradient_of_kl": Close(1.0, rtol=1e-5, because=FLOAT32),
    }


MINIBATCH_OBJECTIVE = Task(
    name="minibatch_objective",
    points=2,
    cases=_objective_cases,
    probe=_objective_probe,
    oracle=_objective_oracle,
    misconceptions=[
        Misconception(
            lambda nll, kl, n_data: jnp.mean(nll) + kl,
            "you add the whole KL to the mean NLL: the prior is N times too strong, as if there "
            "were a single data point.",
        ),
        Misconception(
            lambda nll, kl, n_data: jnp.sum(nll) + kl,
            "you add the whole KL to the minibatch's sum: the prior is N/B times too strong, as "
            "if there were only these B data points.",
        ),
        Misconception(
            lambda nll, kl, n_data: n_data / len(nll) * (jnp.sum(nll) + kl),
            "you scale up the KL together with the NLL: there is one KL, however many minibatches "
            "there are. The prior is N/B times too strong.",
        ),
        Misconception(
            lambda nll, kl, n_data: n_data * (jnp.mean(nll) + kl),
            "you multiply the KL by N. The weights have one KL for all data points.",
        ),
        Misconception(
            lambda nll, kl, n_data: jnp.mean(nll) + kl / n_data,
            "you divide everything by N. That loss is fine, since it has the same minimum, but "
            "the negative ELBO of all data points is N times as large.",
        ),
        Misconception(
            lambda nll, kl, n_data: n_data * jnp.mean(nll) + kl / n_data,
            "you divide the KL by N although the NLL is already that of all data points: the "
            "prior is N times too weak.",
        ),
        Misconception(
            lambda nll, kl, n_data: n_data * jnp.mean(nll) + kl * len(nll) / n_data,
            "you multiply the KL by B/N although the NLL is already that of all data points: the "
            "prior is N/B times too weak.",
        ),
        Misconception(
            lambda nll, kl, n_data: n_data // len(nll) * jnp.sum(nll) + kl,
            "you drop the fraction of N/B: N need not be a multiple of B, so // is not the division you want.",
        ),
        Misconception(
            lambda nll, kl, n_data: jnp.sum(nll) + kl * len(nll) / n_data,
            "you return the minibatch's own share, B/N of the whole. That is fine as a loss, "
            "but here you are asked to estimate the whole.",
        ),
        Misconception(
            lambda nll, kl, n_data: jnp.sum(nll) + kl / n_data,
            "you divide the KL by N, but do not scale up the minibatch's sum: the prior is B times too weak.",
        ),
        Misconception(
            lambda nll, kl, n_data: n_data / len(nll) * jnp.mean(nll) + kl,
            "you multiply the mean by N/B, but it has already been divided by B. Take N times the "
            "mean, or N/B times the sum.",
        ),
        Misconception(
            lambda nll, kl, n_data: n_data * jnp.sum(nll) + kl,
            "you multiply the sum over the minibatch by N: each of its B data points then counts "
            "N times, but it should count N/B times.",
        ),
        *wrong_terms(
            lambda nll, kl, n_data: n_data * jnp.mean(nll), lambda nll, kl, n_data: kl
        ),
    ],
    hints=[
        "How many of the N data points does each one in the minibatch stand for?",
        "N/B times the minibatch's sum is N times its mean.",
        "The KL is not a sum over data. It counts once, as it is.",
    ],
)


def _decay_cases(rng):
    """Draw variances below and above 1, so that their powers can be told apart."""
    variances = rng.uniform(0.05, 0.5), rng.uniform(2, 20), rng.uniform(2, 20)
    sizes = rng.integers(20, 200), rng.integers(200, 500), 1
    return [
        {"prior_variance": float(variance), "n_data": int(size)}
        for variance, size in zip(variances, sizes, strict=True)
    ]


def _decay_probe(answer, prior_variance, n_data):
    return {"weight_decay": answer(prior_variance, n_data)}


def _decay_oracle(prior_variance, n_data):
    """Equate the curvatures at 0: N λ is the prior's precision."""
    precision = np.reciprocal(prior_variance)
    return {"weight_decay": Close(precision / n_data, rtol=1e-6, because=FLOAT32)}


WEIGHT_DECAY_OF = Task(
    name="weight_decay_of",
    points=1,
    cases=_decay_cases,
    probe=_decay_probe,
    oracle=_decay_oracle,
    misconceptions=WRONG_DECAYS,
    hints=[
        "Write the negative log joint: a sum of N losses, plus ‖w‖² / (2σ₀²). Now divide it by N.",
        "Compare the coefficient of ‖w‖² with λ/2.",
    ],
)
