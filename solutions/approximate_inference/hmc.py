"""The long way round: Hamiltonian Monte Carlo, to compare with."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Generator, Tensor


def hmc(
    potential: Callable[[Tensor], Tensor],
    start: Tensor,
    *,
    step_size: float,
    leapfrog_steps: int,
    draws: int,
    generator: Generator,
) -> tuple[Tensor, Tensor]:
    """Hamiltonian Monte Carlo: draws from exp(−potential), C chains side by side.

    Args:
        potential: energies of C positions, (C, D) → (C,).
        start: where the chains begin, shape (C, D).
        step_size: of the leapfrog, varied by ±20% from draw to draw.
        leapfrog_steps: between two draws.
        draws: per chain; those of the beginning are not thrown away.
        generator: the source of momenta, step sizes and acceptances.

    Returns:
        Draws, shape (draws, C, D), and each chain's acceptance rate, shape (C,).

    Source: Neal (2011), section 3.2.
    """

    def force(q: Tensor) -> tuple[Tensor, Tensor]:
        q = q.detach().requires_grad_()
        energy = potential(q)
        return energy.detach(), torch.autograd.grad(energy.sum(), q)[0]

    q, (energy, gradient) = start.detach(), force(start)
    kept, accepted = [], torch.zeros_like(energy)
    for _ in range(draws):
        step = step_size * (0.8 + 0.4 * float(torch.rand((), generator=generator)))
        momentum = torch.randn(q.shape, dtype=q.dtype, generator=generator)
        before = energy + 0.5 * (momentum**2).sum(dim=1)
        new_q, new_energy, new_gradient = q, energy, gradient
        for _ in range(leapfrog_steps):
            momentum = momentum - 0.5 * step * new_gradient
            new_q = new_q + step * momentum
            new_energy, new_gradient = force(new_q)
            momentum = momentum - 0.5 * step * new_gradient
        after = new_energy + 0.5 * (momentum**2).sum(dim=1)
        accept = (
            torch.rand(len(q), dtype=q.dtype, generator=generator).log()
            < before - after
        )
        q = torch.where(accept[:, None], new_q, q)
        energy = torch.where(accept, new_energy, energy)
        gradient = torch.where(accept[:, None], new_gradient, gradient)
        kept.append(q)
        accepted = accepted + accept
    return torch.stack(kept), accepted / draws
