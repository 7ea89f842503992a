"""The quiz of the comparison."""

from course.quiz import Choice, QuizQuestion

FORECAST, TARGET = 3.0, 5.0

COMPARISON = (
    QuizQuestion(
        "A score for OOD inputs has an AUROC of 0.2. How useful is the score?",
        (
            Choice(
                "Useless: it is worse than chance",
                "Chance is 0.5. A score with an AUROC far below that does separate the two groups, but the wrong way round.",
            ),
            Choice(
                "Its negative has an AUROC of 0.8",
                "It ranks OOD inputs below the others in 80% of the pairs, so it has the wrong sign.",
                right=True,
            ),
            Choice(
                "It finds 20% of the OOD inputs",
                "The AUROC counts pairs of an OOD input and an in-distribution input; it uses no threshold.",
            ),
        ),
    ),
    QuizQuestion(
        "Two methods were run on the same ten seeds. What should the interval for their difference be based on?",
        (
            Choice(
                "The ten differences, one per seed",
                "Luck that both methods share, such as an easy split, cancels in each difference.",
                right=True,
            ),
            Choice(
                "Whether their two separate intervals overlap",
                "Intervals may overlap even if the difference has the same sign on every seed.",
            ),
            Choice(
                "The twenty results, ten of each, as independent samples",
                "They are not independent, because both methods were run on the same seeds. The interval becomes too wide.",
            ),
        ),
    ),
    QuizQuestion(
        "A forecast puts all its mass on 3; the target is 5. What is the CRPS?",
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
                "Without any spread, the CRPS is the absolute error.",
                right=True,
                digits=1,
            ),
        ),
    ),
    QuizQuestion(
        "A MIMO network has three inputs and three heads. What do you give it as input at test time?",
        (
            Choice(
                "Three different test inputs, as in training",
                "Then each head makes a forecast for a different input, and no input gets the forecast of an ensemble.",
            ),
            Choice(
                "The test input in the first slot, zeros in the others",
                "The network has never seen such inputs, and two heads would make forecasts for zeros.",
            ),
            Choice(
                "The same test input three times",
                "The three heads, which were trained to be independent, then act as an ensemble on this input.",
                right=True,
            ),
        ),
    ),
)
