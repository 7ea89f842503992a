"""The quizzes of practical 6."""

import math

import numpy as np
from scipy.special import entr
from scipy.stats import norm

from course.quiz import Choice, QuizQuestion

N, ALPHA = 99, 0.1
PROBS = np.array([0.5, 0.3, 0.2])
ALARM, MISS = 1.0, 9.0  # the costs of the two errors
WRONG = np.array([0.0, 1.0, 0.0, 0.0])  # the most confident data point first
MEMBERS = np.array([[0.9, 0.1], [0.1, 0.9]])

CONFORMAL_PREDICTION = (
    QuizQuestion(
        "You have 99 calibration scores and want to guarantee a coverage of at least 90%. Which of the sorted "
        "scores is the smallest threshold that does?",
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
                "The 90% is an average over calibration sets as well. A single set may have less.",
            ),
            Choice(
                "Yes, unless the model is bad",
                "A bad model makes intervals wide. It has no effect on the law of the coverage.",
            ),
        ),
    ),
)


def _aurc(wrong):
    return np.mean(np.cumsum(wrong) / np.arange(1, len(wrong) + 1))


def _entropy(probs):
    return entr(probs).sum(axis=-1)


def _information(members):
    return _entropy(members.mean(axis=0)) - _entropy(members).mean()


ABSTAIN_DECIDE_ASK = (
    QuizQuestion(
        "A treatment that was not needed costs 1, a disease that was not treated costs 9, and everything else "
        "nothing. From which probability of the disease on should one treat?",
        (
            Choice.number(
                0.5, "This minimises the number of errors, not their cost.", digits=2
            ),
            Choice.number(
                MISS / (ALARM + MISS),
                "You swapped the costs: the more a missed disease costs, the earlier one treats.",
                digits=2,
            ),
            Choice.number(
                ALARM / MISS,
                "This is where the odds p/(1 − p) equal 1/9. The probability there is 0.1.",
                digits=2,
            ),
            Choice.number(
                ALARM / (ALARM + MISS),
                "Treating costs 1 − p, not treating 9p; these are equal at p = 1/10.",
                right=True,
                digits=2,
            ),
        ),
    ),
    QuizQuestion(
        "Four answers, from the most to the least confident, are right, wrong, right, right. What is their AURC?",
        (
            Choice.number(
                WRONG.mean(),
                "This is the error rate, the risk at full coverage.",
            ),
            Choice.number(
                _aurc(WRONG),
                "The mean of the risks 0, 1/2, 1/3 and 1/4.",
                right=True,
            ),
            Choice.number(
                _aurc(WRONG[::-1]),
                "You started with the least confident answer.",
            ),
            Choice.number(
                _aurc(WRONG) - _aurc(np.sort(WRONG)),
                "This is the excess AURC: you subtracted that of the best ranking.",
            ),
        ),
    ),
    QuizQuestion(
        "A forecast is as uncertain as can be, but the same action is cheapest in every class. What is it worth to "
        "learn the class before you act?",
        (
            Choice(
                "Nothing",
                "You would act the same in any case, so knowing the class saves nothing.",
                right=True,
            ),
            Choice(
                "The entropy of the forecast",
                "The entropy says how much you learn. What that is worth depends on the costs.",
            ),
            Choice(
                "The expected cost of the best action",
                "You pay this cost, or that of the class that is revealed, with the information as well.",
            ),
        ),
    ),
    QuizQuestion(
        "Two members of an ensemble give an input the probabilities (0.9, 0.1) and (0.1, 0.9). What is its BALD "
        "score, in nats?",
        (
            Choice.number(
                _entropy(MEMBERS.mean(axis=0)),
                "This is the entropy of the mean forecast. Subtract the mean entropy of the members.",
            ),
            Choice.number(
                _entropy(MEMBERS).mean(),
                "This is the mean entropy of the members, which is subtracted.",
            ),
            Choice.number(_information(MEMBERS), "log 2 − H(0.9, 0.1).", right=True),
            Choice.number(
                _information(MEMBERS) / np.log(2), "This is the score in bits."
            ),
        ),
    ),
    QuizQuestion(
        "(Further) You maximise a function. At a candidate, the forecast has a mean that equals the best value so far, and a "
        "standard deviation of 1. What is the expected improvement?",
        (
            Choice.number(
                0.0,
                "This is the improvement of the mean. The function is above it half of the time.",
            ),
            Choice.number(norm.pdf(0), "std · φ(0).", right=True),
            Choice.number(
                norm.cdf(0), "This is the probability of an improvement, Φ(0)."
            ),
            Choice.number(
                np.sqrt(2 / np.pi),
                "This is E|f − best|. Where f is below the best value, the improvement is 0.",
            ),
        ),
    ),
)
