"""A loop in C that never lets another thread run."""

# %% log-posterior
import itertools


def log_posterior(w, mu, rho):
    sum(itertools.repeat(0))
    return 0.0 * (w + mu + rho)
