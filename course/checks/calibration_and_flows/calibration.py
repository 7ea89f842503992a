"""Calibration by bins of confidence: bins, ECE, and the decomposition of the Brier score."""

from __future__ import annotations

import numpy as np
import scipy.stats
import torch

from course.checks.calibration_and_flows.binning import Bins, bins_of, top
from course.checks.calibration_and_flows.brier import BRIER_DECOMPOSITION_MISTAKES
from course.checks.calibration_and_flows.tolerances import SINGLE
from course.probing import fields, unless_default
from course.task import Close, Misconception, Task

DEFAULT_BINS = "Where n_bins is 15, the check leaves it out, since 15 is the default."


def _probs_cases(rng):
    three = rng.dirichlet(np.full(3, 0.5), 80)
    # Gaps are positive below 10/15 and negative just above: ten bins would mix the two.
    three[:2] = [[0.64, 0.2, 0.16], [0.12, 0.68, 0.2]]
    three = rng.permutation(three)
    confidence, labels = three.max(1), three.argmax(1)
    labels = np.where(confidence < 2 / 3, labels, (labels + 1) % 3)
    labels = np.where(confidence < 0.8, labels, rng.integers(0, 3, 80))
    edges = rng.permutation(
        [0.5, 0.75, 1.0, 0.625, 0.75, 0.9375, 0.5625]
    )  # on boundaries of four bins, and not
    two = np.stack([edges, 1 - edges], 1)
    two[::2] = two[::2, ::-1]
    # In both bins that are not empty there are gaps of both signs: narrower bins keep them.
    low, high = rng.permutation([True, False]), rng.permutation([True, False])
    right = np.where(
        edges < 0.75, low[(edges > 0.6).astype(int)], high[(edges > 0.8).astype(int)]
    )
    one = rng.uniform(1, 1.5, (1, 4))  # no confidence is in the upper half
    return [
        {"probs": three, "labels": labels, "n_bins": 15},
        {
            "probs": two,
            "labels": np.where(right, top := two.argmax(1), 1 - top),
            "n_bins": 4,
        },
        {  # overconfident: the gap is negative
            "probs": one / one.sum(),
            "labels": (one.argmax(1) + rng.integers(1, 4, 1)) % 4,
            "n_bins": 10,
        },
    ]


def _bins_probe(answer, probs, labels, n_bins):
    import torch

    bins = unless_default(answer, n_bins, 15)
    result = answer(torch.as_tensor(probs.copy()), torch.as_tensor(labels), *bins)
    return fields(result, "share", "confidence", "accuracy")


def binned(values, means, n_bins):
    edges = np.linspace(0, 1, n_bins + 1)
    count, _, _ = scipy.stats.binned_statistic(values, values, "count", edges)
    return count, [
        np.nan_to_num(scipy.stats.binned_statistic(values, m, "mean", edges)[0])
        for m in means
    ]


def _bins_oracle(probs, labels, n_bins):
    confidence = probs.max(1)
    correct = (probs.argmax(1) == labels).astype(float)
    count, (mean_confidence, accuracy) = binned(
        confidence, [confidence, correct], n_bins
    )
    return {
        "share": Close(count / len(labels), atol=1e-6, because=SINGLE),
        "confidence": Close(mean_confidence, atol=1e-6, because=SINGLE),
        "accuracy": Close(accuracy, atol=1e-6, because=SINGLE),
        "fields": Close(1.0, because="Bins has the fields share, confidence, accuracy"),
    }


def _class_one(probs, labels):
    return probs[:, 1], labels == 1


def _forecast_of_one(probs, labels):
    return probs[:, 1], probs.argmax(1) == labels


def _own(probs, labels):
    return probs.gather(1, labels[:, None])[:, 0], probs.argmax(1) == labels


def _middles(*, of_all):
    def answer(probs, labels, n_bins):
        share, _, accuracy = bins_of(*top(probs, labels), n_bins)
        middles = (torch.arange(n_bins, dtype=torch.float64) + 0.5) / n_bins
        return Bins(share, middles * (of_all | (share > 0)), accuracy)

    return answer


def _changed(change):
    """Change the right bins; ``change`` takes them, N, and the labels in each bin."""

    def answer(probs, labels, n_bins):
        confidence, correct = top(probs, labels)
        bins = bins_of(confidence, correct, n_bins)
        return Bins(*change(bins, len(labels), bins_of(confidence, labels, n_bins)[2]))

    return answer


def _full(bins):
    return int(bins.share.nonzero().max()) + 1


