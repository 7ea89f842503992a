"""The PyTorch methods: ``train_all`` fits them to one problem."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.distributions import Normal
from torch.func import functional_call, jacrev, vmap

from solutions.approximate_inference import (
    DropoutMLP,
    LocalLinearVariational,
    VariationalMLP,
    softmax_laplace_covariance,
    with_bias,
)
from solutions.bayes_by_backprop import BayesianMLP, train
from solutions.calibration_and_flows import (
    StochasticLogisticRegression,
    compose,
    fit_temperature,
    flow_kl,
)
from studies.which_method.baselines import least_squares
from studies.which_method.methods import LONG, LONGER, METHODS, OWN_PRIOR, SQUARES
from studies.which_method.problems import Problem
from studies.which_method.record import (
    QUICK,
    Budget,
    Fitted,
    Record,
    chosen,
    each_problem,
    timed,
)

# --- Networks: ``train`` needs forward(x, generator=…) and kl() -----------------------


class Plain(nn.Module):
    """One hidden layer; ``kl`` is the negative log prior, so training finds the mode."""

    def __init__(self, inputs, hidden, outputs, prior_std, *, generator):
        super().__init__()
        self.hidden = nn.Linear(inputs, hidden)
        self.output = nn.Linear(hidden, outputs)
        self.prior_std = prior_std
        for layer in (self.hidden, self.output):
            std = layer.in_features**-0.5
            nn.init.normal_(layer.weight, std=std, generator=generator)
            nn.init.zeros_(layer.bias)

    def features(self, x: Tensor) -> Tensor:
        """Return the inputs of the last layer."""
        return F.relu(self.hidden(x))

    def forward(self, x: Tensor, *, generator=None) -> Tensor:
        return self.output(self.features(x))

    def kl(self) -> Tensor:
        return penalty(self, self.prior_std)


class Dropout(DropoutMLP):
    """Practical 2's network with dropout, with more than one output and a prior."""

    def __init__(self, inputs, hidden, outputs, prior_std, p, *, generator):
        super().__init__(inputs, hidden, p, generator=generator)
        self.output = nn.Linear(hidden, outputs)
        self.prior_std = prior_std
        nn.init.normal_(self.output.weight, std=hidden**-0.5, generator=generator)
        nn.init.zeros_(self.output.bias)

    def kl(self) -> Tensor:
        return penalty(self, self.prior_std)


class FlowNoise(nn.Module):
    """Practical 4's stochastic layer on the hidden units of a network."""

    def __init__(self, inputs, hidden, outputs, prior_std, noise_std, *, generator):
        super().__init__()
        self.plain = Plain(inputs, hidden, 1, prior_std, generator=generator)
        self.prior_std, self.noise = prior_std, Normal(1.0, noise_std)
        self.layer = StochasticLogisticRegression(
            hidden, outputs, 2, base=self.noise, generator=generator
        )

    def forward(self, x: Tensor, *, generator) -> Tensor:
        h = self.plain.features(x)
        z0 = self.layer.draw(h.shape, generator=generator)
        z, log_det = compose(self.layer.flow, z0)
        self.drawn = z0, z, log_det
        return (h * z) @ self.layer.weight.T + self.layer.bias

    def kl(self) -> Tensor:
        weights = (*self.plain.hidden.parameters(), self.layer.weight, self.layer.bias)
        squares = sum((weight**2).sum() for weight in weights)
        noise = flow_kl(self.noise, self.noise, *self.drawn).sum()
        return noise + squares / (2 * self.prior_std**2)


def penalty(model: nn.Module, prior_std: float) -> Tensor:
    """Compute ‖w‖²/(2σ₀²), the negative log prior up to a constant."""
    return sum((w**2).sum() for w in model.parameters()) / (2 * prior_std**2)


