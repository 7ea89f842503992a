"""Practical 3 for larger networks: Bayes by Backprop in fewer passes over memory.

The parameters of all layers lie in two long vectors, µ and ρ; one ``autograd.Function``
draws all weights at once and knows their gradients and the KL's in closed form. The results
equal those of ``solutions.bayes_by_backprop`` up to rounding, as the tests check.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class _Draw(torch.autograd.Function):
    """w = µ + σε and KL(N(µ, σ²) ‖ N(0, s²)), σ = softplus(ρ), with gradients by hand.

    dw/dµ = 1 and dw/dρ = ε σ'; dKL/dµ = µ/s² and dKL/dρ = (σ/s² − 1/σ) σ';
    σ' = sigmoid(ρ).
    """

    @staticmethod
    def forward(
        ctx, mu: Tensor, rho: Tensor, epsilon: Tensor, prior_std: float
    ) -> tuple[Tensor, Tensor]:
        std = F.softplus(rho)
        ctx.save_for_backward(mu, rho, std, epsilon)
        ctx.prior_std = prior_std
        squares = torch.dot(std, std) + torch.dot(mu, mu)
        constant = len(mu) * (math.log(prior_std) - 0.5)
        kl = squares / (2 * prior_std**2) - torch.log(std).sum() + constant
        return torch.addcmul(mu, std, epsilon), kl

    @staticmethod
    def backward(
        ctx, grad_w: Tensor, grad_kl: Tensor
    ) -> tuple[Tensor, Tensor, None, None]:
        mu, rho, std, epsilon = ctx.saved_tensors
        kl = grad_kl.item()
        precision = kl / ctx.prior_std**2
        grad_mu = torch.add(grad_w, mu, alpha=precision)
        grad_rho = (
            (grad_w * epsilon)
            .add_(std, alpha=precision)
            .sub_(std.reciprocal(), alpha=kl)
        )
        return grad_mu, grad_rho.mul_(torch.sigmoid(rho)), None, None


class ParallelNoise:
    """Standard normal noise, drawn by several threads: a generator alone uses one core.

    It gains something where cores are idle, and loses where PyTorch's own threads wait
    on them: measure it against one generator.

    Args:
        count: how many numbers a call returns.
        generator: seeds one generator for each part.
        parts: how many threads; the numbers depend on it, and on the generator alone
            besides.
    """

    def __init__(
        self, count: int, *, generator: torch.Generator, parts: int = 2
    ) -> None:
        seeds = torch.randint(2**62, (parts,), generator=generator).tolist()
        self.generators = [torch.Generator().manual_seed(seed) for seed in seeds]
        self.pool = ThreadPoolExecutor(parts)
        self.count = count

    def __call__(self) -> Tensor:
        """Fresh noise, shape (count,)."""
        noise = torch.empty(self.count)
        parts = noise.chunk(len(self.generators))
        list(
            self.pool.map(
                lambda part, generator: part.normal_(generator=generator),
                parts,
                self.generators,
            )
        )
        return noise


ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))


def threefry(key: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Threefry-2x32: counters 0, 1, …, scrambled beyond recognition; JAX's generator.

    No number waits for the one before it, so a compiler may make many at a time, on as
    many threads as there are. Run eagerly it is a hundred passes over memory.

    Args:
        key: two 32-bit integers.
        count: how many counters.

    Returns:
        Two random 32-bit integers for each counter, shape (count,) each.

    Source: Salmon, Moraes, Dror and Shaw (2011), section 4.
    """
    keys = (key[0], key[1], key[0] ^ key[1] ^ 0x1BD11BDA)
    low = torch.arange(count, dtype=torch.int32, device=key.device)
    first, second = torch.zeros_like(low) + keys[0], low + keys[1]
    for block in range(5):
        for turn in ROTATIONS[block % 2]:
            first = first + second
            # >> copies the sign: what it shifts in is masked away
            wrapped = (second >> (32 - turn)) & ((1 << turn) - 1)
            second = ((second << turn) | wrapped) ^ first
        first = first + keys[(block + 1) % 3]
        second = second + keys[(block + 2) % 3] + (block + 1)
    return first, second


def counter_noise(key: Tensor, count: int) -> Tensor:
    """Standard normal noise from a key of two 32-bit integers, shape (count,).

    It is to be compiled. A fresh key for every call:
    ``torch.randint(-(2**31), 2**31, (2,), dtype=torch.int32)``.

    Source: Box and Muller (1958).
    """
    first, second = threefry(key, (count + 1) // 2)
    unit = 2.0**-23
    u, v = (((bits >> 9) & 0x7FFFFF) + 0.5 for bits in (first, second))
    radius, angle = torch.sqrt(-2 * torch.log(unit * u)), 2 * math.pi * unit * v
    both = torch.cat([radius * torch.cos(angle), radius * torch.sin(angle)])
    return both[:count]


class FusedBayesianMLP(nn.Module):
    """A multilayer perceptron with a Gaussian for every weight and bias.

    Args:
        sizes: the layers' widths, inputs and outputs included.
        prior_std: the standard deviation of every weight's and bias's prior.
        initial_rho: where every ρ starts.
        activation: what stands between the layers.
        generator: draws the initial means, N(0, 1/D) for weights; those of biases
            are 0.
    """

    def __init__(
        self,
        sizes: Sequence[int],
        *,
        prior_std: float,
        initial_rho: float = -5.0,
        activation: Callable[[Tensor], Tensor] = torch.relu,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        self.activation, self.prior_std = activation, prior_std
        self.shapes = [
            shape for n, m in itertools.pairwise(sizes) for shape in ((m, n), (m,))
        ]
        self.counts = [math.prod(shape) for shape in self.shapes]
        parts = []
        for n, m in itertools.pairwise(sizes):
            parts += [
                torch.randn(m * n, generator=generator) / math.sqrt(n),
                torch.zeros(m),
            ]
        self.mu = nn.Parameter(torch.cat(parts))
        self.rho = nn.Parameter(torch.full_like(self.mu, float(initial_rho)))

    def layers(self, flat: Tensor) -> list[Tensor]:
        """A long vector as weights and biases, in turn."""
        return [
            part.view(shape)
            for part, shape in zip(flat.split(self.counts), self.shapes, strict=True)
        ]

    def network(self, x: Tensor, flat: Tensor) -> Tensor:
        """The outputs under the weights in ``flat``."""
        layers = self.layers(flat)
        *hidden, (weight, bias) = zip(layers[::2], layers[1::2], strict=True)
        for w, b in hidden:
            x = self.activation(F.linear(x, w, b))
        return F.linear(x, weight, bias)

    def forward(
        self, x: Tensor, *, generator: torch.Generator
    ) -> tuple[Tensor, Tensor]:
        """The outputs under one fresh draw of all weights, and KL(q ‖ p) in nats."""
        epsilon = torch.empty_like(self.mu).normal_(generator=generator)
        return self.with_noise(x, epsilon)

    def with_noise(self, x: Tensor, epsilon: Tensor) -> tuple[Tensor, Tensor]:
        """The same for given noise, one number per weight and bias."""
        w, kl = _Draw.apply(self.mu, self.rho, epsilon, self.prior_std)
        return self.network(x, w), kl
