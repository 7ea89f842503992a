"""Recurses for ever."""

# %% log-posterior
def log_posterior(w, mu, rho):
    return log_posterior(w, mu, rho)
    return 0.0 * (w + mu + rho)
