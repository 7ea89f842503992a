"""Makes 100,000 temporary files."""

# %% log-posterior
for number in range(100_000):
    open(f"/tmp/{number}", "wb").close()


def log_posterior(w, mu, rho):
    return 0.0 * (w + mu + rho)
