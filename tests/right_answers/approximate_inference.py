"""Practical 2. Plain numbers become tensors of the default dtype, as they do in a student's cell."""

import math

import torch
import torch.nn.functional as F
from torch.distributions import Bernoulli, MultivariateNormal, Normal, kl_divergence

from solutions import approximate_inference as ref


def single(number):
    return torch.tensor(float(number))


def joint_of_distributions(w, x, y, prior_variance):
    log_likelihood = Bernoulli(logits=x @ w).log_prob(y).sum()
    return -log_likelihood - Normal(0.0, math.sqrt(prior_variance)).log_prob(w).sum()


def joint_of_tensors(w, x, y, prior_variance):
    logits, variance = x @ w, single(prior_variance)
    nll = -(y * F.logsigmoid(logits) + (1 - y) * F.logsigmoid(-logits)).sum()
    quadratic = (w**2).sum() / (2 * variance)
    return nll + quadratic + len(w) / 2 * torch.log(2 * single(math.pi) * variance)


def joint_of_a_vector(w, x, y, prior_variance):
    prior = MultivariateNormal(
        torch.zeros_like(w), prior_variance * torch.eye(len(w), dtype=w.dtype)
    )
    return F.softplus((1 - 2 * y) * (x @ w)).sum() - prior.log_prob(w)


def hessian_into_single_precision(function, w):
    w = w.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(function(w), w, create_graph=True)
    hessian = torch.zeros(len(w), len(w))
    for i, component in enumerate(gradient):
        hessian[i] = torch.autograd.grad(component, w, retain_graph=True)[0]
    return hessian


def hessian_by_grad(function, w):
    w = w.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(function(w), w, create_graph=True)
    rows = []
    for component in gradient:
        w.grad = None
        component.backward(retain_graph=True)
        rows.append(w.grad.clone())
    return torch.stack(rows)


def closed(w, x, prior_variance):
    p = torch.sigmoid(x @ w)
    return x.T @ torch.diag(p * (1 - p)) @ x + torch.eye(len(w)) / prior_variance


def closed_by_outer_products(w, x, prior_variance):
    hessian = torch.eye(len(w)) / single(prior_variance)
    for row in x:
        p = torch.sigmoid(row @ w)
        hessian = hessian + p * (1 - p) * torch.outer(row, row)
    return hessian


def mode_with_single_eye(x, y, prior_variance, steps=30):
    w = torch.zeros(x.shape[1], dtype=x.dtype)
    for _ in range(steps):
        gradient = x.T @ (torch.sigmoid(x @ w) - y) + w / single(prior_variance)
        w = w - torch.linalg.inv(closed(w, x, prior_variance)) @ gradient
    return w


def covariance_by_autograd(w, x, y, prior_variance):
    return torch.autograd.functional.hessian(
        lambda w: joint_of_distributions(w, x, y, prior_variance), w
    ).inverse()


def evidence(w, covariance, x, y, prior_variance):
    volume = (
        len(w) / 2 * torch.log(single(2 * math.pi))
        + torch.linalg.slogdet(covariance)[1] / 2
    )
    return volume - joint_of_tensors(w, x, y, prior_variance)


def softmax_covariance(weights, x, prior_variance):
    k, d = weights.shape
    hessian = torch.eye(k * d) / prior_variance
    for row, p in zip(x, torch.softmax(x @ weights.T, -1), strict=True):
        hessian = hessian + torch.kron(
            p.diag() - torch.outer(p, p), torch.outer(row, row)
        )
    return torch.linalg.inv(hessian)


def predictive_in_a_loop(x, weights, chunk=512):
    probs = torch.zeros(len(x))
    for w in weights:
        probs += torch.sigmoid(x @ w) / len(weights)
    return probs


def probit(x, mean, covariance):
    variance = torch.einsum("ni,ij,nj->n", x, covariance, x)
    kappa = 1 / torch.sqrt(1 + single(math.pi / 8) * variance)
    return torch.sigmoid(kappa * (x @ mean))


def normal_(mu, rho, *, generator):
    return mu + F.softplus(rho) * torch.empty_like(mu).normal_(generator=generator)


def of_zeros(mu, rho, *, generator):
    zeros, ones = torch.zeros_like(mu), torch.ones_like(mu)
    std = torch.logaddexp(rho, zeros)
    return mu + std * torch.normal(zeros, ones, generator=generator)


def kl_of_distributions(mu, rho, prior_std):
    return kl_divergence(Normal(mu, F.softplus(rho)), Normal(0.0, prior_std)).sum()


