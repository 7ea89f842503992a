"""Its one set of values has a shape that no array can have."""

# %% log-posterior
kernel = get_ipython().kernel
VALUES = "application/vnd.known-unknowns.values+json"


def send(kind, content, **more):
    kernel.session.send(
        kernel.iopub_socket, kind, content, parent=kernel.get_parent(), **more
    )


def log_posterior(w, mu, rho):
    one = {"dtype": "float64", "shape": [0, 2**52, 2**52], "data": []}
    content = {"data": {VALUES: {"task": "x", "values": [{"x": one}]}}, "metadata": {}}
    send("display_data", content)
    raise ValueError
