"""The two densities as SymPy expressions, proved against ``sympy.stats``."""

from __future__ import annotations

import scipy.stats
import sympy
import sympy.stats

from course.checks.concepts_of_densities import wrong_log_normals
from course.checks.deep_ensembles.tolerances import EXACT
from course.task import Close, Misconception, Task


def _points(spread: str):
    """Return a function that draws targets on both sides of the mean."""

    def cases(rng):
        means, distances = rng.normal(0, 2, 4), rng.uniform(0.3, 4, 4)
        return [
            {
                "y": float(mu + side * distance),
                "mu": float(mu),
                spread: float(rng.uniform(0.3, 3)),
            }
            for mu, distance, side in zip(means, distances, (-1, 1, -1, 1), strict=True)
        ]

    return cases


def _gaussian_expression_probe(answer, y, mu, sigma):
    import sympy

    symbols = (
        sympy.Symbol("y", real=True),
        sympy.Symbol("mu", real=True),
        sympy.Symbol("sigma", positive=True),
    )
    expression = answer(*symbols)
    if expression is None:
        return {"nll": None}
    expression = sympy.sympify(expression, strict=True)  # no texts
    if expression.free_symbols - set(symbols):
        raise ValueError(
            "use the arguments that are passed in, not symbols of your own"
        )
    return {
        "nll": float(
            expression.subs(dict(zip(symbols, (y, mu, sigma), strict=True))).evalf()
        )
    }


def _laplace_expression_probe(answer, y, mu, b):
    import sympy

    symbols = (
        sympy.Symbol("y", real=True),
        sympy.Symbol("mu", real=True),
        sympy.Symbol("b", positive=True),
    )
    expression = answer(*symbols)
    if expression is None:
        return {"nll": None}
    expression = sympy.sympify(expression, strict=True)  # no texts
    if expression.free_symbols - set(symbols):
        raise ValueError(
            "use the arguments that are passed in, not symbols of your own"
        )
    return {
        "nll": float(
            expression.subs(dict(zip(symbols, (y, mu, b), strict=True))).evalf()
        )
    }


def _proof(distribution, spread):
    """Return a proof that an expression is −log of a density from ``sympy.stats``.

    It proves that they are equal below the mean, at it and above it: there SymPy knows which
    argument of a maximum is the larger, and which piece of a ``Piecewise`` holds.
    """

    def proof(answer):
        y, mu = sympy.symbols("y mu", real=True)
        s, distance = sympy.symbols(f"{spread} distance", positive=True)
        density = sympy.stats.density(distribution("Y", mu, s))(y)
        returned = answer(y, mu, s)
        if not isinstance(returned, sympy.Expr | int | float):
            kind = type(returned).__name__
            return (
                f"The numbers agree, but a SymPy expression is asked for, not {kind}."
            )
        difference = sympy.sympify(returned) + sympy.log(density)
        differences = [
            difference.subs(y, at) for at in (mu - distance, mu, mu + distance)
        ]
        if all(
            sympy.simplify(sympy.expand_log(one, force=True)) == 0
            for one in differences
        ):
            return None
        return (
            "The numbers agree, but SymPy could not prove your expression equal to −log p. Keep it "
            "exact: sympy.Rational(1, 2) or sympy.S.Half instead of 0.5, sympy.pi instead of 3.14…"
        )

    return proof


