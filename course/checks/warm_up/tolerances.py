"""Reasons for tolerances, as shown to students."""

FLOAT32 = (
    "single precision carries 7 digits, of which a few are lost in the computation"
)
LARGE = (
    "single precision carries 7 digits, and the computation subtracts numbers near 100"
)
EXPONENTS = "a logarithm near −300 is rounded twice, by 2e-5; its exponential has the same relative error"
DOUBLE = "double precision carries 16 digits, of which solving the equations loses some"
