"""Reads from address zero."""

# %% log-posterior
import ctypes


def log_posterior(w, mu, rho):
    ctypes.string_at(0)
    return 0.0 * (w + mu + rho)
