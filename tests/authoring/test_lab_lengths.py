"""A lab is at most 3,000 words to read and 90 minutes of core work."""

import re

import pytest
from labs import each_lab

WORDS, MINUTES = 3000, 90
QUESTION = 6  # minutes for an answer in words
LEFT_OUT = re.compile(
    r"```.*?```|\$\$.*?\$\$|\$[^$\n]*\$|<[^>]*>|(?<=\])\([^)]*\)", re.DOTALL
)
TASK = re.compile(r"about (\d+) minutes · (core|further)")
TIME = "**Time.** All tasks take about {} minutes, the core tasks {}, "
ALL_CORE = "**Time.** The tasks, all of them *core*, take about {} minutes, "
ASKED = "each written question about six more"
OPTIONAL = r"sections? headed \*Further\* comes? last and (is|are) optional"


def words(text):
    """Count the words of Markdown, without formulas, code blocks, tags and addresses."""
    return len(re.findall(r"[^\W_][\w’'.,-]*", LEFT_OUT.sub(" ", text)))


def minutes(texts):
    """Sum the minutes of all tasks and of the core tasks."""
    tasks = [(int(time), level) for text in texts for time, level in TASK.findall(text)]
    core = sum(time for time, level in tasks if level == "core")
    return sum(time for time, _ in tasks), core


def markdown(lab):
    return [c.source for c in lab.released().cells if c.cell_type == "markdown"]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Two words.", 2),
        ("The loss $-\\log p$ [falls](a-page.md), by 0.5.", 5),
        ("One\n\n$$\na = b\n$$\n\n<summary>two</summary>\n```sh\nmake\n```", 2),
    ],
)
def test_words_are_those_of_the_prose(text, count):
    assert words(text) == count


@each_lab
def test_a_lab_has_at_most_3000_words_of_prose(lab):
    assert 500 < sum(map(words, markdown(lab))) <= WORDS


def questions(lab):
    """Count the core questions: not those on the lab itself, nor those that go further."""
    count = 0
    for cell in lab.released().cells:
        if re.search("^## Further", cell.source, re.MULTILINE):
            return count
        course = cell.metadata.get("course", {})
        about = course.get("task", "").endswith("/survey")
        count += course.get("role") == "written" and not about
    return count


@each_lab
def test_the_core_of_a_lab_fits_into_ninety_minutes(lab):
    _, core = minutes(markdown(lab))
    assert 0 < core + QUESTION * questions(lab) <= MINUTES


@each_lab
def test_the_time_is_said_once_and_is_that_of_the_tasks(lab):
    opening, *rest = markdown(lab)
    every, core = minutes(rest)
    said = ALL_CORE if every == core else TIME
    assert said.format(every, core) in opening
    assert (ASKED in opening) is (questions(lab) > 0)
    left = [re.sub(TASK, "", text) for text in rest]
    assert not [
        text for text in left if re.search(r"(take|takes) about .* minutes", text)
    ]


@each_lab
def test_what_goes_further_comes_last_and_the_opening_says_so(lab):
    opening, *rest = markdown(lab)
    headings = re.findall(r"^## (.*)$", "\n".join(rest), re.MULTILINE)
    further = [heading.startswith("Further: ") for heading in headings]
    assert further == sorted(further)
    assert bool(re.search(OPTIONAL, opening)) is any(further)
