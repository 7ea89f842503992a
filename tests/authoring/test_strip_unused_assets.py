"""Unused icons are removed from the built pages, and pictures get smaller."""

import random

import pytest
from PIL import Image

from authoring.strip_unused_assets import COLOURS, keep_icons, reduce_colours

SCRIPT = (
    'var p={monero:[496,512,[],"f3d0","M1 2z"],bars:[448,512,["navicon"],"f0c9","M3z"],'
    '"file-pdf":[512,512,[],"f1c1",["M4z","M5z"]],0:[320,512,[],"30","M6z"]},q={a:1}'
)


def test_icons_stay_by_name_or_alias():
    assert keep_icons(SCRIPT, {"bars", "file-pdf"}) == (
        'var p={bars:[448,512,["navicon"],"f0c9","M3z"],'
        '"file-pdf":[512,512,[],"f1c1",["M4z","M5z"]]},q={a:1}'
    )
    assert "bars" in keep_icons(SCRIPT, {"navicon"})
    assert keep_icons(SCRIPT, set()) == "var p={},q={a:1}"


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
