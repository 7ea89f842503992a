"""Prints 200 MB at once."""

# %% log-posterior
def log_posterior(w, mu, rho):
    print("x" * 200_000_000)
    return 0.0 * (w + mu + rho)
