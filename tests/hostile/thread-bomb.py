"""Starts 1,000 threads."""

# %% log-posterior
import threading
import time


def log_posterior(w, mu, rho):
    for _ in range(1000):
        threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
    time.sleep(5)
    return 0.0 * (w + mu + rho)
