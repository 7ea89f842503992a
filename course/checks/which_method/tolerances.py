"""Reasons for tolerances, as shown to students."""

FLOAT32 = (
    "single precision carries 7 digits, of which a few are lost in the computation"
)
ROUNDING = "sums may be taken in another order, or in single precision"
COUNTED = "nothing is computed here: data are only put in another order"
SIX_ERRORS = "a mean over 500 draws, give or take six standard errors"
