"""Intervals and numbers of labs stay on one line of a page."""

from docutils import nodes
from docutils.utils import new_document

from authoring.typography import keep_intervals, keep_together


def test_intervals_and_numbers_of_labs_stay_on_one_line():
    low, high = (
        nodes.inline("", number, classes=["pasted-text"]) for number in ("0.1", "0.2")
    )
    page = new_document("page")
    page += nodes.paragraph("", "", nodes.Text("95%: "), low, nodes.Text(" to "), high)
    page += nodes.paragraph("", "", nodes.Text(" to "), low.deepcopy())
    page += nodes.paragraph("", "98.0% (94.3–99.3%), Gauss–Newton, 64–100–10, lab 2c")
    keep_intervals(None, page, "page")
    kept = [
        inline
        for inline in page.findall(nodes.inline)
        if "interval" in inline["classes"]
    ]
    assert [interval.astext() for interval in kept] == [
        "0.1 to 0.2",
        "(94.3–99.3%)",
        "64–100–10",
    ]
    assert page.astext().endswith(
        "\n\n to 0.1\n\n98.0% (94.3–99.3%), Gauss–Newton, 64–100–10, lab\u00a02c"
    )


def test_a_list_of_practicals_ends_on_one_line():
    page = new_document("page")
    page += nodes.paragraph("", "practicals 1, 4 and 5; lab 2 and 3 more")
    keep_intervals(None, page, "page")
    assert page.astext() == ("practicals\u00a01, 4 and\u00a05; lab\u00a02 and 3 more")


def test_a_short_name_in_code_stays_beside_the_comma_after_it():
    page = new_document("page")
    for code in ("weight_decay", "course grade --jobs 2 --warm", "a" * 21):
        line = nodes.paragraph("", "", nodes.literal("", code), nodes.Text(", and"))
        page += line
    keep_together(None, page, "page")
    kept = [one.astext() for one in page.findall(nodes.inline) if one["classes"]]
    assert kept == ["weight_decay,"]
    assert page[0].astext() == "weight_decay, and"
