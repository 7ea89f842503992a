"""The quizzes of practical 2."""

import numpy as np
from scipy.special import expit

from course.quiz import Choice, QuizQuestion

CURVATURE = 4.0  # of the negative log joint at its mode
MEAN, VARIANCE = 2.0, 24 / np.pi  # of a logit
JACOBIAN = np.array([1.0, 2.0])
LINEAR_ROOT = np.sqrt(3) * JACOBIAN  # of weights with covariance 3I


def _kl(mean, variance, prior_mean, prior_variance):
    """Compute KL(N(mean, variance) ‖ N(prior_mean, prior_variance))."""
    ratio = variance / prior_variance
    return 0.5 * (ratio + (mean - prior_mean) ** 2 / prior_variance - 1 - np.log(ratio))


def _mackay(mean, variance, factor=np.pi / 8):
    return expit(mean / np.sqrt(1 + factor * variance))


LOGISTIC_REGRESSION = (
    QuizQuestion(
        "You replace a positive parameter v with w = log v, and transform its density accordingly. What changes?",
        (
            Choice(
                "The maximum-likelihood estimate: it corresponds to a different v",
                "The likelihood is a density of the data, not of v, so its maximum stays where it was.",
            ),
            Choice(
                "The mode (the MAP estimate): it corresponds to a different v",
                "The density of w has the factor |dv/dw|, which moves the maximum.",
                right=True,
            ),
            Choice(
                "The predictive distribution",
                "It is an integral over the posterior; substituting another variable does not change an integral.",
            ),
        ),
    ),
    QuizQuestion(
        "At its mode the negative log joint has the second derivative 4. "
        "What is the variance of Laplace's approximation?",
        (
            Choice.number(
                1 / CURVATURE, "The inverse of the curvature.", right=True, digits=2
            ),
            Choice.number(
                CURVATURE, "This is the precision: take its inverse.", digits=2
            ),
            Choice.number(CURVATURE**-0.5, "This is the standard deviation.", digits=2),
            Choice.number(
                -1 / CURVATURE,
                "You took the Hessian of the log joint, without the minus sign. "
                "A variance is never negative.",
                digits=2,
            ),
        ),
    ),
    QuizQuestion(
        "What is KL(N(1, 2²) ‖ N(0, 1²))?",
        (
            Choice.number(
                _kl(0, 1, 1, 4), "This is the divergence the other way round."
            ),
            Choice.number(
                _kl(1, 2, 0, 1), "You used the standard deviation as the variance."
            ),
            Choice.number(_kl(1, 4, 0, 1), "½ (4 + 1 − 1 − log 4).", right=True),
            Choice.number(
                _kl(1, 4, 0, 1) + 0.5 * np.log(4),
                "You left out the logarithm of the ratio of variances.",
            ),
        ),
    ),
    QuizQuestion(
        "A logit has mean 2 and variance v = 24/π ≈ 7.64. "
        "What does MacKay's approximation give for the probability?",
        (
            Choice.number(
                expit(MEAN),
                "This is the plug-in forecast: it ignores the variance of the logit.",
            ),
            Choice.number(
                _mackay(MEAN, VARIANCE),
                "1 + πv/8 = 4 for a variance v, so the logit's mean is halved: sigmoid(1).",
                right=True,
            ),
            Choice.number(
                _mackay(MEAN, np.sqrt(VARIANCE)),
                "You used the standard deviation of the logit in place of its variance.",
            ),
            Choice.number(
                _mackay(MEAN, VARIANCE, 1.0),
                "You forgot the factor π/8, which matches the probit's slope to that of the sigmoid.",
            ),
        ),
    ),
)

