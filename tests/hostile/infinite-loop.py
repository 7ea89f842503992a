"""Never returns."""

# %% log-posterior
def log_posterior(w, mu, rho):
    while True:
        pass
    return 0.0 * (w + mu + rho)
