"""A subprocess in a session of its own outlives the kernel."""

# %% log-posterior
import os
import subprocess


def log_posterior(w, mu, rho):
    subprocess.Popen(["/bin/sleep", "57"], start_new_session=True)
    os._exit(0)
    return 0.0 * (w + mu + rho)
