"""Reasons for tolerances, as shown to students."""

DOUBLE = (
    "double precision carries 15 digits, of which a few are lost in the computation"
)
EXACT = "a number is infinite or it is not"
INDEX = "an index is right or wrong"
INTEGERS = "indices and labels are integers"
INVERSE = "the inverse of a covariance loses some of the 15 digits of double precision"
LOGARITHM = "a tiny number may be added to a probability before its logarithm"
QUADRATURE = "the right value is integrated numerically, to ten digits"
