"""Bayesian linear regression; oracles condition joint Gaussians of weights or of targets."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import scipy.stats

from course.checks.concepts_of_evidence import log_normal, wrong_evidences
from course.checks.warm_up.tolerances import DOUBLE
from course.probing import value_and_gradients
from course.task import Close, Misconception, Task

TIGHT = {"rtol": 1e-6, "atol": 1e-7, "because": DOUBLE}
# N and D; more features than data in one, by one: a constant added to ΦᵀΦ makes it regular.
SIZES = ((5, 3), (4, 5), (1, 1))


def _features(rng, n, d):
    """Draw features far from 0 and from one another's columns."""
    return rng.choice([-1, 1], (n, d)) * rng.uniform(0.4, 1.6, (n, d))


def _posterior_cases(rng, sizes=SIZES):
    """Draw noise and prior variance far from 1, so that every factor shows."""
    cases = []
    for n, d in sizes:
        features = _features(rng, n, d)
        weights = rng.choice([-1, 1], d) * rng.uniform(0.5, 1.5, d)
        case = {"features": features, "y": features @ weights + rng.uniform(0.2, 1, n)}
        case["noise_std"] = float(rng.uniform(0.3, 0.6))
        cases.append(case | {"prior_variance": float(rng.uniform(2, 4))})
    return cases


def _evidence_cases(rng):
    """Draw cases; the first has such units of y that determinants underflow.

    In the last, only one data point has features other than 0, so ΦΦᵀ is diagonal and 0 is its
    eigenvalue four times, exactly. In the others no eigenvalue occurs twice: what differentiates
    eigenvectors would be rounding errors, other ones on each machine.
    """
    first, *others = _posterior_cases(rng, ((5, 4), (4, 5), (1, 1), (5, 3)))
    others[-1]["features"][[0, 1, 3, 4]] = 0.0
    unit = 1e-40
    scaled = {"y": unit * first["y"], "noise_std": unit * first["noise_std"]}
    scaled["prior_variance"] = unit**2 * first["prior_variance"]
    return [first | scaled, *others]


def _posterior_probe(answer, features, y, noise_std, prior_variance):
    import jax
    import jax.numpy as jnp

    with jax.enable_x64(True):
        mean, precision = answer(
            jnp.asarray(features), jnp.asarray(y), noise_std, prior_variance
        )
        return {"mean": mean, "precision": precision}


def _posterior_oracle(features, y, noise_std, prior_variance):
    """The mean as least squares, with the prior as one more observation of each weight."""
    d = features.shape[1]
    rows = np.concatenate([features / noise_std, np.eye(d) / prior_variance**0.5])
    right = np.concatenate([y / noise_std, np.zeros(d)])
    return {
        "mean": Close(np.linalg.lstsq(rows, right)[0], **TIGHT),
        "precision": Close(rows.T @ rows, **TIGHT),
    }


def _posterior(features, y, data=1.0, prior=1.0, mean_factor=1.0, every=False):
    """The posterior whose precision is ``data`` ΦᵀΦ + ``prior`` I."""
    where = jnp.ones(()) if every else jnp.eye(features.shape[1])
    precision = data * features.T @ features + prior * where
    return mean_factor * jnp.linalg.solve(precision, data * features.T @ y), precision


WEIGHT_POSTERIOR = Task(
    name="weight_posterior",
    points=2,
    cases=_posterior_cases,
    probe=_posterior_probe,
    oracle=_posterior_oracle,
    misconceptions=[
        Misconception(
            lambda features, y, noise_std, prior_variance: (
                (pair := _posterior(features, y, noise_std**-2, 1 / prior_variance))[0],
                jnp.linalg.inv(pair[1]),
            ),
            "you return the covariance of the weights; return its inverse, the precision.",
        ),
        Misconception(
            lambda features, y, noise_std, prior_variance: _posterior(
                features, y, 1 / noise_std, 1 / prior_variance
            ),
            "you divide by the noise's standard deviation; divide by its square, the variance.",
        ),
        Misconception(
            lambda features, y, noise_std, prior_variance: _posterior(
                features, y, noise_std**-2, prior_variance
            ),
            "you add the prior's variance to the precision; add one over it.",
        ),
        Misconception(
            lambda features, y, noise_std, prior_variance: _posterior(
                features, y, noise_std**-2, prior_variance**-2
            ),
            "you square the prior variance: it is a variance already.",
        ),
        Misconception(
            lambda features, y, noise_std, prior_variance: _posterior(
                features, y, noise_std**-2, 1 / prior_variance, every=True
            ),
            "you add the prior's precision to every entry; it belongs on the diagonal alone, as in I/σ₀².",
        ),
        Misconception(
            lambda features, y, noise_std, prior_variance: _posterior(
                features, y, noise_std**-2, prior_variance**-0.5
            ),
            "you add one over the prior's standard deviation; add one over its variance.",
        ),
        Misconception(
            lambda features, y, noise_std, prior_variance: (
                jnp.linalg.lstsq(features, y)[0],
                features.T @ features / noise_std**2,
            ),
            "you leave out the prior: its precision is added to that of the data.",
        ),
        Misconception(
            lambda features, y, noise_std, prior_variance: _posterior(
                features, y, 1.0, 1 / prior_variance
            ),
            "you leave out the noise: the data count as if its variance were 1.",
        ),
        Misconception(
            lambda features, y, noise_std, prior_variance: _posterior(
                features, y, noise_std**-2, 1 / prior_variance, noise_std**2
            ),
            "you leave out the noise variance in the mean: Φᵀy must be divided by it, as ΦᵀΦ is.",
        ),
        Misconception(
            lambda features, y, noise_std, prior_variance: _posterior(
                features, y, noise_std**-2 / len(y), 1 / prior_variance
            ),
            "you average over the data points: the likelihoods are multiplied, so their precisions add up.",
        ),
    ],
    hints=[
        "Precisions add: each data point contributes an outer product over τ², the prior a multiple of I.",
        "The mean solves Σ⁻¹µ = Φᵀy/τ².",
        "jnp.linalg.cholesky gives the factor; jax.scipy.linalg.cho_solve takes the pair `(factor, True)`.",
    ],
)


