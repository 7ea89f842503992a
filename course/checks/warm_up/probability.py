"""Divergences, densities in other coordinates, averages of probabilities; oracles from SciPy."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import scipy.special
import scipy.stats

from course.checks.concepts_of_densities import FAR, wrong_log_normals
from course.checks.warm_up.tolerances import EXPONENTS, FLOAT32, LARGE
from course.probing import value_and_gradients
from course.task import Close, Misconception, Task


def _kl_cases(rng):
    """Draw p sharper than q, so that the two directions of the KL differ clearly."""
    cases = []
    for n, k in ((3, 4), (1, 2)):
        signs = np.stack([rng.permutation(np.linspace(-1, 1, k)) for _ in range(n)])
        p = signs * rng.uniform(1.0, 2.0, (n, k))
        q = rng.uniform(0.0, 0.3, (n, k))
        cases.append({"log_p": _log_softmax(p), "log_q": _log_softmax(q)})
    # One class has almost no probability under p, one under q: exp(-200) is 0 in single precision.
    p = rng.uniform(-1, 1, (2, 3)) + np.array([0.0, 0.0, -200.0])
    q = rng.uniform(-1, 1, (2, 3)) + np.array([0.0, -200.0, 0.0])
    return [*cases, {"log_p": _log_softmax(p), "log_q": _log_softmax(q)}]


def _log_softmax(logits):
    return logits - scipy.special.logsumexp(logits, axis=-1, keepdims=True)


def _kl_probe(answer, log_p, log_q):
    import jax
    import jax.numpy as jnp

    log_p, log_q = jnp.asarray(log_p), jnp.asarray(log_q)
    divergence = answer(log_p, log_q)
    if divergence is None:
        return {"divergence": None}

    def total(p, q):  # of logits: probabilities that sum to one are all that is asked
        return jnp.sum(answer(jax.nn.log_softmax(p), jax.nn.log_softmax(q)))

    to_p, to_q = jax.grad(total, (0, 1))(log_p, log_q)
    return {
        "divergence": divergence,
        "gradient_of_logits_of_p": to_p,
        "gradient_of_logits_of_q": to_q,
    }


def _kl_oracle(log_p, log_q):
    p, q = np.exp(log_p), np.exp(log_q)
    right = scipy.special.rel_entr(p, q).sum(-1)
    to_p = p * (log_p - log_q - right[:, None])
    return {
        "divergence": Close(right, rtol=5e-5, atol=1e-6, because=FLOAT32),
        "gradient_of_logits_of_p": Close(to_p, rtol=5e-5, atol=1e-4, because=LARGE),
        "gradient_of_logits_of_q": Close(q - p, rtol=5e-5, atol=5e-5, because=FLOAT32),
    }


def _kl(log_p, log_q, reduce=jnp.sum):
    return reduce(jnp.exp(log_p) * (log_p - log_q), axis=-1)


KL_CATEGORICAL = Task(
    name="kl_categorical",
    points=2,
    cases=_kl_cases,
    probe=_kl_probe,
    oracle=_kl_oracle,
    misconceptions=[
        Misconception(
            lambda log_p, log_q: _kl(log_q, log_p),
            "you swap p and q: that is KL(q‖p). The expectation is under the distribution named first.",
        ),
        Misconception(
            lambda log_p, log_q: jnp.sum(jnp.exp(log_q) * (log_p - log_q), axis=-1),
            "you take the expectation over q; in KL(p‖q) it is over p.",
        ),
        Misconception(
            lambda log_p, log_q: -_kl(log_p, log_q),
            "you flip the sign: a divergence is never negative.",
        ),
        Misconception(
            lambda log_p, log_q: _kl(log_p, log_q) / jnp.log(2),
            "you take the logarithm to base 2, which gives bits; return nats.",
        ),
        Misconception(
            lambda log_p, log_q: _kl(log_p, log_q, jnp.mean),
            "you average over the classes. An expectation is a sum: p already provides the weights.",
        ),
        Misconception(
            lambda log_p, log_q: -jnp.sum(jnp.exp(log_p) * log_q, axis=-1),
            "you do not subtract the entropy of p: the result is a cross-entropy.",
        ),
        Misconception(
            lambda log_p, log_q: jnp.sum(log_p - log_q, axis=-1),
            "you sum the log-ratios without the weights p.",
        ),
        Misconception(
            lambda log_p, log_q: jnp.sum(
                jnp.exp(log_p) * (jnp.log(jnp.exp(log_p)) - jnp.log(jnp.exp(log_q))),
                axis=-1,
            ),
            "you exponentiate the logarithms and then take logarithms again: exp(−200) is 0 in single "
            "precision, and the logarithm of 0 is −inf.",
        ),
    ],
    hints=[
        "KL(p‖q) is an expectation under p of log p − log q.",
        "An expectation over classes is a sum, weighted by p = `exp(log_p)`.",
        "The classes are the last axis; a batch of distributions gives a batch of divergences.",
    ],
)


def _log_normal_cases(rng):
    """Draw cases; in the last, y is first far out, where the density underflows, then tiny."""
    cases = []
    for n in (3, 2, 1):
        z = rng.permutation(np.resize([-1, 1], n)) * rng.uniform(0.3, 2, n)
        cases.append(
            {
                "y": np.exp(z),
                "mean": rng.normal(0, 1, n),
                "std": rng.uniform(0.3, 2, n),
            }
        )
    mean = np.array([rng.uniform(-1, 1), rng.uniform(-20, -16)])
    std = np.array([rng.uniform(0.3, 0.5), rng.uniform(0.8, 2)])
    scaled = np.array([FAR, rng.uniform(0.5, 1.5)])
    last = {"y": np.exp(mean + scaled * std), "mean": mean, "std": std}
    return [*cases, last]


def _log_normal_probe(answer, y, mean, std):
    keys = ("log_density", "gradient_of_y", "gradient_of_mean", "gradient_of_std")
    return value_and_gradients(keys, answer, y, mean, std)


def _log_normal_oracle(y, mean, std):
    right = scipy.stats.lognorm.logpdf(y, s=std, scale=np.exp(mean))
    scaled = (np.log(y) - mean) / std
    return {
        "log_density": Close(right, rtol=5e-5, atol=5e-5, because=FLOAT32),
        "gradient_of_y": Close(
            -(1 + scaled / std) / y, rtol=5e-5, atol=2e-4, because=LARGE
        ),
        "gradient_of_mean": Close(scaled / std, rtol=5e-5, atol=5e-5, because=FLOAT32),
        "gradient_of_std": Close(
            (scaled**2 - 1) / std, rtol=5e-5, atol=2e-4, because=LARGE
        ),
    }


_logpdf = jax.scipy.stats.norm.logpdf

LOG_NORMAL = Task(
    name="log_normal_log_density",
    points=2,
    cases=_log_normal_cases,
    probe=_log_normal_probe,
    oracle=_log_normal_oracle,
    misconceptions=[
        Misconception(
            lambda y, mean, std: _logpdf(jnp.log(y), mean, std),
            "you leave out the determinant: that is the density of z = log y, per unit of z. "
            "Where the map stretches space, the density of y is smaller.",
        ),
        Misconception(
            lambda y, mean, std: _logpdf(jnp.log(y), mean, std) + jnp.log(y),
            "you flip the sign of the log-determinant: where the map stretches space, the density becomes smaller.",
        ),
        Misconception(
            lambda y, mean, std: _logpdf(jnp.log(y), mean, std) - y,
            "you subtract the determinant itself; subtract its logarithm.",
        ),
        Misconception(
            lambda y, mean, std: _logpdf(y, mean, std),
            "you evaluate the Gaussian at y; it is z = log y that is Gaussian.",
        ),
        Misconception(
            lambda y, mean, std: _logpdf(y, mean, std) - jnp.log(y),
            "you evaluate the Gaussian at y; it is z = log y that is Gaussian.",
        ),
        Misconception(
            lambda y, mean, std: _logpdf(jnp.log(y), mean, jnp.sqrt(std)) - jnp.log(y),
            "you treat the standard deviation as the variance.",
        ),
        Misconception(
            lambda y, mean, std: _logpdf(jnp.log(y), mean, std**2) - jnp.log(y),
            "you square `std`: norm.logpdf takes the standard deviation, not the variance.",
        ),
        Misconception(
            lambda y, mean, std: jnp.log(
                jax.scipy.stats.norm.pdf(jnp.log(y), mean, std) / y
            ),
            "you take the logarithm of the density, which far from the mean is 0 in single precision. Stay in log space.",
        ),
        *wrong_log_normals(
            lambda log_density: (
                lambda y, mean, std: log_density(jnp.log(y), mean, std) - jnp.log(y)
            ),
            log=jnp.log,
        ),
    ],
    hints=[
        "Which z gives this y? Its Gaussian log-density is the first term.",
        "p(y) dy = p(z) dz, so log p(y) = log p(z) − log |dy/dz|.",
        "With y = exp(z), dy/dz is y again, and its logarithm is z.",
    ],
)


def _log_mean_exp_cases(rng):
    """Draw dispersed log-probabilities, of which in two cases some underflow.

    In one of them, those of two data points do; in the other, all but one draw's.
    """
    cases = []
    # For data points so far apart, subtracting one common maximum is not enough.
    apart = np.array([-1.0, -150.0, -300.0])
    for draws, n, shift, gap in (
        (4, 2, -1.0, 0),
        (1, 1, -1.0, 0),
        (5, 3, apart, 0),
        (3, 4, -1.0, 300),
    ):
        log_probs = shift - rng.uniform(0.2, 4, (draws, n)) - gap
        log_probs[0] = shift - rng.uniform(0.0, 0.1, n)
        cases.append({"log_probs": log_probs})
    return cases


def _log_mean_exp_probe(answer, log_probs):
    return value_and_gradients(("log_prob", "gradient"), answer, log_probs)


def _log_mean_exp_oracle(log_probs):
    right = np.log(np.mean(np.exp(log_probs), axis=0))  # doubles can hold exp(-310)
    weights = scipy.special.softmax(log_probs, axis=0)
    return {
        "log_prob": Close(right, rtol=2e-5, atol=2e-5, because=FLOAT32),
        # Single precision has no numbers below 1e-45.
        "gradient": Close(weights, rtol=2e-4, atol=1e-30, because=EXPONENTS),
    }


_logsumexp = jax.scipy.special.logsumexp

LOG_MEAN_EXP = Task(
    name="log_mean_exp",
    points=1,
    cases=_log_mean_exp_cases,
    probe=_log_mean_exp_probe,
    oracle=_log_mean_exp_oracle,
    misconceptions=[
        Misconception(
            lambda log_probs: jnp.mean(log_probs, axis=0),
            "you average the logarithms: that is the logarithm of a geometric mean, which a "
            "single small probability pulls down. The mean belongs inside.",
        ),
        Misconception(
            lambda log_probs: _logsumexp(log_probs, axis=0),
            "you sum the probabilities instead of averaging them: log S is missing.",
        ),
        Misconception(
            lambda log_probs: jnp.log(jnp.mean(jnp.exp(log_probs), axis=0)),
            "you exponentiate without subtracting the maximum: exp(−300) is 0 in single "
            "precision. jax.scipy.special.logsumexp subtracts it first.",
        ),
        Misconception(
            lambda log_probs: (
                (centre := log_probs.mean(0))
                + jnp.log(jnp.mean(jnp.exp(log_probs - centre), axis=0))
            ),
            "you subtract the mean before you exponentiate. Where one draw is far above it, exp overflows: subtract "
            "the maximum.",
        ),
        Misconception(
            lambda log_probs: (
                _logsumexp(log_probs, axis=1) - np.log(log_probs.shape[1])
            ),
            "you average over data points, axis 1; average over draws, axis 0.",
        ),
        Misconception(
            lambda log_probs: (
                _logsumexp(log_probs, axis=0) - np.log(log_probs.shape[1])
            ),
            "you subtract log N, for the number of data points; the mean is over the S draws, so subtract log S.",
        ),
        Misconception(
            lambda log_probs: _logsumexp(log_probs, axis=0) / len(log_probs),
            "you divide the logarithm by S. Dividing inside the logarithm means subtracting log S outside.",
        ),
    ],
    hints=[
        "Is it the sum or the logarithm that runs over the draws? Write the mean as a sum divided by S.",
        "The logarithm of a product is a sum: log (1/S) Σ p = log Σ p − log S.",
        "log Σ exp(a) is jax.scipy.special.logsumexp(a, axis=0).",
    ],
)
