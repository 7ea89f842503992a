"""Practical 2."""

import torch
import torch.nn.functional as F
from torch import nn
from wrong_answers.spoiling import frozen, of_graph, of_noise, without_graph

from solutions import approximate_inference as right


def all_inputs_in_each_chunk(x, weights, chunk=512):
    return torch.cat([torch.sigmoid(x @ weights.T).mean(1) for _ in x.split(chunk)])


def first_chunk_only(x, weights, chunk=512):
    return torch.sigmoid(x[:chunk] @ weights.T).mean(1)


class Layer(right.LinearVariational):
    """The reference, to spoil."""


class Local(right.LocalLinearVariational):
    """The reference, to spoil."""


class ZeroMeans(Layer):
    def __init__(self, *sizes, **options):
        super().__init__(*sizes, **options)
        nn.init.zeros_(self.w_mu)


class GlobalMeans(Layer):
    def __init__(self, *sizes, **options):
        super().__init__(*sizes, **options)
        nn.init.normal_(self.w_mu)


class OtherRho(Layer):
    def __init__(self, *sizes, **options):
        super().__init__(*sizes, **options)
        nn.init.constant_(self.w_rho, -3.0)


class DataKL(Layer):
    def kl(self):
        return right.gaussian_kl(
            self.w_mu.data, self.w_rho, self.prior_std
        ) + right.gaussian_kl(self.b_mu.data, self.b_rho, self.prior_std)


class FixedBiasSpread(Layer):
    def forward(self, x, *, generator):
        draw = right.reparametrised_sample
        weight = draw(self.w_mu, self.w_rho, generator=generator)
        bias = draw(self.b_mu, self.b_rho.detach(), generator=generator)
        return F.linear(x, weight, bias)


class ReseededBias(Layer):
    def forward(self, x, *, generator):
        draw, state = right.reparametrised_sample, generator.get_state()
        bias = draw(self.b_mu, self.b_rho, generator=generator)
        generator.set_state(state)
        weight = draw(self.w_mu.T, self.w_rho.T, generator=generator).T
        return F.linear(x, weight, bias)


class OneNoiseForAnOutput(Layer):
    def forward(self, x, *, generator):
        epsilon = torch.randn(len(self.b_mu), 1, generator=generator)
        weight = self.w_mu + F.softplus(self.w_rho) * epsilon
        bias = right.reparametrised_sample(self.b_mu, self.b_rho, generator=generator)
        return F.linear(x, weight, bias)


def row_noise(mu, rho, *, generator):
    epsilon = torch.randn((*mu.shape[:-1], 1), generator=generator)
    return mu + F.softplus(rho) * epsilon


class LocalFixedMeans(Local):
    def forward(self, x, *, generator):
        return super().forward(x, generator=generator) - (
            x @ self.w_mu.T - x @ self.w_mu.detach().T
        )


class LocalFixedSpread(Local):
    def forward(self, x, *, generator):
        mean = F.linear(x, self.w_mu, self.b_mu)
        noise = super().forward(x, generator=generator) - mean
        return mean + noise.detach()


class CutOutput(right.VariationalMLP):
    def forward(self, x, *, generator):
        hidden = F.relu(self.hidden(x, generator=generator))
        with torch.no_grad():
            logits = self.output(hidden, generator=generator).squeeze(-1)
        return logits + 0 * hidden.sum()


class CutHiddenKL(right.VariationalMLP):
    def kl(self):
        return self.hidden.kl().detach() + self.output.kl()


class CutUnits(right.DropoutMLP):
    def forward(self, x, *, generator):
        hidden = F.relu(self.hidden(x)).detach()
        keep = torch.rand(hidden.shape, generator=generator) >= self.p
        return self.output(hidden * keep / (1 - self.p)).squeeze(-1)


ANSWERS = {
    "negative_log_joint": of_graph(right.negative_log_joint, "w"),
    "sampled_predictive": {
        "x in place of rows": all_inputs_in_each_chunk,
        "the first chunk only": first_chunk_only,
    },
    "reparametrised_sample": of_noise(right.reparametrised_sample)
    | of_graph(right.reparametrised_sample, "mu", "rho")
    | {"one ε for a row": row_noise},
    "gaussian_kl": of_graph(right.gaussian_kl, "mu", "rho"),
    "negative_elbo": of_graph(right.negative_elbo, "logits", "kl"),
    "LinearVariational": of_noise(Layer)
    | {
        "no graph": without_graph(Layer),
        "no graph in kl": without_graph(Layer, ["kl"]),
        "all means 0": ZeroMeans,
        "means of the global generator": GlobalMeans,
        "another first ρ": OtherRho,
        "kl of .data": DataKL,
        "the biases' ρ is cut off": FixedBiasSpread,
        "one ε for all weights of an output": OneNoiseForAnOutput,
        "the bias has the noise of a weight": ReseededBias,
    },
    "LocalLinearVariational": of_noise(Local)
    | {
        "no graph": without_graph(Local),
        "means are cut off": LocalFixedMeans,
        "ρ is cut off": LocalFixedSpread,
    },
    "VariationalMLP": {
        "frozen noise": frozen(right.VariationalMLP),
        "no graph": without_graph(right.VariationalMLP),
        "no graph in kl": without_graph(right.VariationalMLP, ["kl"]),
        "the output layer is cut off": CutOutput,
        "the hidden layer's kl is cut off": CutHiddenKL,
    },
    "DropoutMLP": {
        "frozen masks": frozen(right.DropoutMLP),
        "no graph": without_graph(right.DropoutMLP),
        "hidden units are cut off": CutUnits,
    },
}
