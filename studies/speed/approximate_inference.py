"""Speed of practical 2: many-sample predictions and Hessians against common implementations.

Each row times both sides alternately in one run, and prints the ratio of the medians.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from statistics import median

import numpy as np
import torch
import torch.nn.functional as F
from rich.progress import Progress
from torch import Tensor, nn

from course import data
from solutions import approximate_inference as ref


def side_by_side(
    first: Callable[[], object], second: Callable[[], object], seconds: float = 2.0
) -> tuple[float, float]:
    """Time two functions alternately for about ``seconds``, after a warm-up.

    Returns:
        The median seconds of each.
    """
    times: tuple[list[float], list[float]] = ([], [])
    first(), second()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times[0]) < 3:
        for function, record in zip((first, second), times, strict=True):
            start = time.perf_counter()
            function()
            record.append(time.perf_counter() - start)
    return median(times[0]), median(times[1])


def plane(side: int, low: float, high: float) -> Tensor:
    """Make a square grid of inputs, shape (side², 2)."""
    axis = np.linspace(low, high, side)
    points = np.stack(np.meshgrid(axis, axis), -1).reshape(-1, 2)
    return torch.tensor(points, dtype=torch.float32)


def logistic(points: int, draws: int):
    """Predict with Laplace samples: a loop that loads each into a module, and ours."""
    x = plane(round(points**0.5), -10, 10)
    weights = torch.randn(draws, 2, generator=torch.Generator().manual_seed(0))
    net = nn.Linear(2, 1)
    nn.init.zeros_(net.bias)

    @torch.no_grad()
    def loop():
        outputs = torch.zeros(draws, len(x), 1)
        for i in range(draws):
            state = net.state_dict()
            state["weight"] = weights[i].reshape(1, 2)
            net.load_state_dict(state)
            outputs[i] = torch.sigmoid(net(x))
        return outputs.mean(0).squeeze()

    @torch.no_grad()
    def ours():
        return ref.sampled_predictive(x, weights)

    torch.testing.assert_close(loop(), ours(), rtol=1e-4, atol=1e-5)
    return loop, ours


def dropout(points: int, draws: int):
    """Predict with MC dropout: a loop over draws with one mask per input, and ours."""
    x = plane(round(points**0.5), -3, 4)
    model = ref.DropoutMLP(2, 50, 0.5, generator=torch.Generator().manual_seed(0))
    generator = torch.Generator().manual_seed(1)

    @torch.no_grad()
    def loop():
        outputs = torch.zeros(draws, len(x), 1)
        for i in range(draws):
            hidden = F.dropout(F.relu(model.hidden(x)), 0.5)
            outputs[i] = torch.sigmoid(model.output(hidden))
        return outputs.mean(0).squeeze()

    def ours():
        return ref.dropout_predictive(model, x, draws, generator=generator)

    difference = (loop() - ours()).abs().mean()
    assert float(difference) < 0.05, difference
    return loop, ours


def hessians(n: int, d: int) -> dict[str, Callable[[], Tensor]]:
    """Return three ways to compute one Hessian, for n data points and d weights."""
    generator = torch.Generator().manual_seed(0)
    if d == 3:
        blobs = data.blobs(n=n, seed=0)
        x, y = ref.with_bias(torch.tensor(blobs.x)), torch.tensor(blobs.y).double()
    else:
        x = torch.randn(n, d, dtype=torch.float64, generator=generator)
        y = (torch.rand(n, generator=generator) < 0.5).double()
    w = torch.randn(d, dtype=torch.float64, generator=generator) / d**0.5

    def energy(w: Tensor) -> Tensor:
        return ref.negative_log_joint(w, x, y, 4.0)

    routes = {
        "closed form": lambda: ref.logistic_hessian(w, x, 4.0),
        "differentiate twice": lambda: ref.hessian_by_backward(energy, w),
        "torch.func.hessian": lambda: torch.func.hessian(energy)(w),
    }
    for route in routes.values():
        torch.testing.assert_close(
            route(), routes["closed form"](), rtol=1e-6, atol=1e-8
        )
    return routes


def comparisons() -> Iterator[tuple[str, str, Callable, Callable]]:
    """Yield a description, the name of the other implementation, and both functions."""
    for points, draws in ((400, 400), (204_000, 100)):
        work = f"logistic, {points:,} inputs, {draws} draws"
        yield work, "a loop", *logistic(points, draws)
    yield (
        "MC dropout, 25,000 inputs, 500 draws",
        "a loop",
        *dropout(25_000, 500),
    )
    for n, d in ((400, 3), (5000, 201)):
        routes = hessians(n, d)
        ours = routes.pop("closed form")
        for name, route in routes.items():
            yield f"Hessian, N = {n:,}, D = {d}", name, route, ours


def main() -> None:
    """Print every row as soon as it is measured."""
    warnings.filterwarnings("ignore", "`torch.jit.script`")  # raised within PyTorch
    print("Practical 2: predictions with many samples, and Hessians")
    print(f"{torch.get_num_threads()} threads, PyTorch {torch.__version__}\n")
    print(f"{'work':38s}{'against':22s}{'it, ms':>10s}{'ours, ms':>10s}{'ratio':>8s}")
    with Progress(transient=True) as progress:
        rows = progress.add_task("measuring", total=7)
        for work, against, theirs, ours in comparisons():
            progress.update(rows, description=f"{work}, against {against}")
            one, other = side_by_side(theirs, ours)
            progress.print(
                f"{work:38s}{against:22s}{one * 1e3:10.3g}{other * 1e3:10.3g}"
                f"{one / other:8.3g}",
                soft_wrap=True,
            )
            progress.advance(rows)


if __name__ == "__main__":
    main()
