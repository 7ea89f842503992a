"""Practical 2."""

import math

import torch
import torch.nn.functional as F
from torch import nn
from wrong_answers import laplace_networks, newton_and_descent
from wrong_answers.spoiling import frozen, of_graph, of_noise, without_graph

from solutions import approximate_inference as right


def all_inputs_in_each_chunk(x, weights, chunk=512):
    return torch.cat([torch.sigmoid(x @ weights.T).mean(1) for _ in x.split(chunk)])


def first_chunk_only(x, weights, chunk=512):
    return torch.sigmoid(x[:chunk] @ weights.T).mean(1)


def hessian_with_graph(function, w):
    w = w.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(function(w), w, create_graph=True)
    rows = [torch.autograd.grad(g, w, create_graph=True)[0] for g in gradient]
    return torch.stack(rows)


def elbo_in_two_steps(logits, y, kl):
    p = torch.sigmoid(logits)
    return -(y * p.log() + (1 - y) * (1 - p).log()).sum(1).mean() + kl


def elbo_of_clipped(logits, y, kl):
    p = torch.sigmoid(logits).clamp(1e-12, 1 - 1e-12)
    return -(y * p.log() + (1 - y) * (1 - p).log()).sum(1).mean() + kl


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


class MeansInEval(Layer):
    def forward(self, x, *, generator):
        if self.training:
            return super().forward(x, generator=generator)
        return F.linear(x, self.w_mu, self.b_mu)


class Squeezed(Layer):
    def forward(self, x, *, generator):
        return super().forward(x, generator=generator).squeeze()


class LocalSqueezed(Local):
    def forward(self, x, *, generator):
        return super().forward(x, generator=generator).squeeze()


class LocalMeansInEval(Local):
    def forward(self, x, *, generator):
        if self.training:
            return super().forward(x, generator=generator)
        return F.linear(x, self.w_mu, self.b_mu)


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


class HiddenMeans(right.VariationalMLP):
    def forward(self, x, *, generator):
        hidden = F.relu(F.linear(x, self.hidden.w_mu, self.hidden.b_mu))
        return self.output(hidden, generator=generator).squeeze(-1)


class OutputMeans(right.VariationalMLP):
    def forward(self, x, *, generator):
        hidden = F.relu(self.hidden(x, generator=generator))
        return F.linear(hidden, self.output.w_mu, self.output.b_mu).squeeze(-1)


class ReseededOutput(right.VariationalMLP):
    def forward(self, x, *, generator):
        state = generator.get_state()
        hidden = F.relu(self.hidden(x, generator=generator))
        generator.set_state(state)
        return self.output(hidden, generator=generator).squeeze(-1)


class DrawnInTraining(right.VariationalMLP):
    def forward(self, x, *, generator):
        if self.training:
            return super().forward(x, generator=generator)
        hidden = F.relu(F.linear(x, self.hidden.w_mu, self.hidden.b_mu))
        return F.linear(hidden, self.output.w_mu, self.output.b_mu).squeeze(-1)


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


class AllSqueezed(right.VariationalMLP):
    def forward(self, x, *, generator):
        hidden = F.relu(self.hidden(x, generator=generator))
        return self.output(hidden, generator=generator).squeeze()


class DropoutSqueezed(right.DropoutMLP):
    def forward(self, x, *, generator):
        return super().forward(x, generator=generator).squeeze()


def joint_of(weights):
    """The normaliser of so many weights, whatever D is."""

    def answer(w, x, y, prior_variance):
        missing = 0.5 * (weights - len(w)) * math.log(2 * math.pi * prior_variance)
        return right.negative_log_joint(w, x, y, prior_variance) + missing

    return answer


def evidence_of(weights):
    def answer(w, covariance, *data):
        missing = 0.5 * (weights - len(w)) * math.log(2 * math.pi)
        return right.laplace_log_evidence(w, covariance, *data) + missing

    return answer


