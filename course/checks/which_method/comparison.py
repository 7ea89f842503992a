"""AUROC, intervals of paired differences, and CRPS; oracles from scikit-learn and SciPy."""

from __future__ import annotations

import numpy as np
import scipy.integrate
import scipy.special
import scipy.stats

from course.checks.which_method.tolerances import ROUNDING
from course.task import Close, Misconception, Task


def _auroc(inside, outside):
    # It takes a second to import, and no other task needs it.
    from sklearn.metrics import roc_auc_score

    label = np.r_[np.zeros(len(inside)), np.ones(len(outside))]
    return roc_auc_score(label, np.r_[inside, outside])


AUROC_MISTAKES = [
    Misconception(
        lambda inside, outside: float((inside[:, None] > outside[None]).mean()),
        "you swap the two sets: a good detector's score is higher outside.",
    ),
    Misconception(
        lambda inside, outside: _auroc(outside, inside),
        "you swap the two sets: a good detector's score is higher outside.",
    ),
    Misconception(
        lambda inside, outside: float((outside[:, None] > inside[None]).mean()),
        "you leave out ties. A tie counts as one half.",
    ),
    Misconception(
        lambda inside, outside: float((outside[:, None] >= inside[None]).mean()),
        "you count ties in full. A tie counts as one half.",
    ),
    Misconception(
        lambda inside, outside: float((outside > np.median(inside)).mean()),
        "you choose one threshold, such as the mean or the median of the scores inside. The area covers all "
        "thresholds: compare every score outside with every score inside.",
    ),
    Misconception(
        lambda inside, outside: float(
            (outside > inside[: len(outside)]).mean()
            + 0.5 * (outside == inside[: len(outside)]).mean()
        ),
        "you compare only scores at the same position. Compare every score outside with every "
        "score inside: outside[:, np.newaxis] against inside.",
    ),
    Misconception(
        lambda inside, outside: max(_auroc(inside, outside), _auroc(outside, inside)),
        "you flip a score that is higher inside. A detector that is worse than chance has an "
        "area below one half, and your number must show that.",
    ),
]


def _auroc_cases(rng):
    """Draw scores with and without ties until all misconceptions give different numbers.

    The third detector is worse than chance. In the fourth, some scores are nearly equal, and in
    the fifth as much again and all tiny. The last case has one score of each set.
    """
    cases = []
    for shift, tied, n, other in (
        (0.7, False, 23, 17),
        (0.7, True, 23, 17),
        (-0.7, False, 22, 15),
    ):
        while True:
            inside, outside = rng.normal(0, 1, n), rng.normal(shift, 1, other)
            if tied:
                inside, outside = np.round(inside), np.round(outside)
            case = {"inside": inside, "outside": outside}
            numbers = [_auroc(**case)]
            numbers += [row.answer(**case) for row in AUROC_MISTAKES]
            far = np.diff(np.sort(numbers)) > 1e-3
            # Without ties, mistakes in counting them have no effect; the tied case shows them.
            turned = (numbers[0] - 0.5) * shift > 0.03
            if turned and far.sum() >= (5 if tied else 3):
                break
        cases.append(case)
    # Scores that are nearly equal are not; the highest of all is in both sets.
    low, middle, high = np.cumsum(rng.uniform(0.5, 1.5, 3))
    near = {
        "inside": np.array([middle, high, low, low - 1.0]),
        "outside": np.array([high, low + 3e-6, middle + 3e-6]),
    }
    one = {"inside": rng.normal(0, 1, 1), "outside": rng.normal(0, 1, 1)}
    tiny = {name: 1e-9 * scores for name, scores in near.items()}
    return [*cases, near, tiny, one]


def _auroc_probe(answer, inside, outside):
    import numpy as np

    area = answer(np.asarray(inside), np.asarray(outside))
    return {"area": area}


OOD_AUROC = Task(
    name="ood_auroc",
    points=2,
    cases=_auroc_cases,
    probe=_auroc_probe,
    oracle=lambda inside, outside: {
        "area": Close(_auroc(inside, outside), atol=1e-6, because=ROUNDING)
    },
    misconceptions=AUROC_MISTAKES,
    hints=[
        "Draw one score from each set: how probable is it that the one from outside is higher?",
        "`outside[:, np.newaxis] > inside` compares all pairs at once; its mean is the share of pairs in which the score outside is higher.",
        "Add half the share of pairs with equal scores.",
    ],
)


