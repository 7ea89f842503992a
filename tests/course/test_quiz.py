"""Every quiz: its answers beside independent ones, what it shows, and how it is answered."""

from collections import Counter

import numpy as np
import pytest
import scipy.special
import scipy.stats
import torch
from labs import COURSE
from torch import distributions as d

from course import check
from course.errors import CheckFailed, WrongUse
from course.quiz import LETTERS, Choice, Quiz, QuizQuestion, quizzes_of
from course.task import UnknownTask, stems

QUIZZES = {id_: quiz for stem in stems() for id_, quiz in quizzes_of(stem).items()}
QUESTIONS = [
    (id_, n) for id_, quiz in QUIZZES.items() for n in range(len(quiz.questions))
]
each_quiz = pytest.mark.parametrize("id_", QUIZZES)


def right(question):
    (choice,) = (choice for choice in question.choices if choice.right)
    return choice


def planar_log_det():
    """By automatic differentiation, at a point with w·z + b = 0 and u·w = 1."""
    w, u = torch.tensor([2.0, 0.0]), torch.tensor([0.5, 3.0])
    jacobian = torch.autograd.functional.jacobian(
        lambda z: z + u * torch.tanh(z @ w - 2), torch.tensor([1.0, 5.0])
    )
    return torch.linalg.slogdet(jacobian)[1]


def best_std():
    """By search."""
    grid = np.linspace(0.01, 12, 200_000)
    return grid[np.argmin(-scipy.stats.norm.logpdf(3, 0, grid))]


def slope_in_rho():
    rho = torch.tensor(0.0, requires_grad=True)
    (0.3 + torch.nn.functional.softplus(rho) * 2).backward()
    return rho.grad


def mixture_variance():
    """By integrals of the mixture's density."""
    t = np.linspace(-10, 14, 100_001)
    p = (scipy.stats.norm.pdf(t, 0, 1) + scipy.stats.norm.pdf(t, 4, 1)) / 2
    mean = np.trapezoid(t * p, t)
    return np.trapezoid((t - mean) ** 2 * p, t)


def crps_of_a_point():
    """The integral of (F(t) - [t ≥ 5])² for a step at 3."""
    t = np.linspace(0, 10, 100_001)
    return np.trapezoid(((t >= 3).astype(float) - (t >= 5)) ** 2, t)


def conditional_variance():
    """Of a weight and four noisy copies of it, jointly Gaussian."""
    covariance = np.ones((5, 5)) + np.diag([0, 1, 1, 1, 1])
    return 1 / np.linalg.inv(covariance)[0, 0]


def smallest_rank(n, level):
    """The smallest k for which a score is at most the k-th of n others with this probability."""
    return next(k for k in range(1, n + 1) if k / (n + 1) >= level)


def least_probability(alarm, miss):
    """The smallest probability on a grid for which acting costs no more than waiting."""
    return next(k / 100 for k in range(101) if (100 - k) * alarm <= k * miss)


def mean_improvement():
    """By an integral over a standard normal density."""
    t = np.linspace(0, 10, 100_001)
    return np.trapezoid(t * scipy.stats.norm.pdf(t), t)


# Right numbers, each computed otherwise than in the quiz.
NUMBERS = {
    ("warm-up/basics", 1): scipy.stats.norm.pdf(1, loc=1, scale=2),
    ("warm-up/basics", 2): scipy.special.logsumexp(np.log([0.9, 0.5, 0.1]), b=1 / 3),
    ("warm-up/basics", 4): 1000 * 1.2,
    ("warm-up/linear-regression", 1): np.hypot(0.2, 0.3),
    ("warm-up/linear-regression", 2): conditional_variance(),
    ("deep-ensembles/regression", 1): mixture_variance(),
    ("deep-ensembles/regression", 2): scipy.stats.laplace.std(),
    ("deep-ensembles/regression", 3): best_std(),
    ("deep-ensembles/classification", 1): scipy.stats.entropy([0.5, 0.5], base=2),
    ("deep-ensembles/classification", 2): 0.745,
    ("deep-ensembles/classification", 3): -1000 + np.log1p(np.exp(-1)) - np.log(2),
    ("approximate-inference/logistic-regression", 2): 0.25,
    ("approximate-inference/logistic-regression", 3): d.kl_divergence(
        d.Normal(1.0, 2.0), d.Normal(0.0, 1.0)
    ),
    ("approximate-inference/logistic-regression", 4): scipy.special.expit(1),
    ("approximate-inference/laplace-for-networks", 2): scipy.stats.norm.var(
        scale=3**0.5 * np.hypot(1, 2)
    ),
    ("bayes-by-backprop/regression", 1): torch.nn.functional.softplus(
        torch.tensor(0.0)
    ),
    ("bayes-by-backprop/regression", 2): slope_in_rho(),
    ("bayes-by-backprop/regression", 3): 0.05**0.5,
    ("bayes-by-backprop/digits", 1): 1 / len(range(0, 60_000, 100)),
    ("bayes-by-backprop/digits", 2): d.Bernoulli(0.5).entropy(),
    ("bayes-by-backprop/digits", 3): scipy.stats.entropy(np.full(10, 0.1), base=2),
    ("calibration-and-flows/calibration", 1): 0.14,
    ("calibration-and-flows/calibration", 2): torch.softmax(
        torch.tensor([0.9, 0.1]).log() / 2, 0
    )[0],
    ("calibration-and-flows/stochastic-flows", 1): planar_log_det(),
    ("calibration-and-flows/stochastic-flows", 2): -1.5,
    ("calibration-and-flows/stochastic-flows", 3): (0.5 + 1 / (1 + np.exp(-4))) / 2,
    ("which-method/comparison", 3): crps_of_a_point(),
    ("acting-on-uncertainty/conformal-prediction", 1): smallest_rank(99, 0.9),
    ("acting-on-uncertainty/conformal-prediction", 3): 0.5 + 0.5 * 0.3,
    ("acting-on-uncertainty/abstain-decide-ask", 1): least_probability(1, 9),
    ("acting-on-uncertainty/abstain-decide-ask", 2): (0 + 1 / 2 + 1 / 3 + 1 / 4) / 4,
    ("acting-on-uncertainty/abstain-decide-ask", 4): scipy.stats.entropy(
        [0.9, 0.1], [0.5, 0.5]
    ),
    ("acting-on-uncertainty/abstain-decide-ask", 5): mean_improvement(),
}


