"""Figures with frames in a real browser: one visible at a time, chosen by mouse or keyboard."""

import re

import matplotlib.pyplot as plt
import pytest

from course.plots import stepped

SEEN = """
() => [...document.querySelectorAll("svg [id^=frame-]")]
  .filter(part => getComputedStyle(part).visibility === "visible").map(part => part.id)
"""


@pytest.fixture
def page_of():
    def made(labels=("0", "<1>", "2")):
        fig, ax = plt.subplots()
        ax.scatter([0, 1], [0, 1])
        frames = {}
        for number, label in enumerate(labels):
            (line,) = ax.plot([0, 1], [0, number])
            frames[label] = [line, ax.text(0, number, f"step {number}")]
        return stepped(
            fig, frames, name="frame", what="step", alt='A "line" that rises'
        ).data

    yield made
    assert plt.get_fignums() == []


@pytest.mark.browser
def test_one_frame_is_seen_and_the_reader_moves_on(browser, page_of):
    page = browser.new_page()
    page.set_content(page_of())
    assert page.evaluate(SEEN) == ["frame-0-0", "frame-0-1"]
    page.get_by_text("<1>", exact=True).click()
    assert page.evaluate(SEEN) == ["frame-1-0", "frame-1-1"]
    page.keyboard.press("ArrowRight")
    assert page.evaluate(SEEN) == ["frame-2-0", "frame-2-1"]
    assert page.get_by_role("img", name='A "line" that rises').count() == 1
    assert page.get_by_role("radio").count() == 3
    page.close()


def test_it_needs_no_script_and_no_other_file(page_of):
    text = page_of()
    assert "<script" not in text
    assert not re.search(r'(?:href|src)="(?!#|data:)', text)


def test_it_styles_nothing_else_on_the_page(page_of):
    (style,) = re.findall(r"<style.*?>(.*?)</style>", page_of(), re.DOTALL)
    selectors = re.findall(r"([^{}]+)\{", style)
    assert len(selectors) > 5
    each = [one.strip() for selector in selectors for one in selector.split(",")]
    assert {one for one in each if not one.startswith((".steps", "#frame"))} == set()


def test_it_is_drawn_the_same_each_time(page_of):
    assert page_of() == page_of()
