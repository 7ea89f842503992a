"""Ignores every signal that can be ignored, then never returns."""

# %% log-posterior
import signal
import time


def log_posterior(w, mu, rho):
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    while True:
        time.sleep(1)
    return 0.0 * (w + mu + rho)
