"""The guesses of the practical that compares the methods."""

from course.quiz import Choice, QuizQuestion, guesses

GUESSES = guesses(
    __name__,
    entropy_on_the_ring=QuizQuestion(
        "How well does the entropy of one network's forecast detect the ring?",
        (
            Choice(
                "Well: the AUROC is above 0.9",
                "That needs forecasts that are less certain away from the data. Those of a ReLU "
                "network are more certain there.",
            ),
            Choice(
                "Not at all: it is about 0.5, as by chance",
                "Chance would mean that the entropies are alike. But far away they are lower "
                "nearly everywhere.",
            ),
            Choice(
                "Worse than by chance: it is below 0.5",
                "The logits grow with the distance, so the forecasts on the ring are the more "
                "certain ones.",
                right=True,
            ),
        ),
    ),
    no_room_to_spare=QuizQuestion(
        "With 4 hidden units, how does MIMO compare with one network?",
        (
            Choice(
                "It is as good",
                "Three members would have to find the units that one of them needs for itself.",
            ),
            Choice(
                "It is worse",
                "Three members share the units that one of them would need.",
                right=True,
            ),
            Choice(
                "It is better, since an average of three is better than one",
                "That holds for three networks that are each as good as the one. These share "
                "their units.",
            ),
        ),
    ),
    reach_of_the_repair=QuizQuestion(
        "Where does the repair change the forecast?",
        (
            Choice(
                "Far from the data",
                "The variance of a logit grows with the square of the distance.",
                right=True,
            ),
            Choice(
                "Near the boundary, within the data",
                "There the data determine the boundary well, so the variance of the logits is "
                "small.",
            ),
            Choice(
                "Everywhere by about the same factor",
                "That is what a temperature does. Here each logit is divided by a number that "
                "depends on its own variance.",
            ),
        ),
    ),
    better_than_a_tuned_network=QuizQuestion(
        "MAP is one network whose weight decay was chosen by validation. On the three "
        "classification problems, which methods have a clearly better NLL on test data?",
        (
            Choice(
                "The deep ensemble, as in most comparisons",
                "Its mean NLL is close to that of MAP. For these small networks, a good weight "
                "decay leaves little to gain.",
            ),
            Choice(
                "Temperature scaling, since networks are overconfident",
                "A network whose weight decay was chosen by NLL is not, on data of the same "
                "kind: a temperature hardly changes its NLL.",
            ),
            Choice(
                "Not one of them",
                "The weight decay was chosen by the same score, so little is left to repair.",
                right=True,
            ),
        ),
    ),
)
