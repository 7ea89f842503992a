"""Fills memory that it shares with nobody, and lets go of it without giving it back."""

# %% log-posterior
import mmap
import time


def log_posterior(w, mu, rho):
    held = []
    for _ in range(14):
        held.append(mmap.mmap(-1, 256 * 2**20))
        for page in range(0, 256 * 2**20, 4096):
            held[-1][page] = 1
        held[-1].madvise(mmap.MADV_DONTNEED)
    time.sleep(1)
    return Normal(mu, F.softplus(rho)).log_prob(w)
