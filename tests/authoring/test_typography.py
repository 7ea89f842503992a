"""What the pages' typography changes."""

import pytest
from docutils import nodes
from docutils.utils import new_document

from authoring.typography import (
    CODE,
    GREEK,
    keep_last_words,
    keep_numbers,
    keep_together,
    set_apostrophes,
    set_greek,
    with_code,
    with_numbers_kept,
)
from course.task import stems, tasks_of


def test_quizzes_have_the_apostrophes_of_the_prose():
    context = {"body": "<p>a model&#x27;s, the members&#x27; own, x[&#x27;a</p>"}
    set_apostrophes(None, "page", "page.html", context, None)
    assert context["body"] == "<p>a model’s, the members’ own, x[&#x27;a</p>"


@pytest.mark.parametrize(
    ("sentence", "code"),
    [
        (
            "you use torch.rand where torch.randn is needed.",
            ["torch.rand", "torch.randn"],
        ),
        ("End with `.detach().requires_grad_()`.", ["`.detach().requires_grad_()`"]),
        ("you leave out .sum() at the end.", [".sum()"]),
        ('take method="higher" at the level k/n.', ['method="higher"']),
        (
            "outside[:, np.newaxis] against cost[k].min()",
            ["outside[:, np.newaxis]", "cost[k].min()"],
        ),
        (
            "np.where(p > 0, np.log(p), 0), dim=-1 or __init__.",
            ["np.where(p > 0, np.log(p), 0)", "dim=-1", "__init__"],
        ),
        ("E[log q(z_L)] at w_MAP, where y = exp(z).", []),
        ("The variance is prior_std**2, in SymPy terms.", ["prior_std**2"]),
        ("Take logsumexp of kilj, not klij.", ["logsumexp", "kilj", "klij"]),
        ("as log 0 is −inf, 0 · (−inf) = nan", ["−inf", "−inf", "nan"]),
        ("A ReLU, SiLU or tanh network has ReLUs.", []),
        ("return AdamState(first, second).", ["AdamState(first, second)"]),
        ("the sigmoid of x @ w, all of x @ Σ @ x.T", ["x @ w", "x @ Σ @ x.T"]),
        (
            "argmin, argmax, argsort, argnums and minlength",
            ["argmin", "argmax", "argsort", "argnums", "minlength"],
        ),
        ("you return True for both.", ["True"]),
        ("as // does, but not in https://host", ["//"]),
        ("a slope of 0.5, not exp(ρ) or p(1 − p).", []),
    ],
)
def test_names_in_sentences_are_code(sentence, code):
    assert CODE.findall(sentence) == code


@pytest.mark.parametrize(
    ("sentence", "letters"),
    [
        ("1 + φᵀVφ, Nλ/2 and √(νπ)", ["φ", "φ", "λ", "νπ"]),
        ("dw/dρ, 1 + βh and xµᵀ", ["ρ", "β", "µ"]),
        ("the word σιγμα", []),
    ],
)
def test_greek_letters_of_formulas_are_marked(sentence, letters):
    assert GREEK.findall(sentence) == letters


@pytest.mark.parametrize("stem", stems())
def test_code_in_sentences_can_be_pasted(stem):
    """A minus sign or a raised dot would be a syntax error."""
    for task in tasks_of(stem).values():
        said = [*task.hints, *(mistake.hint for mistake in task.misconceptions)]
        found = {code for sentence in said for code in CODE.findall(sentence)}
        odd = {code for code in found if set(code) & set("−·×²√≤≥")}
        assert odd <= {"−inf"}, task.id


def test_sizes_stay_on_one_line():
    kept = with_numbers_kept("digits (8 × 8 pixels), times × b, 1.5 × 10⁻³")
    assert kept == "digits (8~×~8 pixels), times ×~b, 1.5~×~10⁻³".replace("~", "\u00a0")


