"""The expressions that the likelihoods come from, in SymPy."""

from __future__ import annotations

import sympy


def gaussian_nll_expression(
    y: sympy.Symbol, mu: sympy.Symbol, sigma: sympy.Symbol
) -> sympy.Expr:
    """−log N(y | µ, σ²) as a SymPy expression.

    Args:
        y: the target.
        mu: the mean µ.
        sigma: the standard deviation σ > 0, not the variance.

    Returns:
        An expression in ``y``, ``mu`` and ``sigma``.

    Source: Lakshminarayanan et al. (2017), equation 1.
    """
    # sympy.log, sympy.pi and sympy.Rational(1, 2) keep the expression exact.
    ### BEGIN SOLUTION
    half = sympy.Rational(1, 2)
    return (
        half * sympy.log(2 * sympy.pi)
        + sympy.log(sigma)
        + (y - mu) ** 2 / (2 * sigma**2)
    )
    ### END SOLUTION


def laplace_nll_expression(
    y: sympy.Symbol, mu: sympy.Symbol, b: sympy.Symbol
) -> sympy.Expr:
    """−log Laplace(y | µ, b) as a SymPy expression.

    Args:
        y: the target.
        mu: the mean µ.
        b: the scale b > 0. The variance of this distribution is 2b².

    Returns:
        An expression in ``y``, ``mu`` and ``b``.
    """
    # sympy.Abs is the absolute value.
    ### BEGIN SOLUTION
    return sympy.log(2 * b) + sympy.Abs(y - mu) / b
    ### END SOLUTION
