"""Entropy, and the knowledge uncertainty from the members' disagreement."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import scipy.special
import scipy.stats

from course.checks.deep_ensembles.tolerances import FLOAT32
from course.task import Close, Misconception, Task


def _probs_cases(rng):
    probs = rng.dirichlet(np.full(4, 0.7), 3)
    certain = np.eye(4)[rng.integers(0, 4, 2)]
    return [{"probs": probs}, {"probs": certain}]


def _entropy_probe(answer, probs):
    import jax.numpy as jnp

    return {"entropy": answer(jnp.asarray(probs))}


def _entropy_oracle(probs):
    return {
        "entropy": Close(
            scipy.stats.entropy(probs, axis=-1), rtol=2e-5, atol=2e-7, because=FLOAT32
        )
    }


ENTROPY = Task(
    name="entropy",
    points=1,
    cases=_probs_cases,
    probe=_entropy_probe,
    oracle=_entropy_oracle,
    misconceptions=[
        Misconception(
            lambda probs: -jnp.sum(probs * jnp.log(probs + 1e-6), axis=-1),
            "a small number is added inside the logarithm, which moves every entropy a "
            "little. jax.scipy.special.xlogy needs none.",
        ),
        Misconception(
            lambda probs: -jnp.sum(probs * jnp.log(probs), axis=-1),
            "0 · log 0 is computed as 0 · (−inf) = nan. Its limit is 0: jax.scipy.special.xlogy knows it.",
        ),
        Misconception(
            lambda probs: (
                -jnp.sum(jax.scipy.special.xlogy(probs, probs), axis=-1) / np.log(2)
            ),
            "the logarithm to base 2 is taken, which gives bits. This course counts in nats.",
        ),
        Misconception(
            lambda probs: jnp.sum(jax.scipy.special.xlogy(probs, probs), axis=-1),
            "the minus sign is forgotten: an entropy is never negative.",
        ),
        Misconception(
            lambda probs: -jnp.mean(jax.scipy.special.xlogy(probs, probs), axis=-1),
            "the classes are averaged; they must be summed.",
        ),
    ],
    hints=[
        "A sum over the last axis, with a minus before it.",
        "jax.scipy.special.xlogy(p, p) is p log p, and 0 at p = 0.",
    ],
)


def _member_probs_cases(rng):
    probs = rng.dirichlet(np.full(3, 0.7), (4, 3))
    certain = np.eye(3)[rng.integers(0, 3, (4, 2))]
    return [{"probs": probs}, {"probs": certain}]


def _knowledge_probe(answer, probs):
    import jax.numpy as jnp

    return {"divergence": answer(jnp.asarray(probs))}


def _knowledge_oracle(probs):
    """Compute the equal mean KL divergence from the members to their mixture."""
    divergence = scipy.special.rel_entr(probs, probs.mean(0)).sum(-1).mean(0)
    return {
        "divergence": Close(
            divergence,
            rtol=1e-4,
            atol=2e-6,
            because="a difference of two entropies in single precision",
        )
    }


def _h(probs):
    return -jnp.sum(jax.scipy.special.xlogy(probs, probs), axis=-1)


KNOWLEDGE = Task(
    name="knowledge_uncertainty",
    points=2,
    cases=_member_probs_cases,
    probe=_knowledge_probe,
    oracle=_knowledge_oracle,
    misconceptions=[
        Misconception(
            lambda probs: _h(probs.mean(0)),
            "data uncertainty is not subtracted: this is total uncertainty.",
        ),
        Misconception(
            lambda probs: _h(probs).mean(0),
            "only the members' own entropies are averaged: this is data uncertainty.",
        ),
        Misconception(
            lambda probs: _h(probs).mean(0) - _h(probs.mean(0)),
            "the two terms are exchanged: a divergence is never negative.",
        ),
        Misconception(
            lambda probs: probs.var(0).sum(-1),
            "the variance of the probabilities is taken. It grows with disagreement as well, but it is not in nats "
            "and does not add up with data uncertainty.",
        ),
    ],
    hints=[
        "Total uncertainty is the entropy of the mean; data uncertainty is the mean of the entropies.",
        "The member axis is axis 0, once for the probabilities and once for the entropies.",
    ],
)
