"""The Laplace approximation of the last layer; oracle in double precision."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import scipy.special

from course.checks.concepts_of_probit import root, wrong_roots
from course.checks.which_method.tolerances import FLOAT32
from course.task import Close, Misconception, Task


def _last_layer_cases(rng):
    """Draw cases; in the last, exp(logit) of a class is 0 in single precision, and of another ∞."""
    cases = []
    for scale, bias, n, k, h in (
        (0.3, 0.0, 5, 3, 4),
        (3.0, 0.0, 1, 2, 1),
        (0.3, -1000.0, 2, 4, 3),
    ):
        weights = rng.normal(0, 2, (k, h))
        weights[-1, -1] += bias
        weights[0, -1] -= bias
        roots = rng.normal(0, scale, (k, h, h))
        features = np.concatenate([rng.normal(0, 1, (n, h - 1)), np.ones((n, 1))], 1)
        cases.append(
            {
                "features": features,
                "weights": weights,
                "covariances": roots @ roots.swapaxes(1, 2) + scale * np.eye(h),
            }
        )
    return cases


def _last_layer_probe(answer, features, weights, covariances):
    import jax.numpy as jnp

    arrays = (jnp.asarray(features), jnp.asarray(weights), jnp.asarray(covariances))
    return {"log_probs": answer(*arrays)}


def _last_layer_oracle(features, weights, covariances):
    mean = np.einsum("nh,kh->nk", features, weights)
    variance = np.stack(
        [np.diag(features @ sigma @ features.T) for sigma in covariances], axis=1
    )
    value = scipy.special.log_softmax(mean / np.sqrt(1 + np.pi * variance / 8), axis=1)
    return {"log_probs": Close(value, rtol=1e-4, atol=1e-4, because=FLOAT32)}


def _with(temper):
    def answer(features, weights, covariances):
        spread = jnp.einsum("ni,kij,nj->nk", features, covariances, features)
        return jax.nn.log_softmax(temper(features @ weights.T, spread))

    return answer


LAST_LAYER_LOG_PROBS = Task(
    name="last_layer_log_probs",
    points=3,
    cases=_last_layer_cases,
    probe=_last_layer_probe,
    oracle=_last_layer_oracle,
    misconceptions=[
        Misconception(
            _with(lambda mean, variance: mean),
            "you ignore the covariances: your result is the plug-in forecast.",
        ),
        Misconception(
            lambda features, weights, covariances: _with(
                lambda mean, variance: mean / root(variance)
            )(features, weights, covariances * jnp.eye(features.shape[1])),
            "you use only the diagonals of the covariances: weights are correlated under the posterior.",
        ),
        Misconception(
            _with(lambda mean, variance: mean / root(variance) ** 2),
            "you forget the square root: the divisor is √(1 + πv/8).",
        ),
        Misconception(
            _with(lambda mean, variance: mean * root(variance)),
            "you multiply the logits by the root, so the forecast becomes more confident where the "
            "weights are less certain. Divide instead.",
        ),
        Misconception(
            _with(lambda mean, variance: mean / root(variance**0.5)),
            "you use the standard deviation of the logit instead of its variance.",
        ),
        Misconception(
            _with(lambda mean, variance: mean / jnp.sqrt(1 + variance)),
            "you leave out π/8: that factor fits a probit curve to the sigmoid.",
        ),
        Misconception(
            _with(lambda mean, variance: mean / root(variance.mean(-1, keepdims=True))),
            "you use one variance for all classes. Each logit has its own.",
        ),
        Misconception(
            lambda *arrays: jnp.exp(
                _with(lambda mean, variance: mean / root(variance))(*arrays)
            ),
            "you return probabilities instead of their logarithms.",
        ),
        Misconception(
            lambda *arrays: jnp.log(
                jnp.exp(_with(lambda mean, variance: mean / root(variance))(*arrays))
            ),
            "your probabilities underflow to 0 before you take their logarithm. "
            "jax.nn.log_softmax stays in log space.",
        ),
        *wrong_roots(
            lambda root_of: _with(lambda mean, variance: mean / root_of(variance))
        ),
        Misconception(
            lambda features, weights, covariances: (
                _with(lambda mean, variance: mean)(features, weights, covariances)
                / root(jnp.einsum("ni,kij,nj->nk", features, covariances, features))
            ),
            "you divide the log-probabilities by the root. Divide the logits, then take log_softmax.",
        ),
    ],
    hints=[
        "The logits' means are linear in the features. You still need one variance per logit.",
        "vₙₖ = φₙᵀΣₖφₙ. In jnp.einsum, keep the letters for n and k, and sum over both indices of Σₖ.",
        "A variance of 8/π divides a logit's mean by √2. Apply log_softmax at the end, over the last axis.",
    ],
)
