"""Tables whose headings sort their rows."""

import pytest
from conftest import ROOT

PAGE = f"""\
<table class="sortable"><thead><tr>
<th scope="col">method</th><th scope="col">rank</th>
</tr></thead><tbody>
<tr><th scope="row">b</th><td>1,234<br><small>▲1 ▼0</small></td></tr>
<tr><th scope="row">d</th><td>9.0<br><small>▲2 ▼3</small></td></tr>
<tr><th scope="row">a</th><td>−0.5<br><small></small></td></tr>
<tr><th scope="row">c</th><td>−12<br><small></small></td></tr>
</tbody></table>
<script src="{(ROOT / "book/_static/course.js").as_uri()}"></script>
"""


@pytest.fixture
def page(browser, tmp_path):
    (tmp_path / "page.html").write_text(f"<meta charset=utf-8>{PAGE}", "utf-8")
    context = browser.new_context()
    opened = context.new_page()
    opened.goto((tmp_path / "page.html").as_uri())
    yield opened
    context.close()


def test_headings_sort_by_number_and_by_name_with_the_keyboard_too(page):
    def order():
        return page.locator("tbody th").all_inner_texts()

    def sorted_by():
        return page.locator("thead th").evaluate_all(
            "heads => heads.map(head => head.getAttribute('aria-sort'))"
        )

    assert order() == ["b", "d", "a", "c"]
    assert sorted_by() == [None, None]
    page.get_by_role("button", name="rank").click()
    assert order() == ["c", "a", "d", "b"]
    assert sorted_by() == [None, "ascending"]
    page.get_by_role("button", name="rank").click()
    assert order() == ["b", "d", "a", "c"]
    assert sorted_by() == [None, "descending"]
    page.get_by_role("button", name="method").focus()
    page.keyboard.press("Enter")
    assert order() == ["a", "b", "c", "d"]
    assert sorted_by() == ["ascending", None]
