"""Reasons for tolerances, as shown to students."""

FLOAT32 = (
    "single precision carries 7 digits, of which a few are lost in the computation"
)
SINGLE = "shares or constants in single precision, which carries 7 digits"
SEARCH = "the minimum is found by an iterative search, which stops at a tolerance"
DRAWS = "six standard errors of a mean over 2,000 draws"
EXACT = "1 stands for yes and 0 for no"
