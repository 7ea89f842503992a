"""Prints 20 MB at once."""

# %% log-posterior
def log_posterior(w, mu, rho):
    print("x" * 20_000_000)
    return 0.0 * (w + mu + rho)
