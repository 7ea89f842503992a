"""Mistakes in the decomposition of the Brier score."""

from __future__ import annotations

from typing import NamedTuple

import torch

from course.checks.calibration_and_flows.binning import bins_of, top
from course.task import Misconception


class _BrierParts(NamedTuple):
    reliability: torch.Tensor
    resolution: torch.Tensor
    uncertainty: torch.Tensor


def _squares(outcome):
    return _square(outcome - outcome.double().mean()).sum()


def _square(gap):
    return gap**2


def _brier(
    *,
    weighted=True,
    centre=None,
    middles=False,
    swapped=False,
    of=None,
    distance=_square,
    by=lambda forecast: forecast,
):
    def answer(forecast, outcome, n_bins):
        case = of(forecast, outcome) if of else (forecast, outcome)
        share, f, o = _means(by(case[0]), *case, n_bins)
        if middles:
            f = (torch.arange(n_bins, dtype=torch.float64) + 0.5) / n_bins
        weight = share if weighted else (share > 0) / (share > 0).sum()
        overall = outcome.double().mean()
        reliability = (weight * distance(f - o)).sum()
        middle = overall if centre is None else centre(forecast, o)
        resolution = (weight * distance(o - middle)).sum()
        if swapped:
            reliability, resolution = resolution, reliability
        return _BrierParts(reliability, resolution, overall * (1 - overall))

    return answer


def _means(values, forecast, outcome, n_bins):
    share, f, o = (
        bins_of(values, forecast, n_bins)[0],
        *(bins_of(values, each, n_bins)[2] for each in (forecast, outcome)),
    )
    return share, f, o


def _changed(**parts):
    """Change parts of the right answer; each takes shares, mean forecasts and outcomes, and o."""

    def answer(forecast, outcome, n_bins):
        right = _brier()(forecast, outcome, n_bins)
        bins = _means(forecast, forecast, outcome, n_bins)
        overall = outcome.double().mean()
        return right._replace(**{k: f(*bins, overall) for k, f in parts.items()})

    return answer


def _top_of_two(forecast, outcome):
    return top(torch.stack([1 - forecast, forecast], 1), outcome)


def _resolution_of_forecasts(forecast, outcome, n_bins):
    share, f, _ = bins_of(forecast, outcome, n_bins)
    spread = (share * (f - outcome.double().mean()) ** 2).sum()
    return _brier()(forecast, outcome, n_bins)._replace(resolution=spread)


BRIER_DECOMPOSITION_MISTAKES = [
    Misconception(
        _brier(weighted=False),
        "you give all non-empty bins the same weight. Weight a bin by its share of the data.",
    ),
    Misconception(
        _brier(centre=lambda forecast, o: 0.5),
        "you measure resolution from ½. Measure it from the mean outcome of all data points.",
    ),
    Misconception(
        _brier(of=_top_of_two),
        "you take confidence and accuracy, as calibration_bins does. Bin the forecast itself, the probability "
        "of the event, from 0 to 1, and average the outcomes.",
    ),
    Misconception(
        _resolution_of_forecasts,
        "you use the mean forecast f_b in the resolution. It compares the mean outcome o_b of a bin with that of "
        "all data points.",
    ),
    Misconception(
        _brier(middles=True),
        "you use the middle of a bin in place of the mean of the forecasts in it.",
    ),
    Misconception(
        _brier(swapped=True),
        "you swap reliability and resolution: reliability compares forecasts with outcomes, and 0 is perfect; "
        "resolution compares outcomes with their mean, and more is better.",
    ),
    Misconception(
        _brier(by=lambda forecast: torch.maximum(forecast, 1 - forecast)),
        "you make the bins by the confidence; make them by the forecast itself, from 0 to 1.",
    ),
    Misconception(
        _brier(distance=torch.abs),
        "you take absolute differences; the Brier score is made of squares.",
    ),
    Misconception(
        _brier(centre=lambda forecast, o: forecast.mean()),
        "you measure resolution from the mean forecast. Measure it from the mean outcome of all data points.",
    ),
    Misconception(
        _brier(centre=lambda forecast, o: o.mean()),
        "you average the mean outcomes of the bins as if all held equally many data points. Take the mean outcome "
        "of all data points.",
    ),
    Misconception(
        _changed(
            resolution=lambda share, f, o, mean: ((o - mean) ** 2).mean(),
            reliability=lambda share, f, o, mean: ((f - o) ** 2).mean(),
        ),
        "you give all bins the same weight, empty ones too. Weight a bin by its share of the data.",
    ),
    Misconception(
        _changed(resolution=lambda share, f, o, mean: -(share * (o - mean) ** 2).sum()),
        "you return the resolution with a minus sign. It is a sum of squares; the decomposition subtracts it.",
    ),
    Misconception(
        _changed(uncertainty=lambda share, f, o, mean: (share * o * (1 - o)).sum()),
        "you compute the uncertainty in each bin. It is o (1 − o) of all data points together.",
    ),
    Misconception(
        _changed(uncertainty=lambda share, f, o, mean: mean),
        "you return the mean outcome o as the uncertainty; it is o (1 − o).",
    ),
    Misconception(
        lambda forecast, outcome, n_bins: _brier()(forecast, outcome, n_bins)._replace(
            uncertainty=forecast.mean() * (1 - forecast.mean())
        ),
        "you compute the uncertainty from the mean forecast; it is that of the outcomes.",
    ),
    Misconception(
        lambda forecast, outcome, n_bins: _brier()(forecast, outcome, n_bins)._replace(
            uncertainty=_squares(outcome) / (len(outcome) - 1)
        ),
        "you divide by N − 1 in the variance of the outcomes, which is torch's default; o(1 − o) divides by N.",
    ),
    Misconception(
        lambda *case: tuple(_brier()(*case)),
        "you return a plain tuple. Later code reads its parts by name: return BrierParts(reliability=…, "
        "resolution=…, uncertainty=…).",
    ),
]
