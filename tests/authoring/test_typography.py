"""What the pages' typography changes."""

from authoring.typography import set_apostrophes


def test_quizzes_have_the_apostrophes_of_the_prose():
    context = {"body": "<p>a model&#x27;s, the members&#x27; own, x[&#x27;a</p>"}
    set_apostrophes(None, "page", "page.html", context, None)
    assert context["body"] == "<p>a model’s, the members’ own, x[&#x27;a</p>"