NETWORKS = (
    QuizQuestion(
        "You call `model.eval()` and average 100 forward passes of a network with dropout. "
        "What is the standard deviation of the 100 forecasts?",
        (
            Choice(
                "The model's uncertainty about its weights",
                "It would be if masks were drawn, but in evaluation mode dropout does nothing.",
            ),
            Choice(
                "Exactly 0",
                "Evaluation mode switches dropout off, so all passes are the same.",
                right=True,
            ),
            Choice(
                "The noise in the data",
                "The masks do not depend on the noise in the data: that noise is part of the forecast probabilities themselves.",
            ),
        ),
    ),
    QuizQuestion(
        "You run four HMC chains on the weights of a network: R̂ is 1.04 for many weights and 1.002 for the "
        "forecasts. What can you use?",
        (
            Choice(
                "Nothing: the sampler has failed",
                "The forecasts are functions of the weights and have their own R̂, which is fine.",
            ),
            Choice(
                "Everything: 1.04 is close to 1",
                "The strict threshold is 1.01. The chains disagree about those weights.",
            ),
            Choice(
                "The forecasts, but not statements about single weights",
                "Permuting units does not change the forecasts, so chains in different modes can agree on forecasts.",
                right=True,
            ),
        ),
    ),
    QuizQuestion(
        "With prior A the ELBO of a network is 20 nats higher than with prior B. What follows for the evidence?",
        (
            Choice(
                "Nothing: each ELBO is below its evidence by an unknown gap",
                "The gap is KL(q‖posterior), which differs between the two priors and can exceed 20 nats.",
                right=True,
            ),
            Choice(
                "The evidence is higher with prior A",
                "Lower bounds rank the evidences reliably only if their gaps differ by less than the bounds do.",
            ),
            Choice(
                "Prior A generalises better",
                "The ELBO bounds the evidence of the training data. Neither of them is a score on new data.",
            ),
        ),
    ),
    QuizQuestion(
        "You train a network with dropout, p = 0.5, on 400 times as many data points. What happens to the spread of its forecasts over masks?",
        (
            Choice(
                "It shrinks by a factor of about 20",
                "A posterior would narrow like 1/√N. The masks do not depend on N.",
            ),
            Choice(
                "It becomes 0",
                "Every pass still drops half of the hidden units.",
            ),
            Choice(
                "It need not shrink at all",
                "p is fixed, so the thinned networks still differ, however many data points there are.",
                right=True,
            ),
        ),
    ),
)

LAPLACE_FOR_NETWORKS = (
    QuizQuestion(
        "Why is the generalised Gauss–Newton matrix positive semi-definite, although the Hessian of the same loss need not be?",
        (
            Choice(
                "It is evaluated at a minimum of the loss",
                "It is positive semi-definite for any weights: every term is a non-negative factor times JᵀJ.",
            ),
            Choice(
                "It leaves out the term with the network's second derivatives",
                "What is left is Σ p(1 − p) JᵀJ, and p(1 − p) is never negative.",
                right=True,
            ),
            Choice(
                "It contains the prior's precision",
                "The prior is added later, and makes it positive definite. For a given Hessian, it may not suffice.",
            ),
        ),
    ),
    QuizQuestion(
        "A logit has the Jacobian J = (1, 2), and the two weights have the covariance 3I. "
        "What is the variance of the linearised logit?",
        (
            Choice.number(
                LINEAR_ROOT @ LINEAR_ROOT, "JΣJᵀ = 3 + 3 · 4.", right=True, digits=0
            ),
            Choice.number(
                LINEAR_ROOT.sum() * np.sqrt(3),
                "You summed the entries of JΣ: a variance is quadratic in J.",
                digits=0,
            ),
            Choice.number(
                JACOBIAN @ JACOBIAN / 3,
                "You used the inverse of the covariance.",
                digits=2,
            ),
            Choice.number(
                LINEAR_ROOT.sum() ** 2,
                "You treated the weights as perfectly correlated.",
                digits=0,
            ),
        ),
    ),
    QuizQuestion(
        "You draw weights from Laplace's approximation of a network with the GGN, and the networks with these weights "
        "do not fit the training data. What is the most likely reason?",
        (
            Choice(
                "The covariance is N times too large",
                "That would be so if the Hessian of the mean loss were inverted. It also happens with the right covariance.",
            ),
            Choice(
                "There are too few draws",
                "Each single draw fits badly. More draws average more bad networks.",
            ),
            Choice(
                "The Gaussian belongs to the linearised network, which forecasts differently at such weights",
                "In the directions that the data leave open, draws go far, and the network is not linear that far.",
                right=True,
            ),
        ),
    ),
    QuizQuestion(
        "You compare prior variances by Laplace's log evidence, but leave out D/2 · log 2πσ₀². What do you choose?",
        (
            Choice(
                "The same variance: the term does not depend on the weights",
                "It does not move the mode, but it does depend on σ₀², and you compare values of σ₀².",
            ),
            Choice(
                "Too wide a prior",
                "A wider prior then fits better and costs nothing for spreading its mass.",
                right=True,
            ),
            Choice(
                "Too narrow a prior",
                "The term grows with σ₀² and is subtracted, so leaving it out favours large values.",
            ),
        ),
    ),
)
