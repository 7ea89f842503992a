"""A page has one style sheet, with all that its sheets had, and scripts that wait."""

import pytest

from authoring.early_paint import joined, lighten

PAGE = """<html><head>
<script>
document.documentElement.dataset.mode = localStorage.getItem("mode") || "auto";
document.documentElement.dataset.theme = localStorage.getItem("theme") || "auto";
</script>
<link href="../_static/styles/theme.css?digest=1" rel="stylesheet" />
<link rel="stylesheet" type="text/css" href="../_static/own.css?v=2" />
<link rel="icon" href="../_static/icon.svg"/>
<script src="../_static/documentation_options.js?v=3"></script>
<script>OPTIONS.page = 1</script>
<script src="../_static/one.js"></script>
<script defer src="../_static/two.js"></script>
</head></html>"""


@pytest.fixture
def static(tmp_path):
    folder = tmp_path / "_static"
    (folder / "styles").mkdir(parents=True)
    (folder / "styles" / "theme.css").write_text(
        '@charset "UTF-8";@import "../basic.css";b{background:url("../b.png")}'
    )
    (folder / "basic.css").write_text("a{background:url(a.png)}")
    (folder / "own.css").write_text("c{background:url(data:image/png;base64,00)}")
    (folder / "documentation_options.js").write_text("const OPTIONS = {}")
    return folder


def test_styles_are_joined_in_their_order_and_find_their_files(static):
    style = joined([static / "styles" / "theme.css", static / "own.css"], static)
    assert style == (
        "a{background:url(a.png)}b{background:url(b.png)}\n"
        "c{background:url(data:image/png;base64,00)}"
    )


def test_a_page_loads_one_style_sheet_and_no_script_holds_it_up(static, tmp_path):
    page = tmp_path / "book" / "page.html"
    page.parent.mkdir()
    page.write_text(PAGE)
    lighten(page, static)
    text = page.read_text()
    assert text.count('rel="stylesheet"') == 1
    assert "const OPTIONS = {}</script>\n<script>OPTIONS.page = 1" in text
    assert '<script defer src="../_static/one.js">' in text
    assert '<script defer src="../_static/two.js">' in text
    assert 'rel="icon"' in text
    assert text.count("prefers-color-scheme") == 1

    # A page that is not written again follows its sheets.
    lighten(page, static)
    assert page.read_text() == text
    (static / "own.css").write_text("c{color:red}")
    lighten(page, static)
    assert page.read_text() != text
    [style] = static.glob("styles-*.css")
    assert style.read_text().endswith("c{color:red}")
