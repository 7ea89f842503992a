"""Every check stands there twice."""

# %% reparametrise

# %% reparametrise check
check("bayes-by-backprop/reparametrise", reparametrise)

# %% reparametrise check
check("bayes-by-backprop/reparametrise", reparametrise)


# %% log-posterior
def log_posterior(w, mu, rho):
    return 0.0 * (w + mu + rho)


# %% log-posterior check
check("bayes-by-backprop/log-posterior", log_posterior)

# %% log-posterior check
check("bayes-by-backprop/log-posterior", log_posterior)

# %% log-prior

# %% log-prior check
check("bayes-by-backprop/log-prior", log_prior)

# %% log-prior check
check("bayes-by-backprop/log-prior", log_prior)
