"""Takes away everyone's right to its sockets' folder."""

# %% log-posterior
import json
import os

from ipykernel.connect import get_connection_file

with open(get_connection_file()) as file:
    folder = os.path.dirname(json.load(file)["ip"])

os.mkdir(f"{folder}/inner")
os.chmod(f"{folder}/inner", 0)
os.chmod(folder, 0)


def log_posterior(w, mu, rho):
    return 0.0 * (w + mu + rho)
