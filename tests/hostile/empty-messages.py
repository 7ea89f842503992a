"""Sends messages of no bytes for a minute."""

# %% log-posterior
kernel = get_ipython().kernel
VALUES = "application/vnd.known-unknowns.values+json"


def send(kind, content, **more):
    kernel.session.send(
        kernel.iopub_socket, kind, content, parent=kernel.get_parent(), **more
    )


import time


def log_posterior(w, mu, rho):
    until = time.monotonic() + 60
    while time.monotonic() < until:
        kernel.iopub_socket.send_multipart([b""])
    return 0.0 * (w + mu + rho)
