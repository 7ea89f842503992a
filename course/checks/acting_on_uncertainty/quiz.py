"""The quiz of lab 6a."""

import math

import numpy as np

from course.quiz import Choice, QuizQuestion

N, ALPHA = 99, 0.1
PROBS = np.array([0.5, 0.3, 0.2])

CONFORMAL_PREDICTION = (
    QuizQuestion(
        "You have 99 calibration scores and want a coverage of at least 90%. Which of the sorted scores is the "
        "threshold?",
        (
            Choice.number(
                math.floor(N * (1 - ALPHA)),
                "You used n for n + 1 and rounded down: 99 · 0.9 is 89.1.",
                digits=0,
            ),
            Choice.number(
                math.ceil((N + 1) * (1 - ALPHA)),
                "The rank is ⌈100 · 0.9⌉.",
                right=True,
                digits=0,
            ),
            Choice.number(
                math.ceil((N + 1) * (1 - ALPHA / 2)),
                "You used α/2. A score such as |y − mean| already counts both sides.",
                digits=0,
            ),
            Choice.number(
                N, "With the largest score, the coverage is 99% on average.", digits=0
            ),
        ),
    ),
    QuizQuestion(
        "With 19 calibration data points, you ask for a coverage of 99%. What are the intervals?",
        (
            Choice(
                "Those with the largest of the 19 scores",
                "They cover 95% on average: the new score is the largest of 20 with probability 1/20.",
            ),
            Choice(
                "All real numbers",
                "The rank ⌈20 · 0.99⌉ = 20 is larger than 19, so the quantile is infinite.",
                right=True,
            ),
            Choice(
                "Those with an extrapolated score",
                "An extrapolation assumes a distribution of the scores, and the guarantee does without one.",
            ),
        ),
    ),
    QuizQuestion(
        "A classifier gives three labels the probabilities 0.5, 0.3 and 0.2. With u = 0.5, what is the APS score "
        "of the second label?",
        (
            Choice.number(
                0.5 * PROBS[1],
                "You left out the labels that are more probable.",
                digits=2,
            ),
            Choice.number(
                PROBS[0],
                "You left out the label itself. The part u of its probability counts.",
                digits=2,
            ),
            Choice.number(
                PROBS[0] + 0.5 * PROBS[1], "0.5 + 0.5 · 0.3.", right=True, digits=2
            ),
            Choice.number(
                PROBS[:2].sum(),
                "This is the score with u = 1: you counted the label's own probability in full.",
                digits=2,
            ),
        ),
    ),
    QuizQuestion(
        "Intervals cover 90% of a large test set. What follows for patients over 80, who are 5% of it?",
        (
            Choice(
                "At least half of them are covered",
                "Even if none of them were covered, the others could make up for it: 0.9 / 0.95 is below 1.",
            ),
            Choice(
                "90% of them are covered",
                "The guarantee averages over all patients.",
            ),
            Choice(
                "Nothing",
                "The other 95% can be covered often enough for any coverage of this group.",
                right=True,
            ),
        ),
    ),
    QuizQuestion(
        "With 100 calibration data points and α = 0.1, a very large test set shows a coverage of 87%. Is there a "
        "bug?",
        (
            Choice(
                "Not necessarily: coverage varies between calibration sets",
                "Its law is Beta(91, 10), with mean 0.901 and standard deviation 0.030.",
                right=True,
            ),
            Choice(
                "Yes: the guarantee says at least 90%",
                "The 90% are an average over calibration sets as well. A single set may have less.",
            ),
            Choice(
                "Yes, unless the model is bad",
                "A bad model makes intervals wide. It has no effect on the law of the coverage.",
            ),
        ),
    ),
)
