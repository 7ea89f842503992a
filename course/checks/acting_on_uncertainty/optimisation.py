"""Expected improvement; the oracle integrates over the Gaussian numerically."""

from __future__ import annotations

import math

import numpy as np
import scipy.integrate
from scipy.stats import norm

from course.checks.acting_on_uncertainty.apart import drawn_apart
from course.checks.acting_on_uncertainty.tolerances import QUADRATURE
from course.task import Close, Misconception, Task


def _draw_forecasts(rng):
    """Draw candidates above and below the best value, some of which are known exactly.

    Of the known ones in the first case, one is better, one is worse, and one is the best value.
    """
    cases = []
    for n, known in ((8, 3), (5, 1), (1, 0)):
        best = float(rng.choice([-1, 1]) * rng.uniform(2, 6))
        scale = rng.uniform(0.3, 4)
        gain = scale * rng.uniform(0.1, 2, n) * np.where(np.arange(n) % 2, -1, 1)
        std = scale * rng.uniform(0.4, 1.6, n)
        std[:known] = 0
        mean = best + gain
        if known == 3:
            mean[2] = best
        if known:  # one that is almost certainly better
            std[known + 1] = gain[known + 1] / rng.uniform(4, 5)
        order = rng.permutation(n)
        cases.append({"mean": mean[order], "std": std[order], "best": best})
    return cases


def _terms(mean, std, best):
    """Return both terms of the closed form; where std is 0, the gain and 0."""
    gain = mean - best
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(std == 0, np.where(gain > 0, np.inf, -np.inf), gain / std)
    return gain * norm.cdf(z), std * norm.pdf(z)


def _improvement(mean, std, best):
    return sum(_terms(mean, std, best))


def _formula(z, cdf=norm.cdf, pdf=norm.pdf, scale=lambda std: std):
    """Use the closed form with another z, cdf, pdf or scale; known values are right."""

    def answer(mean, std, best):
        gain = mean - best
        with np.errstate(divide="ignore", invalid="ignore"):
            at = z(gain, std)
            value = gain * cdf(at) + scale(std) * pdf(at)
        return np.where(std == 0, np.maximum(gain, 0), value)

    return answer


def _z(gain, std):
    return gain / std


def _not_a_number(mean, std, best):
    with np.errstate(divide="ignore", invalid="ignore"):
        z = (mean - best) / std
        return (mean - best) * norm.cdf(z) + std * norm.pdf(z)


def _probability(mean, std, best):
    with np.errstate(divide="ignore", invalid="ignore"):
        z = (mean - best) / std
    return np.where(std == 0, mean > best, norm.cdf(z)).astype(float)


MISTAKES = [
    Misconception(
        lambda mean, std, best: _improvement(-mean, std, -best),
        "you minimise: a value below the best one counts as an improvement. Here f is to be maximised.",
    ),
    Misconception(
        lambda mean, std, best: mean - best,
        "you return E[f − best]. An f below the best value costs nothing: the maximum with 0 comes before the "
        "expectation.",
    ),
    Misconception(
        lambda mean, std, best: np.maximum(mean - best, 0),
        "you take the expectation before the maximum. A candidate whose mean is below the best value can still "
        "improve on it.",
    ),
    Misconception(
        _not_a_number,
        "you divide 0 by 0 where `std` is 0 and the mean is the best value. Treat a `std` of 0 by itself.",
    ),
    Misconception(
        lambda mean, std, best: np.where(std == 0, 0, _improvement(mean, std, best)),
        "you return 0 wherever `std` is 0. A known value that is larger than the best one is an improvement.",
    ),
    Misconception(
        _formula(lambda gain, std: gain),
        "you do not divide by `std` in `z = (mean - best) / std`.",
    ),
    Misconception(
        _formula(lambda gain, std: gain / std**2, scale=np.square),
        "you use variances in place of standard deviations.",
    ),
    Misconception(
        _formula(_z, cdf=norm.pdf, pdf=norm.cdf),
        "you swap density and distribution function: the gain is multiplied by norm.cdf(z), `std` by norm.pdf(z).",
    ),
    Misconception(
        _formula(_z, scale=lambda std: 1),
        "you do not multiply the density by `std`.",
    ),
    Misconception(
        _formula(lambda gain, std: -gain / std),
        "you flip the sign of z, or multiply the gain by 1 − Φ(z). Multiply it by Φ(z), with z = (mean − best) / std.",
    ),
    Misconception(
        lambda mean, std, best: _terms(mean, std, best)[0],
        "you leave out `std * norm.pdf(z)`.",
    ),
    Misconception(
        _probability,
        "you return the probability of an improvement. How large it is counts as well.",
    ),
]


def _improvement_probe(answer, mean, std, best):
    import numpy as np

    return {"improvement": answer(np.asarray(mean), np.asarray(std), best)}


def _expectation(mean, std, best):
    """Integrate the improvement times the density, from the best value on."""
    if std == 0:
        return max(mean - best, 0.0)
    end = max(mean, best) + 12 * std
    largest = 1 / (std * math.sqrt(2 * math.pi))  # density; norm.pdf takes long
    return scipy.integrate.quad(
        lambda f: (f - best) * largest * math.exp(-(((f - mean) / std) ** 2) / 2),
        best,
        end,
        points=[mean] if best < mean else None,
        epsabs=1e-12,
        epsrel=1e-10,
    )[0]


def _improvement_oracle(mean, std, best):
    values = [_expectation(m, s, best) for m, s in zip(mean, std, strict=True)]
    return {"improvement": Close(values, rtol=1e-7, atol=1e-9, because=QUADRATURE)}


EXPECTED_IMPROVEMENT = Task(
    name="expected_improvement",
    points=2,
    cases=lambda rng: drawn_apart(
        rng, _draw_forecasts, [_improvement, *(mistake.answer for mistake in MISTAKES)]
    ),
    probe=_improvement_probe,
    oracle=_improvement_oracle,
    misconceptions=MISTAKES,
    hints=[
        "With z = (mean − best) / std, the expectation is (mean − best) Φ(z) + std φ(z).",
        "Φ is norm.cdf and φ is norm.pdf, from scipy.stats. Check: a mean equal to the best value with a std of 1 "
        "gives 0.399.",
        "Where std is 0, the expectation is max(mean − best, 0). Divide by np.where(std == 0, 1, std), and choose "
        "with np.where.",
    ],
)
