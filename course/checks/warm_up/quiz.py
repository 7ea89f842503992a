"""The quiz of the warm-up."""

import numpy as np
import scipy.stats

from course.quiz import Choice, QuizQuestion

DENSITY = scipy.stats.norm.pdf
P = np.array([0.9, 0.5, 0.1])  # a label's probability under three draws
N, B, TERMS = 1000, 10, 12.0

BASICS = (
    QuizQuestion(
        "Z is a standard Gaussian and Y = 2Z + 1. What is the density of Y at y = 1?",
        (
            Choice.number(
                DENSITY(0), "You forgot |dz/dy| = 1/2: it changes the density."
            ),
            Choice.number(
                DENSITY(0) / 2,
                "Lengths double, so the density halves: p(z) / 2 at z = (y − 1) / 2 = 0.",
                right=True,
            ),
            Choice.number(
                2 * DENSITY(0),
                "You multiplied by |dy/dz| instead of dividing by it.",
            ),
            Choice.number(
                DENSITY(1) / 2,
                "You evaluated the density of Z at y instead of at z = (y − 1) / 2.",
            ),
        ),
    ),
    QuizQuestion(
        "A label has the probabilities 0.9, 0.5 and 0.1 under three draws of the weights. "
        "What is its log-probability under the predictive distribution?",
        (
            Choice.number(
                np.log(P).mean(),
                "This is the mean of the logarithms. Average the probabilities first.",
            ),
            Choice.number(
                np.log(P).sum(),
                "This is the log-probability of seeing the label three times, once under each draw.",
            ),
            Choice.number(
                np.log(P.mean()),
                "The mean probability is 0.5. The mean belongs inside the logarithm.",
                right=True,
            ),
            Choice.number(
                np.log(P.sum()),
                "You forgot to divide by the number of draws: a log-probability is never positive.",
            ),
        ),
    ),
    QuizQuestion(
        "p has two narrow modes, far apart. You fit a single Gaussian q by minimising KL(q‖p). "
        "Where does q end up?",
        (
            Choice(
                "On one of the modes, about as wide as that mode",
                "Where p is nearly 0, log q − log p is huge, so q puts no mass between the modes.",
                right=True,
            ),
            Choice(
                "On both modes, wide enough to cover them",
                "This minimises KL(p‖q), as maximum likelihood does: there q must not be "
                "small where p is large.",
            ),
            Choice(
                "Narrow, in the middle between the modes",
                "The mean of p is there, but hardly any of its mass: both divergences would be large.",
            ),
        ),
    ),
    QuizQuestion(
        "The loss is a sum over N = 1,000 data points. In a minibatch of B = 10 of them the terms sum to 12. "
        "What is an unbiased estimate of the loss?",
        (
            Choice.number(
                TERMS,
                "This is the sum over the minibatch alone: too small by a factor of N/B = 100.",
                digits=1,
            ),
            Choice.number(
                TERMS / B,
                "This estimates the mean over the data. A prior term added to it would be N times too strong.",
                digits=1,
            ),
            Choice.number(
                TERMS * N / B,
                "The mean over the minibatch is 1.2, and the sum has N such terms.",
                right=True,
                digits=1,
            ),
            Choice.number(
                TERMS * N,
                "You multiplied the minibatch's sum by N; divide it by B first.",
                digits=1,
            ),
        ),
    ),
)
