"""Displays values of every wrong form."""

# %% log-posterior
kernel = get_ipython().kernel
VALUES = "application/vnd.known-unknowns.values+json"


def send(kind, content, **more):
    kernel.session.send(
        kernel.iopub_socket, kind, content, parent=kernel.get_parent(), **more
    )


def log_posterior(w, mu, rho):
    for shape in ([2**52, 0], [-1], [[]], None, [0] * 40, ["x"]):
        one = {"dtype": "float64", "shape": shape, "data": []}
        send("display_data", {"data": {VALUES: {"task": "x", "values": [{"x": one}]}}, "metadata": {}})
    return 0.0 * (w + mu + rho)
