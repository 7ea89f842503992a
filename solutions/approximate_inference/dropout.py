"""Monte Carlo dropout."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn


class DropoutMLP(nn.Module):
    """One hidden layer of ReLUs, of which each draw keeps a random part; gives logits.

    Args:
        input_size: the number of inputs.
        hidden_size: the number H of hidden units.
        p: the probability with which a hidden unit is dropped.
    """

    def __init__(
        self, input_size: int, hidden_size: int, p: float = 0.5, *, generator: Generator
    ) -> None:
        super().__init__()
        self.hidden, self.output, self.p = (
            nn.Linear(input_size, hidden_size),
            nn.Linear(hidden_size, 1),
            p,
        )
        for layer in (self.hidden, self.output):
            nn.init.normal_(
                layer.weight, std=layer.in_features**-0.5, generator=generator
            )
            nn.init.zeros_(layer.bias)

    def forward(self, x: Tensor, *, generator: Generator) -> Tensor:
        """Logits, (N, input_size) → (N,): each row keeps hidden units of its own.

        A kept unit is divided by 1 − p. All this in ``train()`` and in ``eval()``
        alike: a prediction needs the masks as well.

        Source: Gal and Ghahramani (2016), sections 3 and 4.
        """
        hidden = F.relu(self.hidden(x))
        # torch.rand takes a shape and a generator; keep units where it gives p or more.
        ### BEGIN SOLUTION
        keep = torch.rand(hidden.shape, generator=generator) >= self.p
        return self.output(hidden * keep / (1 - self.p)).squeeze(-1)
        ### END SOLUTION

    def deterministic(self, x: Tensor) -> Tensor:
        """Logits of the whole network, no unit dropped: (N, input_size) → (N,)."""
        return self.output(F.relu(self.hidden(x))).squeeze(-1)


def dropout_predictive(
    model: DropoutMLP, x: Tensor, draws: int, *, generator: Generator, chunk: int = 512
) -> Tensor:
    """p(y = 1 | x) ≈ 1/S Σₛ sigmoid(logit(x; maskₛ)), (N,): one mask for each draw.

    All data share the mask of a draw. A mask on the hidden units is a mask on the
    output's weights, so all draws of a chunk of inputs are one matrix product:
    (chunk, H) times (H, S).
    """
    keep = torch.rand(draws, model.hidden.out_features, generator=generator) >= model.p
    weights = model.output.weight * keep / (1 - model.p)
    with torch.no_grad():
        logits = (
            F.linear(F.relu(model.hidden(rows)), weights) for rows in x.split(chunk)
        )
        return torch.cat(
            [torch.sigmoid(rows + model.output.bias).mean(dim=1) for rows in logits]
        )
