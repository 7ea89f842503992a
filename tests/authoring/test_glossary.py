"""The glossary's terms."""

from conftest import ROOT


def test_terms_are_in_alphabetical_order():
    text = (ROOT / "book/glossary.md").read_text("utf-8")
    _, _, entries = text.partition("```{glossary}\n")
    terms = [entry.partition("\n")[0] for entry in entries.split("\n\n")]
    assert len(terms) > 1
    assert terms == sorted(terms, key=str.casefold)
