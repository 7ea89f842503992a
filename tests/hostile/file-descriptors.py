"""Opens files until no more can be opened."""

# %% log-posterior
held = []
try:
    while True:
        held.append(open("/dev/null"))
except OSError:
    pass


def log_posterior(w, mu, rho):
    return 0.0 * (w + mu + rho)
