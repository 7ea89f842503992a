"""Randomised MAP sampling against the conjugate posterior; SWAG; cyclical step sizes."""

from __future__ import annotations

import math

import numpy as np
import torch

from course.checks.approximate_inference.tolerances import FLOAT64, SINGLE, six_errors
from course.checks.draws import DRAWS, gaussian_distance
from course.checks.probing import drawn, seeded
from course.task import Close, Misconception, Task


def _randomised_cases(rng):
    """Draw data that determine the weights more than the prior does, and less.

    In the first case nearly all of the posterior's spread comes from the noise of the
    targets, in the second from the anchors, in the third half from either.
    """
    cases = []
    for (n, d), share in zip(((7, 3), (5, 2), (1, 1)), (0.12, 0.85, 0.5), strict=True):
        x = np.linalg.qr(rng.normal(0, 1, (n, d)))[0] * rng.uniform(2, 3)
        prior_std = float(rng.uniform(2, 3))
        # The share of the prior in the posterior's precision is the same for each weight.
        data = (1 / share - 1) / prior_std**2
        noise_std = float(math.sqrt((x[:, 0] @ x[:, 0]) / data))
        x = x @ (np.eye(d) + 0.25 * np.triu(np.ones((d, d)), 1))
        w = rng.choice([-1, 1], d) * rng.uniform(1, 2, d) * prior_std
        cases.append(
            {
                "x": x,
                "y": x @ w + noise_std * rng.normal(0, 1, n),
                "noise_std": noise_std,
                "prior_std": prior_std,
                "seed": int(rng.integers(1 << 30)),
            }
        )
    return cases


def _randomised_probe(answer, x, y, noise_std, prior_std, seed):
    import torch

    def draw(generator):
        data = torch.tensor(x), torch.tensor(y)
        members = answer(*data, noise_std, prior_std, 2000, generator=generator)
        # The last digits of linear algebra depend on where arrays are in memory.
        return None if members is None else torch.round(members, decimals=6)

    members, comparisons = drawn(draw, seed)
    if members is None:
        return {"mean": None}
    few = answer(
        torch.tensor(x), torch.tensor(y), noise_std, prior_std, 3, generator=seeded(0)
    )
    members = members.double()
    centred = members - members.mean(0)
    return {
        "mean": members.mean(0),
        "covariance": centred.T @ centred / (len(members) - 1),
        "mean_distance_in_stds": (centred.abs().mean(0) / members.std(0)).mean(),
        "number_of_members": float(len(few)),
        **comparisons,
    }


def _posterior(x, y, noise_std, prior_std):
    """Compute the conjugate posterior from the joint Gaussian of weights and targets."""
    cross = prior_std**2 * x.T
    targets = prior_std**2 * x @ x.T + noise_std**2 * np.eye(len(x))
    gain = np.linalg.solve(targets, cross.T).T
    return gain @ y, prior_std**2 * np.eye(x.shape[1]) - gain @ cross.T


def _randomised_oracle(x, y, noise_std, prior_std, seed):
    mean, covariance = _posterior(x, y, noise_std, prior_std)
    variances = np.diag(covariance)
    errors = np.sqrt((np.outer(variances, variances) + covariance**2) / DRAWS)
    return {
        "mean": Close(
            mean, atol=6 * math.sqrt(variances.max() / DRAWS), because=six_errors()
        ),
        "covariance": Close(
            covariance, atol=6 * float(errors.max()), because=six_errors("covariance")
        ),
        "mean_distance_in_stds": gaussian_distance(DRAWS),
        "number_of_members": Close(3.0, because="one for each draw that is asked for"),
        "reproducible": Close(1.0, because="the same generator gives the same members"),
        "fresh": Close(1.0, because="the next call draws anew"),
        "another_seed_another_draw": Close(
            1.0, because="the noise comes from the generator that is passed in"
        ),
    }


def _randomised(
    *,
    anchored=lambda s: s,
    noisy=lambda s: s,
    shared=False,
    pulled=1.0,
    power=2,
    inverse=False,
):
    """Make a wrong sampler: scales of its noise, and the pull of anchors."""

    def answer(x, y, noise_std, prior_std, draws, *, generator):
        n, d = x.shape
        anchors = anchored(prior_std) * torch.randn(
            d, draws, dtype=x.dtype, generator=generator
        )
        noise = noisy(noise_std) * torch.randn(
            n, 1 if shared else draws, dtype=x.dtype, generator=generator
        )
        data, prior = noise_std**-power, prior_std**-power
        if inverse:
            data, prior = 1 / data, 1 / prior
        precision = data * x.T @ x + prior * torch.eye(d, dtype=x.dtype)
        right = data * x.T @ (y[:, None] + noise) + pulled * prior * anchors
        return torch.linalg.solve(precision, right.expand(d, draws)).T

    return answer


