"""Reasons for tolerances, as shown to students."""

FLOAT32 = (
    "single precision carries 7 digits, of which a few are lost in the computation"
)
LARGE = (
    "single precision carries 7 digits, and the computation subtracts numbers near 100"
)
EXPONENTS = "a logarithm near -300 is rounded by 2e-5, twice; its exponential is off by the same relative amount"
