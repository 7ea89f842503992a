"""Practical 3's full experiment: MNIST, the same network trained plainly and by Bayes by Backprop.

``python -m studies.mnist`` trains a multilayer perceptron, the posterior (T = 1) and a
"cold" posterior (T < 1), measures them on the same data, and writes ``book/mnist-results.md``,
which the chapter includes. ``--quick`` does the same in seconds, with few steps, to the screen.
"""

from __future__ import annotations

import argparse
import datetime
import itertools
import os
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.metrics import roc_auc_score
from torch import Tensor, nn

from course import data
from project.files import write_whole
from solutions.bayes_by_backprop import keep_mask, predictive_entropy
from solutions.calibration_and_flows import calibration_error
from studies.fused import FusedBayesianMLP, ParallelNoise

PAGE = Path(__file__).parent.parent / "book" / "mnist-results.md"
SIZES = (784, 512, 512, 10)
BATCH = 128
PRIOR_STD = 0.3
COLD = 0.1
REMOVED = (0.0, 0.5, 0.75, 0.95, 0.98)


def plain_network(seed: int) -> nn.Sequential:
    """Make the multilayer perceptron with PyTorch's default initialisation."""
    torch.manual_seed(seed)  # nn.Linear initialises from the global state
    first, second, third = (nn.Linear(n, m) for n, m in itertools.pairwise(SIZES))
    return nn.Sequential(first, nn.ReLU(), second, nn.ReLU(), third)


def train(
    model: nn.Module,
    images: data.Images,
    *,
    epochs: float,
    temperature: float,
    seed: int,
    device: str,
):
    """Train with Adam and a cosine schedule; return the seconds that training took.

    The KL is divided evenly among an epoch's minibatches.
    """
    generator = torch.Generator().manual_seed(seed)
    x, y = torch.tensor(images.x, device=device), torch.tensor(images.y, device=device)
    batches = len(x) // BATCH
    steps = max(1, round(epochs * batches))
    bayesian = isinstance(model, FusedBayesianMLP)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    if bayesian:
        noise = ParallelNoise(len(model.mu), generator=generator)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    order, start = (
        torch.randperm(len(x), generator=generator).to(device),
        time.perf_counter(),
    )
    for step in range(steps):
        position = step % batches
        if position == 0:
            order = torch.randperm(len(x), generator=generator).to(device)
            if step % (5 * batches) == 0:
                print(
                    f"  step {step} of {steps}, {time.perf_counter() - start:.0f} s",
                    flush=True,
                )
        rows = order[position * BATCH : (position + 1) * BATCH]
        optimiser.zero_grad()
        if bayesian:
            logits, kl = model.with_noise(x[rows], noise().to(device))
            loss = F.cross_entropy(
                logits, y[rows], reduction="sum"
            ) + temperature * kl * (BATCH / len(x))
        else:
            loss = F.cross_entropy(model(x[rows]), y[rows])
        loss.backward()
        optimiser.step()
        schedule.step()
    return time.perf_counter() - start


@torch.no_grad()
def log_probs(
    model: nn.Module, x: Tensor, draws: int, *, generator: torch.Generator
) -> Tensor:
    """Compute log-probabilities, (S, N, K), under S draws of the weights.

    A plain network has one setting of the weights, so S = 1.
    """
    if not isinstance(model, FusedBayesianMLP):
        return F.log_softmax(model(x), dim=-1)[None].cpu()
    outputs = []
    for _ in range(draws):
        noise = torch.randn(len(model.mu), generator=generator).to(x.device)
        outputs.append(F.log_softmax(model.with_noise(x, noise)[0], dim=-1).cpu())
    return torch.stack(outputs)


def measure(
    model: nn.Module,
    images: data.Images,
    fashion: np.ndarray,
    *,
    draws: int,
    device: str,
) -> dict[str, float]:
    """Measure accuracy, NLL, ECE, mean entropies in bits, and the AUROC on Fashion-MNIST.

    The AUROC is that of telling Fashion-MNIST from MNIST by the predictive entropy.
    """
    generator = torch.Generator().manual_seed(0)
    inputs = {
        "test": torch.tensor(images.x_test),
        "fashion": torch.tensor(fashion),
        "normal": torch.randn(1000, SIZES[0], generator=generator),
        "uniform": torch.rand(1000, SIZES[0], generator=generator),
    }
    logs = {
        name: log_probs(model, x.to(device), draws, generator=generator)
        for name, x in inputs.items()
    }
    entropy = {name: predictive_entropy(log).numpy() for name, log in logs.items()}
    probs = logs["test"].double().exp().mean(0).numpy()
    y = images.y_test
    known = np.r_[np.zeros(len(y)), np.ones(len(fashion))]
    return {
        "accuracy": float((probs.argmax(1) == y).mean()),
        "NLL": float(-np.log(probs[np.arange(len(y)), y]).mean()),
        "ECE": float(calibration_error(torch.tensor(probs), torch.tensor(y))),
        "normal": float(entropy["normal"].mean()),
        "uniform": float(entropy["uniform"].mean()),
        "fashion": float(entropy["fashion"].mean()),
        "test": float(entropy["test"].mean()),
        "AUROC": float(
            roc_auc_score(known, np.r_[entropy["test"], entropy["fashion"]])
        ),
    }


