"""The guesses of the practical on calibration and flows."""

from course.quiz import Choice, QuizQuestion, guesses

GUESSES = guesses(
    __name__,
    ece_of_a_perfect_model=QuizQuestion(
        "What does the formula give on average, with 15 bins and 100 data points?",
        (
            Choice(
                "0",
                "That is the true value. But the accuracies of the bins are noisy, and an "
                "absolute value cannot be negative.",
            ),
            Choice(
                "About 0.01",
                "With about thirteen data points in a bin (no confidence is below one half), its "
                "accuracy is off by far more than that.",
            ),
            Choice(
                "About 0.1",
                "With about thirteen data points in a bin (no confidence is below one half), its "
                "accuracy is noisy, and absolute values do not average out.",
                right=True,
            ),
        ),
    ),
    ece_without_errors=QuizQuestion(
        "Each of the models in the next figure classifies all test data correctly. How large "
        "is their ECE after 50 steps?",
        (
            Choice(
                "0, since there are no errors",
                "The ECE compares the accuracy, which is 1, with the confidence, which is less.",
            ),
            Choice(
                "Below 0.01 for all of them",
                "It is for some. Others are right with little confidence, which is also a gap.",
            ),
            Choice(
                "Above 0.1 for some, near 0 for others",
                "The accuracy is 1, so the ECE is the mean lack of confidence, which depends on "
                "the start of the training.",
                right=True,
            ),
        ),
    ),
    closest_map=QuizQuestion(
        "Which map comes closest to the observed frequencies?",
        (
            Choice(
                "Temperature scaling of the logit",
                "It has a single slope, and the frequencies have a plateau with a steep rise on "
                "each side.",
            ),
            Choice(
                "Platt scaling of the logit",
                "The offset has nothing to correct, since the classes are symmetric. What is "
                "left is a temperature.",
            ),
            Choice(
                "Platt scaling of the probability",
                "A sigmoid of a probability stays away from 0 and 1, even where the model is "
                "right to be certain.",
            ),
            Choice(
                "Isotonic regression",
                "Only a staircase can follow the plateau.",
                right=True,
            ),
        ),
    ),
    temperature_without_errors=QuizQuestion(
        "What if the data are separable? At which T does the NLL for the two blobs have its "
        "minimum?",
        (
            Choice(
                "At T = 1, since the model was trained by the NLL",
                "Training has not converged: on separable data the best weights are infinite.",
            ),
            Choice(
                "At a T above 1, as for the three blobs",
                "A larger T helps a model that is overconfident. One that makes no errors cannot "
                "be.",
            ),
            Choice(
                "Nowhere: it falls as T goes to 0",
                "If all labels are predicted correctly, a smaller T makes every one of them more "
                "probable.",
                right=True,
            ),
        ),
    ),
    flows_for_a_banana=QuizQuestion(
        "How many planar flows bring the divergence from this target down to 0.1 nats in 300 "
        "steps?",
        (
            Choice(
                "One",
                "A single planar flow always pushes in the same direction, by an amount that "
                "depends on one number.",
            ),
            Choice(
                "Four",
                "After 300 steps, four reach both arms only a little.",
            ),
            Choice(
                "More than sixteen",
                "Each flow adds only one bend, in one direction, so the divergence falls slowly. "
                "Longer training lowers it further.",
                right=True,
            ),
        ),
    ),
    noise_from_the_prior=QuizQuestion(
        "For which loss does this matter?",
        (
            Choice(
                "For the ELBO",
                "Its divergence keeps q so close to the prior that the two noises hardly differ.",
            ),
            Choice(
                "For the hurried loss",
                "With its small weight on the divergence, q moves far from the prior.",
                right=True,
            ),
            Choice(
                "For both",
                "Under the ELBO q stays close to the prior.",
            ),
            Choice(
                "For neither, as both models are accurate",
                "They are accurate with the noise that they were trained with.",
            ),
        ),
    ),
    twenty_pairs=QuizQuestion(
        "How many of the twenty pairs does the stochastic model win in the third comparison?",
        (
            Choice(
                "All twenty, as claimed",
                "That is nearly so at unequal rates, where it is the model that trains faster.",
            ),
            Choice(
                "About ten",
                "That would be chance. But an average over noise lowers the confidence, and "
                "without errors the ECE is the confidence that is missing.",
            ),
            Choice(
                "Five at most",
                "An average over noise lowers the confidence, and without errors the ECE is the "
                "confidence that is missing.",
                right=True,
            ),
        ),
    ),
    two_crosses=QuizQuestion(
        "How do the draws differ between the two crosses?",
        (
            Choice(
                "Far out the draws scatter more around the same mean",
                "The noise multiplies the input, so it moves a far point more.",
                right=True,
            ),
            Choice(
                "Far out the mean is nearer to 0 or 1",
                "Both crosses are on the boundary, where the mean is one half.",
            ),
            Choice(
                "Not at all, as both means are one half",
                "The same mean can come from draws that agree and from draws that do not.",
            ),
        ),
    ),
    frozen_affine_flow=QuizQuestion(
        "For which loss does this choice matter?",
        (
            Choice(
                "For the hurried loss",
                "Nothing else keeps the noise near the prior.",
                right=True,
            ),
            Choice(
                "For the ELBO",
                "Its divergence keeps the noise near the prior, whether the flow may move or not.",
            ),
            Choice(
                "For both",
                "Under the ELBO a flow that may move hardly does.",
            ),
        ),
    ),
)
