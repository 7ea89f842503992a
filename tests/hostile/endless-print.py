"""Prints for a minute."""

# %% log-posterior
import time


def log_posterior(w, mu, rho):
    until = time.monotonic() + 60
    while time.monotonic() < until:
        print("x" * 1000)
    return 0.0 * (w + mu + rho)
