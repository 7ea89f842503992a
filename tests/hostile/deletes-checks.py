"""The checks are gone."""

# %% log-posterior
def log_posterior(w, mu, rho):
    return 0.0 * (w + mu + rho)
