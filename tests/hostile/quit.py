"""Calls quit()."""

# %% log-posterior
def log_posterior(w, mu, rho):
    quit()
    return 0.0 * (w + mu + rho)
