"""Wrong moments of SWAG, and wrong cyclical step sizes."""

from __future__ import annotations

import math

import torch

from course.task import Misconception


def _swag(*, mean=None, variance=None, deviations=None):
    def answer(weights, rank):
        steps = torch.arange(1, len(weights) + 1, dtype=weights.dtype)
        running = weights.cumsum(0) / steps[:, None]
        away = deviations(weights, running) if deviations else weights - running
        return (
            weights.mean(0) if mean is None else mean(weights),
            weights.var(0, correction=0) if variance is None else variance(weights),
            away[len(weights) - rank :],
        )

    return answer


def _first_deviations(weights, rank):
    mean, variance, every = _swag()(weights, len(weights))
    return mean, variance, every[:rank]


def _before(weights, running):
    """Return deviations from the mean of the epochs before; the first has none before it."""
    return weights - torch.cat([torch.zeros_like(weights[:1]), running[:-1]])


def _unbiased(weights):
    """Divide by T − 1; of one epoch, the result is no number."""
    squares = (weights - weights.mean(0)) ** 2
    return squares.sum(0) / torch.tensor(len(weights) - 1.0)


def _none_before(weights, running):
    """Return the same deviations, but 0 for the first epoch."""
    return weights - torch.cat([weights[:1], running[:-1]])


def _from_the_last(weights, running):
    return weights - torch.cat([weights[:1], weights[:-1]])


def _every_deviation(weights, rank):
    return _swag()(weights, len(weights))


def _of_the_last(weights, rank):
    mean, variance, _ = _swag()(weights[-rank:], rank)
    return mean, variance, _swag()(weights, rank)[2]


def _columns(weights, rank):
    mean, variance, deviations = _swag()(weights, rank)
    return mean, variance, deviations.T


def _running_variance(weights, rank):
    mean, _, every = _swag()(weights, len(weights))
    return mean, (every**2).mean(0), every[len(weights) - rank :]


MOMENTS = [
    Misconception(
        _swag(deviations=lambda weights, running: weights - weights.mean(0)),
        "you take deviations from the mean of all epochs. SWAG takes them during training, from the mean so far.",
    ),
    Misconception(
        _swag(deviations=_before),
        "you take deviations from the mean of the epochs before: the mean so far includes the epoch itself.",
    ),
    Misconception(
        _first_deviations,
        "you keep the deviations of the first epochs: keep the last.",
    ),
    Misconception(
        _swag(variance=lambda weights: weights.std(0, correction=0)),
        "you return standard deviations in place of variances.",
    ),
    Misconception(
        _swag(variance=lambda weights: (weights**2).mean(0)),
        "you return the mean of the squares: subtract the square of the mean.",
    ),
    Misconception(
        _swag(
            variance=lambda weights: (
                weights.var(0, correction=0) * len(weights) / max(len(weights) - 1, 1)
            )
        ),
        "you divide the sum of squares by T − 1: here the variance divides by T.",
    ),
    Misconception(
        _swag(mean=lambda weights: weights[-1]),
        "you return the last weights for the mean: it is the mean over all epochs.",
    ),
    Misconception(
        _swag(variance=_unbiased),
        "you divide the sum of squares by T − 1, as Tensor.var does unless told otherwise: here the variance divides by "
        "T.",
    ),
    Misconception(
        _swag(deviations=_none_before),
        "you take deviations from the mean of the epochs before: the mean so far includes the epoch itself.",
    ),
    Misconception(
        _swag(deviations=lambda weights, running: running - weights),
        "you subtract the weights from the mean: a deviation is the weights less the mean so far.",
    ),
    Misconception(
        _swag(deviations=_from_the_last),
        "you take differences from one epoch to the next: deviations are from the mean so far.",
    ),
    Misconception(
        _swag(deviations=lambda weights, running: running),
        "you return the means so far: subtract them from the weights.",
    ),
    Misconception(
        _swag(deviations=lambda weights, running: weights),
        "you return the last weights: subtract the means so far from them.",
    ),
    Misconception(
        _swag(deviations=lambda weights, running: (weights - running) ** 2),
        "you square the deviations.",
    ),
    Misconception(
        _swag(mean=lambda weights: weights.cumsum(0)[-1]),
        "you return the sum of the weights: divide it by the number T of epochs.",
    ),
    Misconception(
        _every_deviation,
        "you keep the deviations of all epochs: keep the last `rank`.",
    ),
    Misconception(
        _of_the_last,
        "you take the moments of the last epochs alone: mean and variance are over all T epochs.",
    ),
    Misconception(
        _columns,
        "you return a column for each deviation: deviations are rows.",
    ),
    Misconception(
        _running_variance,
        "you average the squared deviations from the means so far: the variance is about the mean of all epochs.",
    ),
]


