"""The guesses of the warm-up."""

from course.quiz import Choice, QuizQuestion, guesses

GUESSES = guesses(
    __name__,
    two_directions=QuizQuestion(
        "A distribution p has two bumps, far apart. You fit one Gaussian q to it, once by "
        "minimising KL(p‖q) and once by minimising KL(q‖p). Which of the two fits sits on one "
        "bump and ignores the other?",
        (
            Choice(
                "The minimum of KL(p‖q)",
                "KL(p‖q) is an expectation under p, so leaving out a bump costs a lot: this fit "
                "covers both.",
            ),
            Choice(
                "The minimum of KL(q‖p)",
                "KL(q‖p) is an expectation under q: a bump where q has no mass hardly enters it.",
                right=True,
            ),
            Choice(
                "Both of them",
                "Only one of them is an expectation under q. The other is one under p, in which "
                "every bump counts.",
            ),
        ),
    ),
    without_determinant=QuizQuestion(
        "Leave out the last term of the formula, the logarithm of the derivative. For a "
        "standard normal z and y = exp(z), what is the area under the resulting curve?",
        (
            Choice(
                "Smaller than 1",
                "For y above 1 the missing term would have lowered the curve, and that part "
                "outweighs the part below 1, where it would have raised it.",
            ),
            Choice(
                "Equal to 1",
                "The curve is the density of z, drawn against y. Its area is 1 only if you "
                "integrate over z.",
            ),
            Choice(
                "Larger than 1",
                "The map stretches the line where y is above 1, and nothing lowers the curve there.",
                right=True,
            ),
        ),
    ),
    broadcast_loss=QuizQuestion(
        "Fit a line by gradient descent on `jnp.mean((prediction - y) ** 2)`, with the shapes "
        "as above. The loss is the mean of N² squares instead of N. What is the result?",
        (
            Choice(
                "A horizontal line",
                "Every prediction is compared with the same targets, so all are pulled to the "
                "same value.",
                right=True,
            ),
            Choice(
                "The same line; only the scale of the loss differs",
                "The additional squares compare each prediction with the targets of other data "
                "points. That moves the minimum.",
            ),
            Choice(
                "A line that is too flat, by a factor of about two",
                "It is flatter than that: every prediction is compared with all targets, in "
                "equal parts, so the input does not matter any more.",
            ),
        ),
    ),
    two_backward_passes=QuizQuestion(
        "What does this program print?",
        (
            Choice(
                "6",
                "This is the derivative at 3. But nothing clears w.grad between the two calls, "
                "and backward adds to it.",
            ),
            Choice("12", "Each call adds the derivative at 3, which is 6.", right=True),
            Choice(
                "36",
                "backward adds to w.grad; it does not multiply.",
            ),
        ),
    ),
    cubic_in_the_gap=QuizQuestion(
        "You fit a cubic to the two groups of points. Between them there are no data. How is "
        "the predictive band of the cubic there?",
        (
            Choice(
                "Wide, and it contains the true curve",
                "A missing data point widens the band only as far as the weights are uncertain, "
                "and the two groups determine the four weights of a cubic well.",
            ),
            Choice(
                "Wide, but it misses the true curve",
                "It does miss the curve, but it is not wide: all cubics that fit both groups "
                "nearly agree between them.",
            ),
            Choice(
                "Hardly wider than the noise, and it misses the true curve",
                "The posterior is sure which cubic it is, and does not consider that it is none.",
                right=True,
            ),
        ),
    ),
    best_length_scale=QuizQuestion(
        "Is the length scale with the highest evidence also the best one for new targets, "
        "within a small fraction of a nat?",
        (
            Choice(
                "In the groups and in the gap",
                "No observed target is in the gap, so the evidence says nothing about it.",
            ),
            Choice(
                "In the groups only",
                "The evidence is the probability of the observed targets, and these are in the "
                "groups.",
                right=True,
            ),
            Choice(
                "In the gap only",
                "It is the other way round: the evidence scores targets in the groups, and there "
                "are none in the gap.",
            ),
            Choice(
                "In neither",
                "The evidence scores the targets in the groups, each forecast from those before "
                "it. For new ones from the same groups it is a good guide.",
            ),
        ),
    ),
    ten_times_the_features=QuizQuestion(
        "How many features does it take? Ten times as many bring the forecast closer to that "
        "of the Gaussian process, but by which factor?",
        (
            Choice(
                "About 1.3",
                "The error of a mean of independent draws falls faster than that: with the "
                "square root of their number.",
            ),
            Choice(
                "About 3",
                "The kernel is approximated by a mean of independent draws, whose error falls "
                "with the square root of their number.",
                right=True,
            ),
            Choice(
                "About 10",
                "The features are random. The variance of their mean falls by a factor of ten, "
                "its standard deviation only by the root of ten.",
            ),
        ),
    ),
    five_learned_features=QuizQuestion(
        "Which of the two has the higher evidence, and which forecasts better outside the "
        "groups, for |x| between 2 and 3.2?",
        (
            Choice(
                "The learned features, in both respects",
                "Their evidence was maximised, so it is higher. But it scores the targets in the "
                "groups, and the forecast outside takes the learned frequencies for certain.",
            ),
            Choice(
                "The learned features have the higher evidence, the random ones forecast better",
                "Training raises the evidence, but the uncertainty of the learned frequencies is "
                "in no forecast, and outside it matters most.",
                right=True,
            ),
            Choice(
                "The random features, in both respects",
                "They forecast better outside, but the learned ones were trained to have a high "
                "evidence.",
            ),
        ),
    ),
)