def variational(inputs, hidden, outputs, prior_std, *, generator) -> VariationalMLP:
    """Make practical 2's variational network, with noise on activations and several outputs."""
    layer = LocalLinearVariational
    model = VariationalMLP(inputs, hidden, prior_std, layer=layer, generator=generator)
    model.output = layer(hidden, outputs, prior_std, generator=generator)
    return model


def backprop(inputs, hidden, outputs, prior_std, *, generator) -> BayesianMLP:
    """Make practical 3's network, with one draw of the weights in each step."""
    sizes = (inputs, hidden, outputs)
    return BayesianMLP(sizes, prior_std=prior_std, initial_rho=-3, generator=generator)


# --- Training and prediction ---------------------------------------------------------


def summed_nll(outputs: Tensor, y: Tensor) -> Tensor:
    """Sum the NLL of classes (integer y), or of a Gaussian with the outputs (µ, ρ)."""
    if not y.is_floating_point():
        return F.cross_entropy(outputs, y, reduction="sum")
    return -Normal(outputs[:, 0], spread(outputs)).log_prob(y).sum()


def spread(outputs: Tensor) -> Tensor:
    """Compute σ = softplus(ρ) + 1e-6, as in practical 1."""
    return F.softplus(outputs[..., 1]) + 1e-6


def curvature(outputs: Tensor, *, regression: bool) -> Tensor:
    """Compute each data point's Fisher information about the network's outputs, (N, O, O)."""
    if regression:
        std = spread(outputs)
        slope = torch.sigmoid(outputs[:, 1])  # dσ/dρ
        return torch.diag_embed(torch.stack([1 / std**2, 2 * (slope / std) ** 2], 1))
    p = torch.softmax(outputs, dim=-1)
    return torch.diag_embed(p) - p[:, :, None] * p[:, None, :]


def jacobians(model: nn.Module, x: Tensor) -> Tensor:
    """Differentiate the outputs with respect to all P weights, (N, O, P)."""
    weights = {name: weight.detach() for name, weight in model.named_parameters()}

    def outputs(weights: dict[str, Tensor], row: Tensor) -> Tensor:
        return functional_call(model, weights, (row[None],))[0]

    parts = vmap(jacrev(outputs), (None, 0))(weights, x)
    return torch.cat([part.flatten(2) for part in parts.values()], dim=2)


def last_jacobians(model: Plain, x: Tensor) -> Tensor:
    """Differentiate the outputs with respect to the last layer, bias included: (N, O, O·(H+1))."""
    features = with_bias(model.features(x).detach())
    rows = torch.eye(model.output.out_features, dtype=x.dtype)
    wide = rows[None, :, :, None] * features[:, None, None, :]
    return wide.flatten(2)


def gauss_newton(jacobian: Tensor, fisher: Tensor) -> Tensor:
    """Compute Σₙ JₙᵀΛₙJₙ, (P, P)."""
    weighted = torch.einsum("nop,noq->nqp", jacobian, fisher)
    return weighted.flatten(0, 1).T @ jacobian.flatten(0, 1)


def linearised(
    mean: Tensor, jacobian: Tensor, root: Tensor, draws: int, generator
) -> Tensor:
    """Draw outputs from N(mean, JΣJᵀ) for each data point: (draws, N, O).

    ``root`` is the Cholesky factor L of Σ⁻¹ = LLᵀ.
    """
    n, outputs, _ = jacobian.shape
    half = torch.linalg.solve_triangular(root, jacobian.flatten(0, 1).T, upper=False)
    half = half.T.reshape(n, outputs, -1)
    values, vectors = torch.linalg.eigh((half @ half.mT).double())
    scale = vectors * values.clamp(min=0).sqrt()[:, None, :]
    noise = torch.randn(draws, n, outputs, generator=generator, dtype=torch.float64)
    return mean + torch.einsum("nok,snk->sno", scale, noise).to(mean.dtype)


