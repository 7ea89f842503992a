"""Says that it is idle before it has begun."""

# %% log-posterior
kernel = get_ipython().kernel
VALUES = "application/vnd.known-unknowns.values+json"


def send(kind, content, **more):
    kernel.session.send(
        kernel.iopub_socket, kind, content, parent=kernel.get_parent(), **more
    )


def log_posterior(w, mu, rho):
    send("status", {"execution_state": "idle"})
    send("shutdown_reply", {"status": "ok", "restart": False})
    return 0.0 * (w + mu + rho)
