"""Regression with unknown noise; the oracle conditions the Student t of all targets."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from course.checks.warm_up.linear_regression import TIGHT
from course.task import Close, Misconception, Task


def _cases(rng):
    """Draw noise, prior and number of data points so that no two factors cancel."""
    cases = []
    for n, new, d in ((5, 3, 2), (2, 1, 5), (1, 2, 1)):
        features, features_new = (
            rng.choice([-1, 1], (rows, d)) * rng.uniform(0.4, 1.6, (rows, d))
            for rows in (n, new)
        )
        weights = rng.choice([-1, 1], d) * rng.uniform(0.5, 1.5, d)
        cases.append(
            {
                "features": features,
                "y": features @ weights + rng.uniform(0.5, 1, n),
                "features_new": features_new,
                "ratio": float(rng.uniform(2, 4)),
                "shape": float(rng.uniform(1.2, 3)),
                "rate": float(rng.uniform(0.2, 0.7)),
            }
        )
    return cases


def _probe(answer, features, y, features_new, ratio, shape, rate):
    import jax
    import jax.numpy as jnp

    with jax.enable_x64(True):
        arrays = map(jnp.asarray, (features, y, features_new))
        df, location, scale = answer(*arrays, ratio=ratio, shape=shape, rate=rate)
        return {"df": df, "location": location, "scale": scale}


def _oracle(features, y, features_new, ratio, shape, rate):
    """Before any data, all targets together have a Student t with 2a₀ degrees of freedom."""
    df, n = 2 * shape, len(y)
    rows = np.concatenate([features, features_new])
    spread = rate / shape * (ratio * rows @ rows.T + np.eye(len(rows)))
    seen, cross = spread[:n, :n], spread[:n, n:]
    solved = np.linalg.solve(seen, cross)
    left = np.diag(spread)[n:] - np.sum(cross * solved, axis=0)
    fit = y @ np.linalg.solve(seen, y)
    return {
        "df": Close(df + n, **TIGHT),
        "location": Close(solved.T @ y, **TIGHT),
        "scale": Close(np.sqrt(left * (df + fit) / (df + n)), **TIGHT),
    }


def _parts(features, y, features_new, ratio):
    """Location, φᵀVφ, yᵀy and mᵀV⁻¹m, with V the covariance in units of the noise."""
    precision = features.T @ features + jnp.eye(features.shape[1]) / ratio
    mean = jnp.linalg.solve(precision, features.T @ y)
    solved = jnp.linalg.solve(precision, features_new.T)
    spread = jnp.sum(features_new * solved.T, axis=1)
    return features_new @ mean, spread, y @ y, mean @ precision @ mean, mean


def _with(change):
    """An answer that returns ``change(a, b, location, spread, …)``."""

    def answer(features, y, features_new, *, ratio, shape, rate):
        location, spread, total, explained, _ = _parts(features, y, features_new, ratio)
        a, b = shape + len(y) / 2, rate + 0.5 * (total - explained)
        return change(a, b, location, spread)

    return answer


def _without_the_explained(features, y, features_new, *, ratio, shape, rate):
    location, spread, total, _, _ = _parts(features, y, features_new, ratio)
    a, b = shape + len(y) / 2, rate + 0.5 * total
    return 2 * a, location, jnp.sqrt(b / a * (1 + spread))


def _residuals_alone(features, y, features_new, *, ratio, shape, rate):
    location, spread, _, _, mean = _parts(features, y, features_new, ratio)
    a = shape + len(y) / 2
    b = rate + 0.5 * jnp.sum((y - features @ mean) ** 2)
    return 2 * a, location, jnp.sqrt(b / a * (1 + spread))


def _one_for_each(features, y, features_new, *, ratio, shape, rate):
    location, spread, total, explained, _ = _parts(features, y, features_new, ratio)
    a, b = shape + len(y), rate + 0.5 * (total - explained)
    return 2 * a, location, jnp.sqrt(b / a * (1 + spread))


def _with_fewer_degrees(features, y, features_new, *, ratio, shape, rate):
    location, spread, total, explained, _ = _parts(features, y, features_new, ratio)
    a = shape + (len(y) - features.shape[1]) / 2
    b = rate + 0.5 * (total - explained)
    return 2 * a, location, jnp.sqrt(b / a * (1 + spread))


STUDENT_T_PREDICTIVE = Task(
    name="student_t_predictive",
    points=2,
    cases=_cases,
    probe=_probe,
    oracle=_oracle,
    misconceptions=[
        Misconception(
            _with(
                lambda a, b, location, spread: (2 * a, location, b / a * (1 + spread))
            ),
            "you return the square of the scale; take the root.",
        ),
        Misconception(
            _with(
                lambda a, b, location, spread: (
                    2 * a,
                    location,
                    jnp.sqrt(b / (a - 1) * (1 + spread)),
                )
            ),
            "you return the standard deviation; the scale of a Student-t distribution is smaller.",
        ),
        Misconception(
            _with(
                lambda a, b, location, spread: (
                    2 * a,
                    location,
                    jnp.sqrt(b / a * spread),
                )
            ),
            "you leave out the noise of the new target: the 1 in 1 + φᵀVφ.",
        ),
        Misconception(
            _with(
                lambda a, b, location, spread: (
                    a,
                    location,
                    jnp.sqrt(b / a * (1 + spread)),
                )
            ),
            "you return a; there are 2a degrees of freedom.",
        ),
        Misconception(
            _with_fewer_degrees,
            "you subtract D, as in least squares: here the prior determines the weights as well, and a is a₀ + N/2.",
        ),
        Misconception(
            _without_the_explained,
            "you leave out what the curve explains: b₀ grows by half of yᵀy − mᵀV⁻¹m, not by half of yᵀy.",
        ),
        Misconception(
            _residuals_alone,
            "you use the sum of squared residuals alone; the distance of the weights from the prior's mean counts as well.",
        ),
        Misconception(
            _one_for_each,
            "you add N to a₀: each data point adds one half.",
        ),
    ],
    hints=[
        "In units of the noise nothing has changed: the noise has variance 1 and the prior has variance r.",
        "a = a₀ + N/2, and b = b₀ + ½(yᵀy − mᵀV⁻¹m), where m and V⁻¹ are mean and precision in these units.",
        "The variance in units of the noise is 1 + φᵀVφ; multiply it by b/a, then take the root.",
    ],
)
