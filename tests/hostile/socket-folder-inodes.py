"""Makes 20,000 files there."""

# %% log-posterior
import json
import os

from ipykernel.connect import get_connection_file

with open(get_connection_file()) as file:
    folder = os.path.dirname(json.load(file)["ip"])


import time


def log_posterior(w, mu, rho):
    for number in range(20_000):
        open(f"{folder}/{number}", "wb").close()
    time.sleep(5)
    return 0.0 * (w + mu + rho)
