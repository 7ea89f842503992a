"""print does nothing."""

# %% log-posterior
import builtins

builtins.print = print = lambda *args, **kwargs: None


def log_posterior(w, mu, rho):
    return 0.0 * (w + mu + rho)
