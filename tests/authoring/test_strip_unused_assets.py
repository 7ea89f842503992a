"""Unused icons, rules and markup are removed from the built pages; pictures get smaller."""

import random
import shutil
from pathlib import Path

import pydata_sphinx_theme
import pytest
from fontTools.ttLib import TTFont
from PIL import Image

from authoring.strip_unused_assets import (
    COLOURS,
    drop_scripts,
    keep_glyphs,
    keep_rules,
    lighten_page,
    reduce_colours,
)


@pytest.mark.parametrize("mode", ["RGB", "RGBA"])
def test_a_picture_gets_smaller_and_looks_the_same(tmp_path, mode):
    draw = random.Random(0)
    picture = Image.new(mode, (200, 200), "white")
    for x in range(200):
        for y in range(100):
            picture.putpixel((x, y), (x, y, draw.randrange(8)))
    path = tmp_path / "field.png"
    picture.save(path)
    before = path.stat().st_size
    reduce_colours(path)
    assert path.stat().st_size < 0.7 * before
    with Image.open(path) as small:
        assert len(small.getcolors()) <= COLOURS
        colours = small.convert("RGB")
    for x, y in ((3, 3), (100, 50), (199, 99), (10, 150)):
        pairs = zip(colours.getpixel((x, y)), picture.getpixel((x, y))[:3], strict=True)
        assert max(abs(one - two) for one, two in pairs) < 16
    once = path.read_bytes()
    reduce_colours(path)
    assert path.read_bytes() == once
    assert [p.name for p in tmp_path.iterdir()] == ["field.png"]


@pytest.mark.parametrize(
    ("rule", "kept"),
    [
        (".card .gone{x:1}", ""),
        (".gone,.card > p{x:1}", ".card > p{x:1}"),
        ("#gone{x:1}", ""),
        ("a:hover{x:1}", "a:hover{x:1}"),
        (".card:not(.gone:is(.never, .was)){x:1}",) * 2,
        (".card:has(.gone){x:1}",) * 2,
        ("[class*=gone]{x:1}",) * 2,
        (r".w-1\/2{x:1}",) * 2,
        (r".w-1\/3{x:1}", ""),
        (".bs-tooltip-end{x:1}",) * 2,  # put together by a script
        ("@media print{.gone{x:1}.card{y:2}}", "@media print{.card{y:2}}"),
        ("@media print{.gone{x:1}}", ""),
        ("@font-face{font-family:F;src:url(gone.woff2)}",) * 2,
        ("@keyframes gone{from{x:1}to{x:2}}",) * 2,
        ("/* gone */ .card{x:url(a.b)}", ".card{x:url(a.b)}"),
    ],
)
def test_rules_stay_that_can_match(rule, kept):
    assert keep_rules(rule, {"card", "w-1", "2"}) == kept


def test_an_icon_font_keeps_the_glyphs_of_the_style_sheets(tmp_path):
    fonts = "theme/pydata_sphinx_theme/static/vendor/fontawesome/webfonts"
    font = Path(pydata_sphinx_theme.__file__).parent / fonts / "fa-solid-900.woff2"
    path = Path(shutil.copy(font, tmp_path))
    for _ in range(2):  # a file that was not copied anew since the last build
        keep_glyphs(path, {0xF0C1, 0xF030, 0xE999})
        assert path.stat().st_size < 2000
        with TTFont(path) as small:
            assert set(small.getBestCmap()) == {0xF0C1, 0xF030}
    assert [p.name for p in tmp_path.iterdir()] == ["fa-solid-900.woff2"]


def test_code_keeps_the_markup_that_colours_it():
    code = '<span class="k">def</span><span class="w"> </span><span class="nf">f</span>'
    context = {"body": f'{code}<span class="p">(</span><span class="n">x</span>'}
    lighten_page(None, "page", "page.html", context, None)
    assert context["body"] == ('<span class="k">def</span> <span class="nf">f</span>(x')


@pytest.mark.parametrize("name", ["page.html", "search.html"])
def test_pages_load_no_icons_and_only_one_loads_the_search(tmp_path, name):
    def script(name, more=""):
        return f'\n    <script {more}src="../{name}.js?v=1"></script>'

    rest = script("_static/doctools")
    search = "".join(
        map(script, ("_static/searchtools", "_static/language_data", "searchindex"))
    )
    page = tmp_path / name
    page.write_text(f"{rest}{script('_static/fontawesome', 'defer ')}{search}")
    drop_scripts(page)
    assert page.read_text() == (rest + search if name == "search.html" else rest)
