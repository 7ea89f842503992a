"""Writes 1 GB into the one folder that is not its own."""

# %% log-posterior
import json
import os

from ipykernel.connect import get_connection_file

with open(get_connection_file()) as file:
    folder = os.path.dirname(json.load(file)["ip"])


import time


def log_posterior(w, mu, rho):
    for number in range(10):
        with open(f"{folder}/{number}", "wb") as file:
            file.write(bytes(100_000_000))
    time.sleep(5)
    return 0.0 * (w + mu + rho)