GAUSSIAN_EXPRESSION = Task(
    name="gaussian_nll_expression",
    points=1,
    cases=_points("sigma"),
    probe=_gaussian_expression_probe,
    oracle=lambda y, mu, sigma: {
        "nll": Close(
            -scipy.stats.norm.logpdf(y, mu, sigma), rtol=1e-9, atol=1e-9, because=EXACT
        )
    },
    proof=_proof(sympy.stats.Normal, "sigma"),
    misconceptions=[
        Misconception(
            lambda y, mu, sigma: (
                sympy.log(2 * sympy.pi) / 2
                + sympy.log(sigma) / 2
                + (y - mu) ** 2 / (2 * sigma)
            ),
            "you take σ for the variance: the argument here is the standard deviation.",
        ),
        Misconception(
            lambda y, mu, sigma: (
                sympy.log(2 * sympy.pi) / 2
                + sympy.log(sigma)
                + (y - mu) ** 2 / sigma**2
            ),
            "you leave out the ½ of the quadratic term.",
        ),
        Misconception(
            lambda y, mu, sigma: sympy.log(sigma) + (y - mu) ** 2 / (2 * sigma**2),
            "you leave out the constant ½ log 2π. This does not move the minimum, but without the constant the result is not −log p.",
        ),
        Misconception(
            lambda y, mu, sigma: (
                sympy.log(2 * sympy.pi)
                + sympy.log(sigma)
                + (y - mu) ** 2 / (2 * sigma**2)
            ),
            "you forget the square root of 2π: its logarithm is ½ log 2π.",
        ),
        Misconception(
            lambda y, mu, sigma: (
                -sympy.log(2 * sympy.pi) / 2
                - sympy.log(sigma)
                - (y - mu) ** 2 / (2 * sigma**2)
            ),
            "you forget the minus sign and return log p instead of −log p.",
        ),
        *wrong_log_normals(
            lambda log_density: lambda y, mu, sigma: -log_density(y, mu, sigma),
            *(
                "normaliser",
                "log std",
                "log variance",
                "sign of log std",
                "no variance",
                "std",
                "half log std",
                "brackets",
                "2 of 2π",
            ),
            log=sympy.log,
            negative=True,
        ),
    ],
    hints=[
        "Write the density down first, then take the logarithm of each of its three factors.",
        "The log of a product is a sum of logs: one term from 1/√(2π), one from 1/σ, one from the exponential.",
        "The exponential contributes (y − µ)²/(2σ²), and the normaliser contributes ½ log 2π + log σ; add them as SymPy terms.",
    ],
)

LAPLACE_EXPRESSION = Task(
    name="laplace_nll_expression",
    points=1,
    cases=_points("b"),
    probe=_laplace_expression_probe,
    oracle=lambda y, mu, b: {
        "nll": Close(
            -scipy.stats.laplace.logpdf(y, mu, b), rtol=1e-9, atol=1e-9, because=EXACT
        )
    },
    proof=_proof(sympy.stats.Laplace, "b"),
    misconceptions=[
        Misconception(
            lambda y, mu, b: sympy.log(b) + sympy.Abs(y - mu) / b,
            "you leave out the 2 of the normaliser 1/(2b): the density has two sides.",
        ),
        Misconception(
            lambda y, mu, b: sympy.log(2 * b) + sympy.Abs(y - mu) / (2 * b),
            "you divide by 2b in the exponent; only the normaliser has the 2.",
        ),
        Misconception(
            lambda y, mu, b: sympy.log(2 * b) + (y - mu) / b,
            "you leave out the absolute value: targets below the mean are then rewarded.",
        ),
        Misconception(
            lambda y, mu, b: sympy.log(2 * b) + (y - mu) ** 2 / b,
            "you square the deviation, as in a Gaussian; here, take its absolute value.",
        ),
        Misconception(
            lambda y, mu, b: (
                sympy.log(2 * sympy.sqrt(b / 2)) + sympy.Abs(y - mu) / sympy.sqrt(b / 2)
            ),
            "you take b for the variance. The variance is 2b²; b is the scale.",
        ),
        Misconception(
            lambda y, mu, b: (
                sympy.log(sympy.sqrt(2) * b) + sympy.sqrt(2) * sympy.Abs(y - mu) / b
            ),
            "you take b for the standard deviation, which is √2·b.",
        ),
        Misconception(
            lambda y, mu, b: sympy.Abs(y - mu) / b - sympy.log(2 * b),
            "you subtract log 2b; add it: a wider Laplace density is lower at its mean.",
        ),
        Misconception(
            lambda y, mu, b: -sympy.log(2 * b) - sympy.Abs(y - mu) / b,
            "you forget the minus sign and return log p instead of −log p.",
        ),
    ],
    hints=[
        "Write the density down first: a normaliser times an exponential.",
        "The normaliser is 1/(2b), because each side of the peak carries half of the mass.",
        "−log turns 1/(2b) into log(2b), and exp(−|y − µ|/b) into |y − µ|/b.",
    ],
)
