"""An object whose finaliser makes another one, for ever."""

# %% log-posterior
def log_posterior(w, mu, rho):
    class Phoenix:
        def __del__(self):
            Phoenix()

    Phoenix()
    return 0.0 * (w + mu + rho)
