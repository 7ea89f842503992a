"""Sphinx extension: minus signs, unbroken numbers, Greek letters, and code in sentences.

- Numbers glued into prose get a minus sign in place of a hyphen, and "10⁻³" for "e-03".
- There is no line break within "1.5 × 10⁻³", "0.2 ± 0.1", "T = 1", "a + b", "(N, D)",
  "log p", "D/2" and "plug-in", after the sign of a longer formula, between a formula or a
  short name in code and punctuation, in short code, or before a last word of up to three
  characters.
- Greek letters in a sentence are set in the font of the formulas beside them, except in
  hints, whose formulas are plain text, as in quizzes and guesses.
- Quizzes and guesses have the apostrophes of the prose, and its unbroken numbers.
- Names and calls in hints and in the sentences about mistakes are set as code, and
  indices such as that of w_i as subscripts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from docutils import nodes
from sphinx.application import Sphinx

MINUS = re.compile(r"(?<![\w.])-(?=[\d.])")
POWER = re.compile(r"(?<=\d)e([+-]\d+)\b")
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
SIGNS = frozenset("=≈≤≥<>+−·×/±|‖") | {"&lt;", "&gt;"}
SHORT = 4  # A sign stays between two operands of so many characters; a number is one.
LONG = 12  # After one letter and a relation, or after an open bracket: of so many.
NUMBER = re.compile(r"\d[\d.,]*")
# Spaces within a shape or an interval, after the name of a function, before units, in "1 to 4".
WITHIN = re.compile(
    r"[(\[](?:[\w·.−]{1,7},\s)+[\w·.−]{1,7}[)\]]"
    r"|(?:(?<!\S)\S\s)?\b(?:log₂?|ln|det)\s(?=det\b|[^\sa-z]|[a-z](?![a-z]))"
    r"|\b[A-Z]\s(?=\(\w\s[+−])|(?:^|\d)\s(?=(?:[kMG]B|nats?|bits?)\b)|\d\sto\s(?=\d)|\bet\s(?=al\.)|\b\d\s(?=points?\b)"
    r"|\b\w\smod\s(?=\w)|\)\s(?=\w/[√\d(])|[α-ω][₀-₉²]*\s(?=[A-Zα-ω][₀-₉²]*(?:[\s.,;:)]|$))"
    r"|\)[ᴰᴷ]\s(?=det\b)|\d/[A-Z]\s(?=Σ)|\b(?:[Ss]everity|[Dd]epth)\s(?=\d)|\bis\s(?=\d\))|(?<=\bmeans and)\s(?=N\b)"
)
# One letter or a product of two, such as νπ, also beside Latin letters, as in dw/dρ.
GREEK = re.compile(r"(?<![α-ωµ])([α-ωµ]{1,2})(?![α-ωµ])")
SHORT_CODE = 26  # The most characters of code with spaces that stays on one line.
LAST = 3  # The most characters of a word that does not begin a last line.
COMMAND = re.compile(r"\\[A-Za-z]+\s?|[_^{}]+")  # about one character of a formula
# Text that adjoins a formula without a space.
GLUED_BEFORE = re.compile(r"[\S\u00a0]*$")
GLUED_AFTER = re.compile(r"[\S\u00a0]*")
ADDRESS = re.compile(r"(?:https?://|doi:)\S+")
# A name in code that fits in a narrow column of a table, and the marks that may follow it.
NAME, PUNCTUATION = re.compile(r"\S{1,20}"), re.compile(r"[,.;:!?)]*")
APOSTROPHE = re.compile(r"(?<=\w)&#x27;")
# Code in hints and in sentences about mistakes. Subscripts of one letter are formulas.
_ARGUMENTS = r"(?:\((?:[^()]|\([^()]*\))*\)|\[[^\]]*\])"
CODE = re.compile(
    rf"""(`[^`]+`
    | __\w+__
    | \b\w+(?:\.T)?(?:[ ]@[ ]\w+(?:\.T)?)+
    | (?<!\w)(?:[A-Za-z]\w*{_ARGUMENTS}*)?(?:\.[A-Za-z]\w*{_ARGUMENTS}*)+
    | \b(?![A-Za-z]_[A-Za-z]\b|J?w_MAP)[A-Za-z]+_\w+(?:=-?[\w"]+|{_ARGUMENTS}*(?:\*\*\d)?)
    | \b\w+=-?[\w"]+
    | \b[A-Za-z]\w+(?:\(\)|\[[^\]]*\])
    | \b(?!(?:NumPy|SciPy|SymPy|PyTorch|MacKay|ReLUs?|SiLU)\b)[A-Z][a-z]+[A-Z]\w*{_ARGUMENTS}*
    | (?<=\s)//(?=[\s,;])
    | −?\binf\b
    | \b(?:nan|NaN|True|False|arg(?:max|min|nums|sort)|dtype|keepdim|kilj|klij)\b
    | \b(?:logaddexp|logsumexp|minlength)\b)""",
    re.VERBOSE,
)
SUBSCRIPT = re.compile(r"(?<=[A-Za-zΣµ])_(MAP|[A-Za-z])\b")
FORMULAS = (nodes.math, nodes.math_block)
VERBATIM = (
    nodes.literal,
    nodes.math,
    nodes.FixedTextElement,
    nodes.raw,
    nodes.Invisible,
)
# The hyphens of plug-in, t-test, CIFAR-100 and scikit-learn, the stroke of a short fraction,
# such as 24/π, and |µ|.
UNBROKEN = re.compile(
    r"(?<=\w)-(?=(?:\w\w?|\d+|learn)\b)|(?<=\b\w)-(?=\w)"
    r"|(?<![\w/]\w{3})(?<=[\w)])/(?=[\w√(](?!\w{3}))"
    r"|\|(?=\u00a0|[^\s|])"
)


def write_minus_signs(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Write numbers that are glued into prose with minus signs and powers of ten."""
    for inline in doctree.findall(nodes.inline):
        if "pasted-text" in inline["classes"]:
            for text in list(inline.findall(nodes.Text)):
                number = POWER.sub(lambda match: f" × 10{raised(match[1])}", text)
                text.parent.replace(text, nodes.Text(MINUS.sub("−", number)))


def raised(exponent: str) -> str:
    """Write an exponent, such as -05, as a superscript."""
    return str(int(exponent)).translate(RAISED)


def keep_numbers(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Keep a number on one line with its power of ten, its error and its name."""
    for text in prose(doctree):
        if (kept := with_numbers_kept(text)) != text:
            text.parent.replace(text, nodes.Text(kept))
    for raw in list(doctree.findall(nodes.raw)):
        if 'class="quiz"' in raw.astext():
            raw[:] = [nodes.Text(with_numbers_kept_in(raw.astext()))]


def with_numbers_kept(text: str) -> str:
    """Put spaces that do not break within the numbers and short formulas of a text."""
    parts = re.split(r"(\s)", text)  # words, with the space after each
    for at in range(2, len(parts) - 2, 2):
        before, sign, after = parts[at - 2], parts[at], parts[at + 2]
        # A text may begin or end beside a number that is glued in.
        if sign not in SIGNS or not ((before and after) or sign in "=±×"):
            continue
        if sign == "·" and re.fullmatch("[a-z]{4,}", after):  # facts about a task
            continue
        parts[at + 1] = "\u00a0"
        number = sign in "±×" and re.match(r"\d|$", after)
        operands = re.split(r"[(\[]", before)[-1], re.split(r"[)\]]", after)[0]
        lengths = [len(NUMBER.sub("0", one.strip(")].,;:?"))) for one in operands]
        leads = lengths[0] == 1 and sign in "=≈≤≥"
        opens = operands[0] != before and not re.search(r"[)\]]", operands[0])
        most = LONG if lengths[0] <= SHORT and (leads or opens) else SHORT
        if number or max(lengths) <= most:
            parts[at - 1] = "\u00a0"
    kept = WITHIN.sub(lambda match: re.sub(r"\s", "\u00a0", match[0]), "".join(parts))
    # Readers copy addresses, so keep invisible characters out of them.
    addresses = [found.span() for found in ADDRESS.finditer(kept)]

    def joined(match: re.Match) -> str:
        copied = any(start <= match.start() < end for start, end in addresses)
        return match[0] if copied else f"{match[0]}\u2060"

    return UNBROKEN.sub(joined, kept)


def with_numbers_kept_in(html: str) -> str:
    """Put spaces that do not break within the numbers and short formulas of HTML's text."""
    parts = re.split("(<[^>]*>)", html)
    parts[::2] = map(with_numbers_kept, parts[::2])
    return "".join(parts)


def set_greek(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Mark Greek letters, which the style sheet sets in the font of formulas.

    A page without formulas does not load that font.
    """
    formulas = next(doctree.findall(lambda node: isinstance(node, FORMULAS)), None)
    for text in prose(doctree) if formulas else ():
        parts = GREEK.split(text)
        if len(parts) == 1 or isinstance(text.parent, nodes.title) or _in_hint(text):
            continue
        text.parent.replace(
            text,
            [
                # The fonts of formulas have the letter mu, but not the micro sign.
                nodes.inline("", part.replace("µ", "μ"), classes=["greek"])
                if at % 2
                else nodes.Text(part)
                for at, part in enumerate(parts)
                if part
            ],
        )


def _in_hint(node: nodes.Node) -> bool:
    while (node := node.parent) is not None:
        if "hint" in node.get("classes", ()):
            return True
    return False


def prose(doctree: nodes.document) -> Iterator[nodes.Text]:
    """Yield the texts of a page that are neither code nor formulas."""
    for text in list(doctree.findall(nodes.Text)):
        inside = text.parent
        while inside is not None and not isinstance(inside, VERBATIM):
            inside = inside.parent
        if inside is None:
            yield text


def keep_together(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Keep a formula, or a short name in code, on one line with the comma after it."""
    for formula in list(doctree.findall(nodes.math)):
        parent, at = formula.parent, formula.parent.index(formula)
        together = nodes.inline(classes=["together"])
        if at > 0 and isinstance(before := parent[at - 1], nodes.Text):
            cut = GLUED_BEFORE.search(before).start()
            parent[at - 1] = nodes.Text(before[:cut])
            together += nodes.Text(before[cut:])
        together += formula.deepcopy()
        if at + 1 < len(parent) and isinstance(after := parent[at + 1], nodes.Text):
            cut = GLUED_AFTER.match(after).end()
            together += nodes.Text(after[:cut])
            parent[at + 1] = nodes.Text(after[cut:])
        if together.astext() != formula.astext():
            parent.replace(formula, together)
    for code in list(doctree.findall(nodes.literal)):
        parent, at = code.parent, code.parent.index(code)
        after = parent[at + 1] if at + 1 < len(parent) else None
        kept = [code.deepcopy()]
        if isinstance(after, nodes.Text) and NAME.fullmatch(code.astext()):
            cut = PUNCTUATION.match(after).end()
            if cut:
                parent[at + 1] = nodes.Text(after[cut:])
                kept.append(nodes.Text(after[:cut]))
        short = " " in code.astext() and len(code.astext()) <= SHORT_CODE
        short = short and not isinstance(parent, nodes.title) and not _in_table(code)
        if short or len(kept) == 2:
            parent.replace(code, nodes.inline("", "", *kept, classes=["together"]))


def _in_table(node: nodes.Node) -> bool:
    while node is not None and not isinstance(node, nodes.entry):
        node = node.parent
    return node is not None


def keep_last_words(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Keep a last word or symbol of up to three characters beside the one before it."""
    for paragraph in doctree.findall(nodes.paragraph):
        if _in_table(paragraph):
            continue
        last = ""
        for text in reversed(list(paragraph.findall(nodes.Text))):
            if isinstance(text.parent, nodes.math):
                last = COMMAND.sub("x", text) + last
                continue
            if isinstance(text.parent, VERBATIM):
                break
            *before, rest = re.split(r"\s", text)
            last = rest + last
            if before:
                if 0 < len(last.strip("()[].,;:?!")) <= LAST:
                    kept = text[: len(text) - len(rest) - 1] + "\u00a0" + rest
                    text.parent.replace(text, nodes.Text(kept))
                break


# The name of a place in the book, before its number; numbers with a dash between them.
PLACE = re.compile(r"\b([Ll]abs?|[Pp]racticals?|Exercise|Figure)\s(?=\d)")
LISTED = re.compile(r"(\b(?:[Pp]racticals|[Ll]abs)[ \u00a0](?:\w+, )*\w+ and) (?=\d)")
RANGE = re.compile(r"(\(?\d(?:[\d.,]*\d)?%?(?:–\d(?:[\d.,]*\d)?%?)+\)?)")


def keep_intervals(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Keep on one line "0.05 to 0.16" of glued numbers, "94.1–98.6%" and "lab 2c"."""
    for text in list(doctree.findall(nodes.Text)):
        parent, at = text.parent, text.parent.index(text)
        ends = [parent[at - 1], parent[at + 1]] if 0 < at < len(parent) - 1 else []
        if text == " to " and ends and all(map(_is_glued, ends)):
            interval = nodes.inline("", "", ends[0], text, ends[1])
            interval["classes"] = ["interval"]
            parent[at - 1 : at + 2] = [interval]
    for text in prose(doctree):
        placed = LISTED.sub("\\1\u00a0", PLACE.sub("\\1\u00a0", text))
        parts = RANGE.split(placed)
        if "".join(parts) != text or len(parts) > 1:
            kept = [
                nodes.inline("", part, classes=["interval"])
                if number % 2
                else nodes.Text(part)
                for number, part in enumerate(parts)
            ]
            text.parent.replace(text, kept)


def _is_glued(node: nodes.Node) -> bool:
    return isinstance(node, nodes.inline) and "pasted-text" in node["classes"]


def with_code(sentence: str) -> Iterator[nodes.Node]:
    """Yield the parts of a plain sentence, with names and calls as code."""
    for number, part in enumerate(CODE.split(sentence)):
        if number % 2:
            yield nodes.literal("", part.strip("`"))
            continue
        for at, text in enumerate(SUBSCRIPT.split(part)):
            yield nodes.subscript("", text) if at % 2 else nodes.Text(text)


def set_apostrophes(app: Sphinx, page, template, context, doctree) -> None:
    """Write the apostrophes of HTML outputs, which ``html.escape`` wrote, as in prose."""
    if "body" in context:
        context["body"] = APOSTROPHE.sub("’", context["body"])


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    for tidy in (
        write_minus_signs,
        keep_numbers,
        keep_together,
        keep_intervals,
        keep_last_words,
        set_greek,
    ):
        app.connect("doctree-resolved", tidy)
    app.connect("html-page-context", set_apostrophes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
