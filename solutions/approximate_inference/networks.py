"""A network of variational layers."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Generator, Tensor, nn

from solutions.approximate_inference.layers import LinearVariational


class VariationalMLP(nn.Module):
    """One hidden layer of ReLUs between two variational layers; gives logits.

    Args:
        input_size: the number of inputs.
        hidden_size: the number H of hidden units.
        prior_std: the standard deviation σ₀ of the prior of every weight and bias.
        rho: where every ρ starts.
        layer: the class of both layers.
        generator: draws the first means.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        prior_std: float,
        rho: float = -3.0,
        *,
        layer: type[LinearVariational] = LinearVariational,
        generator: Generator,
    ) -> None:
        super().__init__()
        self.hidden = layer(
            input_size, hidden_size, prior_std, rho, generator=generator
        )
        self.output = layer(hidden_size, 1, prior_std, rho, generator=generator)

    def kl(self) -> Tensor:
        """KL(q‖p) of all weights and biases, a scalar in nats."""
        ### BEGIN SOLUTION
        return self.hidden.kl() + self.output.kl()
        ### END SOLUTION

    def forward(self, x: Tensor, *, generator: Generator) -> Tensor:
        """Logits, (N, input_size) → (N,), with one fresh draw of all weights."""
        ### BEGIN SOLUTION
        hidden = F.relu(self.hidden(x, generator=generator))
        return self.output(hidden, generator=generator).squeeze(-1)
        ### END SOLUTION
