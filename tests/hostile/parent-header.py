"""Publishes in the name of another request."""

# %% log-posterior
kernel = get_ipython().kernel
kernel.get_parent = lambda *args: {"header": {"msg_id": "x"}}
get_ipython().display_pub.set_parent({"header": {"msg_id": "x"}})
get_ipython().display_pub.set_parent = lambda parent: None


def log_posterior(w, mu, rho):
    return 0.0 * (w + mu + rho)
