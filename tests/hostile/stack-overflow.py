"""Recurses for ever without Python's own limit."""

# %% log-posterior
import sys


def log_posterior(w, mu, rho):
    sys.setrecursionlimit(10**9)
    return log_posterior(w, mu, rho)
    return 0.0 * (w + mu + rho)