def _cyclical(
    *,
    length=lambda steps, cycles: math.ceil(steps / cycles),
    wrap=True,
    turn=math.pi,
    offset=1.0,
    late=0,
    factor=0.5,
    of=lambda length: length,
):
    def answer(step, steps, cycles, largest):
        period = length(steps, cycles)
        at = step + late
        at = at % period if wrap else at
        return factor * largest * (math.cos(turn * at / of(period)) + offset)

    return answer


def _shaped(shape):
    """Make step sizes that follow another function of the part of the cycle that has passed."""

    def answer(step, steps, cycles, largest):
        length = math.ceil(steps / cycles)
        return largest * shape(step % length / length)

    return answer


STEP_SIZES = [
    Misconception(
        _cyclical(length=lambda steps, cycles: steps // cycles),
        "you round the length of a cycle down: the formula rounds K/M up.",
    ),
    Misconception(
        _cyclical(length=lambda steps, cycles: steps / cycles),
        "you do not round the length of a cycle: where K/M is no whole number, cycles then start between two steps.",
    ),
    Misconception(
        _cyclical(length=lambda steps, cycles: steps),
        "you make one long cycle: there are M of them, each of ⌈K/M⌉ steps.",
    ),
    Misconception(
        _cyclical(length=lambda steps, cycles: cycles),
        "you take the number of cycles for their length: the length is ⌈K/M⌉.",
    ),
    Misconception(
        _cyclical(wrap=False),
        "you forget the remainder: after the first cycle the cosine then rises instead of starting again at the top.",
    ),
    Misconception(
        _cyclical(turn=2 * math.pi),
        "you take a whole cosine for a cycle, which falls and rises again. Half of one falls, then the next cycle starts.",
    ),
    Misconception(
        _cyclical(offset=0.0),
        "you forget to add 1 to the cosine: half of the step sizes are then negative.",
    ),
    Misconception(
        _cyclical(late=1),
        "you count steps from 1: here the first step is step 0 and takes the largest step size.",
    ),
    Misconception(
        _cyclical(factor=1.0),
        "you forget the half: the cosine plus 1 begins at 2.",
    ),
    Misconception(
        _cyclical(late=-1),
        "you subtract 1 from the step: here steps count from 0 already.",
    ),
    Misconception(
        _cyclical(of=lambda length: max(length - 1, 1)),
        "you divide by C − 1, so that a cycle ends at 0: the formula divides by C.",
    ),
    Misconception(
        _cyclical(length=lambda steps, cycles: steps // cycles + 1),
        "you add 1 to the length of a cycle, rounded down: where the number of cycles divides the number of steps, the "
        "length is K/M itself.",
    ),
    Misconception(
        _cyclical(length=lambda steps, cycles: max(round(steps / cycles), 1)),
        "you round the length of a cycle to the nearest whole number: the formula rounds K/M up.",
    ),
    Misconception(
        _cyclical(turn=math.pi / 2),
        "you take a quarter of a cosine's turn for a cycle: it is half of one, π.",
    ),
    Misconception(
        _shaped(lambda part: 1 - part),
        "you let the step size fall along a line: it falls along a cosine.",
    ),
    Misconception(
        _shaped(lambda part: (1 - math.cos(math.pi * part)) / 2),
        "you subtract the cosine from 1: the step size then rises in every cycle.",
    ),
    Misconception(
        _shaped(lambda part: math.cos(math.pi * part / 2)),
        "you take a quarter of a cosine, which falls from 1 to 0: the formula is half of the cosine of π (k mod C)/C plus "
        "½.",
    ),
    Misconception(
        _shaped(lambda part: (math.sin(math.pi * part) + 1) / 2),
        "you use the sine in place of the cosine.",
    ),
    Misconception(
        lambda step, steps, cycles, largest: _cyclical()(step, steps, cycles, 1.0),
        "you leave out α₀: multiply by the largest step size.",
    ),
    Misconception(
        lambda step, steps, cycles, largest: largest,
        "you return the largest step size at every step, as // does, which rounds (k mod C)/C down to 0.",
    ),
]
