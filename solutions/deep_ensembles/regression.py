"""A regression from end to end: predictions in the targets' unit, and their scores.

Standardise with two ``sklearn.preprocessing.StandardScaler``, one for the inputs and one for
the targets, both fitted to the training data:

    x_scaler = StandardScaler().fit(x)
    y_scaler = StandardScaler().fit(y[:, None])
    params = init_ensemble(key, (x.shape[1], 50, 2), members=5)
    fit = train_ensemble(
        gaussian_loss, params, x_scaler.transform(x), y_scaler.transform(y[:, None])[:, 0], …
    )
    means, stds = predict_ensemble(fit.params, x_new, x_scaler, y_scaler)
    regression_scores(means, stds, y_new)
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import scipy.special
import scipy.stats

from solutions.deep_ensembles.networks import Params, heads, mlp


@jax.jit
def member_heads(params: Params, x: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Means and spreads of all members, shape (M, N) each, as the networks return them."""
    return jax.vmap(lambda own: heads(mlp(own, x)))(params)


def predict_ensemble(
    params: Params, x: np.ndarray, x_scaler=None, y_scaler=None
) -> tuple[np.ndarray, np.ndarray]:
    """Means and spreads of all members, in the unit of the targets.

    Args:
        params: the members' parameters, the member axis first.
        x: inputs as they were before they were standardised, shape (N, D).
        x_scaler: the fitted ``StandardScaler`` of the inputs; None if the networks were
            trained on the inputs as they are.
        y_scaler: the same for the targets.

    Returns:
        Means and spreads (standard deviations, or scales of a Laplace likelihood),
        shape (M, N) each, double precision.

    Raises:
        ValueError: the networks do not have two outputs.
    """
    outputs = params[-1][1].shape[-1]
    if outputs != 2:
        raise ValueError(
            f"the networks have {outputs} outputs, not a mean and a spread"
        )
    inputs = x if x_scaler is None else x_scaler.transform(x)
    means, spreads = (
        np.asarray(part, float) for part in member_heads(params, jnp.asarray(inputs))
    )
    if y_scaler is None:
        return means, spreads
    return means * y_scaler.scale_ + y_scaler.mean_, spreads * y_scaler.scale_


class RegressionScores(NamedTuple):
    """Scores of a Gaussian mixture's forecasts: RMSE, NLL in nats, coverage of intervals."""

    rmse: float
    nll: float
    coverage: float


def regression_scores(
    means: np.ndarray, stds: np.ndarray, y: np.ndarray, *, level: float = 0.95
) -> RegressionScores:
    """Score the uniform mixture of M Gaussians at N targets, in double precision.

    Args:
        means: the members' means, shape (M, N).
        stds: their standard deviations σ > 0, shape (M, N), in the unit of ``y``.
        y: targets, shape (N,).
        level: the nominal coverage of the intervals.

    Returns:
        The RMSE of the mixture's mean; the mean of −log(1/M Σₘ N(y | µₘ, σₘ²)), which
        depends on the unit of ``y``; and the share of targets in the mixture's central
        intervals, between the quantiles ½ ∓ ½ ``level``.

    Raises:
        ValueError: the shapes do not agree.

    Source: Lakshminarayanan et al. (2017), sections 2.4 and 3.1.
    """
    means, stds, y = (np.asarray(part, float) for part in (means, stds, y))
    if means.ndim != 2 or means.shape != stds.shape or y.shape != means.shape[1:]:
        raise ValueError(
            f"means, stds and y have the shapes {means.shape}, {stds.shape} and {y.shape}, "
            "not (M, N), (M, N) and (N,)"
        )
    normal = scipy.stats.norm(means, stds)
    nll = np.log(len(means)) - scipy.special.logsumexp(normal.logpdf(y), axis=0)
    inside = np.abs(normal.cdf(y).mean(0) - 0.5) <= level / 2
    rmse = np.sqrt(np.mean((means.mean(0) - y) ** 2))
    return RegressionScores(float(rmse), float(nll.mean()), float(inside.mean()))
