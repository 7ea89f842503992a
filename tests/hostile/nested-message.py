"""Sends JSON that is nested 100,000 deep."""

# %% log-posterior
kernel = get_ipython().kernel
VALUES = "application/vnd.known-unknowns.values+json"


def send(kind, content, **more):
    kernel.session.send(
        kernel.iopub_socket, kind, content, parent=kernel.get_parent(), **more
    )


def log_posterior(w, mu, rho):
    deep = b"[" * 100_000 + b"]" * 100_000
    frames = [kernel.session.pack(kernel.session.msg_header("display_data")), b"{}", b"{}", deep]
    kernel.iopub_socket.send_multipart([b"", b"<IDS|MSG>", kernel.session.sign(frames), *frames])
    return 0.0 * (w + mu + rho)