class TorchWorker:
    """Fits the methods to one problem with one seed."""

    def __init__(self, problem: Problem, seed: int, budget: Budget):
        self.problem, self.seed, self.budget = problem, seed, budget
        self.x = torch.tensor(problem.x, dtype=torch.float32)
        kind = torch.float32 if problem.regression else torch.int64
        self.y = torch.tensor(problem.y, dtype=kind)

    def generator(self, number: int = 0) -> torch.Generator:
        """Return a generator derived from the seed and a number."""
        return torch.Generator().manual_seed(1000 * self.seed + number)

    def fit(
        self,
        method: str,
        make: Callable,
        *,
        setting: float,
        cold: float = 1.0,
        longer: int = 1,
    ):
        """Train a network; return the fitted method and the network."""
        plan, generator = METHODS[method], self.generator()
        sizes = len(self.x[0]), self.budget.hidden, self.problem.outputs
        model = make(*sizes, generator=generator)
        _, seconds = timed(
            lambda: train(
                model,
                summed_nll,
                self.x,
                self.y,
                steps=self.budget.of(longer * plan.steps),
                rate=plan.rate,
                generator=generator,
                local=False,
                temperature=cold,
            )
        )
        draws = 1 if method == "MAP" else self.budget.draws

        @torch.no_grad()
        def predict(x: np.ndarray) -> np.ndarray:
            rows, noise = torch.tensor(x, dtype=torch.float32), self.generator(7)
            each = [model(rows, generator=noise) for _ in range(draws)]
            return torch.stack(each).numpy()

        stored = sum(p.numel() for p in model.parameters() if p.requires_grad)
        fitted = Fitted(predict, setting, seconds, stored, draws)
        return fitted, model

    def select(self, method: str, make: Callable[[float], Callable], cold=None):
        """Train with every value of the method's setting; keep the best on validation data."""
        fits = [
            self.fit(
                method, make(value), setting=value, cold=cold(value) if cold else 1.0
            )
            for value in self.budget.values(method)
        ]
        best = chosen([fitted for fitted, _ in fits], self.problem)
        return best, next(model for fitted, model in fits if fitted is best)

    def temperature(self, base: Fitted) -> Fitted:
        """Divide logits by T, or multiply spreads by a factor, fitted to the validation data."""
        outputs = torch.tensor(base.predict(self.problem.x_val)[0]).double()
        y = torch.tensor(self.problem.y_val)

        def learn() -> float:
            if self.problem.regression:
                errors = (y - outputs[:, 0]) / spread(outputs)
                return float(errors.pow(2).mean().sqrt())
            return float(fit_temperature(outputs, y))

        factor, seconds = timed(learn)

        def predict(x: np.ndarray) -> np.ndarray:
            outputs = base.predict(x)
            if not self.problem.regression:
                return outputs / factor
            wide = factor * spread(torch.tensor(outputs).double()).numpy()
            rho = wide + np.log(-np.expm1(-wide))  # the inverse of softplus
            return np.stack([outputs[..., 0], rho], -1)

        return base._replace(
            predict=predict,
            setting=factor,
            seconds=base.seconds + seconds,
            stored=base.stored + 1,
        )

    def laplace(self, base: Fitted, model: Plain, *, last: bool) -> list[Fitted]:
        """Return Laplace approximations around the mode, one for each prior.

        They are of the last layer, or of all weights with the network linearised.
        """
        take = last_jacobians if last else jacobians

        def derive(x: Tensor) -> Tensor:
            jacobian = take(model, x)  # large ones stay in single precision
            return jacobian.double() if jacobian.shape[-1] < 1000 else jacobian

        regression = self.problem.regression
        passes = 1 if last else 1 + self.problem.outputs
        with torch.no_grad():
            outputs = model(self.x)
        name = "last-layer Laplace" if last else "Laplace"

        def curved() -> Tensor:
            fisher = curvature(outputs, regression=regression)
            jacobian = derive(self.x)
            return gauss_newton(jacobian, fisher.to(jacobian.dtype))

        hessian, shared = None, 0.0
        if regression or not last:
            hessian, shared = timed(curved)
        candidates = []
        for prior_std in self.budget.values(name):

            def factorise(variance=prior_std**2) -> Tensor:
                if (
                    hessian is None
                ):  # use practical 2's solution for linear softmax models
                    weights = with_last_bias(model).double()
                    x = with_bias(model.features(self.x).detach()).double()
                    sigma = softmax_laplace_covariance(weights, x, variance)
                    return torch.linalg.cholesky(torch.linalg.inv(sigma))
                eye = torch.eye(len(hessian), dtype=hessian.dtype)
                return torch.linalg.cholesky(hessian + eye / variance)

            root, own = timed(factorise)

            def predict(x: np.ndarray, root=root) -> np.ndarray:
                rows = torch.tensor(x, dtype=torch.float32)
                with torch.no_grad():
                    mean = model(rows)
                noise, draws = self.generator(7), self.budget.draws
                return linearised(mean, derive(rows), root, draws, noise).numpy()

            size = len(root) * (len(root) + 1) // 2
            candidates.append(
                Fitted(
                    predict,
                    prior_std,
                    base.seconds + shared + own,
                    base.stored + size,
                    passes,
                )
            )
        return candidates


