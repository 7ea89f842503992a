"""Sends SIGSTOP to itself."""

# %% log-posterior
import os
import signal


def log_posterior(w, mu, rho):
    os.kill(os.getpid(), signal.SIGSTOP)
    return 0.0 * (w + mu + rho)