def _predictive_cases(rng):
    cases = []
    for n, d in ((4, 3), (3, 1), (1, 2)):
        root = rng.uniform(-0.6, 0.6, (d, d))
        case = {
            "mean": rng.choice([-1, 1], d) * rng.uniform(0.5, 2, d),
            "precision": root @ root.T + np.diag(rng.uniform(2, 5, d)),
            "features": _features(rng, n, d),
        }
        cases.append(case | {"noise_std": float(rng.uniform(0.3, 0.6))})
    return cases


def _predictive_probe(answer, mean, precision, features, noise_std):
    import jax
    import jax.numpy as jnp

    with jax.enable_x64(True):
        arrays = map(jnp.asarray, (mean, precision, features))
        mean, variance = answer(*arrays, noise_std)
        return {"mean": mean, "variance": variance}


def _predictive_oracle(mean, precision, features, noise_std):
    covariance = np.linalg.inv(precision)
    variance = [noise_std**2 + row @ covariance @ row for row in features]
    return {
        "mean": Close([row @ mean for row in features], **TIGHT),
        "variance": Close(variance, **TIGHT),
    }


def _spread(precision, features):
    """φᵀΣφ for each row."""
    return jnp.sum(features * jnp.linalg.solve(precision, features.T).T, axis=1)


def _with_the_other_factor(precision, features):
    """The squared norm of L⁻ᵀφ for each row."""
    factor = jnp.linalg.cholesky(precision)
    return jnp.sum(jnp.linalg.solve(factor.T, features.T) ** 2, axis=0)


LINEAR_PREDICTIVE = Task(
    name="linear_predictive",
    points=2,
    cases=_predictive_cases,
    probe=_predictive_probe,
    oracle=_predictive_oracle,
    misconceptions=[
        Misconception(
            lambda mean, precision, features, noise_std: (
                features @ mean,
                _spread(precision, features),
            ),
            "you leave out the noise: this is the variance of the curve, not that of a new target.",
        ),
        Misconception(
            lambda mean, precision, features, noise_std: (
                features @ mean,
                jnp.full(len(features), noise_std**2),
            ),
            "you leave out the uncertainty about the weights: this is the plug-in forecast of one curve.",
        ),
        Misconception(
            lambda mean, precision, features, noise_std: (
                features @ mean,
                noise_std + _spread(precision, features),
            ),
            "you add the noise's standard deviation to a variance; add its square.",
        ),
        Misconception(
            lambda mean, precision, features, noise_std: (
                features @ mean,
                jnp.sqrt(noise_std**2 + _spread(precision, features)),
            ),
            "you return the standard deviation; return the variance.",
        ),
        Misconception(
            lambda mean, precision, features, noise_std: (
                features @ mean,
                noise_std**2 + jnp.sum(features * (features @ precision), axis=1),
            ),
            "you use the precision as if it were the covariance.",
        ),
        Misconception(
            lambda mean, precision, features, noise_std: (
                features @ mean,
                noise_std**2 + features**2 @ (1 / jnp.diag(precision)),
            ),
            "you invert the diagonal of the precision alone: weights are correlated under the posterior.",
        ),
        Misconception(
            lambda mean, precision, features, noise_std: (
                features @ mean,
                noise_std**2 + _with_the_other_factor(precision, features),
            ),
            "you solve with Lᵀ where L is meant: φᵀΣφ is the squared norm of L⁻¹φ.",
        ),
        Misconception(
            lambda mean, precision, features, noise_std: (
                features @ mean,
                noise_std**2
                + features**2 @ jnp.diag(jnp.linalg.cholesky(precision)) ** -2,
            ),
            "you use only the diagonal of L: without lower=True, solve_triangular reads the upper triangle.",
        ),
        Misconception(
            lambda mean, precision, features, noise_std: (
                features @ mean,
                noise_std**2 * jnp.eye(len(features))
                + features @ jnp.linalg.solve(precision, features.T),
            ),
            "you return the covariance matrix of all new targets; return its diagonal.",
        ),
        Misconception(
            lambda mean, precision, features, noise_std: (
                features @ mean,
                noise_std**2 + jnp.sqrt(_spread(precision, features)),
            ),
            "you add a norm where its square is needed: φᵀΣφ is the squared norm of L⁻¹φ.",
        ),
    ],
    hints=[
        "The forecast is a sum of two independent parts: φᵀw and the noise. Variances of such parts add up.",
        "With the factor L of the precision, L⁻¹ applied to all rows at once is one triangular solve of Φᵀ.",
        "Square its entries, and sum over the axis of the features, which is now the first.",
    ],
)