@torch.no_grad()
def pruned_accuracy(
    model: FusedBayesianMLP, images: data.Images, removed: float, *, device: str
) -> float:
    """Compute the accuracy with mean weights, without those of the smallest |µ|/σ.

    ``removed`` is the share of the weights that is removed.
    """
    keep = keep_mask(model.mu, model.rho, removed)
    logits = model.network(torch.tensor(images.x_test, device=device), model.mu * keep)
    return float((logits.argmax(-1).cpu().numpy() == images.y_test).mean())


def page(
    rows: dict[str, dict],
    pruning: dict[str, list[float]],
    *,
    epochs: float,
    draws: int,
    machine: str,
) -> str:
    """Write the results as a MyST page."""
    today = datetime.datetime.now(datetime.UTC).date()
    measures = {
        "accuracy": ("accuracy", "{:.2%}"),
        "NLL": ("NLL", "{:.3f}"),
        "ECE": ("ECE", "{:.3f}"),
        "test": ("entropy on test digits", "{:.2f}"),
        "normal": ("entropy on N(0, 1) noise", "{:.2f}"),
        "uniform": ("entropy on U(0, 1) noise", "{:.2f}"),
        "fashion": ("entropy on Fashion-MNIST", "{:.2f}"),
        "AUROC": ("AUROC", "{:.3f}"),
    }
    width = "–".join(map(str, SIZES))
    lines = [
        "<!-- Written by `make mnist`. Do not edit. -->",
        "",
        f"*Computed on {today} on a {machine}: {width}, ReLU, minibatches of {BATCH}, Adam at 0.001 with a "
        f"cosine schedule, {epochs:g} epochs, one draw of the weights per step; prior N(0, {PRIOR_STD}²); {draws} draws for each prediction.*",
        "",
        f"| | {' | '.join(rows)} |",
        "| --- |" + " ---: |" * len(rows),
    ]
    for key, (label, form) in measures.items():
        cells = " | ".join(form.format(row[key]) for row in rows.values())
        lines.append(f"| {label} | {cells} |")
    lines += [
        "",
        "The entropies are means of predictive entropies, in bits; log₂ 10 is 3.32. The AUROC "
        "measures how well that entropy separates Fashion-MNIST's test images from MNIST's.",
        "",
        f"The prior's standard deviation, {PRIOR_STD}, was chosen by looking at the test accuracy for T = 1, so "
        "the test scores in the column BbB, T = 1 are a little better than they would be on new digits.",
        "",
        "The accuracy with every weight at its mean, after a share of the weights, those with the "
        "smallest \\|µ\\|/σ, is removed:",
        "",
        f"| share removed | {' | '.join(pruning)} |",
        "| ---: |" + " ---: |" * len(pruning),
    ]
    for removed, values in zip(
        REMOVED, zip(*pruning.values(), strict=True), strict=True
    ):
        cells = " | ".join(f"{value:.2%}" for value in values)
        lines.append(f"| {removed:.0%} | {cells} |")
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> None:
    """Train, measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=float, default=15)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument(
        "--device", default="cuda" if torch.cuda.is_available() else "cpu"
    )
    parser.add_argument(
        "--quick", action="store_true", help="a few hundred steps, and no page"
    )
    options = parser.parse_args(arguments)
    if options.quick:
        options.epochs, options.draws = 0.5, 5
    cuda = options.device.startswith("cuda")
    machine = torch.cuda.get_device_name(options.device) if cuda else options.device
    if options.device == "cpu":
        machine = f"{os.cpu_count()}-core CPU"
    images, fashion = data.mnist(seed=0), data.fashion_mnist(seed=0).x
    rows, pruning = {}, {}
    for name, temperature in (
        ("plain network", None),
        ("BbB, T = 1", 1.0),
        (f"BbB, T = {COLD} (cold)", COLD),
    ):
        print(name, flush=True)
        if temperature is None:
            model = plain_network(0)
        else:
            generator = torch.Generator().manual_seed(0)
            model = FusedBayesianMLP(SIZES, prior_std=PRIOR_STD, generator=generator)
        model = model.to(options.device)
        common = {"device": options.device}
        epochs = options.epochs
        seconds = train(
            model, images, epochs=epochs, temperature=temperature or 0, seed=1, **common
        )
        rows[name] = measure(model, images, fashion, draws=options.draws, **common) | {
            "minutes": seconds / 60
        }
        print(
            "  ",
            {key: round(value, 4) for key, value in rows[name].items()},
            flush=True,
        )
        if temperature is not None:
            pruning[name] = [
                pruned_accuracy(model, images, removed, **common) for removed in REMOVED
            ]
            print("  ", pruning[name], flush=True)
    text = page(
        rows, pruning, epochs=options.epochs, draws=options.draws, machine=machine
    )
    print(text)
    if not options.quick:
        write_whole(PAGE, text)


if __name__ == "__main__":
    main()
