"""The works that the pages cite."""

from collections import defaultdict
from pathlib import Path

import pytest
from pybtex.database import parse_file

from authoring.references import references
from project.errors import CourseError

REFERENCES = Path(__file__).parents[2] / "book/references.bib"


def test_no_two_works_are_cited_alike():
    """Works of the same authors and year have a letter after the year, as in 2021a."""
    keys = defaultdict(list)
    for key, entry in parse_file(str(REFERENCES)).entries.items():
        people = entry.persons.get("author", [entry.fields["title"]])
        names = people if len(people) < 3 else [people[0], "et al."]
        cited = [getattr(name, "last_names", name) for name in names]
        keys[str(cited), entry.fields["year"]].append(key)
    assert [alike for alike in keys.values() if len(alike) > 1] == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("@article{a,\n  title={x}", ":2: It is no BibTeX: syntax error in line 2"),
        (
            "@misc{a, title={x}}\n@misc{a}",
            ": It is no BibTeX: repeated bibliography ent",
        ),
        ("\udcff", ": It is no BibTeX: 'utf-8' codec can't decode"),
    ],
)
def test_an_error_names_the_file_and_the_line(text, said, tmp_path):
    assert not references(tmp_path).entries
    path = tmp_path / "book" / "references.bib"
    path.parent.mkdir()
    path.write_text(text, "utf-8", "surrogateescape")
    with pytest.raises(CourseError) as error:
        references(tmp_path)
    assert str(error.value).startswith(f"{path}{said}")
    assert str(error.value).endswith(". Mend the entry.")
