"""An exception whose name and message are HTML and control characters."""

# %% log-posterior
def log_posterior(w, mu, rho):
    name = '<script>hacked()</script>\x1b[31m\x00'
    raise type(name, (Exception,), {})(name)
