"""Reasons for tolerances, as shown to students."""

from course.checks.draws import DRAWS

FLOAT32 = (
    "single precision carries 7 digits, of which a few are lost in the computation"
)
FLOAT64 = "double precision, of whose 16 digits the algebra loses a few"
SINGLE = (
    "Normal, torch.eye and torch.tensor turn plain numbers into single precision, "
    "which carries 7 digits"
)


def six_errors(what: str = "mean") -> str:
    """Return the reason for the tolerance of a moment of random draws."""
    return f"six standard errors of the {what} of {DRAWS:,} draws"