def with_last_bias(model: Plain) -> Tensor:
    """Return the last layer's weights with their bias, one row per output."""
    layer = model.output
    return torch.cat([layer.weight, layer.bias[:, None]], dim=1).detach()


def train_all(problem: Problem, seed: int, budget: Budget) -> dict[str, Fitted]:
    """Fit every PyTorch method to one problem, with settings chosen on the validation data."""
    worker, fits = TorchWorker(problem, seed, budget), {}
    fits["MAP"], model = worker.select("MAP", lambda s: partial(Plain, prior_std=s))
    prior_std = fits["MAP"].setting
    fits["temperature"] = worker.temperature(fits["MAP"])
    for name, last in (("last-layer Laplace", True), ("Laplace", False)):
        candidates = worker.laplace(fits["MAP"], model, last=last)
        fits[name] = chosen(candidates, problem)
    fits[OWN_PRIOR] = next(fit for fit in candidates if fit.setting == prior_std)
    fits["variational"], _ = worker.select(
        "variational", lambda s: partial(variational, prior_std=s)
    )
    name = "Bayes by Backprop"
    fits[name], _ = worker.select(name, lambda s: partial(backprop, prior_std=s))
    own = partial(backprop, prior_std=fits[name].setting)
    if problem.outputs > 2:  # the digits, where training takes longest
        setting = fits[name].setting
        fits[LONG], _ = worker.fit(name, own, setting=setting, longer=LONGER)
    name = f"cold {name}"
    fits[name], _ = worker.select(name, lambda s: own, cold=lambda s: s)
    fits["MC dropout"], _ = worker.select(
        "MC dropout", lambda p: partial(Dropout, prior_std=prior_std, p=p)
    )
    fits["flow noise"], _ = worker.select(
        "flow noise", lambda s: partial(FlowNoise, prior_std=prior_std, noise_std=s)
    )
    if problem.regression:
        fits[SQUARES] = least_squares(problem)
    return fits


def main(folder: Path, budget: Budget) -> None:
    """Fit all methods to all problems, and write predictions and costs to a folder."""
    torch.set_num_threads(1)
    record = Record()
    warm = TorchWorker(next(each_problem(QUICK))[2], 0, QUICK)
    warm.fit(
        "MAP", partial(Plain, prior_std=1.0), setting=1.0
    )  # warm up, so that no method's time includes the start of PyTorch
    for name, seed, problem in each_problem(budget):
        print(f"PyTorch: {name}, seed {seed}", flush=True)
        for method, fitted in train_all(problem, seed, budget).items():
            record.add(name, seed, method, problem, fitted)
    record.save(folder, "torch")


if __name__ == "__main__":
    main(Path(sys.argv[1]), QUICK if "--quick" in sys.argv else Budget())
