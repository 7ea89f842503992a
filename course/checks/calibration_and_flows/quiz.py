"""The quizzes of practical 4."""

import numpy as np
from scipy.special import expit, logit

from course.quiz import Choice, QuizQuestion

SHARE = np.array([0.8, 0.2])  # of the forecasts, in two bins
GAP = np.array([0.6, 0.9]) - np.array([0.7, 0.6])  # confidence less accuracy
P, TEMPERATURE = 0.9, 2.0
LOGITS = np.array([0.0, 4.0])  # equally likely
LOG_BASE, LOG_DET = -1.0, 0.5

CALIBRATION = (
    QuizQuestion(
        "80 of 100 forecasts have confidence 0.6 and accuracy 0.7, the other 20 have confidence 0.9 and "
        "accuracy 0.6. What is the ECE?",
        (
            Choice.number(
                abs(SHARE @ GAP),
                "You kept the signs, so the two gaps partly cancel.",
                digits=2,
            ),
            Choice.number(
                SHARE @ abs(GAP),
                "0.8 · 0.1 + 0.2 · 0.3.",
                right=True,
                digits=2,
            ),
            Choice.number(
                abs(GAP).mean(),
                "You gave both bins the same weight. Weight them by their share of the forecasts.",
                digits=2,
            ),
            Choice.number(
                abs(GAP).max(),
                "This is the largest gap, the maximum calibration error (MCE).",
                digits=2,
            ),
        ),
    ),
    QuizQuestion(
        "One of two classes has probability 0.9. What is its probability after the logits are divided by a temperature of 2?",
        (
            Choice.number(
                expit(TEMPERATURE * logit(P)),
                "You multiplied the logits by the temperature.",
                digits=2,
            ),
            Choice.number(P, "Only the order of the classes stays the same.", digits=2),
            Choice.number(
                P / TEMPERATURE,
                "You divided the probability. Divide the logits.",
                digits=2,
            ),
            Choice.number(
                expit(logit(P) / TEMPERATURE),
                "The logit, 2.20, is halved: the probabilities are then proportional to √0.9 and √0.1.",
                right=True,
                digits=2,
            ),
        ),
    ),
    QuizQuestion(
        "A model forecasts the base rate, 0.5, for every input. What can you say about it?",
        (
            Choice(
                "It is calibrated, and useless",
                "Calibration does not measure whether the model distinguishes between inputs. The Brier score and the NLL do.",
                right=True,
            ),
            Choice(
                "It is calibrated, so it is good",
                "An ECE of 0 is no sign of skill: this model ignores its input.",
            ),
            Choice(
                "It is badly calibrated",
                "The event happens in half of the cases with a forecast of 0.5: it is calibrated.",
            ),
        ),
    ),
    QuizQuestion(
        "You draw 100 labels from a model's own probabilities, so that it is exactly right. "
        "What is its estimated ECE?",
        (
            Choice(
                "Exactly 0",
                "The frequencies in the bins are those of a finite sample, which differ from the probabilities.",
            ),
            Choice(
                "Above 0",
                "Each bin adds the absolute value of its chance deviation, and absolute values do not cancel.",
                right=True,
            ),
            Choice(
                "0 on average, above or below by chance",
                "It is a sum of absolute values, so it is never below 0 and its mean is above 0.",
            ),
        ),
    ),
)

STOCHASTIC_FLOWS = (
    QuizQuestion(
        "A planar layer is f(z) = z + u tanh(w·z + b). What is log |det ∂f/∂z| where w·z + b = 0 and u·w = 1?",
        (
            Choice.number(
                -np.log(2), "This is the value for the inverse: the sign is flipped."
            ),
            Choice.number(
                np.log(2),
                "The slope of tanh at 0 is 1, so the determinant is 1 + 1.",
                right=True,
            ),
            Choice.number(2, "This is the determinant, without the logarithm."),
            Choice.number(0, "You left out the 1 of the identity: log(u·w)."),
        ),
    ),
    QuizQuestion(
        "A flow starts at a point with log q₀ = −1, and its layers' log |det| sum to 0.5. "
        "What is the log-density at the point where it ends?",
        (
            Choice.number(LOG_BASE, "You forgot the change of volume.", digits=1),
            Choice.number(
                LOG_BASE + LOG_DET,
                "You added the log-determinants. Where space is stretched, the density falls.",
                digits=1,
            ),
            Choice.number(
                LOG_BASE - LOG_DET,
                "Where space is stretched, the density falls.",
                right=True,
                digits=1,
            ),
            Choice.number(
                -LOG_BASE - LOG_DET,
                "You flipped the sign of log q₀.",
                digits=1,
            ),
        ),
    ),
    QuizQuestion(
        "The logit of a stochastic model is 0 or 4, each with probability ½. What does the model forecast?",
        (
            Choice.number(
                expit(LOGITS.mean()),
                "This is the plug-in forecast, the sigmoid of the mean logit. Average the probabilities.",
            ),
            Choice.number(
                expit(LOGITS).mean(), "The mean of 0.5 and 0.982.", right=True
            ),
            Choice.number(expit(LOGITS).max(), "You used only one of the two logits."),
            Choice.number(
                np.exp(np.log(expit(LOGITS)).mean()),
                "You averaged log-probabilities: this is the geometric mean.",
            ),
        ),
    ),
    QuizQuestion(
        "A planar layer has u·w = −2. Is it invertible?",
        (
            Choice(
                "Yes: tanh is strictly increasing",
                "tanh is, but z + u tanh(w·z + b) is not: along w its slope is 1 − 2 where tanh is steepest.",
            ),
            Choice(
                "Yes, if its determinant is taken as an absolute value",
                "The absolute value hides the sign, but two inputs still have the same output.",
            ),
            Choice(
                "No",
                "It is invertible only if u·w ≥ −1, so that the slope along w is never negative.",
                right=True,
            ),
        ),
    ),
)
