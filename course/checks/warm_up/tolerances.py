"""Reasons for tolerances, as shown to students."""

FLOAT32 = "single precision carries 7 digits, of which a few get lost on the way"
LARGE = (
    "single precision carries 7 digits, and differences of numbers near 100 are taken"
)
EXPONENTS = "a logarithm near -300 is rounded by 2e-5, twice; its exponential is off by the same relative amount"
