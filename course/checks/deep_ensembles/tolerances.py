"""Reasons for tolerances, as shown to students."""

FLOAT32 = (
    "single precision carries 7 digits, of which a few are lost in the computation"
)
EXACT = "the expression is exact, evaluated in double precision"