@pytest.mark.parametrize(
    ("sentence", "kept"),
    [
        ("N = 60,000 and a length 2.", "N~=~60,000 and a length 2."),
        ("the rest, a + b·c, is", "the rest, a~+~b·c, is"),
        ("w = µ + softplus(ρ) · (y − µ)²", "w~=~µ +~softplus(ρ)~·~(y~−~µ)²"),
        ("plug-in, t-test, mean-field", "plug-¦in, t-¦test, mean-field"),
        ("by |µ|/σ, log₂ 10", "by |¦µ|¦/σ, log₂~10"),
        ("by J (w − w_MAP), A (two − one)", "by J~(w~−~w_MAP), A (two~−~one)"),
        ("cost (1 − level)(f − y)", "cost (1~−~level)(f~−~y)"),
        ("here σ = softplus(ρ)", "here σ~=~softplus(ρ)"),
        ("log(x) − softplus(y)", "log(x) −~softplus(y)"),
        ("once in λ σ₀² N = 1, (k mod C)/C", "once in λ~σ₀²~N~=~1, (k~mod~C)/¦C"),
        ("probit Φ(√(π/8) m/√(1 + πv/8))", "probit Φ(√(π/¦8)~m/¦√(1~+~πv/¦8))"),
        ("At severity 5 (white is 1)", "At severity~5 (white is~1)"),
        ("from depth 4 to depth d", "from depth~4 to depth d"),
        (
            "scikit-learn, CIFAR-100, mean-field",
            "scikit-¦learn, CIFAR-¦100, mean-field",
        ),
        ("Sums, means and N", "Sums, means and~N"),
        ("is p log p, and the log of p", "is p~log~p, and the log of p"),
        ("24/π, dp/dw, weights/biases", "24/¦π, dp/¦dw, weights/biases"),
        ("from p(y | x), KL(q ‖ p)", "from p(y~|¦~x), KL(q~‖~p)"),
        (
            "a shape (N, D), log p and the log of p",
            "a shape (N,~D), log~p and the log of p",
        ),
        ("below, x &lt; 0 and T = ", "below, x~&lt;~0 and T~=~"),
        (" × 10⁻⁴, which is", "~×~10⁻⁴, which is"),
        ("2 points · about 5 minutes", "2~points · about 5 minutes"),
        ("200 MB of 1.5 GB, and B is a batch", "200~MB of 1.5~GB, and B is a batch"),
        ("a KL of 1.5 nats, or 2 bits of it", "a KL of 1.5~nats, or 2~bits of it"),
        ("log((2π)ᴰ det Σ) is 1/S Σₛ pₛ", "log((2π)ᴰ~det~Σ) is 1/¦S~Σₛ pₛ"),
        (" MB, 3 times", "~MB, 3 times"),
        ("from 1 to 4, to 3 of them", "from 1~to~4, to 3 of them"),
        (
            "1 point: at (0.1, 0.9) by Blei et al. (2017)",
            "1~point: at (0.1,~0.9) by Blei et~al. (2017)",
        ),
        ("a (two, small) interval [0, 1)", "a (two,~small) interval [0,~1)"),
    ],
)
def test_short_formulas_stay_on_one_line(sentence, kept):
    kept = kept.replace("~", "\u00a0").replace("¦", "\u2060")
    assert with_numbers_kept(sentence) == kept


def test_indices_in_sentences_are_subscripts():
    parts = list(with_code("Σ w_i at w_MAP, µ_b, with kl_share and log_p"))
    assert [part.astext() for part in parts if part.tagname == "subscript"] == [
        "i",
        "MAP",
        "b",
    ]


def test_quizzes_have_the_unbroken_numbers_of_the_prose():
    page = new_document("page")
    page += nodes.raw("", '<ol class="quiz"><li>T = 1</li></ol>', format="html")
    page += nodes.raw("", "<pre>T = 1</pre>", format="html")
    keep_numbers(None, page, "page")
    assert [raw.astext() for raw in page] == [
        '<ol class="quiz"><li>T\u00a0=\u00a01</li></ol>',
        "<pre>T = 1</pre>",
    ]


def paragraph(*parts):
    page = new_document("page")
    page += nodes.paragraph("", "", *parts)
    return page


@pytest.mark.parametrize(
    ("parts", "kept"),
    [
        (["in place of σ₀."], "in place of~σ₀."),
        (["in place of it all."], "in place of it~all."),
        (["in place of that."], "in place of that."),
        (["it becomes ", nodes.inline("", "4"), "."], "it becomes~4."),
        (
            ["it divides by ", nodes.math("", r"\sigma_0"), "."],
            "it divides by~\\sigma_0.",
        ),
        (["it is ", nodes.math("", "a + b + c")], "it is a + b + c"),
        (["it is ", nodes.literal("", "a b")], "it is a b"),
    ],
)
def test_a_short_last_word_does_not_begin_a_line(parts, kept):
    texts = [nodes.Text(part) if isinstance(part, str) else part for part in parts]
    page = paragraph(*texts)
    keep_last_words(None, page, "page")
    assert page.astext() == kept.replace("~", "\u00a0")


def test_short_code_stays_on_one_line():
    short, long = "x[:, None]", "np.linalg.solve(precision, total)"
    page = paragraph(*(nodes.literal("", code) for code in (short, long, "x.T")))
    keep_together(None, page, "page")
    kept = [one.astext() for one in page.findall(nodes.inline)]
    assert kept == [short]
    assert page.astext() == short + long + "x.T"


def test_hints_have_the_greek_letters_of_their_sentences():
    page = paragraph(nodes.math("", "x"), nodes.Text(" and λ"))
    page += nodes.container("", nodes.paragraph("", "(y − μ)²"), classes=["hint"])
    set_greek(None, page, "page")
    greek = [one.astext() for one in page.findall(nodes.inline)]
    assert greek == ["λ"]


def test_an_address_can_be_copied():
    for address in ("https://arxiv.org/abs/2002.02405", "doi:10.1175/1520-0493"):
        assert with_numbers_kept(f"see {address}, and plug-in") == (
            f"see {address}, and plug-\u2060in"
        )