RANDOMISED_MAP = Task(
    name="randomised_map",
    points=3,
    cases=_randomised_cases,
    probe=_randomised_probe,
    oracle=_randomised_oracle,
    misconceptions=[
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
            _randomised(anchored=lambda s: s**2),
            "you use the prior's variance as the standard deviation of the anchors.",
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
    ],
    hints=[
        "The objective is quadratic in w. Set its gradient to zero: what multiplies w, and what is on the other side?",
        "The matrix XᵀX/τ² + I/σ₀² is the same for all members. Only the right-hand side, Xᵀ(y + η)/τ² + a/σ₀², is random.",
        "Draw the anchors of all members as columns, (D, S), and the noise as (N, S); then one call of torch.linalg.solve serves all of them, and .T puts members into rows.",
    ],
)


def _swag_cases(rng):
    """Draw weights that drift away from 0, so that every mean of them differs."""
    return [
        {
            "weights": 2
            + np.cumsum(rng.uniform(0.5, 1.5, (t, d)), axis=0)
            + rng.normal(0, 0.3, (t, d)),
            "rank": rank,
        }
        for t, d, rank in ((7, 3, 3), (5, 2, 2), (1, 1, 1), (6, 4, 1))
    ]


def _swag_probe(answer, weights, rank):
    import torch

    result = answer(torch.tensor(weights), rank)
    keys = ("mean", "variance", "deviations")
    values = (None,) * 3 if result is None else result
    return dict(zip(keys, values, strict=True))


def _swag_oracle(weights, rank):
    mean = weights.mean(0)
    deviations = [
        weights[t] - weights[: t + 1].mean(0)
        for t in range(len(weights) - rank, len(weights))
    ]
    values = {
        "mean": mean,
        "variance": ((weights - mean) ** 2).mean(0),
        "deviations": np.array(deviations),
    }
    return {
        key: Close(value, rtol=1e-6, atol=1e-8, because=FLOAT64)
        for key, value in values.items()
    }


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


SWAG_MOMENTS = Task(
    name="swag_moments",
    points=2,
    cases=_swag_cases,
    probe=_swag_probe,
    oracle=_swag_oracle,
    misconceptions=[
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
                    weights.var(0, correction=0)
                    * len(weights)
                    / max(len(weights) - 1, 1)
                )
            ),
            "you divide the sum of squares by T − 1: here the variance divides by T.",
        ),
        Misconception(
            _swag(mean=lambda weights: weights[-1]),
            "you return the last weights for the mean: it is the mean over all epochs.",
        ),
    ],
    hints=[
        "Mean and variance are those of the rows of weights. For the deviations you need the mean after each epoch.",
        "weights.cumsum(dim=0), divided by 1, 2, …, T, gives all running means at once.",
        "The weights 1, 3, 8 have the running means 1, 2, 4 and the deviations 0, 1, 4; with rank 2, keep the last two. Tensor.var takes correction=0.",
    ],
)


def _cyclical_cases(rng):
    """Draw numbers of steps that the number of cycles divides, and some that it does not."""
    return [
        {"steps": steps, "cycles": cycles, "largest": float(rng.uniform(0.2, 2.0))}
        for steps, cycles in ((12, 3), (11, 4), (7, 1), (1, 1))
    ]


def _cyclical_probe(answer, steps, cycles, largest):
    import numpy as np

    sizes = [answer(step, steps, cycles, largest) for step in range(steps)]
    return {"sizes": None if sizes[0] is None else np.array(sizes, dtype=float)}


def _cyclical_oracle(steps, cycles, largest):
    """Half-angle form: α₀ cos² of an angle that grows to a quarter turn in each cycle."""
    length = -(-steps // cycles)
    phase = np.tile(np.arange(length) / length, cycles)[:steps]
    sizes = largest * np.cos(np.pi * phase / 2) ** 2
    return {"sizes": Close(sizes, rtol=1e-5, atol=1e-7, because=SINGLE)}


def _cyclical(
    *,
    length=lambda steps, cycles: math.ceil(steps / cycles),
    wrap=True,
    turn=math.pi,
    offset=1.0,
    late=0,
    factor=0.5,
):
    def answer(step, steps, cycles, largest):
        period = length(steps, cycles)
        at = step + late
        at = at % period if wrap else at
        return factor * largest * (math.cos(turn * at / period) + offset)

    return answer


CYCLICAL_STEP_SIZE = Task(
    name="cyclical_step_size",
    points=1,
    cases=_cyclical_cases,
    probe=_cyclical_probe,
    oracle=_cyclical_oracle,
    misconceptions=[
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
    ],
    hints=[
        "How many steps has a cycle, and how many of the current cycle have passed at step k?",
        "The length is K/M, rounded up with math.ceil; the operator % gives the steps since the cycle began.",
        "With 12 steps, 3 cycles and α₀ = 1, steps 0, 4 and 8 have the size 1, and steps 2, 6 and 10 the size ½.",
    ],
)
