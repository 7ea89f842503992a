"""The guesses of the practical on approximate inference."""

from course.quiz import Choice, QuizQuestion, guesses

GUESSES = guesses(
    __name__,
    wide_prior=QuizQuestion(
        "With a prior variance of 4, where is p(y = 1) at (3, 3) for most draws?",
        (
            Choice(
                "Near 0 or near 1",
                "The logit is a sum of weights times 3: it is usually large, of one sign or the "
                "other.",
                right=True,
            ),
            Choice(
                "Near one half",
                "The mean over all draws is one half. A single draw has a large logit of one "
                "sign or the other.",
            ),
            Choice(
                "Spread evenly between 0 and 1",
                "The logit is spread widely, and the sigmoid maps all large logits to the two "
                "ends.",
            ),
        ),
    ),
    laplace_contours=QuizQuestion(
        "How do the contours of Laplace's forecast differ from those of the plug-in forecast?",
        (
            Choice(
                "They are parallel, too, but farther apart everywhere",
                "The variance of the logit is not the same everywhere: it grows with the square "
                "of the distance, and between the clouds it is small.",
            ),
            Choice(
                "They hardly differ between the clouds, and open outwards far away",
                "The data fix the boundary between the clouds; far out the lines disagree.",
                right=True,
            ),
            Choice(
                "They have the same shape, but the boundary moves",
                "Where the mean logit is 0, the average over a symmetric q is one half: the "
                "boundary stays.",
            ),
        ),
    ),
    two_means=QuizQuestion(
        "How wide is the posterior that the third fit finds, compared with the first?",
        (
            Choice(
                "Too narrow",
                "That would be so if the KL counted too little. Its mean divides by 3 only, the "
                "mean of the NLL by 400.",
            ),
            Choice(
                "As wide as the first",
                "Only a common factor leaves the minimum where it is. The two means divide by "
                "different numbers.",
            ),
            Choice(
                "Too wide",
                "The NLL is divided by 400, the KL only by 3, so the KL counts too much.",
                right=True,
            ),
        ),
    ),
    networks_from_the_prior=QuizQuestion(
        "What do the forecasts of networks drawn from the prior with variance 100 look like?",
        (
            Choice(
                "Certain nearly everywhere, with a sharp boundary",
                "The logits are sums of products of large weights, so nearly all are huge.",
                right=True,
            ),
            Choice(
                "Near one half everywhere",
                "The average over many networks is one half. Each single one has huge logits.",
            ),
            Choice(
                "Certain near the origin and doubtful far away",
                "It is rather the other way round: the logits of a ReLU network grow with the "
                "distance.",
            ),
        ),
    ),
    sampling_with_dropout=QuizQuestion(
        "How does sampling change the test NLL, compared with the deterministic network?",
        (
            Choice(
                "It raises it at every p",
                "Sampling makes the forecasts less sure, and on the test data that costs.",
                right=True,
            ),
            Choice(
                "It lowers it at every p",
                "Sampling makes the forecasts less sure. That may help far from the data; on the "
                "test data it costs.",
            ),
            Choice(
                "It lowers it for small p and raises it for large p",
                "With a smaller p sampling costs less, but it does not bring a gain.",
            ),
        ),
    ),
    width_of_dropout=QuizQuestion(
        "The posterior of logistic regression narrows like 1/√N. What does the width of "
        "dropout's posterior do?",
        (
            Choice(
                "It narrows like 1/√N, too",
                "That is true of the posterior. But this q has half of the units missing in "
                "every draw, whatever N is.",
            ),
            Choice(
                "It narrows, but more slowly",
                "Training adapts the weights, but no parameter can make the masks less random.",
            ),
            Choice(
                "It does not narrow",
                "The rate p is fixed, so the draws differ as much as before.",
                right=True,
            ),
        ),
    ),
    negative_eigenvalues=QuizQuestion(
        "How many of the 201 eigenvalues of the Hessian of the NLL are negative at the mode? "
        "The prior adds 1 to each of them. Are all of them positive then?",
        (
            Choice(
                "Not one is negative, since a mode is a maximum of the posterior",
                "That would hold for the negative log joint at a smooth minimum. The NLL is only "
                "one part of it, and ReLUs have kinks.",
            ),
            Choice(
                "A few are slightly negative, and the prior makes them all positive",
                "A smooth minimum would guarantee that. Many units lie on kinks, where the "
                "second derivatives do not see the curvature.",
            ),
            Choice(
                "Dozens are negative, some of them even with the prior",
                "At a kink the second derivatives do not see the curvature that holds the mode.",
                right=True,
            ),
        ),
    ),
    drawn_or_linearised=QuizQuestion(
        "One Gaussian is used in two ways. Which forecast is closer to that of HMC?",
        (
            Choice(
                "That of the linearised network",
                "The GGN is the curvature of the linearised network, so the Gaussian fits this "
                "model.",
                right=True,
            ),
            Choice(
                "That of networks with drawn weights, since HMC draws weights as well",
                "HMC draws from the posterior of the network. This Gaussian is a posterior of "
                "the linearised network, and its draws no longer fit the data.",
            ),
            Choice(
                "Both are equally close, if there are enough draws",
                "More draws reduce noise, not bias: the two averages are over different models.",
            ),
        ),
    ),
    from_one_mode=QuizQuestion(
        "Which of the methods that start from one mode has the forecasts closest to those of "
        "HMC on the test data, and which on the circle?",
        (
            Choice(
                "Linearised Laplace in both places",
                "On the circle it is. Near the data it is too unsure, and the mode alone is "
                "closer.",
            ),
            Choice(
                "MAP on the test data, linearised Laplace on the circle",
                "Near the data the mode is enough; far away its uncertainty is missing.",
                right=True,
            ),
            Choice(
                "MAP in both places",
                "A single network is too sure far from the data.",
            ),
            Choice(
                "Last-layer Laplace in both places",
                "It changes little near the data, but far away the uncertainty of the hidden "
                "layer is missing.",
            ),
        ),
    ),
)
