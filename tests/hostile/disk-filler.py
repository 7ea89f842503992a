"""Writes 1 GB of temporary files."""

# %% log-posterior
def log_posterior(w, mu, rho):
    for number in range(10):
        place = ("/tmp", "/dev/shm", ".")[number % 3]
        with open(f"{place}/{number}", "wb") as file:
            file.write(bytes(100_000_000))
    return 0.0 * (w + mu + rho)
