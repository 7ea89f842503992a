"""Starts 200 processes."""

# %% log-posterior
import os
import time


def log_posterior(w, mu, rho):
    for _ in range(200):
        if os.fork() == 0:
            time.sleep(30)
            os._exit(0)
    time.sleep(5)
    return 0.0 * (w + mu + rho)