def test_the_numbers_are_those_of_all_questions_that_ask_for_one():
    asked = {
        (id_, n + 1)
        for id_, n in QUESTIONS
        if any(char.isdigit() for char in right(QUIZZES[id_].questions[n]).text[:2])
    }
    asked -= {("which-method/comparison", 1)}
    assert asked == set(NUMBERS)


@pytest.mark.parametrize(("id_", "number"), NUMBERS)
def test_the_right_number_is_right_and_no_other_is(id_, number):
    value = float(NUMBERS[id_, number])
    question = QUIZZES[id_].questions[number - 1]
    assert question.choice(value) == right(question)


@each_quiz
def test_a_quiz_has_questions_whose_choices_all_say_why(id_):
    quiz = QUIZZES[id_]
    assert 3 <= len(quiz.questions) <= 5
    for question in quiz.questions:
        assert 3 <= len(question.choices) <= 4
        for said in ("text", "why"):
            texts = [getattr(choice, said) for choice in question.choices]
            assert len(set(texts)) == len(texts)
        assert all(choice.why.endswith((".", "!", "?")) for choice in question.choices)
        assert "$" not in question.text  # TeX is not typeset in outputs


def test_the_right_choices_stand_in_all_places():
    places = Counter(
        QUIZZES[id_].questions[n].choices.index(right(QUIZZES[id_].questions[n]))
        for id_, n in QUESTIONS
    )
    assert max(places.values()) < 0.5 * len(QUESTIONS)
    assert len(places) == 4


@pytest.mark.parametrize(("id_", "n"), QUESTIONS)
def test_every_choice_can_be_answered_by_its_letter(id_, n, capsys):
    for letter, choice in zip(LETTERS, QUIZZES[id_].questions[n].choices, strict=False):
        if choice.right:
            assert check.quiz(id_, n + 1, letter) is None
            assert capsys.readouterr().out.startswith(f"✓ {choice.text}")
        else:
            with pytest.raises(CheckFailed) as caught:
                check.quiz(id_, n + 1, letter.upper())
            assert " ".join(choice.why.split()) in " ".join(str(caught.value).split())


@each_quiz
def test_jupyter_shows_all_questions_and_answers(id_):
    quiz = check.quiz(id_)
    assert quiz == QUIZZES[id_]
    shown = quiz._repr_html_()
    assert shown.count("<details") == 1 + sum(len(q.choices) for q in quiz.questions)
    assert shown.count("✓ Right.") == len(quiz.questions)
    assert all(f"{n}. " in repr(quiz) for n in range(1, len(quiz.questions) + 1))


def test_texts_are_escaped():
    choices = (Choice("<b>", "a < b.", right=True), Choice("&", "no."))
    shown = Quiz("x/y", (QuizQuestion("1 < 2?", choices),))._repr_html_()
    assert "1 &lt; 2?" in shown
    assert "<summary>&lt;b&gt;</summary>" in shown
    assert "a &lt; b." in shown


def test_each_quiz_is_in_one_chapter():
    pages = [lab.chapter.read_text("utf-8") for lab in COURSE.labs()]
    for id_ in QUIZZES:
        assert sum(f'check.quiz("{id_}")' in page for page in pages) == 1, id_


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        (("warm-up/basic",), UnknownTask, "Did you mean warm-up/basics"),
        (("nothing/like-it",), UnknownTask, "no quiz"),
        (("warm-up/basics", 0, "a"), WrongUse, "1 to 4"),
        (("warm-up/basics", 5, "a"), WrongUse, "1 to 4"),
        (("warm-up/basics", "a"), WrongUse, "1 to 4"),
        (("warm-up/basics", 1, "e"), WrongUse, "no choice 'e'"),
        (("warm-up/basics", 1, ""), WrongUse, "no choice ''"),
        (("warm-up/basics", 1, 17.0), WrongUse, "no choice 17"),
        (("warm-up/basics", 3, 1.0), WrongUse, "no choice 1"),
        (("warm-up/basics", 1), WrongUse, "no choice None"),
    ],
)
def test_wrong_use_says_what_there_is(wrong, error, says):
    with pytest.raises(error, match=says):
        check.quiz(*wrong)


@pytest.mark.parametrize("count", [0, 2])
def test_a_question_has_exactly_one_right_choice(count):
    choices = tuple(Choice(str(n), "so.", right=n < count) for n in range(3))
    with pytest.raises(ValueError, match="exactly one"):
        QuizQuestion("?", choices)
