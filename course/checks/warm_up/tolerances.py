"""Why an answer need not agree to the last digit."""

FLOAT32 = "single precision carries 7 digits, of which a few get lost on the way"
