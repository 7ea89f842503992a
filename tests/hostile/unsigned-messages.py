"""Sends messages with a wrong signature, and some that are not JSON."""

# %% log-posterior
kernel = get_ipython().kernel
VALUES = "application/vnd.known-unknowns.values+json"


def send(kind, content, **more):
    kernel.session.send(
        kernel.iopub_socket, kind, content, parent=kernel.get_parent(), **more
    )


def log_posterior(w, mu, rho):
    for frames in ([b""], [b"x"], [b"<IDS|MSG>", b"", b"{", b"{", b"{", b"{"], [b"x" * 1000] * 100):
        for _ in range(100):
            kernel.iopub_socket.send_multipart(frames)
    return 0.0 * (w + mu + rho)