def predictive_of(draws):
    def answer(x, weights, chunk=512):
        return torch.sigmoid(x @ weights.T).sum(1) / draws

    return answer


class NotSqueezed(right.DropoutMLP):
    def forward(self, x, *, generator):
        return super().forward(x, generator=generator)[:, None]


def hessian_by_differences(step):
    def gradient(function, w):
        w = w.detach().requires_grad_()
        return torch.autograd.grad(function(w), w)[0]

    def answer(function, w):
        rows = []
        for move in step * torch.eye(len(w), dtype=w.dtype):
            change = gradient(function, w + move) - gradient(function, w - move)
            rows.append(change / (2 * step))
        return torch.stack(rows).detach()

    return answer


def evidence_by_determinant(w, covariance, *data):
    volume = 0.5 * len(w) * math.log(2 * math.pi) + 0.5 * covariance.det().log()
    return volume - right.negative_log_joint(w, *data)


ANSWERS = {
    "negative_log_joint": of_graph(right.negative_log_joint, "w")
    | {f"always {d} weights": joint_of(d) for d in (1, 2, 3)},
    "laplace_log_evidence": {f"always {d} weights": evidence_of(d) for d in (1, 2, 3)}
    | {"log of the determinant": evidence_by_determinant},
    "hessian_by_backward": {
        "a graph that stays": hessian_with_graph,
        "halves": lambda function, w: right.hessian_by_backward(function, w).half(),
    }
    | {
        f"differences with steps of {step:g}": hessian_by_differences(step)
        for step in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
    },
    "probit_predictive": {"a list": lambda *c: right.probit_predictive(*c).tolist()},
    "sampled_predictive": {
        "x in place of rows": all_inputs_in_each_chunk,
        "the first chunk only": first_chunk_only,
        "a list": lambda *case: right.sampled_predictive(*case).tolist(),
        "always 7 samples": predictive_of(7),
        "always 5 samples": predictive_of(5),
        "at most 512 samples": lambda x, w: right.sampled_predictive(x, w[:512]),
    },
    "reparametrised_sample": of_noise(right.reparametrised_sample)
    | of_graph(right.reparametrised_sample, "mu", "rho")
    | {"one ε for a row": row_noise},
    "gaussian_kl": of_graph(right.gaussian_kl, "mu", "rho"),
    "negative_elbo": of_graph(right.negative_elbo, "logits", "kl")
    | {
        "a sigmoid, then its logarithm": elbo_in_two_steps,
        "clipped probabilities": elbo_of_clipped,
    },
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
        "means in eval()": MeansInEval,
        "squeezed": Squeezed,
    },
    "LocalLinearVariational": of_noise(Local)
    | {
        "no graph": without_graph(Local),
        "means are cut off": LocalFixedMeans,
        "ρ is cut off": LocalFixedSpread,
        "means in eval()": LocalMeansInEval,
        "squeezed": LocalSqueezed,
    },
    "VariationalMLP": {
        "frozen noise": frozen(right.VariationalMLP),
        "no graph": without_graph(right.VariationalMLP),
        "no graph in kl": without_graph(right.VariationalMLP, ["kl"]),
        "the output layer is cut off": CutOutput,
        "the hidden layer's kl is cut off": CutHiddenKL,
        "the hidden layer's means": HiddenMeans,
        "the output layer's means": OutputMeans,
        "one noise for both layers": ReseededOutput,
        "means in eval()": DrawnInTraining,
        "squeezed": AllSqueezed,
    },
    "DropoutMLP": {
        "frozen masks": frozen(right.DropoutMLP),
        "no graph": without_graph(right.DropoutMLP),
        "hidden units are cut off": CutUnits,
        "a column of logits": NotSqueezed,
        "squeezed": DropoutSqueezed,
    },
    **laplace_networks.ANSWERS,
    **newton_and_descent.ANSWERS,
}
