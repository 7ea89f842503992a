"""The works that the pages cite."""

from collections import defaultdict
from pathlib import Path

from pybtex.database import parse_file

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