def _paired_cases(rng):
    """Draw pairs that sorting each of the two would break up; then the fewest runs, two."""
    cases = []
    for runs in (*rng.choice([4, 6, 7, 8], 2, replace=False), 2):
        shift = rng.uniform(0.3, 1.0) * rng.choice([-1, 1])
        torn = False
        while not torn:
            shared, own = rng.normal(0, 1, runs), rng.normal(0, 0.3, runs)
            shared = (
                3 * (shared - shared.mean()) / shared.std()
            )  # dominates the variance
            torn = np.any(np.argsort(shared + own) != np.argsort(shared)) or runs == 2
        cases.append(
            {
                "method": shared + shift + own,
                "baseline": shared,
                "level": float(rng.uniform(0.85, 0.99)),
            }
        )
    return cases


def _paired_probe(answer, method, baseline, level):
    import numpy as np

    result = answer(np.asarray(method), np.asarray(baseline), level)
    difference, low, high = (None, None, None) if result is None else result
    return {"difference": difference, "low": low, "high": high}


def _paired_oracle(method, baseline, level):
    interval = scipy.stats.ttest_rel(method, baseline).confidence_interval(level)
    values = {
        "difference": np.mean(method - baseline),
        "low": interval.low,
        "high": interval.high,
    }
    return {
        key: Close(value, rtol=1e-5, atol=1e-5, because=ROUNDING)
        for key, value in values.items()
    }


def _interval(gaps, half):
    return tuple(float(np.mean(gaps) + side * half) for side in (0, -1, 1))


def _paired(quantile, *, ddof=1, power=0.5, sign=1):
    def answer(method, baseline, level):
        gaps = sign * np.subtract(method, baseline)
        count = gaps.size
        error = np.std(gaps, ddof=ddof) / count**power
        return _interval(gaps, quantile(level, count) * error)

    return answer


def _student(level, runs):
    return scipy.stats.t.ppf((1 + level) / 2, runs - 1)


def _unpaired(method, baseline, level, samples=2):
    """Treat the methods as independent; the degrees of freedom are those of some samples."""
    runs = len(method)
    error = np.sqrt((np.var(method, ddof=1) + np.var(baseline, ddof=1)) / runs)
    half = scipy.stats.t.ppf((1 + level) / 2, samples * (runs - 1)) * error
    return _interval(np.asarray(method) - np.asarray(baseline), half)


DIFFERENCE_INTERVAL = Task(
    name="difference_interval",
    points=2,
    cases=_paired_cases,
    probe=_paired_probe,
    oracle=_paired_oracle,
    misconceptions=[
        Misconception(
            _unpaired,
            "you treat the two methods as independent, as in the hurried version. Both saw the "
            "same data, so the effect that a split has on both cancels in the difference.",
        ),
        Misconception(
            lambda *given: _unpaired(*given, samples=1),
            "you take R − 1 degrees of freedom, but the standard error of two independent samples. Subtract first, and "
            "take the standard deviation of the differences.",
        ),
        Misconception(
            _paired(lambda level, runs: scipy.stats.t.ppf(0.975, runs - 1)),
            "you take the 0.975 quantile whatever `level` is; it belongs to a level of 0.95.",
        ),
        Misconception(
            _paired(lambda level, runs: scipy.stats.norm.ppf((1 + level) / 2)),
            "you use a Gaussian quantile. With so few runs, the standard deviation is itself "
            "uncertain: Student's t with R − 1 degrees of freedom allows for that.",
        ),
        Misconception(
            _paired(lambda level, runs: scipy.stats.t.ppf((1 + level) / 2, runs)),
            "you use R degrees of freedom. The mean uses up one of them, which leaves R − 1.",
        ),
        Misconception(
            _paired(
                lambda level, runs: scipy.stats.t.ppf((1 + level) / 2, 2 * runs - 2)
            ),
            "you keep the 2R − 2 degrees of freedom of two samples. There is one sample of R differences, which has R − 1.",
        ),
        Misconception(
            _paired(lambda level, runs: scipy.stats.t.ppf(level, runs - 1)),
            "you use a one-sided quantile: the probability outside the interval is split between the two tails.",
        ),
        Misconception(
            _paired(_student, ddof=0),
            "you divide the sum of squared deviations by R instead of R − 1 (ddof=1).",
        ),
        Misconception(
            _paired(_student, power=0),
            "you forget to divide by √R: the spread s is that of a single run, not of the mean.",
        ),
        Misconception(
            _paired(_student, sign=-1),
            "you subtract the method from the baseline. The difference is method − baseline.",
        ),
    ],
    hints=[
        "Run r of the method and run r of the baseline used the same split. Subtract first.",
        "Then there is one sample of R differences, with a mean and a standard deviation.",
        "The interval is mean ± t · s/√R. For t, use `scipy.stats.t.ppf(q, R - 1)` with q = (1 + level) / 2; for s, use ddof=1.",
    ],
)


