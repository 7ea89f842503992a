"""Prints a million letters and then takes them back one by one."""

# %% log-posterior
def log_posterior(w, mu, rho):
    print("a" * 1_000_000 + chr(8) * 1_000_000)
    return 0.0 * (w + mu + rho)
