"""Calls on hostile files are bounded in processor time and memory, even if a worker dies."""

import json
import math
import operator
import os

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from grading.bounded import TooCostly, bounded, close
from grading.reports.pages import LONGEST, RENDER_LONGEST, markdown

MIB = 1024**2


def test_it_returns_what_the_function_returns_and_raises_what_it_raises():
    assert bounded(operator.add, 1, 2) == 3
    with pytest.raises(json.JSONDecodeError, match="Expecting property name"):
        bounded(json.loads, "{")


def test_too_much_processor_time_ends_the_call_and_not_the_next_one():
    with pytest.raises(TooCostly, match="factorial"):
        bounded(math.factorial, 10**8, seconds=0.5)
    assert bounded(operator.add, 1, 2) == 3


def test_the_clock_begins_anew_with_every_call():
    # In total they take far more time than one call may.
    for _ in range(16):
        bounded(sum, range(10**7), seconds=1.0)


def test_too_much_memory_ends_the_call():
    with pytest.raises(TooCostly, match="mul"):
        bounded(operator.mul, b"x", 300 * MIB, memory=200 * MIB)
    assert len(bounded(operator.mul, b"x", 10 * MIB, memory=200 * MIB)) == 10 * MIB


def test_a_worker_that_dies_costs_its_call():
    with pytest.raises(TooCostly, match="abort"):
        bounded(os.abort)
    assert bounded(os.getpid) != os.getpid()


def test_the_limit_of_one_call_is_not_that_of_the_next():
    """Otherwise a worker under a low limit could not receive a large call, and would die."""
    large = bytes(300 * 1024**2)
    for _ in range(8):
        assert bounded(len, b"small", memory=16 * 1024**2) == 5
    assert bounded(len, large) == len(large)


def test_after_the_workers_were_closed_new_ones_start():
    first = bounded(os.getppid)
    close()
    assert bounded(os.getppid) == first  # the fork server is still running


# --- written answers ---------------------------------------------------------------

WIDE = "|" + "a|" * 1_200 + "\n|" + "-|" * 1_200 + "\n" + "x\n" * 1_600


def test_a_table_of_millions_of_cells_is_shown_as_typed():
    html = markdown(WIDE)
    assert html.startswith("<p class=note>Shown as typed")
    assert "|a|a|a|" in html
    assert len(html) < 2 * len(WIDE)


PIECES = ("|", "a|", "-|", "\n", "> ", "- ", "1. ", "*", "_", "`", "[", "](", "$", "&")
PIECES += ("<", "\\", "#", "    ", "x", "https://x.y ", "![", "~~~", "=", "\t", "é")


@settings(derandomize=True, deadline=None, max_examples=25)
@given(
    st.lists(st.tuples(st.sampled_from(PIECES), st.integers(1, 1_500)), max_size=5).map(
        lambda runs: "\n".join(piece * count for piece, count in runs)
    ),
    st.integers(1, 2_000),
)
@example("|a" * 900 + "\n" + "|-" * 900 + "\nx", 3_000)
@example("|a" * 200 + "\n" + "|-" * 200 + "\n" + "x\n" * 400, 1)
def test_whatever_is_written_a_page_of_it_is_bounded(text, repeats):
    answer = (text + "\n") * max(1, min(repeats, LONGEST // (len(text) + 1)))
    html = markdown(answer)
    assert 0 < len(html) + (not answer.strip()) <= RENDER_LONGEST + 200
    assert "<script" not in html
