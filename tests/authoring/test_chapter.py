"""Chapters as data: the line of each cell, and what cannot be read."""

import pytest
from labs import each_lab

from authoring.chapter import needs, read_chapter
from project.errors import CourseError

HEAD = "# A chapter\n\n```{code-cell} ipython3\n"


@each_lab
def test_each_cell_has_its_line(lab):
    """Errors name it, also where several cells begin alike."""
    lines = lab.chapter.read_text("utf-8").splitlines()
    for cell in read_chapter(lab.chapter).cells:
        source = cell.source.splitlines()
        assert lines[cell.line - 1 :][: len(source)] == source


def chapter(tmp_path, cell):
    path = tmp_path / "00a-warm-up.md"
    path.write_text(f"{HEAD}{cell}\n```\n")
    return read_chapter(path)


@pytest.mark.parametrize("options", [":tags: oops", ":tags:", ":tags: [task"])
def test_options_that_cannot_be_read_are_an_error_of_the_chapter(tmp_path, options):
    with pytest.raises(CourseError, match=r"warm-up\.md: The options of a cell"):
        chapter(tmp_path, f"{options}\n\n1")
    with pytest.raises(CourseError, match=r"warm-up\.md: The options of a cell"):
        needs(tmp_path, tmp_path / "00a-warm-up.md")


def test_a_head_that_cannot_be_read_is_an_error_of_the_chapter(tmp_path):
    path = tmp_path / "00a-warm-up.md"
    path.write_text("---\ntitle: [a\n---\n\n# A\n")
    with pytest.raises(CourseError, match=r"warm-up\.md: The head of the page cannot"):
        read_chapter(path)
    path.write_bytes("# A\n\nfür".encode("latin-1"))
    with pytest.raises(CourseError, match=r"warm-up\.md:3: It is not UTF-8"):
        read_chapter(path)


def test_empty_options_are_none(tmp_path):
    assert chapter(tmp_path, ":mystnb:\n\n1").cells[-1].caption is None


def test_code_that_does_not_parse_is_named_with_its_line(tmp_path):
    with pytest.raises(CourseError, match=r"warm-up\.md:5: The code does not parse"):
        chapter(tmp_path, "x = 1\ny = (")
