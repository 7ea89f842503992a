"""Comms, cleared output, updated displays and cells that it would have next."""

# %% log-posterior
def log_posterior(w, mu, rho):
    from IPython.display import DisplayHandle, clear_output

    handle = display("x", display_id="x")
    for _ in range(100):
        clear_output(wait=True)
        handle.update({"application/vnd.known-unknowns.values+json": {}}, raw=True)
    get_ipython().set_next_input("log_posterior = None", replace=True)
    kernel = get_ipython().kernel
    kernel.session.send(kernel.iopub_socket, "comm_open", {"comm_id": "x", "data": {}})
    return 0.0 * (w + mu + rho)
