"""A thread that outlives its cell ends the kernel in the next task."""

# %% log-posterior
import os
import threading
import time


def wait():
    until = time.monotonic() + 60
    while "log_prior" not in globals() and time.monotonic() < until:
        time.sleep(0.0001)
    os._exit(1)


threading.Thread(target=wait, daemon=True).start()


def log_posterior(w, mu, rho):
    return 0.0 * (w + mu + rho)
