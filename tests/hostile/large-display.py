"""Displays 20 MB at once."""

# %% log-posterior
def log_posterior(w, mu, rho):
    display({"text/plain": "x" * 20_000_000}, raw=True)
    return 0.0 * (w + mu + rho)
