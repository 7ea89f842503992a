"""Reasons for tolerances, as shown to students."""

FLOAT32 = "single precision has 7 digits, a few of which are lost in the computation"
ROUNDING = "sums may be taken in a different order, or in single precision"
COUNTED = "nothing is computed here: the data are only reordered"
SIX_ERRORS = "a mean over 500 draws may be off by six standard errors"
