"""Reasons for tolerances, as shown to students."""

FLOAT32 = "single precision carries 7 digits, of which a few get lost on the way"
EXACT = "the expression is exact, evaluated in double precision"
