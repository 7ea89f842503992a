"""Wrong variational networks; each overrides a method."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from course.checks.approximate_inference.concepts import SQUEEZED
from course.checks.approximate_inference.wrong_layers import VariationalLayer
from course.task import Misconception


class _Network(nn.Module):
    """Base of the wrong networks, each of which overrides one method."""

    def __init__(
        self,
        input_size,
        hidden_size,
        prior_std,
        rho=-3.0,
        *,
        layer=VariationalLayer,
        generator,
    ):
        super().__init__()
        self.hidden = layer(
            input_size, hidden_size, prior_std, rho, generator=generator
        )
        self.output = layer(hidden_size, 1, prior_std, rho, generator=generator)

    activation = staticmethod(F.relu)

    def kl(self):
        return self.hidden.kl() + self.output.kl()

    def forward(self, x, *, generator):
        hidden = self.activation(self.hidden(x, generator=generator))
        return self.output(hidden, generator=generator).squeeze(-1)


class _NoActivation(_Network):
    activation = staticmethod(lambda hidden: hidden)


class _Probabilities(_Network):
    def forward(self, x, *, generator):
        return torch.sigmoid(super().forward(x, generator=generator))


class _HiddenKL(_Network):
    def kl(self):
        return self.hidden.kl()


class _OutputKL(_Network):
    def kl(self):
        return self.output.kl()


class _MeanKL(_Network):
    def kl(self):
        return (self.hidden.kl() + self.output.kl()) / 2


class _Column(_Network):
    def forward(self, x, *, generator):
        return super().forward(x, generator=generator)[:, None]


class _DetachedUnits(_Network):
    def forward(self, x, *, generator):
        with torch.no_grad():
            hidden = F.relu(self.hidden(x, generator=generator))
        return self.output(hidden, generator=generator).squeeze(-1)


class _HiddenMeans(_Network):
    def forward(self, x, *, generator):
        hidden = F.relu(F.linear(x, self.hidden.w_mu, self.hidden.b_mu))
        return self.output(hidden, generator=generator).squeeze(-1)


class _OutputMeans(_Network):
    def forward(self, x, *, generator):
        hidden = F.relu(self.hidden(x, generator=generator))
        return F.linear(hidden, self.output.w_mu, self.output.b_mu).squeeze(-1)


class _LastReLU(_Network):
    def forward(self, x, *, generator):
        return F.relu(super().forward(x, generator=generator))


ACTIVATIONS = {
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "leaky ReLU": F.leaky_relu,
    "GELU": F.gelu,
    "softplus": F.softplus,
    "ELU": F.elu,
    "SiLU": F.silu,
}


def _activated(function):
    return type("Network", (_Network,), {"activation": staticmethod(function)})


class _InputReLU(_Network):
    def forward(self, x, *, generator):
        return super().forward(F.relu(x), generator=generator)


class _EarlyReLU(_NoActivation):
    def forward(self, x, *, generator):
        return super().forward(F.relu(x), generator=generator)


class _Squeezed(_Network):
    def forward(self, x, *, generator):
        return super().forward(x, generator=generator).squeeze()


class _HiddenUnits(_Network):
    def forward(self, x, *, generator):
        return F.relu(self.hidden(x, generator=generator))


class _Frozen(_Network):
    def forward(self, x, *, generator):
        return super().forward(x, generator=torch.Generator().manual_seed(0))


class _MeansInEval(_Network):
    def forward(self, x, *, generator):
        if self.training:
            return super().forward(x, generator=generator)
        hidden = F.relu(F.linear(x, self.hidden.w_mu, self.hidden.b_mu))
        return F.linear(hidden, self.output.w_mu, self.output.b_mu).squeeze(-1)


class _DetachedKL(_Network):
    def kl(self):
        return super().kl().detach()


class _HiddenKLTwice(_Network):
    def kl(self):
        return 2 * self.hidden.kl()


class _MeanOfTwo(_Network):
    def forward(self, x, *, generator):
        draws = [super(_MeanOfTwo, self).forward(x, generator=generator) for _ in "ab"]
        return sum(draws) / 2


NETWORKS = [
    Misconception(
        _NoActivation,
        "you leave out the ReLU between the layers: two linear layers in a row are one linear layer.",
    ),
    Misconception(
        _Probabilities,
        "you apply a sigmoid at the end. Return logits: negative_elbo takes logits.",
    ),
    Misconception(
        _HiddenKL,
        "you count only the hidden layer's KL.",
    ),
    Misconception(
        _OutputKL,
        "you count only the output layer's KL.",
    ),
    Misconception(
        _MeanKL,
        "you average the layers' divergences; add them.",
    ),
    Misconception(
        _Column,
        "you keep the last axis, of length 1: shape (N, 1) against labels of shape (N,) broadcasts to (N, N). "
        "Squeeze it.",
    ),
    Misconception(
        _LastReLU,
        "you apply a ReLU to the logits: then no probability is below one half.",
    ),
    Misconception(
        _HiddenMeans,
        "you compute the hidden layer with the means of its weights: only the output layer's weights are drawn.",
    ),
    Misconception(
        _OutputMeans,
        "you compute the output layer with the means of its weights: only the hidden layer's weights are drawn.",
    ),
    Misconception(
        _DetachedUnits,
        "you detach the hidden units, or compute them with .data or under no_grad: no gradient reaches the "
        "hidden layer.",
    ),
    *(
        Misconception(
            _activated(function),
            f"you put {name} between the layers; this network has ReLUs.",
        )
        for name, function in ACTIVATIONS.items()
    ),
    Misconception(
        _InputReLU,
        "you apply a ReLU to the inputs as well: it belongs between the layers alone.",
    ),
    Misconception(
        _EarlyReLU,
        "you apply the ReLU to the inputs: it belongs between the layers.",
    ),
    Misconception(_Squeezed, SQUEEZED),
    Misconception(
        _HiddenUnits,
        "you return the hidden units: apply the output layer to them.",
    ),
    Misconception(
        _Frozen,
        "you draw the noise with the same seed in every call, or use that of the first call again. Draw it anew in every "
        "call, from the generator that is passed in.",
    ),
    Misconception(
        _MeansInEval,
        "you compute with the means alone in eval(). The weights are random in eval() too: a prediction averages "
        "over draws.",
    ),
    Misconception(
        _DetachedKL,
        "you detach the KL (.detach(), .item() or no_grad): the prior then has no effect.",
    ),
    Misconception(
        _HiddenKLTwice,
        "you count the hidden layer's KL twice, and the output layer's not at all.",
    ),
    Misconception(
        _MeanOfTwo,
        "you average several draws of the logits: a call returns the logits of one draw.",
    ),
]
