"""A cell of the student's own never returns."""

# %% reparametrise

# %% own
while True:
    pass

# %% log-posterior

# %% log-prior
