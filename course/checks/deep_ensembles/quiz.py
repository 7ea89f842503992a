"""The quizzes of practical 1."""

import numpy as np
import scipy.special

from course.quiz import Choice, QuizQuestion

MEANS, STD = np.array([0.0, 4.0]), 1.0  # of two members
RESIDUAL = 3.0
P = np.array([0.99, 0.5])  # a class's probability in two members
LOG_P = np.array([-1000.0, -1001.0])

REGRESSION = (
    QuizQuestion(
        "Two members forecast N(0, 1²) and N(4, 1²). What is the variance of the ensemble's mixture?",
        (
            Choice.number(
                STD**2,
                "You left out the variance of the means, which is the members' disagreement.",
                digits=1,
            ),
            Choice.number(
                MEANS.var(),
                "You left out the members' own variances, which are the noise in the data.",
                digits=1,
            ),
            Choice.number(
                STD**2 + MEANS.var(),
                "The mean of the variances, 1, plus the variance of the means, 4.",
                right=True,
                digits=1,
            ),
            Choice.number(
                STD**2 + MEANS.var(ddof=1),
                "You divided by M − 1. The two members are the whole mixture, not a sample of it: divide by M.",
                digits=1,
            ),
        ),
    ),
    QuizQuestion(
        "A forecast is a Laplace distribution with scale 1. What is its standard deviation?",
        (
            Choice.number(
                1, "This is the scale: the mean absolute deviation.", digits=2
            ),
            Choice.number(np.sqrt(2), "The variance is 2b².", right=True, digits=2),
            Choice.number(2, "This is the variance, 2b².", digits=2),
            Choice.number(
                np.sqrt(0.5),
                "You divided by √2: this is the scale of a Laplace distribution with standard deviation 1.",
                digits=2,
            ),
        ),
    ),
    QuizQuestion(
        "At one input the target differs from the forecast mean by 3. "
        "Which standard deviation gives the smallest Gaussian NLL there?",
        (
            Choice.number(
                0,
                "Then log σ is −∞, but (y − µ)² / 2σ² grows much faster: the NLL is infinite.",
                digits=2,
            ),
            Choice.number(
                np.sqrt(RESIDUAL),
                "You took the square root of the residual. The best variance is the squared residual.",
                digits=2,
            ),
            Choice.number(
                RESIDUAL,
                "The derivative of log σ + 9 / 2σ² is 0 where σ² = 9.",
                right=True,
                digits=2,
            ),
            Choice.number(
                RESIDUAL**2,
                "This is the best variance; the question asks for its square root.",
                digits=2,
            ),
        ),
    ),
    QuizQuestion(
        "Far from the data the members of an ensemble agree. What does that tell you?",
        (
            Choice(
                "The noise in the data is small there",
                "The members' variances show the noise; agreement concerns their means.",
            ),
            Choice(
                "Only that the members agree",
                "They share an architecture and training data, so they can be wrong together.",
                right=True,
            ),
            Choice(
                "The forecast is reliable there",
                "The members share their assumptions, which nothing has tested where there are no data.",
            ),
        ),
    ),
)


def _mean_logit(probs):
    return scipy.special.expit(scipy.special.logit(probs).mean())


CLASSIFICATION = (
    QuizQuestion(
        "There are two classes. One member gives the first class probability 1, the other gives it 0. "
        "How large is the knowledge (epistemic) part of the ensemble's uncertainty, in bits?",
        (
            Choice.number(
                0,
                "This is the data (aleatoric) part, the mean of the members' entropies.",
                digits=2,
            ),
            Choice.number(
                0.5, "This is the mean probability, not an entropy.", digits=2
            ),
            Choice.number(np.log(2), "This is in nats. Take log₂ for bits.", digits=2),
            Choice.number(
                1,
                "The mixture has an entropy of 1 bit and its members have 0, so all of it is disagreement.",
                right=True,
                digits=2,
            ),
        ),
    ),
    QuizQuestion(
        "Two members give a class the probabilities 0.99 and 0.5. Which probability does their mixture give it?",
        (
            Choice.number(P.mean(), "A mixture averages probabilities.", right=True),
            Choice.number(
                _mean_logit(P),
                "You averaged the logits. That is a normalised geometric mean, which is closer to "
                "the more confident member.",
            ),
            Choice.number(P.max(), "You took the more confident member alone."),
            Choice.number(
                P.prod(),
                "You multiplied the probabilities, as if the members had seen independent data.",
            ),
        ),
    ),
    QuizQuestion(
        "Two members give a label the log-probabilities −1,000 and −1,001. "
        "What is its log-probability in the mixture?",
        (
            Choice(
                "−∞",
                "A computer returns this for `log((exp(-1000) + exp(-1001)) / 2)`: both "
                "exponentials are 0 there. Use `logsumexp`.",
            ),
            Choice.number(
                LOG_P.mean(),
                "You averaged the logarithms; the mean belongs inside the logarithm.",
                digits=2,
            ),
            Choice.number(
                scipy.special.logsumexp(LOG_P),
                "You forgot to divide by the number of members.",
                digits=2,
            ),
            Choice.number(
                scipy.special.logsumexp(LOG_P) - np.log(2),
                "Take `logsumexp`, and subtract log 2 for the mean.",
                right=True,
                digits=2,
            ),
        ),
    ),
    QuizQuestion(
        "All members start from the same weights and are trained on the full batch, each on its own "
        "permutation of the data. How much do they differ?",
        (
            Choice(
                "By rounding errors only",
                "A sum does not depend on its order, so every step is the same for all of them.",
                right=True,
            ),
            Choice(
                "As much as with different initial weights",
                "Permuting a full batch leaves its gradient unchanged. Minibatches would make a difference.",
            ),
            Choice(
                "As much as with bootstrap samples",
                "A bootstrap sample repeats some data points and omits others; a permutation does neither.",
            ),
        ),
    ),
)
