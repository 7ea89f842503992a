"""Mistakes with what members of an ensemble know and how they spread, in NumPy and in JAX.

Each function makes the misconceptions of one task, whatever the library of its arrays.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from course.task import Misconception

Arrays = Callable[..., Any]
NORMALISED = "you divide by log K, the largest possible entropy of K classes."


def wrong_information(entropy: Arrays, bare_entropy: Arrays, function: str):
    """Return the mistakes in the mutual information of label and member.

    Args:
        entropy: takes the entropies of probabilities over their last axis.
        bare_entropy: the same, but with 0 · log 0.
        function: the function that returns 0 for 0 · log 0.
    """

    def total(probs):
        return entropy(probs.mean(0))

    def data(probs):
        return entropy(probs).mean(0)

    rows = [
        (
            total,
            "you return the entropy of the mean forecast, which is total uncertainty. Subtract data uncertainty, the "
            "mean entropy of the forecasts: uncertainty that all members share says nothing about how far they disagree.",
        ),
        (
            data,
            "you return the mean entropy of the members' forecasts, which is data uncertainty. It is subtracted from the "
            "entropy of the mean forecast.",
        ),
        (
            lambda probs: data(probs) - total(probs),
            "you swap the two terms: mutual information is never negative.",
        ),
        (
            lambda probs: (total(probs) - data(probs)) / math.log(2),
            "you take the logarithm to base 2, which gives bits; return nats.",
        ),
        (
            lambda probs: bare_entropy(probs.mean(0)) - bare_entropy(probs).mean(0),
            f"you compute 0 · log 0, which is not a number. Its limit is 0: use {function}.",
        ),
        (
            lambda probs: entropy(probs.mean(1)) - entropy(probs).mean(1),
            "you average over the data points. The members are on axis 0.",
        ),
        (
            lambda probs: total(probs) - entropy(probs).sum(0),
            "you add up the entropies of the members. Take their mean.",
        ),
        (
            lambda probs: total(probs) - entropy(probs).mean(),
            "you average the entropies over members and data points. Average over the members alone, axis 0.",
        ),
        (
            lambda probs: probs.var(0).sum(-1),
            "you take the variance of the probabilities over the members. It also grows with disagreement, but it is not "
            "in nats, and data uncertainty cannot be subtracted from it or added to it.",
        ),
        (
            lambda probs: (total(probs) - data(probs)) / math.log(probs.shape[-1]),
            NORMALISED,
        ),
        (
            lambda probs: (total(probs) - data(probs)) / probs.shape[-1],
            "you average over the classes; an entropy is a sum over them.",
        ),
        (
            lambda probs: entropy(probs.sum(0)) - data(probs),
            "you add up the members' probabilities for the mean forecast. Take their mean.",
        ),
        (
            lambda probs: entropy(probs[0]) - data(probs),
            "you take the first member's forecast for the mean forecast.",
        ),
        (
            lambda probs: total(probs) - entropy(probs[0]),
            "you subtract the entropy of the first member's forecast. Subtract the mean over all members.",
        ),
        (
            lambda probs: (total(probs) - data(probs)).mean(),
            "you average over the data points. Each has an information of its own.",
        ),
    ]
    return [Misconception(answer, hint) for answer, hint in rows]


def wrong_mixtures(variance_of: Arrays, spread: str):
    """Return the mistakes in the mean and variance of a mixture.

    Args:
        variance_of: takes the variances of the members from their spreads.
        spread: the members' spread, in the plural.
    """

    def moments(within, between=lambda means: means.var(0), power=1):
        def answer(means, spreads):
            variance = within(spreads) + between(means)
            return means.mean(0), variance**power

        return answer

    def right(spreads):
        return variance_of(spreads).mean(0)

    def unstable(means, spreads):
        mean = means.mean(0)
        return mean, (variance_of(spreads) + means**2).mean(0) - mean**2

    rows = [
        (
            moments(lambda spreads: variance_of(spreads.mean(0))),
            f"you average the {spread} and then square. Average the variances instead.",
        ),
        (
            moments(right, lambda means: 0),
            "you leave out the variance of the means: it measures how far the members disagree.",
        ),
        (
            moments(lambda spreads: right(spreads) / len(spreads)),
            "you divide the noise by M, as if the members' forecasts were averaged. A mixture draws one of them.",
        ),
        (
            unstable,
            "you subtract two large numbers, E[y²] − E[y]². In single precision, at a mean of 1,000, the "
            "difference is lost to rounding. Average the squared deviations from the mean instead.",
        ),
        (
            moments(right, lambda means: means.var(0, ddof=1)),
            "you divide by M − 1 in the variance of the means. The M members are the whole mixture, not a sample of it.",
        ),
        (
            moments(right, lambda means: (means**2).mean(0)),
            "you average the squares of the members' means. Subtract the mixture's mean from them before you square.",
        ),
        (
            moments(right, power=0.5),
            "you return the standard deviation instead of the variance.",
        ),
        (
            moments(lambda spreads: 0),
            "you leave out the members' own variances: this is how far the members disagree.",
        ),
        (
            moments(lambda spreads: spreads.mean(0)),
            f"you do not square the {spread}: average the variances.",
        ),
        (
            lambda means, spreads: (
                means.mean(0),
                (right(spreads) + means.var(0)) / len(means),
            ),
            "you divide by M: this is the variance of the mean of M draws. A mixture is one draw.",
        ),
        (
            moments(right, lambda means: means.var()),
            "you take the variance of the means of all data points. Each data point has a mixture of its own.",
        ),
        (
            lambda means, spreads: (
                means.mean(1),
                variance_of(spreads).mean(1) + means.var(1),
            ),
            "you average over the data points, axis 1. The members are on axis 0.",
        ),
    ]
    return [Misconception(answer, hint) for answer, hint in rows]


def wrong_log_mixtures(
    make: Callable[[Callable], Callable[..., Any]],
    log_softmax: Arrays,
    logsumexp: Arrays,
    log: Arrays,
) -> list[Misconception]:
    """Return the mistakes in the logarithm of the members' mean probabilities.

    Args:
        make: takes a function of all logits, with members on axis 0 and classes on the last
            axis, and returns an answer.
        log_softmax: takes logits and an axis.
        logsumexp: takes numbers and an axis.
        log: takes numbers.
    """

    def mixed(log_probs):
        return logsumexp(log_probs, 0) - math.log(len(log_probs))

    def guarded(eps):
        return lambda logits: log(math.e ** mixed(log_softmax(logits, -1)) + eps)

    def centred(logits):
        log_probs = log_softmax(logits, -1)
        centre = log_probs.mean(0)
        return centre + log((math.e ** (log_probs - centre)).mean(0))

    rows = [
        (
            centred,
            "you subtract the mean before you exponentiate. Where one member is far above it, exp overflows: subtract "
            "the maximum.",
        ),
        (mixed, "you take logits for log-probabilities: log_softmax is missing."),
        (
            lambda logits: mixed(log_softmax(logits, 0)),
            "you take the softmax over the members; take it over the classes, axis −1.",
        ),
        (
            lambda logits: log_softmax(logsumexp(logits, 0), -1),
            "you mix first and normalise afterwards: a member with large logits then counts more. Take log_softmax "
            "of each member first.",
        ),
        (
            lambda logits: log_softmax(logits.sum(0), -1),
            "you add up logits or log-probabilities, which multiplies the members' probabilities. A mixture averages "
            "them.",
        ),
        (
            lambda logits: (
                logsumexp(log_softmax(logits, -1), 0) - math.log(logits.shape[-1])
            ),
            "you subtract log K, for the number of classes; the mean is over the M members, so subtract log M.",
        ),
        (
            lambda logits: logsumexp(log_softmax(logits, -1), 0) / len(logits),
            "you divide the logarithm by M. Dividing inside the logarithm means subtracting log M outside.",
        ),
        *(
            (
                guarded(eps),
                "you keep the probabilities away from 0 before you take the logarithm, by adding a small number or by a "
                "lower limit: the logarithm of a small probability is then cut off. Stay in log space.",
            )
            for eps in (1e-12, 1e-10, 1e-8)
        ),
    ]
    return [Misconception(make(mistaken), hint) for mistaken, hint in rows]