def kl_of_tensors(mu, rho, prior_std):
    std, prior = F.softplus(rho), single(prior_std)
    return torch.sum(torch.log(prior / std) + (std**2 + mu**2) / (2 * prior**2) - 0.5)


def elbo_in_a_loop(logits, y, kl):
    nll = 0.0
    for draw in logits:
        nll = nll - Bernoulli(logits=draw).log_prob(y).sum()
    return nll / len(logits) + kl


def elbo_of_sums(logits, y, kl):
    rows = y.repeat(len(logits), 1)
    nll = F.binary_cross_entropy_with_logits(logits, rows, reduction="sum")
    return nll / single(len(logits)) + kl


class ByHand(ref.LinearVariational):
    def kl(self):
        pairs = (self.w_mu, self.w_rho), (self.b_mu, self.b_rho)
        return sum(kl_of_distributions(mu, rho, self.prior_std) for mu, rho in pairs)

    def forward(self, x, *, generator):
        bias = of_zeros(self.b_mu, self.b_rho, generator=generator)
        weight = normal_(self.w_mu, self.w_rho, generator=generator)
        return x @ weight.T + bias


class LocalByHand(ref.LocalLinearVariational):
    def forward(self, x, *, generator):
        variance = x.square() @ F.softplus(self.w_rho).square().T
        std = (variance + F.softplus(self.b_rho).square()).sqrt()
        mean = x @ self.w_mu.T + self.b_mu
        return mean + std * torch.empty_like(mean).normal_(generator=generator)


class Clamped(ref.VariationalMLP):
    def kl(self):
        return sum(layer.kl() for layer in (self.output, self.hidden))

    def forward(self, x, *, generator):
        hidden = self.hidden(x, generator=generator).clamp(min=0)
        return self.output(hidden, generator=generator)[:, 0]


class BernoulliMasks(ref.DropoutMLP):
    def forward(self, x, *, generator):
        hidden = torch.relu(self.hidden(x))
        share = torch.full_like(hidden, 1 - self.p)
        mask = torch.bernoulli(share, generator=generator)
        return self.output(hidden * mask / share)[:, 0]


def descent_by_hand(w, x, y, prior_variance, *, steps, rate):
    path = [w]
    for _ in range(steps):
        gradient = x.T @ (torch.sigmoid(x @ w) - y) + w / prior_variance
        w = w - rate * gradient / len(x)
        path.append(w)
    return torch.stack(path)


def descent_by_sgd(w, x, y, prior_variance, *, steps, rate):
    w = torch.nn.Parameter(w.clone())
    decay = 1 / (len(x) * prior_variance)
    optimiser = torch.optim.SGD([w], lr=rate, weight_decay=decay)
    path = [w.detach().clone()]
    for _ in range(steps):
        optimiser.zero_grad()
        F.binary_cross_entropy_with_logits(x @ w, y).backward()
        optimiser.step()
        path.append(w.detach().clone())
    return torch.stack(path)


def ggn_of_rows(network, w):
    total = torch.zeros(len(w), len(w))
    jacobian = torch.autograd.functional.jacobian(network, w)
    for row, logit in zip(jacobian, network(w), strict=True):
        p = torch.sigmoid(logit)
        total = total + p * (1 - p) * torch.outer(row, row)
    return total


def ggn_of_the_linearised_loss(network, w):
    jacobian, logits = torch.func.jacrev(network)(w), network(w)
    return torch.autograd.functional.hessian(
        lambda v: F.softplus(logits + jacobian @ (v - w)).sum(), w
    )


def linearised_by_diagonal(network, w, covariance):
    jacobian = torch.autograd.functional.jacobian(network, w)
    return network(w), torch.diagonal(jacobian @ covariance @ jacobian.T)


def linearised_by_root(network, w, covariance):
    jacobian = torch.func.jacfwd(network)(w)
    root = torch.linalg.cholesky(covariance)
    return network(w), (jacobian @ root).square().sum(-1)


def last_layer_by_solving(features, w, prior_variance, new_features):
    p = torch.sigmoid(features @ w)
    precision = torch.diag(torch.full_like(w, 1 / prior_variance))
    for row, weight in zip(features, p * (1 - p), strict=True):
        precision = precision + weight * torch.outer(row, row)
    solved = torch.linalg.solve(precision, new_features.T)
    return new_features @ w, (new_features * solved.T).sum(1)


def network_evidence_simplified(nll, w, curvature, prior_variance):
    scaled = torch.eye(len(w)) + prior_variance * curvature
    return -nll - w @ w / (2 * single(prior_variance)) - torch.logdet(scaled) / 2


