"""Kills itself."""

# %% log-posterior
import os


def log_posterior(w, mu, rho):
    os.kill(os.getpid(), 9)
    return 0.0 * (w + mu + rho)
