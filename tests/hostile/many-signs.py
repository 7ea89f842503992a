"""A cell of 20,000 semicolons."""

# %% log-posterior computed=true
";" * 20_000