def _evidence_probe(answer, features, y, noise_std, prior_variance):
    import jax
    import jax.numpy as jnp

    def of_features(features):
        return answer(features, jnp.asarray(y), noise_std, prior_variance)

    with jax.enable_x64(True):
        keys = ("log_evidence", "gradient_of_features")
        return value_and_gradients(keys, of_features, features)


def _in_the_eigenbasis(features, y, noise_std, prior_variance):
    """The evidence as a sum over the eigenvectors of ΦΦᵀ."""
    values, vectors = jnp.linalg.eigh(features @ features.T)
    stds = jnp.sqrt(prior_variance * jnp.maximum(values, 0) + noise_std**2)
    return jnp.sum(jax.scipy.stats.norm.logpdf(vectors.T @ y, 0, stds))


def _evidence_oracle(features, y, noise_std, prior_variance):
    covariance = prior_variance * features @ features.T + noise_std**2 * np.eye(len(y))
    right = scipy.stats.multivariate_normal.logpdf(y, np.zeros(len(y)), covariance)
    solved = np.linalg.solve(covariance, y)
    slope = 0.5 * (np.outer(solved, solved) - np.linalg.inv(covariance))
    return {
        "log_evidence": Close(right, **TIGHT),
        "gradient_of_features": Close(2 * prior_variance * slope @ features, **TIGHT),
    }


def _covariance(features, noise, prior_variance):
    return prior_variance * features @ features.T + noise * jnp.eye(len(features))


def _log_likelihood(features, y, noise_std, weights):
    residual = (y - features @ weights) / noise_std
    return -0.5 * jnp.sum(residual**2 + np.log(2 * np.pi * noise_std**2))


def _at_the_mode(features, y, noise_std, prior_variance):
    return _posterior(features, y, noise_std**-2, 1 / prior_variance)[0]


LOG_EVIDENCE = Task(
    name="log_evidence",
    points=3,
    cases=_evidence_cases,
    probe=_evidence_probe,
    oracle=_evidence_oracle,
    misconceptions=[
        Misconception(
            _in_the_eigenbasis,
            "you decompose ΦΦᵀ into eigenvectors: the value is right, but where eigenvalues are equal, as the zeros "
            "are for N > D, eigenvectors have no derivative. Factor C with Cholesky.",
        ),
        Misconception(
            lambda features, y, noise_std, prior_variance: _log_likelihood(
                features,
                y,
                noise_std,
                _at_the_mode(features, y, noise_std, prior_variance),
            ),
            "you evaluate the likelihood at the mean weights; the evidence averages it over the prior.",
        ),
        Misconception(
            lambda features, y, noise_std, prior_variance: (
                _log_likelihood(
                    features,
                    y,
                    noise_std,
                    w := _at_the_mode(features, y, noise_std, prior_variance),
                )
                - 0.5 * jnp.sum(w**2 / prior_variance)
                - 0.5 * len(w) * np.log(2 * np.pi * prior_variance)
            ),
            "you evaluate likelihood times prior at the mode; the evidence integrates it over the weights.",
        ),
        Misconception(
            lambda features, y, noise_std, prior_variance: log_normal(
                y, _covariance(features, noise_std**2, prior_variance**2)
            ),
            "you square the prior variance: it is a variance already.",
        ),
        Misconception(
            lambda features, y, noise_std, prior_variance: log_normal(
                y,
                _covariance(features, noise_std**2, prior_variance),
                constant=features.shape[1] / len(y),
            ),
            "you count the weights in the constant, D/2 · log 2π; it counts the targets, N/2 · log 2π.",
        ),
        *wrong_evidences(
            lambda noise, features, y, noise_std, prior_variance: _covariance(
                features, noise, prior_variance
            ),
            noise_at=2,
        ),
    ],
    hints=[
        "Targets are sums of Gaussians, Φw and noise. So y is Gaussian with mean 0; what is its covariance?",
        "Three terms: yᵀC⁻¹y, log det C and N log 2π, all multiplied by −½.",
        "With C = LLᵀ: yᵀC⁻¹y is the squared norm of L⁻¹y, and log det C is twice the sum of log Lₙₙ.",
    ],
)
