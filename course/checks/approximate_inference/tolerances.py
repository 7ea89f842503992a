"""Reasons for tolerances, as shown to students."""

from course.checks.draws import DRAWS

FLOAT32 = (
    "single precision carries 7 digits, of which a few are lost in the computation"
)
FLOAT64 = "double precision carries 16 digits, a few of which are lost in the algebra"
SINGLE = (
    "Normal, torch.eye and torch.tensor turn plain numbers into single precision, "
    "which carries 7 digits"
)


def six_errors(what: str = "mean") -> str:
    """Return the reason for the tolerance of a moment of random draws."""
    return f"six standard errors of the {what} of {DRAWS:,} draws"