def _forecast_cases(rng):
    """Draw forecasts; the last target is at least twenty standard deviations off.

    Where there are several, the first is 0.4 to 0.9 off, where the densities count and a
    logistic curve differs most from Φ. Those of the second case are narrow.
    """
    cases = []
    for side, n, scale in ((-1, 4, 1), (1, 3, 1e-4), (1, 1, 1)):
        mean, y = scale * rng.normal(0, 3, (2, n))
        std = scale * rng.uniform(0.3, 0.7, n) * rng.choice([1, 4], n)
        y[0] = mean[0] + rng.choice([-1, 1]) * rng.uniform(0.4, 0.9) * std[0]
        y[-1] = mean[-1] + side * rng.uniform(20, 30) * std[-1]
        cases.append({"mean": mean, "std": std, "y": y})
    return cases


def _crps_probe(answer, mean, std, y):
    import numpy as np

    return {"crps": answer(np.asarray(mean), np.asarray(std), np.asarray(y))}


def _crps_exact(mean, std, y):
    """Integrate below and above the target, for one data point."""
    below, _ = scipy.integrate.quad(
        lambda z: scipy.special.ndtr(z) ** 2, -40, (y - mean) / std, epsabs=1e-10
    )
    above, _ = scipy.integrate.quad(
        lambda z: scipy.special.ndtr(-z) ** 2, (y - mean) / std, 40, epsabs=1e-10
    )
    return std * (below + above)


def _crps(mean, std, y, *, probability=2.0, density=2.0, constant=1.0):
    z = (y - mean) / std
    normal = scipy.stats.norm
    inner = z * (probability * normal.cdf(z) - 1) + density * normal.pdf(z)
    return std * (inner - constant / np.sqrt(np.pi))


GAUSSIAN_CRPS = Task(
    name="gaussian_crps",
    points=2,
    cases=_forecast_cases,
    probe=_crps_probe,
    oracle=lambda mean, std, y: {
        "crps": Close(
            [_crps_exact(*row) for row in zip(mean, std, y, strict=True)],
            rtol=2e-5,
            atol=2e-5,
            because=ROUNDING,
        )
    },
    misconceptions=[
        Misconception(
            lambda mean, std, y: _crps(mean, std**2, y),
            "you use the variance instead of the standard deviation.",
        ),
        Misconception(
            lambda mean, std, y: _crps(mean, std, y) / std,
            "you forget the factor σ in front of the bracket: the score has the unit of y.",
        ),
        Misconception(
            lambda mean, std, y: _crps(mean, std, y, constant=0.0),
            "you leave out 1/√π: your result is E|Y − y|, which is always smallest at σ = 0.",
        ),
        Misconception(
            lambda mean, std, y: _crps(mean, std, y, constant=-1.0),
            "you add 1/√π; the formula subtracts it.",
        ),
        Misconception(
            lambda mean, std, y: _crps(mean, std, y, constant=np.sqrt(0.5)),
            "you subtract 1/√(2π) in place of 1/√π.",
        ),
        Misconception(
            lambda mean, std, y: _crps(mean, np.sqrt(std), y),
            "you take the square root of the standard deviation, as if it were a variance.",
        ),
        Misconception(
            lambda mean, std, y: _crps(mean, std, y, density=2.0 / std),
            "you use the density of N(µ, σ²) at y; φ(z) is that of N(0, 1) at z.",
        ),
        Misconception(
            lambda mean, std, y: _crps(mean, std, y, density=1.0),
            "you count the density φ(z) only once; it has a factor of 2.",
        ),
        Misconception(
            lambda mean, std, y: _crps(mean, std, y, probability=1.0),
            "you count Φ(z) only once; the bracket contains 2Φ(z) − 1.",
        ),
        Misconception(
            lambda mean, std, y: np.abs(y - mean),
            "you use only the distance to the mean, which is the CRPS of a forecast "
            "without any spread.",
        ),
        Misconception(
            lambda mean, std, y: -scipy.stats.norm.logpdf(y, mean, std),
            "you return the negative log-likelihood, which is a different score.",
        ),
    ],
    hints=[
        "Standardise first: z = (y − mean) / std.",
        "scipy.stats.norm.cdf(z) is Φ(z), scipy.stats.norm.pdf(z) is φ(z).",
        "To check your formula: at y = mean, the score is std · (√2 − 1)/√π.",
    ],
)