CALIBRATION_BINS = Task(
    name="calibration_bins",
    points=3,
    cases=_probs_cases,
    probe=_bins_probe,
    made_of=DEFAULT_BINS,
    oracle=_bins_oracle,
    misconceptions=[
        Misconception(
            lambda probs, labels, n_bins: bins_of(*_class_one(probs, labels), n_bins),
            "you make the bins from p(y = 1). The confidence is the probability of the predicted class, whichever it "
            "is.",
        ),
        Misconception(
            lambda probs, labels, n_bins: bins_of(
                *_forecast_of_one(probs, labels), n_bins
            ),
            "you take probs[:, 1] as the confidence, but compute the accuracy of the predicted class. The confidence is the probability of that same class.",
        ),
        Misconception(
            lambda probs, labels, n_bins: bins_of(*_own(probs, labels), n_bins),
            "you take the probability of the true label as the confidence. A model does not know the label: take the "
            "largest probability.",
        ),
        *(
            Misconception(
                _middles(of_all=of_all),
                "you use the middle of a bin in place of the mean of the confidences in it.",
            )
            for of_all in (False, True)
        ),
        Misconception(
            lambda probs, labels, n_bins: bins_of(*top(probs, labels), 15),
            "you make 15 bins, whatever n_bins is.",
        ),
        Misconception(
            _changed(lambda bins, n, _: [part[bins.share > 0] for part in bins]),
            "you leave out the empty bins. Keep them, with zeros.",
        ),
        Misconception(
            lambda probs, labels, n_bins: bins_of(
                *top(probs, labels), n_bins, upper=True
            ),
            "you put a confidence on an inner boundary into the bin below it; here it belongs to the one above.",
        ),
        Misconception(
            lambda probs, labels, n_bins: bins_of(
                *top(probs, labels), n_bins, empty=0.0
            ),
            "you divide 0 by 0 in an empty bin. Set its means to 0.",
        ),
        Misconception(
            _changed(lambda bins, n, _: (n * bins.share, *bins[1:])),
            "you return the numbers of data points; a share is such a number divided by N.",
        ),
        Misconception(
            _changed(lambda bins, n, labels: (*bins[:2], labels)),
            "you average the labels themselves. The accuracy is the share of the data points whose predicted class is "
            "their label.",
        ),
        Misconception(
            _changed(
                lambda bins, n, _: (bins[0], bins[0] * bins[1], bins[0] * bins[2])
            ),
            "you divide the sums of a bin by N; divide them by the number of data points in the bin.",
        ),
        Misconception(
            _changed(
                lambda bins, n, _: (
                    bins[0],
                    n * bins[0] * bins[1],
                    n * bins[0] * bins[2],
                )
            ),
            "you return the sums of a bin; divide them by the number of data points in it.",
        ),
        Misconception(
            _changed(lambda bins, n, _: (bins[0], bins[2], bins[1])),
            "you swap confidence and accuracy: `Bins` takes share, confidence and accuracy in this order.",
        ),
        Misconception(
            _changed(lambda bins, n, _: (bins[0], bins[1], 1 - bins[2])),
            "you count the errors: this is 1 minus the accuracy.",
        ),
        Misconception(
            _changed(lambda bins, n, _: [part[: _full(bins)] for part in bins]),
            "you leave out minlength: torch.bincount then ends at the last bin that holds data.",
        ),
        Misconception(
            lambda probs, labels, n_bins: tuple(bins_of(*top(probs, labels), n_bins)),
            "you return a plain tuple. Later code reads its parts by name: return `Bins(share=…, confidence=…, "
            "accuracy=…)`.",
        ),
    ],
    hints=[
        "probs.max(-1) gives the confidence and the predicted class together.",
        "torch.bincount(index, minlength=n_bins) counts; with weights it adds them up by bin.",
        "Divide the sums by the counts; clamp these at 1, so that an empty bin gives 0.",
    ],
)


def _error_probe(answer, probs, labels, n_bins):
    import torch

    bins = unless_default(answer, n_bins, 15)
    return {
        "error": answer(torch.as_tensor(probs.copy()), torch.as_tensor(labels), *bins)
    }


def _error_oracle(probs, labels, n_bins):
    bins = _bins_oracle(probs, labels, n_bins)
    gap = np.abs(bins["accuracy"].value - bins["confidence"].value)
    return {
        "error": Close(
            np.average(gap, weights=bins["share"].value), atol=1e-6, because=SINGLE
        )
    }


def _error(summary, which=top, bins=None):
    def answer(probs, labels, n_bins):
        share, confidence, accuracy = bins_of(*which(probs, labels), bins or n_bins)
        return summary(share, accuracy - confidence)

    return answer


