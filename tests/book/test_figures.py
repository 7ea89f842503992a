"""The book's figures on desks and phones: sizes, text, panels, loading, and both themes."""

import io
import re
from xml.etree import ElementTree

import pytest
from book_pages import GUESS
from page_visits import SCREENS
from PIL import Image

from authoring.pictures import SVG

pytestmark = pytest.mark.browser
LEAST = 11  # pixels of text as displayed
PER_ROW = {"desktop": 2, "phone": 1}
SMALL = 8  # maps, more of which may stand in one row more
BAR = 30  # points; panels that are narrower or lower are colour bars
# Sizes of the text in figures with steps, which are part of their page.
STEPS = """
() => [...document.querySelectorAll("figure.steps svg")].flatMap(svg => {
  const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
  return [...svg.querySelectorAll("text")]
    .map(text => parseFloat(getComputedStyle(text).fontSize) * scale);
})
"""


@pytest.fixture(scope="module", params=SCREENS)
def screen(request):
    return request.param


@pytest.fixture(scope="module")
def pictures(seen, screen):
    """The facts about the pictures of every page that has some, by page."""
    found = {name: facts["pictures"] for name, facts in seen(screen).items()}
    return {name: shown for name, shown in found.items() if shown}


@pytest.fixture(scope="module")
def figures(book, pictures):
    """Every figure's facts and its SVG."""
    shown = [fact for facts in pictures.values() for fact in facts]
    drawn = [fact for fact in shown if fact["name"].endswith(".svg")]
    assert len(drawn) > 60
    return [
        (
            fact,
            ElementTree.fromstring(
                (book / fact["name"].lstrip("/")).read_text("utf-8")
            ),
        )
        for fact in drawn
    ]


def test_what_a_figure_refers_to_is_in_it(book):
    paths = sorted((book / "_images").glob("*.svg"))
    assert len(paths) > 60
    lost = {}
    for path in paths:
        text = path.read_text("utf-8")
        there = set(re.findall(r' id="([^"]+)"', text))
        referred = set(
            re.findall(r'(?:href|fill|stroke)="#([^"]+)"|url\(#([^)]+)\)', text)
        )
        names = {one or other for one, other in referred}
        colours = {name for name in names if re.fullmatch(r"[0-9a-f]{6}", name)}
        if missing := names - there - colours:
            lost[path.name] = missing
    assert lost == {}


def text_sizes(svg, width):
    """Return the sizes of an SVG's text, in pixels, where it is shown ``width`` wide.

    Superscripts and subscripts are smaller, as in any text, and do not count.
    """
    scale = width / float(svg.get("viewBox").split()[2])
    factors = re.findall(
        r" scale\(([\d.]+) -\1\)", ElementTree.tostring(svg, "unicode")
    )
    return [100 * float(factor) * scale for factor in factors]


def panels_of(svg):
    """Return the frames of a figure's panels as (left, top, right, bottom); colour bars aside.

    ``None`` if some of its axes have no frame: a grid of pictures.
    """
    frames = []
    for axes in svg.iter(f"{SVG}g"):
        if axes.get("id", "").startswith("axes_"):
            ground = axes.find(f".//{SVG}path")
            if ground is None:
                return None
            numbers = [float(n) for n in re.findall(r"[\d.]+", ground.get("d"))]
            xs, ys = set(numbers[::2]), set(numbers[1::2])
            if len(numbers) not in (8, 10) or len(xs) != 2 or len(ys) != 2:
                return None
            if max(xs) - min(xs) > BAR and max(ys) - min(ys) > BAR:
                frames.append((min(xs), min(ys), max(xs), max(ys)))
    return frames


def in_one_row(frames):
    """Return how many panels stand beside one another."""
    return max(
        sum(top < (low + high) / 2 < bottom for _, low, _, high in frames)
        for _, top, _, bottom in frames
    )


def test_text_in_figures_is_legible(figures):
    sizes = [
        (fact["name"], min(text_sizes(svg, fact["after"]["width"])))
        for fact, svg in figures
    ]
    assert [size for size in sizes if size[1] < LEAST] == []


def test_text_in_figures_with_steps_is_legible(browser, address, screen):
    sizes = []
    with browser.new_context(**SCREENS[screen]) as context:
        page = context.new_page()
        for name in (
            "02a-approximate-inference",
            "04a-calibration-and-flows",
            "04b-calibration-and-flows",
        ):
            page.goto(f"{address}/book/{name}.html")
            page.evaluate(f"() => {{{GUESS}}}")
            sizes += page.evaluate(STEPS)
    assert len(sizes) > 20
    assert min(sizes) >= LEAST


def test_no_figure_has_more_panels_in_a_row_than_fit(figures, screen):
    found = []
    for fact, svg in figures:
        frames = panels_of(svg)
        if frames:
            three = screen == "desktop" and len(frames) == 3  # without an empty quarter
            allowed = PER_ROW[screen] + (len(frames) > SMALL or three)
            found.append((fact["name"], in_one_row(frames), allowed))
    assert any(row == PER_ROW["phone"] for _, row, _ in found)
    assert [figure for figure in found if figure[1] > figure[2]] == []


def test_no_picture_is_wider_than_its_column(pictures):
    wide = [
        (name, fact["name"])
        for name, facts in pictures.items()
        for fact in facts
        if fact["after"]["left"] < fact["column"]["left"]
        or fact["after"]["right"] > fact["column"]["right"] + 0.5
    ]
    assert wide == []


def test_pictures_have_their_size_before_they_load_and_load_late(pictures):
    for name, facts in pictures.items():
        late = [fact["loading"] == "lazy" for fact in facts]
        assert late == [False] + [True] * (len(facts) - 1), name
        for fact in facts:
            assert fact["sized"], fact["name"]
            assert fact["alt"], fact["name"]
            before, after = fact["before"], fact["after"]
            for side in ("width", "height"):
                assert after[side] == pytest.approx(before[side], rel=0.005), fact[
                    "name"
                ]


@pytest.mark.parametrize(
    ("scheme", "ground"), [("light", (255, 255, 255)), ("dark", (18, 18, 18))]
)
def test_a_figure_has_the_ground_of_its_page(browser, address, scheme, ground):
    with browser.new_context(color_scheme=scheme) as context:
        page = context.new_page()
        page.goto(f"{address}/book/01a-deep-ensembles.html")
        figure = page.locator("#fig-adam img:visible")
        figure.scroll_into_view_if_needed()
        figure.evaluate("image => image.decode()")
        shown = Image.open(io.BytesIO(figure.screenshot())).convert("RGB")
        assert shown.getpixel((3, shown.height - 3)) == ground
        # Text and axes stand out from it: the brightness of their pixels is far away.
        darkest, brightest = shown.convert("L").getextrema()
        assert brightest - darkest > 150
