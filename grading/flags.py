"""Everything that can be unusual about a submission, each with a code and a sentence.

A flag never changes a grade. Those in ``LOOK`` rarely result from honest work with a notebook,
or report a choice that a person may make differently: a person should look at the submission.
Those in ``PRIVATE`` concern other students and are not shown to this one.
"""

from __future__ import annotations

from grading.record import Flag

FLAGS = {
    # The file.
    "too-large": "The file is larger than what is read; it was not graded.",
    "unreadable": "The file or folder cannot be read.",
    "link": "A link is not followed: a submission is a file of its own.",
    "unsafe-name": "The name leads out of its folder; nothing was written there.",
    "nested-zip": "A zip in a zip is not opened.",
    "encrypted": "The file in the zip is protected by a password.",
    "too-costly": "The file could not be read within the limits of time and memory; it was not "
    "graded.",
    "too-many-files": "There are more files than what is read; further ones were left out.",
    "too-deep": "A folder lies deeper than what is read; what is in it was left out.",
    "empty-folder": "The folder is empty: there is no notebook in it.",
    "other-suffix": "The file's name does not end with .ipynb; it was read all the same.",
    "same-name": "Files under several names, or in several folders, were taken as one "
    "student's.",
    "alike-name": "Another student's name is nearly the same; they were taken as two.",
    "no-notebook": "There is no notebook in what was handed in.",
    "late": "Handed in late.",
    "resubmitted": "Handed in more than once: the last with answers counts.",
    "best-of-several": "Handed in more than once: each task counts where it is right.",
    "unknown-practical": "It cannot be told which practical the notebook belongs to.",
    # The notebook.
    "old-format": "The notebook has another format than the release; it was read all the same.",
    "no-ids": "The cells have no ids; they were found by their metadata or their text.",
    "found-by-text": "Cells of the release have lost their ids and metadata; they were found by "
    "their text.",
    "other-kernel": "The notebook names another kernel; it was graded with Python.",
    "bad-characters": "The text holds characters that are none; they were replaced.",
    "malformed-cell": "A cell is not what a cell should be; it was left out.",
    "too-many-cells": "There are more cells than what is read; further ones of the student's "
    "own were left out.",
    # The cells of the release.
    "missing-answer": "The cell of the answer is missing.",
    "empty-answer": "The cell of the answer is empty.",
    "missing-written": "The cell of the answer in words is missing.",
    "duplicated": "Several cells are the answer; they were joined in order.",
    "recovered": "The answer was found by its name.",
    "recovered-words": "The answer in words was found in a cell beside its own.",
    "redefined": "The answer is defined again in a later cell; the last definition counts.",
    "renamed": "The cell has another id; it was found by its metadata.",
    "retagged": "The cell's metadata was changed.",
    "reordered": "The cells are not in the order of the release; they were graded in that order.",
    "wrong-type": "The cell was turned from code to text or from text to code; it was taken "
    "for what it was.",
    "too-long": "The cell is longer than what is read.",
    "check-edited": "The check was edited; that of the release counts.",
    "check-extended": "Code was added to the cell of a check; it was run as a cell of the "
    "student's own.",
    "check-deleted": "The check was deleted; that of the release counts.",
    "given-edited": "Given code was edited; that of the release counts.",
    "given-extended": "Code was added to a cell of given code; it was run as a cell of the "
    "student's own.",
    "given-deleted": "Given code was deleted; that of the release counts.",
    "added-raised": "A cell of the student's own raised an exception; it was passed over.",
    "added-stopped": "A cell of the student's own had to be stopped; of it only definitions "
    "were used.",
    "forged-values": "A cell displayed values as a probe does; they do not count.",
    "acting-code": "It is right only with code that does more than define, in the student's "
    "own cells.",
    "stood-in": "It is right only with the reference solution of another task, on which the "
    "release does not make it depend.",
    "interpreter": "A cell names what reaches into Python itself.",
    "patched-module": "A cell sets an attribute of something that it imported.",
    "long-literal": "A cell holds much in literals, or decodes one: code may hide in it.",
    "like-checks": "A cell is nearly the same as an oracle of the checks.",
    "much-code": "There is too much code to look through; from this cell on, read it yourself.",
    "nbval-tag": "A cell has a tag that tells nbval to skip or to forgive; it was removed.",
    "nbval-comment": "A comment tells nbval to skip or to forgive; it has no effect.",
}

LOOK = frozenset(
    {
        "unsafe-name",
        "link",
        "nested-zip",
        "check-edited",
        "forged-values",
        "acting-code",
        "stood-in",
        "interpreter",
        "patched-module",
        "long-literal",
        "like-checks",
        "much-code",
        "nbval-tag",
        "too-many-cells",
        "too-costly",
        "too-many-files",
        "same-name",
        "alike-name",
        "resubmitted",
        "best-of-several",
    }
)
PRIVATE = frozenset({"alike-name", "same-name"})


def flag(code: str, where: str = "", *, detail: str = "") -> Flag:
    """The flag with this code, with its sentence and, in brackets, a detail.

    Raises:
        KeyError: there is no such code.
    """
    message = FLAGS[code]
    return Flag(code, where, f"{message[:-1]} ({detail})." if detail else message)
