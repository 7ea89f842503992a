"""Risk–coverage curves; the oracles count the data points above each threshold in a loop."""

from __future__ import annotations

import numpy as np

from course.checks.acting_on_uncertainty.apart import HAIR, drawn_apart
from course.checks.acting_on_uncertainty.tolerances import DOUBLE
from course.task import Close, Misconception, Task


def _draw_ranking(rng):
    """Draw confidences on a grid, so that some are equal; in the second case they are negative.

    Data points with equal confidences are all right or all wrong: sorting gives them any order,
    and a mistake then has the same values in each. In the first case, two of the confidences
    differ by a hair.
    """
    cases = []
    for n, values in ((11, 6), (6, 6), (8, 3), (1, 1)):
        grid = np.sort(rng.uniform(0, 1, values)) - (n == 6)
        if n == 11:
            grid[1] = grid[0] + HAIR
        which = np.append(np.arange(values), rng.integers(0, values, n - values))
        which = rng.permutation(which)
        wrong = rng.uniform(size=values) < 0.4
        cases.append({"confidence": grid[which], "wrong": wrong[which]})
    return cases


def _curve(order=None, each=False, strict=False, by_n=False, repeated=False):
    """Return coverage and risk for thresholds in an order, for each value or data point."""

    def answer(confidence, wrong):
        thresholds = confidence if each or repeated else np.unique(confidence)
        thresholds = np.sort(thresholds)[::-1]
        above = np.greater if strict else np.greater_equal
        answered = above(confidence[None], thresholds[:, None])
        if each:  # one data point after the other
            rank = np.argsort(np.argsort(-confidence, kind="stable"))
            answered = rank[None] <= np.arange(len(wrong))[:, None]
        counts = answered.sum(axis=1)
        errors = (answered & wrong[None]).sum(axis=1)
        risk = errors / (len(wrong) if by_n else np.maximum(counts, 1))
        coverage = counts / len(wrong)
        return coverage[::order], risk[::order]

    return answer


def _rounded(answer):
    return lambda confidence, wrong: answer(np.round(confidence, 6), wrong)


def _rising(confidence, wrong):
    coverage, risk = _curve()(confidence, wrong)
    return coverage, np.maximum.accumulate(risk)


def _right_ones_first(confidence, wrong):
    """Count, of the last data points with equal confidences, one that is right if any is."""
    values = np.unique(confidence)[::-1]
    risk = []
    for value in values:
        above, at = wrong[confidence > value], wrong[confidence == value]
        risk.append(np.mean(np.append(above, at.min())))
    return _curve()(confidence, wrong)[0], np.array(risk)


def _within(confidence, wrong):
    """Return coverage, and the share of errors among data points with equal confidence."""
    coverage, _ = _curve()(confidence, wrong)
    values = np.unique(confidence)[::-1]
    return coverage, np.array([wrong[confidence == value].mean() for value in values])


def _at_this_confidence(confidence, wrong):
    """Return which share of the data points has each confidence, and how many of them are wrong."""
    coverage, risk = _within(confidence, wrong)
    return np.diff(coverage, prepend=0), risk


def _from_zero(confidence, wrong):
    return tuple(np.append(0.0, part) for part in _curve()(confidence, wrong))


CURVE_MISTAKES = [
    Misconception(
        lambda confidence, wrong: _curve()(-confidence, wrong),
        "you answer the least confident data points first. Sort the confidences in falling order.",
    ),
    Misconception(
        _curve(by_n=True),
        "you divide the errors by the number of all data points. The risk is their share among those that are "
        "answered.",
    ),
    Misconception(
        _curve(each=True),
        "you put a threshold between data points with equal confidences. They are answered together: there is one "
        "threshold for each distinct confidence.",
    ),
    Misconception(
        _curve(repeated=True),
        "you return a value for each data point. There is one for each distinct confidence.",
    ),
    Misconception(
        _curve(strict=True),
        "you answer only data points above the threshold. Those at the threshold are answered as well.",
    ),
    Misconception(
        _within,
        "you compute the risk among data points with the same confidence. All that are at least that confident count.",
    ),
    Misconception(
        _at_this_confidence,
        "you count only the data points with the same confidence. All that are at least that confident are answered.",
    ),
    Misconception(
        _from_zero,
        "you add a point where nothing is answered. There is one value for each distinct confidence, and the first "
        "coverage is not 0.",
    ),
    Misconception(
        lambda confidence, wrong: _curve()(confidence, ~wrong),
        "you return the share of right answers. The risk is the share of wrong ones.",
    ),
    Misconception(
        lambda confidence, wrong: _curve()(confidence, wrong)[::-1],
        "you return the risk first. Return coverage, then risk.",
    ),
    Misconception(
        _curve(order=-1),
        "you list the thresholds from the lowest to the highest. Coverage must grow along the curve.",
    ),
    Misconception(
        lambda confidence, wrong: (
            _curve()(confidence, wrong)[0] * len(wrong),
            _curve()(confidence, wrong)[1],
        ),
        "you return how many data points are answered. Coverage is their share.",
    ),
]


