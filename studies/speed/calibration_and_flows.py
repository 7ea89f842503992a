"""Speed of practical 4: sampled predictions, and training of many runs in one batch.

The printed ratios are measured in one run.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial

import torch
from torch.distributions import Normal

from solutions.calibration_and_flows import (
    StochasticLogisticRegression,
    fit,
    flow_kl,
    negative_elbo,
    predict,
)

DRAWS = 64
REPEATS = 3


def median_ms(*works: Callable[[], object]) -> list[float]:
    """Return the median time of each function in milliseconds.

    They are measured in turn, so that noise affects all equally.
    """
    times: list[list[float]] = [[] for _ in works]
    for repeat in range(REPEATS + 1):
        for work, record in zip(works, times, strict=True):
            start = time.perf_counter()
            work()
            if repeat:  # the first round is a warm-up
                record.append(1e3 * (time.perf_counter() - start))
    return [statistics.median(record) for record in times]


def repeated(model: StochasticLogisticRegression, x: torch.Tensor) -> torch.Tensor:
    """Predict by repeating every input and reshaping, without ``no_grad``."""
    many = x.repeat_interleave(DRAWS, dim=0)
    z0 = model.draw(many.shape, generator=torch.Generator().manual_seed(0))
    log_probs, _, _ = model(many, z0)
    return log_probs.reshape(-1, DRAWS, log_probs.shape[-1]).exp().mean(1)


def looped(model: StochasticLogisticRegression, x: torch.Tensor) -> torch.Tensor:
    """Predict with one draw for all data at a time, without a graph."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        total = torch.zeros(len(x), 2)
        for _ in range(DRAWS):
            log_probs, _, _ = model(x, model.draw(x.shape, generator=generator))
            total += log_probs.exp()
    return total / DRAWS


def batched(model: StochasticLogisticRegression, x: torch.Tensor) -> torch.Tensor:
    """Predict with the course's implementation: all draws at once, without a graph."""
    generator = torch.Generator().manual_seed(0)
    return predict(model, x, draws=DRAWS, generator=generator)[0]


def train(runs: int, together: bool) -> None:
    """Train several runs for twenty steps, in one batch or one after another."""
    generator = torch.Generator().manual_seed(0)
    x, y = torch.randn(200, 2, generator=generator), torch.arange(200) % 2
    base = Normal(1.0, 0.1)
    models = [
        StochasticLogisticRegression(2, 2, 4, generator=generator) for _ in range(runs)
    ]

    def objective(outputs, z0):
        log_probs, z, log_det = outputs
        kl = flow_kl(base, base, z0, z, log_det)
        return negative_elbo(log_probs, y, kl)[:, None]

    for group in [models] if together else [[model] for model in models]:
        shape = (len(group), *x.shape)
        fit(
            group,
            objective,
            x,
            steps=20,
            rate=0.03,
            draw=lambda shape=shape: models[0].draw(shape, generator=generator),
        )


def main() -> None:
    """Print the table."""
    model = StochasticLogisticRegression(
        2, 2, 16, generator=torch.Generator().manual_seed(0)
    )
    say = partial(print, flush=True)
    say(f"prediction, depth 16, {DRAWS} draws        repeat     loop  batched   ratio")
    for n in (100, 1_000, 4_000):
        x = torch.randn(n, 2, generator=torch.Generator().manual_seed(1))
        repeat, loop, batch = median_ms(
            lambda x=x: repeated(model, x),
            lambda x=x: looped(model, x),
            lambda x=x: batched(model, x),
        )
        say(
            f"  {n:6d} inputs, ms                {repeat:10.1f} {loop:8.1f} {batch:8.1f}   {repeat / batch:5.1f}"
        )
    say("training: ten runs, three times each way")
    one, side = median_ms(lambda: train(10, False), lambda: train(10, True))
    say(
        f"training, 10 runs, ms: one by one {one:.0f}, side by side {side:.0f}, ratio {one / side:.1f}"
    )


if __name__ == "__main__":
    main()
