"""The checks come before the answers."""

# %% reparametrise check
check("bayes-by-backprop/reparametrise", reparametrise)

# %% log-posterior check
check("bayes-by-backprop/log-posterior", log_posterior)

# %% log-prior check
check("bayes-by-backprop/log-prior", log_prior)


# %% reparametrise

# %% log-posterior
def log_posterior(w, mu, rho):
    return 0.0 * (w + mu + rho)

# %% log-prior