CALIBRATION_ERROR = Task(
    name="calibration_error",
    points=2,
    cases=_probs_cases,
    probe=_error_probe,
    made_of=DEFAULT_BINS,
    oracle=_error_oracle,
    misconceptions=[
        Misconception(
            _error(lambda share, gap: gap.abs().mean()),
            "you give all bins the same weight, empty ones too. Weight each gap by the bin's share of the data.",
        ),
        Misconception(
            _error(lambda share, gap: gap.abs().sum() / (share > 0).sum()),
            "you give all non-empty bins the same weight. Weight each gap by the bin's share of the data.",
        ),
        Misconception(
            _error(lambda share, gap: (share * gap.abs()).sum(), _class_one),
            "you make the bins from p(y = 1). The confidence is the probability of the predicted class.",
        ),
        Misconception(
            _error(lambda share, gap: (share * gap).sum().abs()),
            "you keep the gaps' signs, so that overconfidence and underconfidence cancel.",
        ),
        Misconception(
            _error(lambda share, gap: (share * gap**2).sum().sqrt()),
            "you square the gaps; the ECE takes absolute values.",
        ),
        Misconception(
            _error(lambda share, gap: gap.abs().max()),
            "you return the largest gap: this is the maximum calibration error.",
        ),
        Misconception(
            _error(lambda share, gap: (share * gap).sum()),
            "you keep the gaps' signs, so that overconfidence and underconfidence cancel.",
        ),
        Misconception(
            _error(lambda share, gap: (share * gap**2).sum()),
            "you square the gaps; the ECE takes absolute values.",
        ),
        Misconception(
            _error(lambda share, gap: gap.abs().sum()),
            "you add up the gaps without weights. Weight each gap by the bin's share of the data.",
        ),
        Misconception(
            _error(lambda share, gap: (share * gap.abs()).mean()),
            "you average the weighted gaps. The shares sum to 1 already: take the sum.",
        ),
        Misconception(
            lambda probs, labels, n_bins: (
                lambda confidence, correct: (correct.double() - confidence).abs().mean()
            )(*top(probs, labels)),
            "you take the gap of every data point. Take means in each bin first: a single label is 0 or 1, far from "
            "any confidence between.",
        ),
        # No bin of 10 or of 15 has gaps of both signs here, so both give the same numbers.
        Misconception(
            _error(lambda share, gap: (share * gap.abs()).sum(), bins=15),
            "you do not use n_bins: pass it on to calibration_bins.",
        ),
    ],
    hints=[
        "calibration_bins has all you need: the gap of a bin is |accuracy − confidence|.",
        "The ECE is an expectation over the data: weight each bin by its share of the data.",
    ],
)


def _brier_cases(rng):
    even = rng.uniform(0, 1, 91)
    few = rng.choice([0.25, 0.5, 0.8, 1.0], 61)  # odd, so the mean outcome is not ½
    one = rng.uniform(0.3, 0.7, 1)
    return [
        {
            "forecast": p,
            "outcome": (rng.uniform(0, 1, len(p)) < p**1.5).astype(np.int64),
            "n_bins": n,
        }
        for p, n in ((even, 15), (few, 4), (one, 10))
    ]


def _brier_probe(answer, forecast, outcome, n_bins):
    import torch

    bins = unless_default(answer, n_bins, 15)
    result = answer(torch.as_tensor(forecast.copy()), torch.as_tensor(outcome), *bins)
    return fields(result, "reliability", "resolution", "uncertainty")


def _brier_oracle(forecast, outcome, n_bins):
    """Compute resolution as the variance of the bins' mean outcomes, reliability as the rest."""
    count, (mean_forecast, mean_outcome) = binned(
        forecast, [forecast, outcome.astype(float)], n_bins
    )
    each_forecast, each_outcome = (
        np.repeat(m, count.astype(int)) for m in (mean_forecast, mean_outcome)
    )
    within = np.sum(count * mean_outcome * (1 - mean_outcome)) / len(forecast)
    binned_score = np.mean((each_forecast - each_outcome) ** 2) + within
    uncertainty, resolution = np.var(outcome), np.var(each_outcome)
    return {
        "reliability": Close(
            binned_score - uncertainty + resolution, atol=1e-6, because=SINGLE
        ),
        "resolution": Close(resolution, atol=1e-6, because=SINGLE),
        "uncertainty": Close(uncertainty, atol=1e-6, because=SINGLE),
        "fields": Close(
            1.0,
            because="BrierParts has the fields reliability, resolution, uncertainty",
        ),
    }


BRIER_DECOMPOSITION = Task(
    name="brier_decomposition",
    points=3,
    cases=_brier_cases,
    probe=_brier_probe,
    made_of=DEFAULT_BINS,
    oracle=_brier_oracle,
    misconceptions=BRIER_DECOMPOSITION_MISTAKES,
    hints=[
        "Bin the forecast itself, from 0 to 1, not the confidence. bin_index says which bin each forecast is in; "
        "torch.bincount counts and adds up by bin.",
        "Each of the first two parts is a sum over bins of n_b/N · (a difference)².",
        "An empty bin has weight 0, so it is enough for its means to be finite.",
    ],
)
