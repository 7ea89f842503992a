"""The pages of a built book."""


def pages_of(book, folder=""):
    """Return the files of the pages in a folder of a book, without those that only lead elsewhere."""
    found = [
        path
        for path in (book / folder).rglob("[!_]*.html")
        if "_static" not in path.parts
    ]
    return sorted(path for path in found if not leads_elsewhere(path))


def leads_elsewhere(path):
    """Is this the old address of a page?"""
    return 'http-equiv="refresh"' in path.read_text("utf-8")[:1000].lower()
