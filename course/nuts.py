"""The exact posterior of a small Bayesian network by NUTS, computed in a separate process.

The chapter uses PyTorch, but NumPyro runs on JAX; the two are never loaded in one process.
``reference`` runs this module as ``python -m course.nuts``, and caches the result under a
hash of all inputs and of this file.

Given the hidden layer, the output layer's weights enter a Gaussian regression linearly: they
are integrated out in closed form, NUTS samples the hidden layer's weights and biases, and the
output layer is then drawn from its exact conditional. The samples are from the full posterior,
and far less correlated than those of NUTS on all weights at once.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.metadata
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np


class Reference(NamedTuple):
    """Draws of the function on a grid, with convergence diagnostics of the chains.

    ``f`` has the shape (S, G); ``r_hat`` and ``effective`` (the effective sample size) have one
    number per grid point, computed over all chains.
    """

    f: np.ndarray
    r_hat: np.ndarray
    effective: np.ndarray


def reference(
    x: np.ndarray,
    y: np.ndarray,
    grid: np.ndarray,
    *,
    hidden: int,
    prior_std: float,
    noise_std: float,
    samples: int = 150,
    warmup: int = 200,
    chains: int = 4,
    seed: int = 0,
) -> Reference:
    """Draw f on a grid from the posterior of a 1-hidden-1 network with sigmoid units.

    Args:
        x: inputs, shape (N,).
        y: targets, shape (N,).
        grid: where to evaluate f, shape (G,).
        hidden: how many hidden units.
        prior_std: the standard deviation of the prior of every weight and bias.
        noise_std: the standard deviation of the observation noise.
        samples: kept draws per chain.
        warmup: discarded draws per chain, used for adaptation.
        chains: how many chains.
        seed: the seed of all randomness.

    Returns:
        The draws of all chains, and their diagnostics.
    """
    settings = {
        "x": np.ravel(x).astype(float).tolist(),
        "y": np.ravel(y).astype(float).tolist(),
        "grid": np.ravel(grid).astype(float).tolist(),
        "hidden": hidden,
        "prior_std": prior_std,
        "noise_std": noise_std,
        "samples": samples,
        "warmup": warmup,
        "chains": chains,
        "seed": seed,
    }
    text = json.dumps(settings, sort_keys=True)
    versions = "".join(importlib.metadata.version(name) for name in ("numpyro", "jax"))
    key = hashlib.sha256(
        (text + versions).encode() + Path(__file__).read_bytes()
    ).hexdigest()[:24]
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    cached = home / "known-unknowns" / "nuts" / f"{key}.npz"
    if not cached.is_file():
        cached.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cached.parent) as folder:
            source, result = Path(folder) / "settings.json", Path(folder) / "draws.npz"
            source.write_text(text)
            run = subprocess.run(
                [sys.executable, "-m", "course.nuts", source, result],
                capture_output=True,
                text=True,
            )
            if run.returncode != 0:
                raise RuntimeError(f"NUTS failed:\n{run.stderr}")
            result.replace(cached)
    with np.load(cached) as stored:
        return Reference(stored["f"], stored["r_hat"], stored["effective"])


def sample(settings: dict, *, progress: bool = True) -> Reference:
    """Run NUTS in this process."""
    import jax
    import jax.numpy as jnp
    import numpyro
    import numpyro.distributions as dist
    from numpyro.diagnostics import effective_sample_size, split_gelman_rubin
    from numpyro.infer import MCMC, NUTS

    jax.config.update("jax_enable_x64", True)
    x, y = (jnp.array(settings[name]) for name in ("x", "y"))
    hidden, prior_std, noise_std = (
        settings[name] for name in ("hidden", "prior_std", "noise_std")
    )
    samples, chains = settings["samples"], settings["chains"]

    def features(z, x):
        """Return hidden units and a constant, scaled so that the output prior is N(0, 1)."""
        units = jax.nn.sigmoid(prior_std * (z[:hidden] * x[:, None] + z[hidden:]))
        return prior_std * jnp.concatenate([units, jnp.ones((len(x), 1))], axis=1)

    def covariance(z):
        phi = features(z, x)
        return phi @ phi.T + noise_std**2 * jnp.eye(len(x))

    def model():
        z = numpyro.sample("z", dist.Normal(0, 1).expand([2 * hidden]).to_event(1))
        evidence = dist.MultivariateNormal(jnp.zeros(len(x)), covariance(z)).log_prob(y)
        numpyro.factor("evidence", evidence)

    mcmc = MCMC(
        NUTS(model),
        num_warmup=settings["warmup"],
        num_samples=samples,
        num_chains=chains,
        chain_method="vectorized",
        progress_bar=progress,
    )
    mcmc.run(jax.random.key(settings["seed"]))
    z = mcmc.get_samples(group_by_chain=True)["z"]
    f = _functions(np.asarray(z), settings)
    return Reference(
        f.reshape(chains * samples, -1), split_gelman_rubin(f), effective_sample_size(f)
    )


def _functions(z: np.ndarray, settings: dict) -> np.ndarray:
    """Draw f on the grid for hidden layers z.

    The output layer is drawn from its conditional by Matheron's rule. In NumPy, as XLA would
    take seconds to compile a computation of a tenth of a second.
    """
    x, y, grid = (np.array(settings[name]) for name in ("x", "y", "grid"))
    hidden, prior_std, noise_std = (
        settings[name] for name in ("hidden", "prior_std", "noise_std")
    )
    rng = np.random.default_rng(settings["seed"])

    from scipy.special import expit

    def features(at: np.ndarray) -> np.ndarray:
        inner = z[..., None, :hidden] * at[:, None] + z[..., None, hidden:]
        units = expit(prior_std * inner)
        return prior_std * np.concatenate([units, np.ones_like(units[..., :1])], -1)

    phi = features(x)
    covariance = phi @ np.swapaxes(phi, -1, -2) + noise_std**2 * np.eye(len(x))
    v = rng.normal(size=(*z.shape[:-1], hidden + 1, 1))
    noise = noise_std * rng.normal(size=(*z.shape[:-1], len(x), 1))
    residual = y[:, None] - phi @ v - noise
    v = v + np.swapaxes(phi, -1, -2) @ np.linalg.solve(covariance, residual)
    return (features(grid) @ v)[..., 0]


def main() -> None:
    """Read settings, sample, and write the draws."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("settings", type=Path)
    parser.add_argument("result", type=Path)
    options = parser.parse_args()
    np.savez(
        options.result, **sample(json.loads(options.settings.read_text()))._asdict()
    )


if __name__ == "__main__":
    main()
