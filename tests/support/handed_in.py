"""Folders and zips as a class workers them in."""

import zipfile

DEEP, BACKPROP = "deep_ensembles", "bayes_by_backprop"


def notebook(stem=DEEP, note=""):
    text = f'{{"metadata": {{"course": {{"practical": "{stem}"}}, "note": "{note}"}}, '
    return (text + '"cells": [], "nbformat": 4, "nbformat_minor": 5}').encode()


def tree(root, files):
    """Write files; the same names as members of a zip beside it."""
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return root


def zipped(path, files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def codes(submission):
    return [flag.code for flag in submission.flags]


def content(folder):
    """Everything in a folder, by path."""
    return {
        path.relative_to(folder): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }
