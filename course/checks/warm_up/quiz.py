"""The quizzes of the warm-up."""

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
                digits=0,
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
                digits=0,
            ),
            Choice.number(
                TERMS * N,
                "You multiplied the minibatch's sum by N; divide it by B first.",
                digits=0,
            ),
        ),
    ),
)

FIT, NOISE = 0.04, 0.09  # variances of the curve and of the noise
PRIOR, TAU = 1.0, 1.0  # of a single weight with the feature 1, and of one target

LINEAR_REGRESSION = (
    QuizQuestion(
        "At a new input the curve has the posterior variance 0.04, and the noise has the variance 0.09. "
        "What is the standard deviation of the predictive distribution of a new target?",
        (
            Choice.number(
                FIT**0.5,
                "This is the spread of the curve alone. A new target has noise as well.",
            ),
            Choice.number(
                FIT + NOISE,
                "This is the predictive variance; its root is the standard deviation.",
            ),
            Choice.number(
                FIT**0.5 + NOISE**0.5,
                "Standard deviations of independent parts do not add up; variances do.",
            ),
            Choice.number(
                (FIT + NOISE) ** 0.5,
                "The variances add up to 0.13, and its root is 0.36.",
                right=True,
            ),
        ),
    ),
    QuizQuestion(
        "There is one weight, with prior variance 1 and the feature 1 for every input, and the noise "
        "has variance 1. What is the posterior variance of the weight after 4 targets?",
        (
            Choice.number(
                1 / (4 / TAU + 1 / PRIOR),
                "Precisions add up: 1 from the prior and 4 from the targets.",
                right=True,
            ),
            Choice.number(
                1 / 4,
                "You left out the prior, which counts like one more target here.",
            ),
            Choice.number(
                1 / 2,
                "You averaged over the targets: their precisions add up.",
            ),
            Choice.number(
                5.0,
                "This is the precision; the variance is one over it.",
            ),
        ),
    ),
    QuizQuestion(
        "The prior of the weights is wide enough for the data, of which there are far more than weights. "
        "You multiply its variance by 1,000,000. What happens?",
        (
            Choice(
                "Both the evidence and the forecasts change a lot",
                "The data determine the weights, so the posterior hardly changes.",
            ),
            Choice(
                "The evidence falls, and the forecasts hardly change",
                "The prior now spreads its mass over weights that do not fit, but the posterior "
                "is determined by the data.",
                right=True,
            ),
            Choice(
                "The evidence rises, because the prior is less restrictive",
                "A wider prior gives less of its mass to the weights that fit these data.",
            ),
        ),
    ),
    QuizQuestion(
        "You keep the variance of the functions fixed and let the number of random Fourier features "
        "grow. What does the posterior of the curve become?",
        (
            Choice(
                "A single curve, because there are ever more weights to fit the data",
                "The data are the same: far from them, the curve stays uncertain.",
            ),
            Choice(
                "The prior, because 30 data points cannot determine so many weights",
                "The single weights hardly change, but their sum is well determined near the data.",
            ),
            Choice(
                "That of a Gaussian process",
                "The features enter only through their inner products, which become a kernel.",
                right=True,
            ),
        ),
    ),
)
