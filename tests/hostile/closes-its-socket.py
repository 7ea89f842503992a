"""Closes the socket on which a kernel publishes."""

# %% log-posterior
get_ipython().kernel.iopub_thread.close()


def log_posterior(w, mu, rho):
    return 0.0 * (w + mu + rho)
