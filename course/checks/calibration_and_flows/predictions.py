"""Mistakes in predictions that average over draws of the noise."""

from __future__ import annotations

import torch

from course.task import Misconception


def _predicted(
    summary=lambda p: (p.mean(0), p.var(0, correction=0)),
    *,
    graph=False,
    shape_of=lambda draws, x: (draws, *x.shape),
    noise_of=lambda generator: generator,
):
    def answer(model, x, *, draws, generator):
        with torch.set_grad_enabled(graph):
            z0 = model.draw(shape_of(draws, x), generator=noise_of(generator))
            log_probs, _, _ = model(x, z0)
            return summary(log_probs.exp())

    return answer


def _squares(p):
    return ((p - p.mean(0)) ** 2).sum(0)


def _moments_of(p):
    return p.mean(0), p.var(0, correction=0)


def _votes(p):
    return torch.nn.functional.one_hot(p.argmax(-1), p.shape[-1]).to(p.dtype)


def _from_mean_noise(model, x, *, draws, generator):
    with torch.no_grad():
        z0 = model.draw((draws, *x.shape), generator=generator).mean(0, keepdim=True)
        return _moments_of(model(x, z0)[0].exp())


def _plugged_in(model, x, *, draws, generator):
    with torch.no_grad():
        z0 = model.draw((draws, *x.shape), generator=generator)
        variance = model(x, z0)[0].exp().var(0, correction=0)
        return model(x, z0.mean(0))[0].exp(), variance


def _from_standard_normal(model, x, *, draws, generator):
    with torch.no_grad():
        z0 = torch.randn((draws, *x.shape), generator=generator)
        return _moments_of(model(x, z0)[0].exp())


PREDICT_MISTAKES = [
    Misconception(
        _predicted(lambda p: _moments_of(p)[::-1]),
        "you swap mean and variance: the mean comes first.",
    ),
    Misconception(
        _plugged_in,
        "you plug in the mean noise, `model(x, z0.mean(0))`. The mean of a model's probabilities is not the "
        "probability at the mean noise: average over the draws last.",
    ),
    Misconception(
        _predicted(lambda p: (p.log().mean(0).exp(), p.var(0, correction=0))),
        "you average log-probabilities. That is a geometric mean; the predictive integral averages probabilities.",
    ),
    Misconception(
        _predicted(
            lambda p: (p.log().mean(0).softmax(-1), p.var(0, correction=0)),
        ),
        "you average log-probabilities and then normalise. The predictive integral averages probabilities.",
    ),
    Misconception(
        _from_standard_normal,
        "you draw standard normal noise. The base distribution of a model need not be N(0, 1): use model.draw.",
    ),
    Misconception(
        _predicted(graph=True),
        "you build a graph, which keeps every draw of every data point for a backward pass that never happens. Use "
        "torch.no_grad().",
    ),
    Misconception(
        _predicted(lambda p: (p.mean(0), p.std(0, correction=0))),
        "you return the standard deviation; the task asks for the variance.",
    ),
    Misconception(
        _predicted(lambda p: (p.mean(0), _squares(p) / (len(p) - 1))),
        "you divide by S − 1, which is torch's default; pass correction=0. The variance of a single draw is then 0 "
        "and not 0 / 0.",
    ),
    Misconception(
        _predicted(lambda p: (p.log().mean(0), p.log().var(0, correction=0))),
        "you do not exponentiate: the model returns log-probabilities.",
    ),
    Misconception(
        _predicted(lambda p: _moments_of(p.log().softmax(0))),
        "you take a softmax over the draws. The model returns log-probabilities: exponentiate them.",
    ),
    Misconception(
        _predicted(lambda p: _moments_of(_votes(p))),
        "you count the classes that the draws predict; average their probabilities.",
    ),
    Misconception(
        _predicted(shape_of=lambda draws, x: (1, *x.shape)),
        "you make one draw, whatever `draws` is.",
    ),
    Misconception(
        _predicted(lambda p: (p.sum(0), p.var(0, correction=0))),
        "you add up the probabilities of the draws; average them.",
    ),
    Misconception(
        _predicted(lambda p: (p.mean(0), (p**2).mean(0))),
        "you return the mean of the squares. The variance also subtracts the square of the mean.",
    ),
    Misconception(
        _predicted(lambda p: (p.mean(0), (p**2).mean(0) - p.mean(0) ** 2)),
        "you subtract two nearly equal numbers, E[p²] − E[p]². In single precision, a small variance is lost to "
        "rounding, and can be negative. Average the squared deviations from the mean instead.",
    ),
    Misconception(
        _predicted(lambda p: _moments_of(p.transpose(0, 1))),
        "you average over the data points (axis 1); average over the draws (axis 0).",
    ),
    Misconception(
        _from_mean_noise,
        "you average the noise first, so that the model sees one draw, the mean. Average the probabilities, "
        "after the model.",
    ),
    Misconception(
        _predicted(lambda p: (p.mean(0), p.mean(0) * (1 - p.mean(0)))),
        "you return the variance of the label, p(1 − p). The task asks how much p itself varies over the draws.",
    ),
    Misconception(
        _predicted(noise_of=lambda generator: None),
        "you do not use the generator: the same seed gives another prediction each time.",
    ),
    Misconception(
        _predicted(noise_of=lambda generator: torch.Generator().manual_seed(0)),
        "you draw the noise with the same seed in every call, or use that of the first call again. Draw it anew in every "
        "call, from the generator that is passed in.",
    ),
    Misconception(
        _predicted(shape_of=lambda draws, x: (draws, 1, x.shape[1])),
        "you use the same noise for all data points. Each has its own latent: draw noise of shape (draws, N, D).",
    ),
    Misconception(
        _predicted(lambda p: (p.mean(0), p.var(0, correction=0) / len(p))),
        "you divide the variance by the number of draws: that is the squared standard error of their mean, not how much p varies.",
    ),
]
