"""Sends an error whose traceback is no text."""

# %% log-posterior
kernel = get_ipython().kernel
VALUES = "application/vnd.known-unknowns.values+json"


def send(kind, content, **more):
    kernel.session.send(
        kernel.iopub_socket, kind, content, parent=kernel.get_parent(), **more
    )

send("error", {"ename": "x", "evalue": "x", "traceback": [None, 1, {}]})


def log_posterior(w, mu, rho):
    return 0.0 * (w + mu + rho)
