"""The ensemble as a uniform mixture, and what its members know."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import scipy.special
import scipy.stats

from course.checks.concepts_of_members import (
    NORMALISED,
    wrong_information,
    wrong_log_mixtures,
    wrong_mixtures,
)
from course.checks.deep_ensembles.tolerances import FLOAT32
from course.task import Close, Misconception, Task


def _gaussian_mixture_cases(rng):
    """Draw members; in the last case, spreads are far smaller than means and their differences."""
    ordinary = [
        {"means": rng.normal(0, 2, shape), "stds": rng.uniform(0.2, 2, shape)}
        for shape in ((4, 3), (1, 1))
    ]
    far = {
        "means": rng.permutation([1000, -1000]) + rng.normal(0, 0.01, (3, 2)),
        "stds": rng.uniform(0.005, 0.02, (3, 2)),
    }
    return [*ordinary, far]


def _laplace_mixture_cases(rng):
    return [
        {"means": c["means"], "scales": c["stds"]} for c in _gaussian_mixture_cases(rng)
    ]


def _gaussian_mixture_probe(answer, means, stds):
    import jax.numpy as jnp

    result = answer(jnp.asarray(means), jnp.asarray(stds))
    mean, variance = (None, None) if result is None else result
    return {"mean": mean, "variance": variance}


def _laplace_mixture_probe(answer, means, scales):
    import jax.numpy as jnp

    result = answer(jnp.asarray(means), jnp.asarray(scales))
    mean, variance = (None, None) if result is None else result
    return {"mean": mean, "variance": variance}


def _moments(means, variances):
    """Compute a mixture's moments by the law of total variance, in double precision."""
    means = np.asarray(means, np.float32).astype(np.float64)  # as the answer sees them
    because = "single precision: numbers near 1000 are 6e-5 apart, so the mean of three is off by a fraction of that"
    return {
        "mean": Close(means.mean(0), rtol=1e-6, atol=1e-6, because=FLOAT32),
        "variance": Close(variances.mean(0) + means.var(0), rtol=2e-3, because=because),
    }


GAUSSIAN_MIXTURE = Task(
    name="gaussian_mixture_moments",
    points=2,
    cases=_gaussian_mixture_cases,
    probe=_gaussian_mixture_probe,
    oracle=lambda means, stds: _moments(means, scipy.stats.norm.var(scale=stds)),
    misconceptions=wrong_mixtures(jnp.square, "standard deviations"),
    hints=[
        "Use the law of total variance: the mean of the variances plus the variance of the means.",
        "Everything is an average over the member axis, axis 0.",
        "Subtract the mixture's mean from the members' means before you square.",
    ],
)


LAPLACE_MIXTURE = Task(
    name="laplace_mixture_moments",
    points=2,
    cases=_laplace_mixture_cases,
    probe=_laplace_mixture_probe,
    oracle=lambda means, scales: _moments(means, scipy.stats.laplace.var(scale=scales)),
    misconceptions=[
        *wrong_mixtures(lambda scales: 2 * scales**2, "scales"),
        *(
            Misconception(
                lambda means, scales, within=within: (
                    means.mean(0),
                    within(scales).mean(0) + means.var(0),
                ),
                hint,
            )
            for within, hint in (
                (
                    jnp.square,
                    "you take b² for the variance of a Laplace distribution; it is 2b².",
                ),
                (
                    lambda scales: np.sqrt(2) * scales,
                    "you average standard deviations, √2·b; average the variances, 2b².",
                ),
                (
                    lambda scales: 2 * scales,
                    "you take 2b for the variance of a Laplace distribution; it is 2b².",
                ),
            )
        ),
        Misconception(
            lambda means, scales: (
                means.mean(0),
                2 * ((scales**2).mean(0) + means.var(0)),
            ),
            "you double both parts. Only a member's own variance is 2b²; the variance of the "
            "means stays as it is.",
        ),
    ],
    hints=[
        "Only one thing differs from the Gaussian mixture: a member's own variance.",
        "A Laplace distribution with scale b has the variance 2b².",
    ],
)


def _members_cases(rng):
    """Draw logits; in the last case, probabilities underflow in single precision.

    That of the last class does for both members, that of the first for one of them.
    """
    hopeless = np.array([[[0.0, 0.0, -300.0]], [[-300.0, 0.0, -300.0]]])
    shapes = (3, 2, 5), (1, 1, 2), (2, 3, 3)
    cases = [{"logits": rng.normal(0, 3, shape)} for shape in shapes]
    cases[-1]["logits"] += hopeless
    return cases


def _ensemble_log_probs_probe(answer, logits):
    import jax.numpy as jnp

    return {"log_probs": answer(jnp.asarray(logits))}


