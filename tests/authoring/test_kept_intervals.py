"""Intervals and numbers of labs stay on one line of a page."""

from docutils import nodes
from docutils.utils import new_document

from authoring.typography import keep_intervals


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
