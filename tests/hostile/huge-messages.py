"""Sends messages of 12 MB."""

# %% log-posterior
kernel = get_ipython().kernel
VALUES = "application/vnd.known-unknowns.values+json"


def send(kind, content, **more):
    kernel.session.send(
        kernel.iopub_socket, kind, content, parent=kernel.get_parent(), **more
    )


def log_posterior(w, mu, rho):
    for _ in range(20):
        kernel.iopub_socket.send_multipart([b"", bytes(12_000_000)])
    return 0.0 * (w + mu + rho)
