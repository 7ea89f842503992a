"""Takes 4 GB of memory."""

# %% log-posterior
import time


def log_posterior(w, mu, rho):
    held = []
    for _ in range(40):
        held.append(bytearray(b"x") * 100_000_000)
    time.sleep(5)
    return 0.0 * (w + mu + rho)
