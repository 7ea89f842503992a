"""Speed of training steps of Bayes by Backprop: 784-512-512-10, minibatches of 128.

The implementations take steps in turn in one process, so that load on the machine affects all
of them equally. The table gives medians, minima (least affected by other processes), and their
ratios to a deterministic step, which is a lower bound for Bayesian ones. Other libraries are
measured as well; ``make bench`` installs them. A second table compares predictions with S draws.
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Normal

from solutions.bayes_by_backprop import BayesianMLP, gaussian_kl, predict
from studies.fused import FusedBayesianMLP, ParallelNoise, counter_noise

SIZES = (784, 512, 512, 10)
BATCHES = 469
PRIOR_STD = 0.1
ROUNDS = 60


def seeded(seed: int) -> torch.Generator:
    """Make a generator with this seed."""
    return torch.Generator().manual_seed(seed)


def timed(
    steps: dict[str, Callable[[], object]], rounds: int = ROUNDS
) -> dict[str, tuple[float, float]]:
    """Return the median and the shortest time of each, in ms; every round calls each once."""
    for step in steps.values():
        for _ in range(3):
            step()
    times = {name: [] for name in steps}
    for _ in range(rounds):
        for name, step in steps.items():
            start = time.perf_counter()
            step()
            times[name].append(1e3 * (time.perf_counter() - start))
    return {
        name: (statistics.median(values), min(values)) for name, values in times.items()
    }


def table(
    title: str, times: dict[str, tuple[float, float]], base: tuple[float, float]
) -> None:
    """Print times, and their ratios to ``base``."""
    print(f"\n{title:36s}  median    min   ratio of medians, of minima")
    for name, (median, shortest) in times.items():
        ratios = f"{median / base[0]:6.2f} {shortest / base[1]:6.2f}"
        print(f"{name:36s}{median:8.2f}{shortest:8.2f}  {ratios}")


def plain_network() -> nn.Sequential:
    """Make the deterministic network."""
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Linear(784, 512),
        nn.ReLU(),
        nn.Linear(512, 512),
        nn.ReLU(),
        nn.Linear(512, 10),
    )


class CommonLinear(nn.Module):
    """A layer as commonly implemented: sampled log densities, ``log(1 + exp(ρ))``."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.w_mu = nn.Parameter(torch.zeros(outputs, inputs).uniform_(-0.6, 0.6))
        self.w_rho = nn.Parameter(torch.full((outputs, inputs), -6.0))
        self.b_mu = nn.Parameter(torch.zeros(outputs).uniform_(-0.6, 0.6))
        self.b_rho = nn.Parameter(torch.full((outputs,), -6.0))
        self.prior = Normal(0, 6)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the outputs; keep log prior and log posterior as attributes of the layer."""
        w = self.w_mu + torch.log(1 + torch.exp(self.w_rho)) * Normal(0, 1).sample(
            self.w_mu.shape
        )
        b = self.b_mu + torch.log(1 + torch.exp(self.b_rho)) * Normal(0, 1).sample(
            self.b_mu.shape
        )
        self.log_prior = self.prior.log_prob(w).sum() + self.prior.log_prob(b).sum()
        w_post = Normal(self.w_mu.data, torch.log(1 + torch.exp(self.w_rho)))
        b_post = Normal(self.b_mu.data, torch.log(1 + torch.exp(self.b_rho)))
        self.log_post = w_post.log_prob(w).sum() + b_post.log_prob(b).sum()
        return F.linear(x, w, b)


def trainer(
    parameters, loss: Callable[[], torch.Tensor], *, fused: bool = True
) -> Callable[[], None]:
    """Return a function that takes one step of Adam on a loss."""
    optimiser = torch.optim.Adam(parameters, lr=1e-3, fused=fused)

    def step() -> None:
        optimiser.zero_grad()
        loss().backward()
        optimiser.step()

    return step


def training_steps(x: torch.Tensor, y: torch.Tensor) -> dict[str, Callable[[], None]]:
    """Return one training step per implementation, the deterministic network's first."""
    steps: dict[str, Callable[[], None]] = {}
    generator = seeded(0)

    def nll(logits: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(logits, y, reduction="sum")

    plain = plain_network()
    steps["deterministic (lower bound)"] = trainer(
        plain.parameters(), lambda: nll(plain(x))
    )

    fused = FusedBayesianMLP(SIZES, prior_std=PRIOR_STD, generator=generator)

    def fused_loss() -> torch.Tensor:
        logits, kl = fused(x, generator=generator)
        return nll(logits) + kl / BATCHES

    steps["ours, fused"] = trainer(fused.parameters(), fused_loss)

    threaded = FusedBayesianMLP(SIZES, prior_std=PRIOR_STD, generator=generator)
    parallel_noise = ParallelNoise(len(threaded.mu), generator=generator)

    def threaded_loss() -> torch.Tensor:
        logits, kl = threaded.with_noise(x, parallel_noise())
        return nll(logits) + kl / BATCHES

    steps["ours, fused, noise by two threads"] = trainer(
        threaded.parameters(), threaded_loss
    )

    compiled_model = FusedBayesianMLP(SIZES, prior_std=PRIOR_STD, generator=generator)

    def open_loss(x: torch.Tensor, epsilon: torch.Tensor) -> torch.Tensor:
        mu, rho = compiled_model.mu, compiled_model.rho
        logits = compiled_model.network(x, mu + F.softplus(rho) * epsilon)
        return nll(logits) + gaussian_kl(mu, rho, PRIOR_STD) / BATCHES

    # Compile two programs: in a single one, the backward pass would recompute the noise.
    compiled, compiled_noise = torch.compile(open_loss), torch.compile(counter_noise)

    def compiled_loss() -> torch.Tensor:
        key = torch.randint(
            -(2**31), 2**31, (2,), dtype=torch.int32, generator=generator
        )
        return compiled(x, compiled_noise(key, len(compiled_model.mu)))

    steps["ours, compiled"] = trainer(compiled_model.parameters(), compiled_loss)

    layered = BayesianMLP(SIZES, prior_std=PRIOR_STD, generator=generator)
    steps["ours, as in the chapter"] = trainer(
        layered.parameters(),
        lambda: nll(layered(x, generator=generator)) + layered.kl() / BATCHES,
    )
    local = BayesianMLP(SIZES, prior_std=PRIOR_STD, generator=generator)
    steps["ours, activations drawn"] = trainer(
        local.parameters(),
        lambda: nll(local(x, generator=generator, local=True)) + local.kl() / BATCHES,
    )

    layers = nn.ModuleList(CommonLinear(n, m) for n, m in itertools.pairwise(SIZES))

    def common_loss() -> torch.Tensor:
        h = x
        for index, layer in enumerate(layers):
            h = layer(h if index == 0 else torch.sigmoid(h))
        log_ratio = sum(layer.log_post - layer.log_prior for layer in layers)
        return log_ratio / BATCHES + F.nll_loss(
            F.log_softmax(h, dim=-1), y, reduction="sum"
        )

    steps["a common implementation"] = trainer(
        layers.parameters(), common_loss, fused=False
    )
    steps.update(peers(x, nll))
    return steps


def peers(x: torch.Tensor, nll: Callable) -> dict[str, Callable[[], None]]:
    """Return the training steps of other libraries, which ``.venv-peers`` has."""
    from bayesian_torch.layers import LinearFlipout, LinearReparameterization
    from blitz.losses import kl_divergence_from_nn
    from blitz.modules import BayesianLinear as BlitzLinear

    steps = {}
    for name, layer in (
        ("bayesian-torch", LinearReparameterization),
        ("bayesian-torch, flipout", LinearFlipout),
    ):
        stack = nn.ModuleList(layer(n, m) for n, m in itertools.pairwise(SIZES))

        def loss(stack=stack) -> torch.Tensor:
            h, total = x, 0.0
            for index, module in enumerate(stack):
                h, kl = module(h if index == 0 else torch.relu(h))
                total = total + kl
            return nll(h) + total / BATCHES

        steps[name] = trainer(stack.parameters(), loss)
    blitz = nn.Sequential(
        BlitzLinear(784, 512),
        nn.ReLU(),
        BlitzLinear(512, 512),
        nn.ReLU(),
        BlitzLinear(512, 10),
    )
    steps["blitz"] = trainer(
        blitz.parameters(),
        lambda: nll(blitz(x)) + kl_divergence_from_nn(blitz) / BATCHES,
    )
    return steps


@torch.no_grad()
def prediction_table(x: torch.Tensor, draws: int = 20) -> None:
    """Compare predictions with S draws, one after another and in one batch."""
    model = BayesianMLP(SIZES, prior_std=PRIOR_STD, generator=seeded(0))

    def batched() -> torch.Tensor:
        h, generator = x.expand(draws, *x.shape), seeded(1)
        for index, layer in enumerate(model.layers):
            h = h if index == 0 else torch.relu(h)
            std_w, std_b = F.softplus(layer.weight_rho), F.softplus(layer.bias_rho)
            w = layer.weight_mu + std_w * torch.randn(
                draws, *std_w.shape, generator=generator
            )
            b = layer.bias_mu + std_b * torch.randn(
                draws, *std_b.shape, generator=generator
            )
            h = torch.baddbmm(b[:, None], h, w.mT)
        return h

    times = timed(
        {
            "one draw after the other": lambda: predict(
                model, x, draws=draws, generator=seeded(1)
            ),
            "all draws in one batch": batched,
        },
        rounds=5,
    )
    title = f"{len(x)} images, {draws} draws, ms"
    table(title, times, tuple(map(min, zip(*times.values(), strict=True))))


def main() -> None:
    """Measure, and print each table as soon as it is complete."""
    x, y = (
        torch.rand(128, 784, generator=seeded(1)),
        torch.randint(10, (128,), generator=seeded(2)),
    )
    print("compiling, then warming up", flush=True)
    steps = training_steps(x, y)
    times = timed(steps)
    title = f"training step, {torch.get_num_threads()} threads, ms"
    table(title, times, next(iter(times.values())))
    prediction_table(torch.rand(1000, 784, generator=seeded(3)))


if __name__ == "__main__":
    main()
