"""The Student-t likelihood, which no source of the course solves."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import scipy.special
import scipy.stats

from course.checks.deep_ensembles.tolerances import FLOAT32
from course.probing import value_and_gradients
from course.task import Close, Misconception, Task


def _student_t_cases(rng):
    cases = [
        {
            "location": unit * rng.normal(0, 2, n),
            "scale": unit * rng.uniform(0.3, 3, n),
            "df": float(rng.uniform(*df)),
            "y": unit * rng.normal(0, 5, n),
        }
        # Γ(ν/2) overflows in single precision at the last ν; a floor under the second scale shows.
        for n, df, unit in ((3, (1, 10), 1), (1, (1, 10), 1e-4), (2, (80, 90), 1))
    ]
    cases[0]["y"] = cases[0]["y"] * 100  # far out in the tail
    return cases


def _student_t_probe(answer, location, scale, df, y):
    def nll(location, scale, y):
        return answer(location, scale, df, y)

    keys = ("nll", "gradient_of_location", "gradient_of_scale")
    return value_and_gradients(keys, nll, location, scale, y)


def _student_t_oracle(location, scale, df, y):
    z = (y - location) / scale
    pull = (df + 1) * z / (df + z**2)
    # Gradients are per unit of the scale, of which y − location has a few rounding errors.
    close = {"rtol": 1e-4, "atol": np.maximum(1e-4, 1e-5 / scale), "because": FLOAT32}
    return {
        "nll": Close(
            -scipy.stats.t.logpdf(y, df, location, scale),
            rtol=5e-5,
            atol=5e-5,
            because=FLOAT32,
        ),
        "gradient_of_location": Close(-pull / scale, **close),
        "gradient_of_scale": Close((1 - pull * z) / scale, **close),
    }


def _t_nll(z, df, log_scale, half=0.5):
    gammaln = jax.scipy.special.gammaln
    return (
        (df + 1) * half * jnp.log1p(z**2 / df)
        - gammaln((df + 1) / 2)
        + gammaln(df / 2)
        + 0.5 * np.log(df * np.pi)
        + log_scale
    )


STUDENT_T_NLL = Task(
    name="student_t_nll",
    points=3,
    cases=_student_t_cases,
    probe=_student_t_probe,
    oracle=_student_t_oracle,
    misconceptions=[
        Misconception(
            lambda location, scale, df, y: _t_nll((y - location) / scale, df, 0.0),
            "you leave out log s: the density of y is 1/s times that of z = (y − µ)/s.",
        ),
        Misconception(
            lambda location, scale, df, y: _t_nll(
                (y - location) / scale, df, jnp.log(scale), half=1.0
            ),
            "you use the exponent ν + 1; it is (ν + 1)/2.",
        ),
        Misconception(
            lambda location, scale, df, y: _t_nll(
                (y - location) / jnp.sqrt(scale), df, 0.5 * jnp.log(scale)
            ),
            "you use the scale as if it were s².",
        ),
        Misconception(
            lambda location, scale, df, y: _t_nll(
                (y - location) / scale * jnp.sqrt(df), df, jnp.log(scale)
            ),
            "you leave out the 1/ν before the square: the term is 1 + z²/ν.",
        ),
        Misconception(
            lambda location, scale, df, y: (
                _t_nll((y - location) / scale, df, jnp.log(scale))
                - 2 * jax.scipy.special.gammaln(df / 2)
                + 2 * jax.scipy.special.gammaln((df + 1) / 2)
            ),
            "you swap the two gamma functions: Γ((ν+1)/2) is in the numerator.",
        ),
        Misconception(
            lambda location, scale, df, y: (
                _t_nll((y - location) / scale, df, jnp.log(scale))
                + 0.5 * np.log(df * np.pi)
            ),
            "you forget the square root of νπ: its logarithm is ½ log νπ.",
        ),
        Misconception(
            lambda location, scale, df, y: (
                0.5 * np.log(2 * np.pi)
                + jnp.log(scale)
                + 0.5 * ((y - location) / scale) ** 2
            ),
            "you ignore the degrees of freedom: this is a Gaussian.",
        ),
        Misconception(
            lambda location, scale, df, y: _t_nll(
                (y - location) / scale, df, jax.lax.stop_gradient(jnp.log(scale))
            ),
            "you hold log s fixed (stop_gradient): the value is right, but the scale then grows without bound.",
        ),
    ],
    hints=[
        "Standardise first: z = (y − location) / scale; then divide the density of z by the scale to get that of y.",
        "p(z) is Γ((ν+1)/2) / (Γ(ν/2) √(νπ)) times (1 + z²/ν) to the power −(ν+1)/2.",
        "Take minus the logarithm of each factor; (ν+1)/2 · log1p(z²/ν) is the only term with z.",
    ],
)
