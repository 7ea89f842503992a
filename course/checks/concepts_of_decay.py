"""Mistakes with λ σ₀² N = 1, which gives a weight decay for a prior variance and the reverse."""

from course.task import Misconception

WRONG_DECAYS = [
    Misconception(answer, hint)
    for answer, hint in (
        (
            lambda given, n: 1 / given,
            "you leave out N: the penalty is added to the mean loss, and the negative log joint is a sum.",
        ),
        (
            lambda given, n: 1 / (2 * n * given),
            "you count the ½ twice: λ/2 · ‖w‖² has one already, and so has ‖w‖²/(2σ₀²). (For λ‖w‖² this would be right.)",
        ),
        (
            lambda given, n: 2 / (n * given),
            "you lose a ½: the penalty λ/2 · ‖w‖² has one, and so has the prior's ‖w‖²/(2σ₀²), so they cancel.",
        ),
        (
            lambda given, n: n * given,
            "you leave out the last step: Nλ is one over the prior's variance, and Nσ₀² is one over λ.",
        ),
        (
            lambda given, n: n / given,
            "you put N on the wrong side of the fraction: multiplying the mean loss by N multiplies λ as well.",
        ),
        (
            lambda given, n: given / n,
            "you put the given number in the numerator, but a wide prior means weak decay.",
        ),
        (
            lambda given, n: (n * given) ** -0.5,
            "you take the square root of the result. The prior's variance is asked for or given, not its standard "
            "deviation.",
        ),
        (
            lambda given, n: 1 / (n * given**2),
            "you square the given number: both λ and the variance appear once in λ σ₀² N = 1.",
        ),
        (
            lambda given, n: 1 / (n * given**0.5),
            "you take the square root of the given number: both λ and the variance appear once in λ σ₀² N = 1.",
        ),
        (
            lambda given, n: float(1 // (n * given)),
            "you divide with //, which rounds down to a whole number: write `/`.",
        ),
    )
]