def _curve_probe(answer, confidence, wrong):
    import numpy as np

    result = answer(np.asarray(confidence), np.asarray(wrong))
    coverage, risk = (None, None) if result is None else result
    return {"coverage": coverage, "risk": risk}


def _curve_oracle(confidence, wrong):
    """Count right and wrong answers at each threshold, one data point after the other."""
    rows = list(zip(confidence.tolist(), wrong.tolist(), strict=True))
    coverage, risk = [], []
    for threshold in sorted({c for c, _ in rows}, reverse=True):
        answered = [error for c, error in rows if c >= threshold]
        coverage.append(len(answered) / len(rows))
        risk.append(sum(answered) / len(answered))
    close = {"rtol": 1e-9, "atol": 1e-9, "because": DOUBLE}
    return {"coverage": Close(coverage, **close), "risk": Close(risk, **close)}


RISK_COVERAGE = Task(
    name="risk_coverage",
    points=3,
    cases=lambda rng: drawn_apart(
        rng,
        _draw_ranking,
        [
            _curve(),
            _rounded(_curve()),
            _rising,
            _right_ones_first,
            *(mistake.answer for mistake in CURVE_MISTAKES),
        ],
    ),
    probe=_curve_probe,
    oracle=_curve_oracle,
    misconceptions=CURVE_MISTAKES,
    hints=[
        "For a single threshold: which data points have at least this confidence, and which share of them is wrong?",
        "`np.unique` of the negative confidence finds the distinct thresholds in falling order; with `return_inverse=True` also the "
        "threshold of each data point.",
        "np.bincount counts data points and errors at each threshold; their cumulative sums count those that are "
        "answered.",
    ],
)


def _own(confidence, wrong):
    """Return the selective risk at the confidence of each data point."""
    return np.array([wrong[confidence >= c].mean() for c in confidence])


def _each(confidence, wrong):
    """Return the risk after each data point, in falling order of confidence."""
    return _curve(each=True)(confidence, wrong)[1]


def _aurc(confidence, wrong):
    return float(_own(confidence, wrong).mean())


def _without_first_step(confidence, wrong):
    coverage, risk = _curve()(confidence, wrong)
    return float(np.sum(risk[1:] * np.diff(coverage)))


AREA_MISTAKES = [
    Misconception(
        lambda confidence, wrong: float(
            np.trapezoid(*_curve()(confidence, wrong)[::-1])
        ),
        "you use the trapezoidal rule, which leaves out the coverage below the first threshold. The risk stays the "
        "same from one threshold to the next: multiply each one by its step in coverage.",
    ),
    Misconception(
        _without_first_step,
        "you leave out the first step in coverage, the one from 0. Pass prepend=0 to np.diff to include it.",
    ),
    Misconception(
        lambda confidence, wrong: float(_each(confidence, wrong).mean()),
        "you put a threshold between data points with equal confidences. They are answered together.",
    ),
    Misconception(
        lambda confidence, wrong: float(_curve()(confidence, wrong)[1].mean()),
        "you average over distinct thresholds. A confidence that several data points share counts several times.",
    ),
    Misconception(
        lambda confidence, wrong: float(wrong.mean()),
        "you return the error rate, the risk at full coverage.",
    ),
    Misconception(
        lambda confidence, wrong: _aurc(-confidence, wrong),
        "you answer the least confident data points first.",
    ),
    Misconception(
        lambda confidence, wrong: float(
            np.mean(
                [np.mean(wrong & (confidence >= threshold)) for threshold in confidence]
            )
        ),
        "you divide the errors by the number of all data points. The risk is their share among those that are "
        "answered.",
    ),
    Misconception(
        lambda confidence, wrong: (
            _aurc(confidence, wrong) - float(_each(-wrong.astype(float), wrong).mean())
        ),
        "you subtract the area of the best ranking: this is the excess AURC.",
    ),
]


def _area_probe(answer, confidence, wrong):
    import numpy as np

    return {"aurc": answer(np.asarray(confidence), np.asarray(wrong))}


def _area_oracle(confidence, wrong):
    """Average, over the data points, the share of errors among those at least as confident."""
    rows = list(zip(confidence.tolist(), wrong.tolist(), strict=True))
    risks = []
    for own, _ in rows:
        answered = [error for c, error in rows if c >= own]
        risks.append(sum(answered) / len(answered))
    area = sum(risks) / len(risks)
    return {"aurc": Close(area, rtol=1e-9, atol=1e-9, because=DOUBLE)}


AURC = Task(
    name="aurc",
    points=1,
    cases=lambda rng: drawn_apart(
        rng,
        _draw_ranking,
        [_aurc, _rounded(_aurc), *(mistake.answer for mistake in AREA_MISTAKES)],
    ),
    probe=_area_probe,
    oracle=_area_oracle,
    misconceptions=AREA_MISTAKES,
    hints=[
        "risk_coverage returns one risk for each distinct confidence. How many data points have this confidence?",
        "From one threshold to the next, coverage grows by the share of data points that have the new confidence.",
        "np.diff(coverage, prepend=0) gives these shares; they are the weights of the risks.",
    ],
)
