"""Reasons for tolerances, as shown to students."""

DOUBLE = (
    "double precision carries 15 digits, of which a few are lost in the computation"
)
EXACT = "1 stands for yes and 0 for no"