def _ensemble_log_probs_oracle(logits):
    logits = np.asarray(logits, np.float32).astype(np.float64)
    log_probs = scipy.special.log_softmax(logits, axis=-1)
    weights = np.full((len(logits), 1, 1), 1 / len(logits))
    value = scipy.special.logsumexp(log_probs, axis=0, b=weights)
    return {"log_probs": Close(value, rtol=2e-5, atol=2e-5, because=FLOAT32)}


ENSEMBLE_LOG_PROBS = Task(
    name="ensemble_log_probs",
    points=2,
    cases=_members_cases,
    probe=_ensemble_log_probs_probe,
    oracle=_ensemble_log_probs_oracle,
    misconceptions=[
        Misconception(
            lambda logits: jax.nn.log_softmax(logits.mean(0)),
            "you average logits or log-probabilities. A mixture averages probabilities.",
        ),
        Misconception(
            lambda logits: jax.nn.log_softmax(logits).mean(0),
            "you average log-probabilities: this gives a geometric mean, which does not even sum to one.",
        ),
        Misconception(
            lambda logits: jax.nn.logsumexp(jax.nn.log_softmax(logits), axis=0),
            "you forget 1/M: the probabilities of the classes then sum to M.",
        ),
        Misconception(
            lambda logits: jnp.log(jax.nn.softmax(logits, axis=-1).mean(0)),
            "your probabilities underflow to 0 before you take their logarithm. Stay in log space: "
            "logsumexp over the members, minus log M.",
        ),
        Misconception(
            lambda logits: jax.nn.softmax(logits, axis=-1).mean(0),
            "you return probabilities instead of their logarithms.",
        ),
        *wrong_log_mixtures(
            lambda of_logits: of_logits, jax.nn.log_softmax, jax.nn.logsumexp, jnp.log
        ),
    ],
    hints=[
        "Compute each member's log-probabilities first: log_softmax over the classes.",
        "The mean over members is a sum of probabilities, divided by M: logsumexp takes log-probabilities and returns the logarithm of their sum.",
        "Take logsumexp over axis 0, then subtract jnp.log(M).",
    ],
)


def _probs_cases(rng):
    """Draw cases; in the second, a row has one 1, and another has one 0 and no 1.

    In the first, a row has small probabilities, which add to the entropy all the same.
    """
    probs, one = rng.dirichlet(np.full(4, 0.7), 3), rng.dirichlet(np.full(2, 0.7))
    small = rng.uniform(2e-4, 8e-4, 3)
    probs[-1] = rng.permutation([*small, 1 - small.sum()])
    certain = np.eye(3)[rng.integers(0, 3, (2, 1))]
    half = rng.uniform(0.3, 0.7)
    certain[1, 0] = rng.permutation([half, 1 - half, 0.0])
    return [{"probs": probs}, {"probs": certain}, {"probs": one}]


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
            "you add a small number inside the logarithm, which changes every entropy a little. "
            "jax.scipy.special.xlogy does not need it.",
        ),
        Misconception(
            lambda probs: -jnp.sum(probs * jnp.log(probs), axis=-1),
            "you compute 0 · log 0 as 0 · (−inf) = nan. The limit of p log p is 0, which jax.scipy.special.xlogy returns.",
        ),
        Misconception(
            lambda probs: (
                -jnp.sum(jax.scipy.special.xlogy(probs, probs), axis=-1) / np.log(2)
            ),
            "you take the logarithm to base 2, which gives bits; return nats.",
        ),
        Misconception(
            lambda probs: jnp.sum(jax.scipy.special.xlogy(probs, probs), axis=-1),
            "you forget the minus sign: an entropy is never negative.",
        ),
        Misconception(
            lambda probs: -jnp.mean(jax.scipy.special.xlogy(probs, probs), axis=-1),
            "you average over the classes; sum over them.",
        ),
        Misconception(lambda probs: _h(probs) / np.log(probs.shape[-1]), NORMALISED),
    ],
    hints=[
        "It is a sum over the last axis, with a minus sign in front.",
        "jax.scipy.special.xlogy(p, p) is p log p, and 0 at p = 0.",
    ],
)


def _member_probs_cases(rng):
    """Draw members; one of the first case is less sure than their mixture."""
    probs = rng.dirichlet(np.full(5, 0.3), (4, 3))
    probs[0] = 0.2
    certain = np.eye(3)[rng.integers(0, 3, (3, 2))]
    one = rng.dirichlet(np.full(2, 0.7), (1, 1))
    return [{"probs": probs}, {"probs": certain}, {"probs": one}]


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
    misconceptions=wrong_information(
        _h,
        lambda probs: -jnp.sum(probs * jnp.log(probs), axis=-1),
        "jax.scipy.special.xlogy",
    ),
    hints=[
        "Total uncertainty is the entropy of the mean; data uncertainty is the mean of the entropies.",
        "Average over the members (axis 0) twice: once over their probabilities and once over their entropies.",
    ],
)
