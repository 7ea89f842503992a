"""The guesses of the practical on Bayes by Backprop."""

from course.quiz import Choice, QuizQuestion, guesses

GUESSES = guesses(
    __name__,
    far_from_six_points=QuizQuestion(
        "The fit is perfect. What does the network predict far away, at x = 100?",
        (
            Choice(
                "A number of the order of the targets, as sure as any other",
                "All its units are saturated there, so the output is constant, and nothing in it "
                "shows doubt.",
                right=True,
            ),
            Choice(
                "A value near that of the quartic, about minus 100 million",
                "Sigmoid units are bounded, so the network cannot keep falling. It has learned "
                "six values, not the formula.",
            ),
            Choice(
                "Something that shows that there are no data nearby",
                "The network has one output. It returns a number, as it does at the data points.",
            ),
        ),
    ),
    sign_of_one_draw=QuizQuestion(
        "For which share of the draws does the step go away from 1.5, as it does here?",
        (
            Choice(
                "At most a few: the estimate is unbiased",
                "Unbiased means right on average. Single draws scatter around that by more than "
                "its size.",
            ),
            Choice(
                "About a third",
                "The gradients scatter by more than twice the size of their expectation.",
                right=True,
            ),
            Choice(
                "Half of them",
                "Then the expected gradient would be near 0, but it is far enough from it to "
                "matter.",
            ),
        ),
    ),
    gap_of_mean_field=QuizQuestion(
        "How wide is the variational band between the points, at x = 0, compared with the "
        "exact one?",
        (
            Choice(
                "Too wide",
                "It is at the points themselves. Between them, a product of independent "
                "Gaussians cannot let the curve vary and still meet the points.",
            ),
            Choice(
                "About right",
                "It would have to let the weights vary together. A product of independent "
                "Gaussians has no correlations.",
            ),
            Choice(
                "Too narrow, by a factor of about two",
                "That is the factor in the narrow gaps with prior variance 10. In the middle of the "
                "wide gap it is larger.",
            ),
            Choice(
                "Too narrow, by a factor of ten or more",
                "Without correlations each weight must be nearly certain for the fit to hold.",
                right=True,
            ),
        ),
    ),
    nll_while_the_loss_falls=QuizQuestion(
        "At T = 1, but for the noise of its draws, the loss falls throughout the training. "
        "What does its NLL do?",
        (
            Choice(
                "It falls throughout, too",
                "The loss has a second term, the KL, which starts large. The loss can fall while "
                "the NLL rises.",
            ),
            Choice(
                "It falls at first, and rises later",
                "Once the digits fit, the largest term left is the KL, and lowering it costs "
                "some of the fit.",
                right=True,
            ),
            Choice(
                "It rises from the start",
                "At the start nothing fits, and the NLL has more to gain than the KL.",
            ),
        ),
    ),
    noise_taken_for_digits=QuizQuestion(
        "An image of uniform noise is no digit. For which share of such images is the entropy "
        "of the plain network below one bit?",
        (
            Choice(
                "Hardly any: noise looks like no digit",
                "The network must choose among ten digits, and its logits are large even where "
                "it has seen no data.",
            ),
            Choice(
                "About a quarter",
                "It is more. Nothing in the training asks for doubt away from the digits.",
            ),
            Choice(
                "More than half",
                "Nothing in the training asks for doubt away from the digits.",
                right=True,
            ),
        ),
    ),
    three_quarters_removed=QuizQuestion(
        "At T = 1, remove the three quarters of all weights that have the smallest |µ|/σ. What "
        "happens to the test accuracy?",
        (
            Choice(
                "It falls to about one in ten",
                "That is chance. Most of the removed weights had an uncertain sign, so the "
                "forecasts hardly depended on them.",
            ),
            Choice(
                "It falls by about a quarter",
                "The drop is not in proportion to the number of weights: most of those removed "
                "are noise around 0.",
            ),
            Choice(
                "It falls by a few points at most",
                "For most of these weights σ exceeds |µ|: the data say hardly anything about "
                "them.",
                right=True,
            ),
        ),
    ),
)
