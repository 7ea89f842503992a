"""The guesses of the practical on acting on uncertainty."""

from course.quiz import Choice, QuizQuestion, guesses

GUESSES = guesses(
    __name__,
    two_mistakes=QuizQuestion(
        "The intervals should cover 90%. What do the colleague's cover, with both mistakes?",
        (
            Choice(
                "About 89%",
                "Of 20 data points, one rank is worth nearly 5 percentage points, and the first "
                "mistake costs more than the second.",
            ),
            Choice(
                "About 86%",
                "That is the cost of the rank alone. The model also knows the data points that "
                "calibrate it.",
            ),
            Choice(
                "Below 80%",
                "The scores of data points that the model was trained on are too small, and the "
                "rank is too low as well.",
                right=True,
            ),
        ),
    ),
    below_ninety=QuizQuestion(
        "You calibrate with 100 data points and α = 0.1. How often is the coverage below 90%?",
        (
            Choice(
                "Never: it is guaranteed",
                "The guarantee is an average over calibration sets. You have one of them.",
            ),
            Choice(
                "In about 10% of calibration sets",
                "The 10% counts data points that are not covered, not calibration sets that turn "
                "out badly.",
            ),
            Choice(
                "In nearly half of them",
                "The coverage scatters around a mean that is hardly above 90%.",
                right=True,
            ),
        ),
    ),
    disagreement_alone=QuizQuestion(
        "Before calibration, what do the intervals of the ensemble cover, with its disagreement "
        "as the standard deviation?",
        (
            Choice(
                "About 90%",
                "That would be right if the disagreement were the spread of the targets. It is "
                "only the uncertainty about their mean.",
            ),
            Choice(
                "More than 95%",
                "The members were trained on the same data and agree closely, while the targets "
                "scatter.",
            ),
            Choice(
                "Less than 20%",
                "Networks trained on the same data agree closely. The noise is missing.",
                right=True,
            ),
        ),
    ),
    shifted_inputs=QuizQuestion(
        "At β = 3, about 95% of the new inputs are in the right third. What do the unweighted "
        "intervals cover?",
        (
            Choice(
                "90%: the guarantee does not depend on the distribution",
                "It holds for any distribution, but it must be the same for calibration and new "
                "data.",
            ),
            Choice(
                "As much as in the right third without a shift",
                "Most new inputs are at the far end of this third, where the noise is largest.",
            ),
            Choice(
                "Less than in the right third without a shift",
                "The new inputs are not only in the right third, but mostly at its far end.",
                right=True,
            ),
        ),
    ),
    smallest_cost=QuizQuestion(
        "Which of the four numbers is the smallest?",
        (
            Choice(
                "The expected cost of naive Bayes",
                "It is very certain, so it expects hardly any mistakes.",
                right=True,
            ),
            Choice(
                "The realised cost of naive Bayes",
                "It is certain that some malignant tumours are benign, and each of those costs "
                "20.",
            ),
            Choice(
                "The expected cost of the calibrated forecast",
                "It is about as large as the realised cost, as it should be. A forecast that is "
                "too certain expects less.",
            ),
            Choice(
                "The realised cost of the calibrated forecast",
                "It is the smaller of the two realised costs. But what an overconfident forecast "
                "expects is less than what anyone pays.",
            ),
        ),
    ),
    ranking_by_temperature=QuizQuestion(
        "What can a temperature change in the ranking of the ten-class network?",
        (
            Choice(
                "Nothing: dividing all logits keeps their order",
                "It keeps the order of the classes within an image. With ten classes, two "
                "images may change places.",
            ),
            Choice(
                "A little: some images may change places",
                "The confidence depends on all ten logits, but mostly on the largest two.",
                right=True,
            ),
            Choice(
                "A lot, since it lowers the NLL",
                "The NLL falls because confidences come closer to the accuracy. That needs no "
                "new order.",
            ),
        ),
    ),
    pool_with_blends=QuizQuestion(
        "Which rule has the highest accuracy, averaged over the rounds, in the pool with blends?",
        (
            Choice(
                "BALD",
                "Once the members agree that a blend is undecided, their disagreement is small, "
                "and BALD asks for other images.",
                right=True,
            ),
            Choice(
                "Entropy: blends are what the model knows least about",
                "No label removes the doubt about a blend, so requests spent on them teach "
                "little.",
            ),
            Choice(
                "Random requests, since blends mislead both scores",
                "They mislead entropy. BALD leaves most of them out.",
            ),
        ),
    ),
)
