"""Negative log-likelihoods; oracles from ``scipy.stats``."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import scipy.special
import scipy.stats

from course.checks.concepts_of_densities import wrong_log_normals
from course.checks.deep_ensembles.tolerances import FLOAT32
from course.probing import value_and_gradients
from course.task import Close, Misconception, Task

MEAN_OF_DATA = "you average over the data points; return one value for each."


def _location_scale_cases(spread):
    def cases(rng):
        near = []
        for n in (3, 1, 3):
            mean, distance = rng.normal(0, 2, n), rng.uniform(0.3, 5, n)
            sides = rng.permutation(np.resize([-1, 1], n))  # both signs occur
            case = {
                "mean": mean,
                spread: rng.uniform(0.2, 3, n),
                "y": mean + sides * distance,
            }
            near.append(case)
        # The density itself underflows in single precision here.
        far = {"mean": np.zeros(2), spread: np.full(2, 0.05), "y": rng.uniform(8, 9, 2)}
        # Spreads as small as a network may give: what is clipped or smoothed there is wrong.
        small = rng.uniform(2e-6, 5e-6, 4)
        distance = rng.permutation([-1, 1, -1, 1]) * rng.uniform(1.5, 3, 4)
        narrow = {"mean": np.zeros(4), spread: small, "y": small * distance}
        return [*near, far, narrow]

    return cases


def _gaussian_nll_probe(answer, mean, std, y):
    keys = ("nll", "gradient_of_mean", "gradient_of_std")
    return value_and_gradients(keys, answer, mean, std, y, compiled=True)


def _laplace_nll_probe(answer, mean, scale, y):
    keys = ("nll", "gradient_of_mean", "gradient_of_scale")
    return value_and_gradients(keys, answer, mean, scale, y, compiled=True)


def _gaussian_nll_oracle(mean, std, y):
    return {
        "nll": Close(
            -scipy.stats.norm.logpdf(y, mean, std),
            rtol=2e-5,
            atol=2e-5,
            because=FLOAT32,
        ),
        "gradient_of_mean": Close(
            (mean - y) / std**2, rtol=5e-5, atol=5e-5, because=FLOAT32
        ),
        "gradient_of_std": Close(
            1 / std - (y - mean) ** 2 / std**3, rtol=5e-5, atol=5e-5, because=FLOAT32
        ),
    }


def _laplace_nll_oracle(mean, scale, y):
    return {
        "nll": Close(
            -scipy.stats.laplace.logpdf(y, mean, scale),
            rtol=2e-5,
            atol=2e-5,
            because=FLOAT32,
        ),
        "gradient_of_mean": Close(
            np.sign(mean - y) / scale, rtol=5e-5, because=FLOAT32
        ),
        "gradient_of_scale": Close(
            1 / scale - np.abs(y - mean) / scale**2,
            rtol=5e-5,
            atol=5e-5,
            because=FLOAT32,
        ),
    }


GAUSSIAN_NLL = Task(
    name="gaussian_nll",
    points=2,
    cases=_location_scale_cases("std"),
    probe=_gaussian_nll_probe,
    oracle=_gaussian_nll_oracle,
    misconceptions=[
        Misconception(
            lambda mean, std, y: (
                0.5 * jnp.log(2 * np.pi * std) + 0.5 * (y - mean) ** 2 / std
            ),
            "you take the standard deviation for the variance.",
        ),
        Misconception(
            lambda mean, std, y: (
                -jnp.log(
                    jnp.exp(-0.5 * ((y - mean) / std) ** 2) / (np.sqrt(2 * np.pi) * std)
                )
            ),
            "you compute the density first and take its logarithm afterwards: far from the mean "
            "the density underflows to 0. Take the logarithm on paper.",
        ),
        Misconception(
            lambda mean, std, y: (
                0.5 * np.log(2 * np.pi) + jnp.log(std) + ((y - mean) / std) ** 2
            ),
            "you forget the ½ before the squared deviation.",
        ),
        Misconception(
            lambda mean, std, y: jnp.log(std) + 0.5 * ((y - mean) / std) ** 2,
            "you leave out the constant ½ log 2π: losses of different likelihoods cannot then be compared.",
        ),
        Misconception(
            lambda mean, std, y: (
                0.5 * np.log(2 * np.pi) + 0.5 * ((y - mean) / std) ** 2
            ),
            "you leave out log σ: the loss then keeps falling as σ grows.",
        ),
        Misconception(
            lambda mean, std, y: (
                -(
                    0.5 * np.log(2 * np.pi)
                    + jnp.log(std)
                    + 0.5 * ((y - mean) / std) ** 2
                )
            ),
            "you flip the sign: this is log p, and minimising it makes the fit as bad as possible.",
        ),
        Misconception(
            lambda mean, std, y: (
                0.5 * np.log(2 * np.pi) + jnp.log(std) - 0.5 * ((y - mean) / std) ** 2
            ),
            "you subtract the squared deviation: the loss then falls as the target moves away from the mean.",
        ),
        Misconception(
            lambda mean, std, y: jnp.mean(
                0.5 * np.log(2 * np.pi) + jnp.log(std) + 0.5 * ((y - mean) / std) ** 2
            ),
            MEAN_OF_DATA,
        ),
        Misconception(
            lambda mean, std, y: (
                0.5 * np.log(2 * np.pi)
                + jnp.log(std)
                + 0.5 * ((y - jax.lax.stop_gradient(mean)) / std) ** 2
            ),
            "you hold the mean fixed (stop_gradient): the value is right, but the mean is never learned.",
        ),
        *wrong_log_normals(
            lambda log_density: lambda mean, std, y: -log_density(y, mean, std),
            *(
                "normaliser",
                "log variance",
                "sign of log std",
                "no variance",
                "std",
                "root of 2π",
                "half log std",
                "brackets",
                "2 of 2π",
            ),
            log=jnp.log,
            negative=True,
        ),
    ],
    hints=[
        "Use the expression that you derived, with `jnp` in place of `sympy`; return one value for each data point.",
        "Three terms: a constant, the logarithm of the standard deviation, half the squared standardised deviation.",
        "Compute `z = (y - mean) / std` first. The constant is `0.5 * jnp.log(2 * jnp.pi)`.",
    ],
)

LAPLACE_NLL = Task(
    name="laplace_nll",
    points=2,
    cases=_location_scale_cases("scale"),
    probe=_laplace_nll_probe,
    oracle=_laplace_nll_oracle,
    misconceptions=[
        Misconception(
            lambda mean, scale, y: jnp.log(scale) + jnp.abs(y - mean) / scale,
            "you leave out the 2 in the normaliser 1/(2b).",
        ),
        Misconception(
            lambda mean, scale, y: jnp.abs(y - mean) / scale - jnp.log(2 * scale),
            "you subtract log 2b; add it: a wider Laplace density is lower at its mean.",
        ),
        Misconception(
            lambda mean, scale, y: jnp.log(2 * scale) + jnp.abs(y - mean) / (2 * scale),
            "you divide by 2b in the exponent; only the normaliser has the 2.",
        ),
        Misconception(
            lambda mean, scale, y: (
                jnp.log(np.sqrt(2) * scale) + np.sqrt(2) * jnp.abs(y - mean) / scale
            ),
            "you take the scale for the standard deviation, which is √2·b.",
        ),
        Misconception(
            lambda mean, scale, y: (
                jnp.log(2 * jnp.sqrt(scale / 2))
                + jnp.abs(y - mean) / jnp.sqrt(scale / 2)
            ),
            "you take the scale for the variance. The variance is 2b²; b itself goes into the density.",
        ),
        Misconception(
            lambda mean, scale, y: jnp.log(2 * scale) + 0.5 * ((y - mean) / scale) ** 2,
            "you square the deviation; a Laplace density takes its absolute value.",
        ),
        Misconception(
            lambda mean, scale, y: jnp.log(2 * scale) + (y - mean) ** 2 / scale,
            "you square the deviation; a Laplace density takes its absolute value.",
        ),
        Misconception(
            lambda mean, scale, y: jnp.log(2 * scale) + (y - mean) / scale,
            "you leave out the absolute value: targets below the mean are then rewarded.",
        ),
        Misconception(
            lambda mean, scale, y: jnp.mean(
                jnp.log(2 * scale) + jnp.abs(y - mean) / scale
            ),
            MEAN_OF_DATA,
        ),
    ],
    hints=[
        "Take the negative logarithm of the Laplace density in the text, with `jnp`; return one value for each data point.",
        "Two terms: the logarithm of the normaliser and an absolute deviation in units of the scale.",
        "The normaliser contributes jnp.log(2 * scale).",
    ],
)


def _categorical_cases(rng):
    cases = []
    # Bare exponentials overflow at 1000; a probability of exp(-300) underflows.
    underflow = np.array([0.0, 0.0, 0.0, -300.0])
    for n, k, shift in ((5, 3, 0.0), (1, 2, 1000.0), (3, 4, underflow)):
        logits = rng.normal(0, 2, (n, k)) + shift
        logits[-1] -= 300 * (
            n > 1
        )  # its exponentials underflow beside those of other rows
        classes = rng.permutation(np.resize(range(k)[::-1], n))  # the last one occurs
        cases.append({"logits": logits, "targets": np.eye(k)[classes]})
    return cases


def _categorical_nll_probe(answer, logits, targets):
    keys = ("nll", "gradient")
    return value_and_gradients(keys, answer, logits, targets, compiled=True)


def _categorical_nll_oracle(logits, targets):
    logits = np.asarray(logits, np.float32).astype(
        np.float64
    )  # as the answer sees them
    log_probs = scipy.special.log_softmax(logits, axis=-1)
    nll = -np.sum(targets * log_probs, axis=-1)
    # logsumexp(logits) minus a logit is also right, but rounds two numbers around 1,000.
    atol = 2e-5 + 3e-7 * float(np.abs(logits).max())
    return {
        "nll": Close(nll, rtol=2e-5, atol=atol, because=FLOAT32),
        "gradient": Close(
            np.exp(log_probs) - targets, rtol=5e-5, atol=5e-5, because=FLOAT32
        ),
    }


CATEGORICAL_NLL = Task(
    name="categorical_nll",
    points=2,
    cases=_categorical_cases,
    probe=_categorical_nll_probe,
    oracle=_categorical_nll_oracle,
    misconceptions=[
        Misconception(
            lambda logits, targets: (
                -jnp.mean(targets * jax.nn.log_softmax(logits), axis=-1)
            ),
            "you average over the K classes. Sum over classes, so that −log p of the true class remains; "
            "this loss is K times too small, and any weight decay is K times too strong.",
        ),
        Misconception(
            lambda logits, targets: (
                -jnp.log(
                    jnp.sum(
                        targets
                        * jnp.exp(logits)
                        / jnp.exp(logits).sum(-1, keepdims=True),
                        -1,
                    )
                )
            ),
            "you compute the softmax with bare exponentials: exp(1000) is inf. Stay with log-probabilities: "
            "use jax.nn.log_softmax.",
        ),
        Misconception(
            lambda logits, targets: (
                -jnp.sum(targets * jnp.log(jax.nn.softmax(logits)), axis=-1)
            ),
            "you take the logarithm of probabilities that have underflowed to 0. "
            "jax.nn.log_softmax stays in log space.",
        ),
        Misconception(
            lambda logits, targets: (
                -jnp.log(jnp.sum(targets * jax.nn.softmax(logits), axis=-1))
            ),
            "you take the logarithm of probabilities that have underflowed to 0. "
            "jax.nn.log_softmax stays in log space.",
        ),
        Misconception(
            lambda logits, targets: (
                -jnp.sum(targets * jax.nn.log_softmax(jax.nn.softmax(logits)), axis=-1)
            ),
            "you apply the softmax twice: jax.nn.log_softmax takes the logits themselves.",
        ),
        Misconception(
            lambda logits, targets: jnp.sum(targets * jax.nn.log_softmax(logits), -1),
            "you forget the minus sign: this is the log-likelihood.",
        ),
        Misconception(
            lambda logits, targets: -jnp.sum(targets * logits, axis=-1),
            "you take logits for log-probabilities: the logits still have to be normalised.",
        ),
        Misconception(
            lambda logits, targets: (
                -jnp.sum(targets * jax.nn.log_softmax(logits), axis=-1).mean()
            ),
            MEAN_OF_DATA,
        ),
        Misconception(
            lambda logits, targets: (
                -jnp.sum(targets * (logits - jax.nn.logsumexp(logits, axis=0)), -1)
            ),
            "you take the softmax over the data points (axis 0) instead of the classes (the last axis).",
        ),
        Misconception(
            lambda logits, targets: (
                -jnp.sum(
                    targets
                    * (
                        logits
                        - jax.lax.stop_gradient(
                            jax.nn.logsumexp(logits, axis=-1, keepdims=True)
                        )
                    ),
                    -1,
                )
            ),
            "you hold the normaliser fixed (stop_gradient): the value is right, but training only raises logits, "
            "never lowers them.",
        ),
    ],
    hints=[
        "Turn logits into log-probabilities first, and stay in log space.",
        "jax.nn.log_softmax works over the last axis; a one-hot target then picks out the observed class.",
        "Multiply targets and log-probabilities, and sum over the last axis.",
    ],
)
