"""A cell of 50,000 empty lines and a bracket."""

# %% log-posterior computed=true
"\n" * 50_000 + "("
