"""Randomised MAP sampling against the conjugate posterior; SWAG; cyclical step sizes."""

from __future__ import annotations

import math

import numpy as np

from course.checks.approximate_inference.tolerances import FLOAT64, SINGLE, six_errors
from course.checks.approximate_inference.wrong_members import MEMBERS
from course.checks.approximate_inference.wrong_paths import MOMENTS, STEP_SIZES
from course.checks.draws import APART, DRAWS, TAILS, gaussian_distance
from course.probing import correlation_of_two, drawn, has_tails, seeded
from course.task import Close, Task


def _randomised_cases(rng):
    """Draw data that determine the weights more than the prior does, and less.

    Nearly all of the posterior's spread comes from the noise of the targets in two cases, and
    from the anchors in two. In either pair one standard deviation is small and one large, so
    that 1, its root and its square differ from it, and from one another, by far.
    """
    cases = []
    for (n, d), share, sizes in (
        ((7, 3), 0.12, (2, 3)),
        ((5, 2), 0.85, (2, 3)),
        ((1, 1), 0.85, (0.3, 0.4)),
        ((4, 2), 0.12, (0.3, 0.4)),
    ):
        x = np.linalg.qr(rng.normal(0, 1, (n, d)))[0] * rng.uniform(2, 3)
        prior_std = float(rng.uniform(*sizes))
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

    def draw(generator, sign=1.0):
        data = torch.tensor(x), torch.tensor(sign * y)
        members = answer(*data, noise_std, prior_std, 2000, generator=generator)
        # The last digits of linear algebra depend on where arrays are in memory.
        return None if members is None else torch.round(members, decimals=6)

    members, comparisons = drawn(draw, seed)
    if members is None:
        yield "mean", None
        return
    # Members are linear in the targets: from the same seed, those of −y have the same noise.
    members, opposite = members.double(), draw(seeded(seed), -1.0).double()
    mean, noise = (members - opposite).mean(0) / 2, (members + opposite) / 2
    centred = noise - noise.mean(0)
    std = (centred**2).mean(0).sqrt()
    yield "mean", mean
    yield "std", std
    # If members are columns, there are 2,000 of these numbers: too many correlations to show.
    scaled = (centred / std)[:, : x.shape[1]]
    yield "correlations", scaled.T @ scaled / len(scaled)
    yield "mean_distance_in_stds", (centred.abs().mean(0) / std).mean()
    averages_out = (noise.mean(0).abs() <= 6 * std / len(noise) ** 0.5).all()
    yield "noise_averages_out", float(averages_out)
    few = answer(
        torch.tensor(x), torch.tensor(y), noise_std, prior_std, 3, generator=seeded(0)
    )
    yield "number_of_members", float(len(few))
    yield from comparisons
    # Of one data point, members are the anchors, or the noise of the targets.
    one, zero = torch.ones(1, 1).double(), torch.zeros(1).double()
    noises = [
        answer(one, zero, *stds, 8000, generator=seeded(seed))
        for stds in ((1e4, 1.0), (1.0, 1e4))
    ]
    yield "noise_has_tails", min(map(has_tails, noises))
    yield (
        "correlation_of_two_members_alone",
        correlation_of_two(
            lambda generator: answer(one, zero, 1.0, 1.0, 2, generator=generator), seed
        ),
    )


def _posterior(x, y, noise_std, prior_std):
    """Compute the conjugate posterior from the joint Gaussian of weights and targets."""
    cross = prior_std**2 * x.T
    targets = prior_std**2 * x @ x.T + noise_std**2 * np.eye(len(x))
    gain = np.linalg.solve(targets, cross.T).T
    return gain @ y, prior_std**2 * np.eye(x.shape[1]) - gain @ cross.T


def _randomised_oracle(x, y, noise_std, prior_std, seed):
    mean, covariance = _posterior(x, y, noise_std, prior_std)
    std = np.sqrt(np.diag(covariance))
    error = 1 / math.sqrt(DRAWS)
    return {
        "mean": Close(mean, rtol=1e-5, atol=1e-5, because=SINGLE),
        "std": Close(
            std, rtol=6 * error / math.sqrt(2), because=six_errors("standard deviation")
        ),
        "correlations": Close(
            covariance / np.outer(std, std),
            atol=6 * error,
            because=six_errors("correlations"),
        ),
        "mean_distance_in_stds": gaussian_distance(DRAWS),
        "noise_has_tails": TAILS,
        "correlation_of_two_members_alone": APART,
        "noise_averages_out": Close(1.0, because="each member has noise of its own"),
        "number_of_members": Close(3.0, because="one for each draw that is asked for"),
        "reproducible": Close(1.0, because="the same generator gives the same members"),
        "fresh": Close(1.0, because="the next call draws anew"),
        "another_seed_another_draw": Close(
            1.0, because="the noise comes from the generator that is passed in"
        ),
    }


RANDOMISED_MAP = Task(
    name="randomised_map",
    points=3,
    cases=_randomised_cases,
    probe=_randomised_probe,
    oracle=_randomised_oracle,
    misconceptions=MEMBERS,
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


SWAG_MOMENTS = Task(
    name="swag_moments",
    points=2,
    cases=_swag_cases,
    probe=_swag_probe,
    oracle=_swag_oracle,
    misconceptions=MOMENTS,
    hints=[
        "Mean and variance are those of the rows of weights. For the deviations you need the mean after each epoch.",
        "weights.cumsum(dim=0), divided by 1, 2, …, T, gives all running means at once.",
        "The weights 1, 3, 8 have the running means 1, 2, 4 and the deviations 0, 1, 4; with rank 2, keep the last two. Tensor.var takes correction=0.",
    ],
)


def _cyclical_cases(rng):
    """Draw numbers of steps that the number of cycles divides, and some that it does not.

    Of those, one would be rounded up and one down.
    """
    return [
        {"steps": steps, "cycles": cycles, "largest": float(rng.uniform(0.2, 2.0))}
        for steps, cycles in ((12, 3), (11, 4), (13, 4), (7, 1), (1, 1))
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


CYCLICAL_STEP_SIZE = Task(
    name="cyclical_step_size",
    points=1,
    cases=_cyclical_cases,
    probe=_cyclical_probe,
    oracle=_cyclical_oracle,
    misconceptions=STEP_SIZES,
    hints=[
        "How many steps has a cycle, and how many of the current cycle have passed at step k?",
        "The length is K/M, rounded up with math.ceil; the operator `%` gives the steps since the cycle began.",
        "With 12 steps, 3 cycles and α₀ = 1, steps 0, 4 and 8 have the size 1, and steps 2, 6 and 10 the size ½.",
    ],
)
