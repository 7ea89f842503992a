"""Errors are no longer shown."""

# %% log-posterior
from IPython.core.interactiveshell import InteractiveShell

InteractiveShell.showtraceback = lambda *args, **kwargs: None
InteractiveShell.showsyntaxerror = lambda *args, **kwargs: None


def log_posterior(w, mu, rho):
    raise ValueError
