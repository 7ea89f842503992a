"""The guesses of the practical on deep ensembles."""

from course.quiz import Choice, QuizQuestion, guesses

GUESSES = guesses(
    __name__,
    linear_score=QuizQuestion(
        "The chance of rain is 70%. Which forecast has the best expected linear score?",
        (
            Choice(
                "50%",
                "The expected linear score is a straight line in the forecast, and it rises: "
                "rain is more probable than not.",
            ),
            Choice(
                "70%",
                "That holds for the log score and the Brier score. The linear score is not "
                "proper: its expectation has no maximum at the truth.",
            ),
            Choice(
                "100%",
                "The expected score is a straight line that rises with the forecast, so "
                "exaggerating pays.",
                right=True,
            ),
        ),
    ),
    adversarial_band=QuizQuestion(
        "Where does the width of the band change more on average, whether up or down?",
        (
            Choice(
                "Within the range of the data",
                "The adversarial inputs are close to the data, but so are the targets, which "
                "leave the width less room to change.",
            ),
            Choice(
                "Outside it",
                "No targets determine the width there. It grows at some inputs and shrinks at "
                "others, by more than within the range.",
                right=True,
            ),
            Choice(
                "Equally in both",
                "Within the range, the targets leave the width less room to change; outside there "
                "are none.",
            ),
        ),
    ),
    members_needed=QuizQuestion(
        "How much of the gain of twenty members do the first five bring?",
        (
            Choice(
                "About a quarter",
                "The gain does not grow in proportion: a new member changes the average less, "
                "the more members there are.",
            ),
            Choice(
                "About half",
                "It is more: the variance between members that an ensemble misses is only a "
                "fraction of 1/M.",
            ),
            Choice(
                "More than three quarters",
                "Each new member changes the average less than the one before.",
                right=True,
            ),
        ),
    ),
    far_from_the_spirals=QuizQuestion(
        "The data end at radius 1. How large is the mean total uncertainty of the four members "
        "at radius 3, where there are no data?",
        (
            Choice(
                "Near log 3, the most that is possible",
                "A forecast is uniform only if the logits are equal. Those of a ReLU network "
                "grow along a ray, and so do their differences.",
            ),
            Choice(
                "Higher than on the data",
                "No term of the loss asks for doubt there. Only the knowledge part grows, and "
                "the data part falls by more.",
            ),
            Choice(
                "Lower than on the data",
                "Far out each member is certain of a class, and on most of the plane of the "
                "same one.",
                right=True,
            ),
        ),
    ),
    shuffled_full_batch=QuizQuestion(
        "How much do two networks differ that start from the same weights and see the whole "
        "batch in every step, but in a different order?",
        (
            Choice(
                "As much as with different initial weights",
                "The order would matter with minibatches. The gradient of a full batch is a sum, "
                "which is the same in any order.",
            ),
            Choice(
                "About half as much",
                "In exact arithmetic they would not differ at all: a sum does not depend on the "
                "order of its terms.",
            ),
            Choice(
                "Hardly at all",
                "The gradient is a sum over the data points. Only rounding errors depend on the "
                "order.",
                right=True,
            ),
        ),
    ),
    adversarial_spirals=QuizQuestion(
        "On forty data points of a cubic, adversarial training lowers the NLL. What does it do "
        "to the NLL of new data here, with 3,000?",
        (
            Choice(
                "It raises it",
                "It makes the forecasts less confident, and here they were not too confident "
                "before.",
                right=True,
            ),
            Choice(
                "It lowers it",
                "It makes forecasts less confident, which helps where they are overconfident. "
                "With this many data points they are not.",
            ),
            Choice(
                "It hardly changes it, as the accuracy stays the same",
                "The accuracy hardly changes, but the NLL also scores the confidence, and that "
                "falls.",
            ),
        ),
    ),
)
