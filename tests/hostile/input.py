"""Asks for input."""

# %% log-posterior
def log_posterior(w, mu, rho):
    input("password: ")
    return 0.0 * (w + mu + rho)
