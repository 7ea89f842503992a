"""Code on which parsers are slow."""

# %% log-posterior computed=true
"\n".join(["x = " + "(" * 150, *["%a"] * 3_000, "=" + " " * 20_000])
