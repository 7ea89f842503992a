"""Sends messages whose fields have every wrong type."""

# %% log-posterior
kernel = get_ipython().kernel
VALUES = "application/vnd.known-unknowns.values+json"


def send(kind, content, **more):
    kernel.session.send(
        kernel.iopub_socket, kind, content, parent=kernel.get_parent(), **more
    )


def log_posterior(w, mu, rho):
    for kind in ("error", "stream", "display_data", "execute_result", "status", "comm_open", "x"):
        for wrong in (None, 1, "x", [], {}, [None]):
            fields = ("ename", "evalue", "traceback", "name", "text", "data", "metadata")
            send(kind, dict.fromkeys((*fields, "execution_state", "execution_count"), wrong))
            send(kind, {"data": {VALUES: wrong}, "metadata": {}})
    return 0.0 * (w + mu + rho)
