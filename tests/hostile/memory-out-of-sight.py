"""Takes 4 GB of memory that counts with no process."""

# %% log-posterior
import os
import time


def log_posterior(w, mu, rho):
    for _ in range(40):
        hidden = os.memfd_create("hidden")
        os.write(hidden, bytes(100_000_000))
    time.sleep(5)
    return 0.0 * (w + mu + rho)
