"""One split: choose each method's settings, train it again, predict, and score."""

from __future__ import annotations

import itertools
import time
import zlib

import jax
import jax.numpy as jnp
import numpy as np
import scipy.stats
from jax import Array
from jax.tree_util import Partial
from sklearn.preprocessing import StandardScaler

from solutions.acting_on_uncertainty import conformal_quantile
from solutions.deep_ensembles import regression_scores, train_ensemble
from studies.uci.data import Parts, held_out
from studies.uci.methods import (
    COUNTS,
    LONGER,
    METHODS,
    TOO_LARGE,
    Recipe,
    laplace_draws,
    predict,
)

EPOCHS = 40
BATCH = 100
RATES = (0.003, 0.01, 0.03)
REACH = 0.01  # of an adversarial step, as a share of each input's range
SELECTING = 5  # members of the ensembles among which a rate is chosen
LEVEL = 0.95  # of the intervals
LAPLACE = "Laplace"

Moments = tuple[np.ndarray, np.ndarray]


def constant(rate: Array, step: Array) -> Array:
    """Return the rate, whatever the step."""
    return rate


class Trainer:
    """Trains methods on one training set, and predicts in the targets' unit."""

    def __init__(self, part: Parts, key: Array):
        self.key = key
        self.x_scaler = StandardScaler().fit(part.x)
        self.y_scaler = StandardScaler().fit(part.y[:, None])
        self.x = jnp.asarray(self.x_scaler.transform(part.x), jnp.float32)
        self.y = jnp.asarray(
            self.y_scaler.transform(part.y[:, None])[:, 0], jnp.float32
        )
        self.reach = REACH * jnp.ptp(self.x, axis=0)

    def train(self, method: Recipe, rate: float, setting: float | None, members: int):
        """Train M networks; return their parameters."""
        first, second = jax.random.split(self.key)
        n = len(self.x)
        return train_ensemble(
            method.loss(setting, n, self.reach),
            method.start(first, self.x.shape[1], members),
            self.x,
            self.y,
            key=second,
            steps=-(-method.longer * EPOCHS * n // BATCH),
            rate=rate if method.fixed is None else Partial(constant, rate),
            batch_size=BATCH,
            stochastic=method.stochastic,
        ).params

    def moments(self, outputs: np.ndarray) -> Moments:
        """Convert outputs (µ, ρ), (S, N, 2), to means and standard deviations, (S, N)."""
        outputs = np.asarray(outputs, float)
        unit = self.y_scaler.scale_
        means = outputs[..., 0] * unit + self.y_scaler.mean_
        return means, (np.logaddexp(0, outputs[..., 1]) + 1e-6) * unit

    def inputs(self, x: np.ndarray) -> Array:
        """Standardise inputs."""
        return jnp.asarray(self.x_scaler.transform(x), jnp.float32)

    def predict(self, method: Recipe, params, x: np.ndarray, setting) -> Moments:
        """Predict means and standard deviations, (S, N) each."""
        key = jax.random.fold_in(self.key, 3)
        return self.moments(
            predict(method.outputs, params, self.inputs(x), key, setting)
        )

    def laplace(self, params, x: np.ndarray, prior_std: float) -> Moments:
        """Predict with a Laplace approximation around the only member."""
        own = jax.tree.map(lambda leaf: leaf[0], params)
        return self.moments(
            laplace_draws(own, self.x, self.inputs(x), prior_std, seed=0)
        )


def gaussian(moments: Moments) -> Moments:
    """Return the mean and the standard deviation of a mixture, (N,) each."""
    means, stds = moments
    return means.mean(0), np.sqrt(np.mean(stds**2, 0) + np.var(means, 0))


def conformal(
    calibration: Moments, y: np.ndarray, new: Moments, y_new: np.ndarray
) -> dict[str, float]:
    """Scale intervals mean ± q·σ to the calibration data; return their coverage and q/z.

    The quotient q/z compares q with the quantile z of a Gaussian: above 1, the intervals had
    to become wider.
    """

    def errors(moments: Moments, y: np.ndarray) -> np.ndarray:
        mean, std = gaussian(moments)
        return np.abs(y - mean) / std

    quantile = conformal_quantile(errors(calibration, y), 1 - LEVEL)
    return {
        "conformal coverage": float(np.mean(errors(new, y_new) <= quantile)),
        "conformal factor": quantile / scipy.stats.norm.ppf(0.5 + LEVEL / 2),
    }


def key_of(name: str, number: int) -> Array:
    """Return the random key of a split of a set."""
    key = jax.random.key(zlib.crc32(name.encode()))
    return jax.random.fold_in(key, number)


def scored(moments: Moments, y: np.ndarray) -> dict[str, float]:
    """Return the scores of forecasts under the names of the columns."""
    scores = regression_scores(*moments, y, level=LEVEL)
    mean, std = gaussian(moments)
    return {
        "RMSE": scores.rmse,
        "NLL": scores.nll,
        "Gaussian NLL": float(-scipy.stats.norm.logpdf(y, mean, std).mean()),
        "coverage": scores.coverage,
    }


def rows_of(name: str, number: int, split: Parts, methods=tuple(METHODS)) -> list[dict]:
    """Run all methods on one split; return a row of results for each.

    Each method tries its settings with each rate on 80% of the training part, and keeps the
    pair with the smallest NLL on the other 20%; it is then trained on the whole. The conformal
    intervals are those of the first training: they need data that it has not seen.
    """
    key, rows = key_of(name, number), []
    part = held_out(split, number)
    trial, whole = Trainer(part, key), Trainer(split, jax.random.fold_in(key, 1))

    def add(row: dict) -> None:
        rows.append({"set": name, "split": number} | row)

    for title in methods:
        if title == LONGER and name in TOO_LARGE:
            continue
        method, start = METHODS[title], time.process_time()
        trials = []
        rates = RATES if method.fixed is None else (method.fixed,)
        for setting, rate in itertools.product(method.settings, rates):
            params = trial.train(method, rate, setting, min(method.members, SELECTING))
            calibration = trial.predict(method, params, part.x_test, setting)
            nll = regression_scores(*calibration, part.y_test).nll
            trials.append((nll, rate, setting, params, calibration))
        finite = [found for found in trials if np.isfinite(found[0])]
        _, rate, setting, params, calibration = min(finite, key=lambda found: found[0])
        chosen = {"rate": rate, "setting": setting}
        fit = whole.train(method, rate, setting, method.members)
        means, stds = whole.predict(method, fit, split.x_test, setting)
        new = trial.predict(method, params, split.x_test, setting)
        common = chosen | conformal(calibration, part.y_test, new, split.y_test)
        seconds = time.process_time() - start
        if method.members == 1:
            scores = scored((means, stds), split.y_test)
            add({"method": title, "seconds": seconds} | common | scores)
        for count in COUNTS if method.members > 1 else ():
            if count <= method.members:
                scores = scored((means[:count], stds[:count]), split.y_test)
                own = common if count == SELECTING else chosen
                add(
                    {"method": title, "members": count, "seconds": seconds}
                    | own
                    | scores
                )
        if title == "MAP":
            start = time.process_time()
            scores = scored(whole.laplace(fit, split.x_test, setting), split.y_test)
            intervals = conformal(
                trial.laplace(params, part.x_test, setting),
                part.y_test,
                trial.laplace(params, split.x_test, setting),
                split.y_test,
            )
            seconds += time.process_time() - start
            add({"method": LAPLACE, "seconds": seconds} | chosen | intervals | scores)
    return rows
