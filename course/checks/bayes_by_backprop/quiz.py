"""The quizzes of practical 3."""

import numpy as np

from course.quiz import Choice, QuizQuestion

SOFTPLUS, SLOPE = np.log(2), 0.5  # softplus and its derivative, the sigmoid, at ρ = 0
EPS = 2.0
N, B = 60_000, 100
NOISE, STD = 0.1, 0.2  # of y about f, and of f
P = np.array([0.9, 0.1])  # the label's probability under two draws
CLASSES = 10

REGRESSION = (
    QuizQuestion(
        "A weight has ρ = 0. What is its standard deviation?",
        (
            Choice.number(SOFTPLUS, "softplus(0) = log(1 + e⁰) = log 2.", right=True),
            Choice.number(
                0, "You used ρ itself. The standard deviation is softplus(ρ)."
            ),
            Choice.number(np.exp(0), "You used exp(ρ) in place of softplus(ρ)."),
            Choice.number(SLOPE, "This is the sigmoid, the derivative of softplus."),
        ),
    ),
    QuizQuestion(
        "A weight is drawn as w = µ + softplus(ρ) ε. What is ∂w/∂ρ for ρ = 0 and ε = 2?",
        (
            Choice.number(EPS, "You left out the derivative of softplus."),
            Choice.number(SLOPE, "You left out the noise ε."),
            Choice.number(
                EPS * SOFTPLUS,
                "You multiplied by softplus(ρ) instead of by its derivative.",
            ),
            Choice.number(EPS * SLOPE, "ε times the sigmoid of ρ.", right=True),
        ),
    ),
    QuizQuestion(
        "At one input the network's function has a standard deviation of 0.2 under the posterior, and "
        "that of the noise is 0.1. What is the standard deviation of a new target there?",
        (
            Choice.number(STD, "This is the band of the function, without the noise."),
            Choice.number(
                np.hypot(STD, NOISE),
                "Variances of independent terms add: √(0.04 + 0.01).",
                right=True,
            ),
            Choice.number(
                STD + NOISE, "You added the standard deviations; variances add."
            ),
            Choice.number(STD**2 + NOISE**2, "This is the variance."),
        ),
    ),
    QuizQuestion(
        "One draw of log q(w) − log p(w) is negative. What does that mean?",
        (
            Choice(
                "A bug: a KL divergence is never negative",
                "The divergence is the mean over draws. A single draw of the difference may have either sign.",
            ),
            Choice(
                "Nothing is wrong: only the mean over draws cannot be negative",
                "At this w, the density of the prior happens to be higher than that of q.",
                right=True,
            ),
            Choice(
                "Take its absolute value",
                "Then the mean over draws is too large: the estimate is biased.",
            ),
        ),
    ),
)

DIGITS = (
    QuizQuestion(
        "There are N = 60,000 digits and minibatches of B = 100. The loss of a minibatch is the sum of its "
        "NLLs plus a share of the KL. Which share?",
        (
            Choice.number(
                1,
                "Then an epoch counts the KL 600 times, and the prior outweighs the data.",
                digits=6,
            ),
            Choice.number(
                1 / B,
                "The share is one over the number of minibatches, and there are N/B of them.",
                digits=6,
            ),
            Choice.number(
                B / N,
                "An epoch has N/B minibatches, and counts the KL once.",
                right=True,
                digits=6,
            ),
            Choice.number(
                1 / N,
                "This is right with the mean NLL of a minibatch; with the sum it is too small by a factor of B.",
                digits=6,
            ),
        ),
    ),
    QuizQuestion(
        "Two draws of the weights give a digit's label the probabilities 0.9 and 0.1. What is the NLL of the "
        "predictive distribution?",
        (
            Choice.number(
                -np.log(P.mean()), "The mean probability is 0.5.", right=True
            ),
            Choice.number(
                -np.log(P).mean(),
                "This is the mean NLL of single draws, which is never smaller than the NLL of their average.",
            ),
            Choice.number(-np.log(P.max()), "You took the better draw alone."),
            Choice.number(-np.log(P).sum(), "You added the NLLs of the draws."),
        ),
    ),
    QuizQuestion(
        "What is the entropy of a uniform forecast over ten classes, in bits?",
        (
            Choice.number(
                np.log(CLASSES), "This is in nats: divide by log 2.", digits=2
            ),
            Choice.number(1, "You divided by the largest entropy, log₂ 10.", digits=2),
            Choice.number(np.log2(CLASSES), "log₂ 10.", right=True, digits=2),
            Choice.number(
                np.log2(CLASSES) / CLASSES,
                "You averaged over the classes: an entropy is a sum.",
                digits=2,
            ),
        ),
    ),
    QuizQuestion(
        "One weight has µ = 0.5 and σ = 1, another µ = 0.1 and σ = 0.01. Which one do you prune first?",
        (
            Choice(
                "The first: its signal-to-noise ratio is 0.5; that of the other is 10",
                "Under the posterior, the sign of the first weight is uncertain, and the second weight is well determined.",
                right=True,
            ),
            Choice(
                "The second: its mean is smaller",
                "A small weight that the data determine well may matter. Compare |µ|/σ.",
            ),
            Choice(
                "The second: its standard deviation is smaller",
                "A small σ means that the data determine the weight.",
            ),
        ),
    ),
)
