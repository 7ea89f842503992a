"""The quiz of the comparison."""

from course.quiz import Choice, QuizQuestion

FORECAST, TARGET = 3.0, 5.0

COMPARISON = (
    QuizQuestion(
        "A score for OOD inputs has an AUROC of 0.2. What is it worth?",
        (
            Choice(
                "Nothing: it is worse than chance",
                "Chance is 0.5. A score far below it separates the two groups, the wrong way round.",
            ),
            Choice(
                "Its negative has an AUROC of 0.8",
                "It ranks OOD inputs below the others in 80% of the pairs, so its sign is flipped.",
                right=True,
            ),
            Choice(
                "It finds 20% of the OOD inputs",
                "AUROC counts pairs of one OOD and one other input; it uses no threshold.",
            ),
        ),
    ),
    QuizQuestion(
        "Two methods were run on the same ten seeds. What belongs in the interval of their difference?",
        (
            Choice(
                "The ten differences, one per seed",
                "Luck that both share, such as an easy split, cancels in each difference.",
                right=True,
            ),
            Choice(
                "Whether their two separate intervals overlap",
                "Intervals may overlap although the difference has the same sign on every seed.",
            ),
            Choice(
                "The twenty results, ten of each, as independent samples",
                "They are not independent: both saw the same seeds. The interval becomes too wide.",
            ),
        ),
    ),
    QuizQuestion(
        "A forecast puts all its mass on 3; the target is 5. What is its CRPS?",
        (
            Choice.number(
                (TARGET - FORECAST) ** 2,
                "This is the squared error. The CRPS has the unit of the target.",
                digits=1,
            ),
            Choice.number(
                0,
                "The spread is 0, but the forecast misses the target.",
                digits=1,
            ),
            Choice.number(
                TARGET - FORECAST,
                "Without spread, the CRPS is the absolute error.",
                right=True,
                digits=1,
            ),
        ),
    ),
    QuizQuestion(
        "A MIMO network has three inputs and three heads. What do you feed it at test time?",
        (
            Choice(
                "Three different test inputs, as in training",
                "Then each head forecasts for another input, and no input gets an ensemble.",
            ),
            Choice(
                "The test input in the first place, zeros in the others",
                "The network has never seen such inputs, and two heads would forecast for zeros.",
            ),
            Choice(
                "The same test input three times",
                "The three heads, trained to be independent, then forecast for it as an ensemble.",
                right=True,
            ),
        ),
    ),
)
