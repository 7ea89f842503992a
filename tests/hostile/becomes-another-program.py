"""Replaces the kernel by another program."""

# %% log-posterior
import os


def log_posterior(w, mu, rho):
    os.execv("/bin/sleep", ["sleep", "60"])
    return 0.0 * (w + mu + rho)
