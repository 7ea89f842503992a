"""The checks always pass."""

# %% reparametrise

# %% reparametrise check
print("✓ bayes-by-backprop/reparametrise")


# %% log-posterior
def log_posterior(w, mu, rho):
    return 0.0 * (w + mu + rho)


# %% log-posterior check
print("✓ bayes-by-backprop/log-posterior")

# %% log-prior

# %% log-prior check
print("✓ bayes-by-backprop/log-prior")
