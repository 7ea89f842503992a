"""Tools for authors: they build the book, the exercises and the release bundles.

CONTRIBUTING.md says what each module does.
"""