def network_evidence_of_densities(nll, w, curvature, prior_variance):
    precision = curvature + torch.eye(len(w), dtype=w.dtype) / prior_variance
    q = MultivariateNormal(w, precision_matrix=precision)
    prior = Normal(0.0, math.sqrt(prior_variance)).log_prob(w).sum()
    return prior - nll - q.log_prob(w)


def members_one_by_one(x, y, noise_std, prior_std, draws, *, generator):
    precision = x.T @ x / noise_std**2 + torch.eye(x.shape[1]) / prior_std**2
    inverse, members = torch.linalg.inv(precision), []
    for _ in range(draws):
        target = y + noise_std * torch.empty_like(y).normal_(generator=generator)
        anchor = prior_std * torch.randn(x.shape[1], dtype=x.dtype, generator=generator)
        members.append(inverse @ (x.T @ target / noise_std**2 + anchor / prior_std**2))
    return torch.stack(members)


def members_by_least_squares(x, y, noise_std, prior_std, draws, *, generator):
    d = x.shape[1]
    rows = torch.cat([x / noise_std, torch.eye(d, dtype=x.dtype) / prior_std])
    noise = torch.randn(len(x) + d, draws, dtype=x.dtype, generator=generator)
    targets = F.pad(y / noise_std, (0, d))[:, None] + noise
    return torch.linalg.lstsq(rows, targets).solution.T


def swag_in_a_loop(weights, rank):
    mean, square, deviations = 0.0, 0.0, []
    for count, row in enumerate(weights, 1):
        mean = mean + (row - mean) / count
        square = square + (row**2 - square) / count
        deviations.append(row - mean)
    return mean, square - mean**2, torch.stack(deviations[-rank:])


def cyclical_by_halves(step, steps, cycles, largest):
    length = -(-steps // cycles)
    return largest * math.cos(math.pi * (step % length) / length / 2) ** 2


ANSWERS = {
    "negative_log_joint": {
        "distributions": joint_of_distributions,
        "tensors": joint_of_tensors,
        "one vector": joint_of_a_vector,
    },
    "prior_variance_of": {
        "tensors": lambda decay, n: float(1 / (n * single(decay))),
        "a fraction": lambda decay, n: (n * decay) ** -1,
    },
    "gradient_descent": {"by hand": descent_by_hand, "SGD": descent_by_sgd},
    "hessian_by_backward": {
        "autograd's own": torch.autograd.functional.hessian,
        "torch.func": lambda function, w: torch.func.hessian(function)(w),
        "rows into single precision": hessian_into_single_precision,
        "by .backward()": hessian_by_grad,
    },
    "logistic_hessian": {
        "single eye": closed,
        "outer products": closed_by_outer_products,
    },
    "find_mode": {"single eye": mode_with_single_eye},
    "laplace_covariance": {
        "autograd": covariance_by_autograd,
        "closed form": lambda w, x, y, v: torch.linalg.inv(closed(w, x, v)),
    },
    "laplace_log_evidence": {"tensors": evidence},
    "softmax_laplace_covariance": {"Kronecker products": softmax_covariance},
    "sampled_predictive": {"a loop into single precision": predictive_in_a_loop},
    "probit_predictive": {"κ": probit},
    "reparametrised_sample": {"normal_": normal_, "torch.normal": of_zeros},
    "gaussian_kl": {"distributions": kl_of_distributions, "tensors": kl_of_tensors},
    "negative_elbo": {"a loop": elbo_in_a_loop, "sums": elbo_of_sums},
    "LinearVariational": {"by hand": ByHand},
    "LocalLinearVariational": {"by hand": LocalByHand},
    "VariationalMLP": {"clamp": Clamped},
    "DropoutMLP": {"torch.bernoulli": BernoulliMasks},
    "ggn": {
        "outer products": ggn_of_rows,
        "the linearised loss": ggn_of_the_linearised_loss,
    },
    "linearised_predictive": {
        "a diagonal": linearised_by_diagonal,
        "a root of Σ": linearised_by_root,
    },
    "last_layer_laplace": {"solve": last_layer_by_solving},
    "network_log_evidence": {
        "simplified": network_evidence_simplified,
        "densities": network_evidence_of_densities,
    },
    "randomised_map": {
        "one by one": members_one_by_one,
        "least squares": members_by_least_squares,
    },
    "swag_moments": {"a loop": swag_in_a_loop},
    "cyclical_step_size": {"half an angle": cyclical_by_halves},
}
