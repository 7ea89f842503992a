"""Practical 2: many-sample predictions and Hessians, beside the loops that they replace.

Each row times both sides in turn, in one run, and prints the ratio of the medians.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from statistics import median

import numpy as np
import torch
import torch.nn.functional as F
from rich.console import Console
from rich.progress import track
from rich.table import Table
from torch import Tensor, nn

from course import data
from solutions import approximate_inference as ref


def side_by_side(
    first: Callable[[], object], second: Callable[[], object], seconds: float = 2.0
) -> tuple[float, float]:
    """Median seconds of both, measured alternately for about so long, after a warm-up."""
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
    """A square grid of inputs, shape (side², 2)."""
    axis = np.linspace(low, high, side)
    points = np.stack(np.meshgrid(axis, axis), -1).reshape(-1, 2)
    return torch.tensor(points, dtype=torch.float32)


def logistic(points: int, draws: int):
    """Laplace's forecast: the source reloads a module's state for every sample."""
    x = plane(round(points**0.5), -10, 10)
    weights = torch.randn(draws, 2, generator=torch.Generator().manual_seed(0))
    net = nn.Linear(2, 1)
    nn.init.zeros_(net.bias)

    @torch.no_grad()
    def source():
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

    torch.testing.assert_close(source(), ours(), rtol=1e-4, atol=1e-5)
    return source, ours


def dropout(points: int, draws: int):
    """Monte Carlo dropout: the source runs the network once for every draw, a mask per input."""
    x = plane(round(points**0.5), -3, 4)
    model = ref.DropoutMLP(2, 50, 0.5, generator=torch.Generator().manual_seed(0))
    generator = torch.Generator().manual_seed(1)

    @torch.no_grad()
    def source():
        outputs = torch.zeros(draws, len(x), 1)
        for i in range(draws):
            hidden = F.dropout(F.relu(model.hidden(x)), 0.5)
            outputs[i] = torch.sigmoid(model.output(hidden))
        return outputs.mean(0).squeeze()

    def ours():
        return ref.dropout_predictive(model, x, draws, generator=generator)

    difference = (source() - ours()).abs().mean()
    assert float(difference) < 0.05, difference
    return source, ours


def hessians(n: int, d: int) -> dict[str, Callable[[], Tensor]]:
    """The three routes to one Hessian, for n data and d weights."""
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


def main() -> None:
    """Print the table."""
    warnings.filterwarnings("ignore", "`torch.jit.script`")  # PyTorch's own
    rows = [
        ("logistic, 400 inputs, 400 draws", "source's loop", *logistic(400, 400)),
        (
            "logistic, 204,000 inputs, 100 draws",
            "source's loop",
            *logistic(204_000, 100),
        ),
        (
            "MC dropout, 25,000 inputs, 500 draws",
            "source's loop",
            *dropout(25_000, 500),
        ),
    ]
    for n, d in ((400, 3), (5000, 201)):
        routes = hessians(n, d)
        ours = routes.pop("closed form")
        for name, route in routes.items():
            rows.append((f"Hessian, N = {n:,}, D = {d}", name, route, ours))
    table = Table("work", "against", "it, ms", "ours, ms", "ratio")
    console = Console()
    for work, against, theirs, ours in track(rows, "Measuring", console=console):
        one, other = side_by_side(theirs, ours)
        table.add_row(
            work,
            against,
            f"{one * 1e3:.3g}",
            f"{other * 1e3:.3g}",
            f"{one / other:.3g}",
        )
    console.print("Practical 2: predictions with many samples, and Hessians", table)
    console.print(f"{torch.get_num_threads()} threads, PyTorch {torch.__version__}")


if __name__ == "__main__":
    main()
