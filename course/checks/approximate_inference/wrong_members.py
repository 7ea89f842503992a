"""Wrong ways to sample by randomised MAP."""

from __future__ import annotations

import torch

from course.task import Misconception


def _randomised(
    *,
    anchored=lambda s: s,
    noisy=lambda s: s,
    shared=False,
    pulled=None,
    power=2,
    inverse=False,
    alike=False,
    targets=1.0,
    with_prior=1.0,
    transposed=False,
):
    """Make a wrong sampler: scales of its noise, and the pull of anchors."""

    def answer(x, y, noise_std, prior_std, draws, *, generator):
        n, d = x.shape
        anchors = anchored(prior_std) * torch.randn(
            d, 1 if alike else draws, dtype=x.dtype, generator=generator
        )
        noise = noisy(noise_std) * torch.randn(
            n, 1 if shared else draws, dtype=x.dtype, generator=generator
        )
        data, prior = noise_std**-power, prior_std**-power
        if inverse:
            data, prior = 1 / data, 1 / prior
        precision = data * x.T @ x + with_prior * prior * torch.eye(d, dtype=x.dtype)
        right = data * x.T @ (targets * y[:, None] + noise)
        right = right + (prior if pulled is None else pulled(prior_std)) * anchors
        members = torch.linalg.solve(precision, right.expand(d, draws))
        return members if transposed else members.T

    return answer


def _around_the_mean(x, y, noise_std, prior_std, draws, *, generator):
    """Add draws from the prior to the posterior's mean."""
    still = _randomised(noisy=lambda s: 0.0, anchored=lambda s: 0.0)
    members = still(x, y, noise_std, prior_std, draws, generator=generator)
    return members + prior_std * torch.randn(
        members.shape, dtype=x.dtype, generator=generator
    )


MEMBERS = [
    Misconception(
        _randomised(noisy=lambda s: 0.0),
        "you draw anchors, but leave the targets as they are. The mean is right, but the members then vary too little "
        "where the data determine the weights.",
    ),
    Misconception(
        _randomised(anchored=lambda s: 0.0),
        "you add noise to the targets, but anchor all members at 0. The mean is right, but the members then vary too "
        "little where the prior determines the weights.",
    ),
    Misconception(
        _randomised(noisy=lambda s: 0.0, anchored=lambda s: 0.0),
        "you return the same MAP estimate for every member.",
    ),
    Misconception(
        _randomised(noisy=lambda s: s**2, anchored=lambda s: s**2),
        "you use variances as standard deviations of the noise and of the anchors.",
    ),
    Misconception(
        _randomised(pulled=lambda s: 1 / s),
        "what you add to the right-hand side for the anchors has a standard deviation of 1: it is a/σ₀², where a has the "
        "standard deviation σ₀.",
    ),
    Misconception(
        _randomised(noisy=lambda s: s**2),
        "you use the variance of the noise as its standard deviation.",
    ),
    Misconception(
        _randomised(shared=True),
        "you give all members the same noisy targets: each needs noise of its own.",
    ),
    Misconception(
        _randomised(power=1),
        "you divide the squares in the objective by standard deviations: divide them by variances.",
    ),
    Misconception(
        _randomised(anchored=lambda s: 1.0),
        "you draw anchors with a standard deviation of 1: multiply them by prior_std.",
    ),
    Misconception(
        _randomised(noisy=lambda s: 1.0),
        "you draw noise with a standard deviation of 1: multiply it by noise_std.",
    ),
    Misconception(
        _randomised(noisy=lambda s: 1.0, anchored=lambda s: 1.0),
        "you draw noise and anchors with a standard deviation of 1: multiply them by noise_std and by prior_std.",
    ),
    Misconception(
        _randomised(noisy=lambda s: s**0.5, anchored=lambda s: s**0.5),
        "you take the roots of noise_std and prior_std, which are standard deviations already.",
    ),
    Misconception(
        _randomised(alike=True),
        "you give all members the same anchor: each needs one of its own.",
    ),
    Misconception(
        _randomised(alike=True, shared=True),
        "you give all members the same anchor and the same noise, so that they are all alike.",
    ),
    Misconception(
        _randomised(targets=0.0),
        "you replace the targets with noise: add the noise to them.",
    ),
    Misconception(
        _randomised(pulled=lambda s: 1.0),
        "you add the anchors without dividing them by σ₀²: the prior's part of the right-hand side is a/σ₀².",
    ),
    Misconception(
        _randomised(with_prior=0.0, pulled=lambda s: 0.0),
        "you minimise the squared errors alone: the objective contains ‖w − a‖²/(2σ₀²) as well.",
    ),
    Misconception(
        _around_the_mean,
        "you add draws from the prior to one MAP estimate: each member minimises an objective with an anchor of its "
        "own.",
    ),
    Misconception(
        _randomised(transposed=True),
        "you return a column for each member: members are rows.",
    ),
    Misconception(
        _randomised(inverse=True),
        "you weigh the squares in the objective with the variances: divide by these, so that the prior's term "
        "weighs τ²/σ₀² times as much as the data's.",
    ),
]
